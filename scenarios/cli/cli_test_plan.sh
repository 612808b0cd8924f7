#!/usr/bin/env bash
# kvcast plan: the answer, its files and its pictures, a slo that cannot be met, and mistakes in a scenario.
# Usage: cli_test_plan.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

plan() { # NAME TEXT: writes NAME.lua, a scenario of KV-Direct that ends in TEXT
    cat >"$1.lua" <<LUA
return {
  system = { kind = "kvdirect", memory = "16MiB" },
  node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
  workload = { keys = 5e5, key = 8, value = 2, get = 1, set = 0, dist = { zipf = 0.99 }, fill = "at_once",
               arrival = { fixed_mops = 250 } },
  run = { functional = "sampled", sample_rate = 16, warmup = "50us", duration = "400us" },
$2
}
LUA
}
sweep='sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["system.nics"] = { 1, 2 } },'

plan nodes "slo = { p99 = \"8us\", mops = 200 }, $sweep plan = { minimise = \"nodes\" },"
"$kvcast" plan nodes.lua --quiet --jobs 1 --out folder --json one.json >table.txt || fail "a plan: $(cat table.txt)"
"$kvcast" plan nodes.lua --quiet --jobs 3 --json - >three.json
cmp one.json three.json || fail "the plan depends on the number of jobs"
cmp one.json folder/plan.json || fail "plan.json differs from --json"
# The smallest candidate, one node with one NIC, serves fewer than the 200 Mops of the slo; one with two serves them all.
grep -q '^chosen  *cluster.nodes = 1, system.nics = 2 ' table.txt || fail "table.txt chooses $(grep ^chosen table.txt)"
for text in '"schema": "kvcast.plan/1"' '"is_met": true' '"minimise": "nodes"' '"metric": "throughput_mops"'; do
    grep -q -- "$text" one.json || fail "one.json lacks $text"
done
[ "$(wc -l <folder/plan.csv)" -eq 9 ] || fail "plan.csv has $(wc -l <folder/plan.csv) lines, expected 9"
[ "$(cut -d, -f1-5 folder/plan.csv | grep -E ',(pruned|chosen)$' | tr '\n' ' ')" = '1,"1","1",1,pruned 2,"1","2",1,chosen ' ] ||
    fail "plan.csv prunes and chooses $(cut -d, -f1-5 folder/plan.csv | grep -E ',(pruned|chosen)$')"
if command -v gnuplot >/dev/null; then
    for format in svg pdf png; do
        [ -s folder/pareto.$format ] || fail "there is no pareto.$format"
    done
    cp one.json alone.json
    "$kvcast" plot alone.json -k pareto -o alone.svg && cmp -s alone.svg folder/pareto.svg ||
        fail "the picture of the document differs from that of the folder"
    echo '{ "schema": "kvcast.result/1" }' >other.json
    expect 2 'is not a document of kvcast plan' "$kvcast" plot other.json -k pareto -o x.svg
fi
chosen() { # JSON: the chosen point
    grep -A1 '"chosen": {' "$1" | grep -o '"point": [0-9]*'
}
"$kvcast" plan nodes.lua --quiet --set plan.ahead=4 --json ahead.json >/dev/null
[ "$(chosen one.json)" = "$(chosen ahead.json)" ] || fail "candidates ahead change the choice"

# If no candidate meets the slo, the exit status is 1, and the message names the nearest one.
plan unmet "slo = { p99 = \"1us\" }, $sweep plan = { minimise = \"nodes\" },"
expect 1 'no candidate meets the slo; .* comes nearest and misses latency_p99_us by' \
    "$kvcast" plan unmet.lua --quiet --json unmet.json
grep -q '"is_met": false' unmet.json || fail "unmet.json is met"
grep -q '"chosen": null' unmet.json || fail "unmet.json has a choice"

# Bad input.
plan bare "slo = { p99 = \"8us\" }, $sweep"
expect 2 'bare.lua:1: the scenario has no plan table' "$kvcast" plan bare.lua
plan aimless "$sweep plan = { minimise = \"nodes\" },"
expect 2 'aimless.lua:1: the scenario has no slo table' "$kvcast" plan aimless.lua
plan still 'slo = { p99 = "8us" }, plan = { minimise = "nodes" },'
expect 2 'still.lua:1: the scenario has no sweep table' "$kvcast" plan still.lua
plan full "slo = { mops = 1 }, $sweep plan = { minimise = \"nodes\" },"
expect 2 'workload.arrival: found "saturate"' "$kvcast" plan full.lua --set workload.arrival=saturate
expect 2 'latency|workload.arrival' "$kvcast" plan nodes.lua --set workload.arrival=saturate
plan typo "slo = { p99 = \"8us\" }, $sweep plan = { minimise = \"nodes\", replica = 5 },"
expect 2 'typo.lua:[0-9]+: unknown key "replica" in plan; did you mean "replicas"' "$kvcast" plan typo.lua
expect 2 'plan.minimise: found "size", allowed: price, watts, nodes' "$kvcast" plan nodes.lua --set plan.minimise=size
expect 2 'what the objectives need: the price of fpga, nic, dram' "$kvcast" plan nodes.lua --set plan.minimise=price
echo 'return { system = { kind = "megakv" }, workload = { keys = 1e6, arrival = { poisson_mops = 60 } }, slo = { mops = 50 },
  sweep = { ["system.gpu_core"] = { "875MHz", "810MHz" } }, plan = { minimise = "watts" } }' >dark.lua # The card's watts at 810 MHz are unknown.
sed 's/"875MHz", //' dark.lua >darker.lua
expect 2 'darker.lua: plan: no point of the sweep states what the objectives need: the power of gpu' "$kvcast" plan darker.lua
"$kvcast" plan dark.lua --set run.duration=2ms --set workload.keys=1e4 --set system.index=4MiB --set system.slab=8MiB --json dark.json >dark.txt || fail "dark.lua"
grep -q '^candidates  *2, 1 excluded' dark.txt || fail "a point without watts is not excluded"
grep -q 'are excluded; unknown: the power of gpu' dark.txt || fail "what an excluded point lacks"
expect 2 'slo.mops: found 400, but the load offers no more than 250' "$kvcast" plan nodes.lua --set slo.mops=400
plan load 'slo = { p99 = "8us" }, sweep = { ["workload.get"] = { 1 } }, plan = { minimise = "nodes" },'
expect 2 'sweep of workload.get: allowed in a plan' "$kvcast" plan load.lua
plan never "slo = { p99 = \"8us\" }, sweep = { [\"cluster.nodes\"] = { 1, 2 },
  where = function(p) return p[\"cluster.nodes\"] > 5 end }, plan = { minimise = \"nodes\" },"
expect 2 'never.lua.*(where|constraint)' "$kvcast" plan never.lua
expect 2 'out/plan.json|cannot' "$kvcast" plan nodes.lua --out nodes.lua/out

finish
