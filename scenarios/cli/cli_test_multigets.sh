#!/usr/bin/env bash
# Multigets at one node of every store. Usage: cli_test_multigets.sh KVCAST
examples=$(realpath "$(dirname "$0")/../examples")
source "$(dirname "$0")/cli_testing.sh"

# No GET is lost or counted twice, and a multiget takes longer than its mean GET. The clients of fatcache wait for every answer.
for store in open_load dido kvdirect memcachedgpu memcached mica fpga_memcached rdma flash_tail; do
    duration=$([ $store = flash_tail ] && echo 200ms || echo 2ms)
    "$kvcast" run "$examples/$store.lua" -q --set run.duration=$duration --set workload.multiget=8 --json m.json >m.txt 2>&1 ||
        { fail "$store: $(cat m.txt)"; continue; }
    jq -r '[(.requests.hits + .requests.misses) / .simulation.simulated_s / 1e6, 8 * .model.multiget_mops,
            .model.multiget_mean_us, .latency_us.mean, .model.multiget_lost_frac] | @tsv' m.json |
        awk '{ exit !($1 / $2 < 1.03 && $1 / $2 > 0.97 && $3 >= 0.97 * $4 && $5 == 0) }' ||
        fail "$store: $(jq -c '[.requests, .model.multiget_mops, .model.multiget_mean_us, .latency_us.mean]' m.json)"
done

# Losses are told, one key alone is a GET as ever, and jobs do not change the answer.
cp "$examples/memcached.lua" m.lua
"$kvcast" run m.lua -q --set workload.multiget=64 --set workload.arrival.poisson_mops=3 --json lost.json >/dev/null
jq -e '.requests.dropped > 0 and .model.multiget_lost_frac > 0.01' lost.json >/dev/null || fail "losses: $(jq -c .model lost.json)"
"$kvcast" run m.lua -q --json none.json >/dev/null && "$kvcast" run m.lua -q --set workload.multiget=1 --json one.json >/dev/null
cmp <(jq -S '.latency_us, .model' none.json) <(jq -S '.latency_us, .model' one.json) || fail "multigets of one key"
for jobs in 1 2; do
    "$kvcast" run m.lua -q --set workload.multiget=8 --replicas 2 --jobs $jobs --json $jobs.json >$jobs.txt || fail "$jobs jobs"
done
cmp <(jq -S 'del(.simulation, .command_line)' 1.json) <(jq -S 'del(.simulation, .command_line)' 2.json) || fail "one job and two"
grep -Eq '^ *multiget_p99_us +[0-9.]+ \+- ' 2.txt || fail "the table: $(grep multiget 2.txt)"
"$kvcast" predict m.lua -q --set workload.multiget=8 | grep -q 'ignores workload.multiget' || fail "a prediction says what it ignores"

wrong() { # PATTERN OPTION...
    local pattern=$1
    shift
    expect 2 "workload.multiget: $pattern" "$kvcast" run m.lua --set workload.multiget=8 "$@"
}
wrong 'found 8, allowed above 1 with GETs' --set workload.get=0 --set workload.set=1
wrong 'found 8, allowed above 1 with arrival.misses = "leave"' --set workload.arrival.misses=fill
wrong 'allowed with one node' --set cluster.nodes=2
sed 's/arrival = {[^}]*}/arrival = "saturate"/' m.lua >s.lua
expect 2 'workload.multiget: found 8, allowed above 1 with an open load' "$kvcast" run s.lua --set workload.multiget=8
expect 2 'workload.multiget' "$kvcast" run m.lua --set workload.multiget=5000

finish
