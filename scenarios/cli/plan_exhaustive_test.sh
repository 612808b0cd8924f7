#!/usr/bin/env bash
# kvcast plan against an exhaustive search, which simulates every point to a decision: in 20 small spaces of three stores
# both choose the same point or both find none, and the plan takes at most a tenth of the simulations.
# Usage: plan_exhaustive_test.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

megakv() { # NAME MOPS SLO MINIMISE: 36 points
    cat >"$1.lua" <<LUA
return {
  system = { kind = "megakv", api = "getk" },
  workload = { keys = 10e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, connections = 256, arrival = { fixed_mops = $2 } },
  run = { functional = "off", warmup = "1ms", duration = "3ms" },
  slo = { $3 },
  sweep = { ["cluster.nodes"] = { 1, 2, 3 }, ["node.sockets"] = { 1, 2 },
            ["system.cycle"] = { "120us", "160us", "200us" }, ["system.gpu_core"] = { "875MHz", "666MHz" } },
  plan = { minimise = "$4", replicas = 5 },
}
LUA
}

kvdirect() { # NAME MOPS SLO MINIMISE: 24 points
    cat >"$1.lua" <<LUA
return {
  system = { kind = "kvdirect", memory = "16MiB" },
  node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
  workload = { keys = 5e5, key = 8, value = 2, get = 1, set = 0, dist = { zipf = 0.99 }, fill = "at_once",
               arrival = { fixed_mops = $2 } },
  run = { functional = "sampled", sample_rate = 16, warmup = "20us", duration = "300us" },
  slo = { $3 },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["system.nics"] = { 1, 2, 3 }, ["system.dispatch"] = { 0, 0.5 } },
  plan = { minimise = "$4", replicas = 5 },
}
LUA
}

rdma() { # NAME MOPS SLO: 45 points, whose prices are made up
    cat >"$1.lua" <<LUA
return {
  system = { kind = "rdma", sides = "two" },
  node = { nic = { base = "connectx-5-100g", price = 1000 } },
  workload = { keys = 1e5, key = 8, value = 8, arrival = { fixed_mops = $2 } },
  run = { warmup = "50us", duration = "500us" },
  slo = { $3 },
  sweep = { ["node.price"] = { 1000, 2000, 3000 }, ["system.cores"] = { 1, 2, 3, 4, 8 },
            ["system.message_rate"] = { "5Mops", "20Mops", "150Mops" } },
  plan = { minimise = "price", replicas = 5 },
}
LUA
}

megakv mega1 60 'p99 = "400us", mops = 55' nodes
megakv mega2 60 'p95 = "300us", mops = 55' watts
megakv mega3 100 'p99 = "330us", mops = 90' watts
megakv mega4 150 'p99 = "450us", mops = 140' nodes
megakv mega5 40 'p50 = "250us", mops = 36' watts
megakv mega6 250 'p99 = "300us", mops = 230' nodes
megakv mega7 60 'p99 = "150us", mops = 55' nodes
megakv mega8 120 'p99 = "500us", watts = 300, mops = 110' nodes
kvdirect kv1 100 'p99 = "8us", mops = 90' nodes
kvdirect kv2 300 'p99 = "8us", mops = 270' nodes
kvdirect kv3 200 'p99 = "7us", mops = 180' nodes
kvdirect kv4 300 'p99 = "2us", mops = 270' nodes
rdma rdma1 4 'p99 = "20us", mops = 3.5'
rdma rdma2 12 'p99 = "20us", mops = 11'
rdma rdma3 18 'p99 = "50us", mops = 16'
rdma rdma4 12 'p50 = "5us", mops = 11'
rdma rdma5 25 'p99 = "20us", mops = 22'
rdma rdma6 30 'p99 = "1us", mops = 27'
rdma rdma7 18 'p95 = "10us", mops = 17, price = 3000'
rdma rdma8 10 'p999 = "30us", mops = 9'

number() { # JSON KEY: the first number of this name
    grep -m1 "\"$2\":" "$1" | grep -o '[0-9]*'
}
chosen() { # JSON: the chosen point, empty if there is none
    grep -A1 '"chosen": {' "$1" | grep -o '[0-9]*'
}

spaces=0 few=0 all=0
printf '%-8s %10s %10s %12s %12s\n' space plan exhaustive simulations exhaustive
for scenario in rdma*.lua mega*.lua kv*.lua; do
    name=${scenario%.lua}
    "$kvcast" plan "$scenario" --quiet --json "$name.plan.json" >/dev/null 2>stderr
    [ $? -le 1 ] || fail "$name: $(cat stderr)"
    "$kvcast" plan "$scenario" --quiet --exhaustive --json "$name.all.json" >/dev/null 2>stderr
    [ $? -le 1 ] || fail "$name: $(cat stderr)"
    a=$(chosen "$name.plan.json") b=$(chosen "$name.all.json")
    n=$(number "$name.plan.json" simulations) m=$(number "$name.all.json" simulations)
    printf '%-8s %10s %10s %12s %12s\n' "$name" "${a:-none}" "${b:-none}" "$n" "$m"
    [ "$a" = "$b" ] || fail "$name: the plan chooses ${a:-none}, the exhaustive search ${b:-none}"
    spaces=$((spaces + 1)) few=$((few + n)) all=$((all + m))
done
printf '%-8s %10s %10s %12s %12s   ratio %s\n' "$spaces" "" "" "$few" "$all" "$(awk "BEGIN { printf \"%.3f\", $few / $all }")"
[ "$spaces" -eq 20 ] || fail "there are $spaces spaces, expected 20"
[ $((10 * few)) -le "$all" ] || fail "$few simulations are more than a tenth of $all"

finish
