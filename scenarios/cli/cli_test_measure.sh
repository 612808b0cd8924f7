#!/usr/bin/env bash
# kvcast measure: it answers like a run, and what cannot be measured is refused in one line.
# Usage: cli_test_measure.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

scenario good ""
measured="--set node.sockets=1 --set system.feed=memory --set system.streams=1 --set run.warmup=20ms"
# Two cores are enough, and large values keep the number of prepared requests small.
measured+=" --set workload.value=1000 --set workload.set=0.5 --set workload.get=0.5 --set system.threads=shared --set system.index_on=thread --set node.cpu.cores=2"
expect 2 'node.sockets = 1' "$kvcast" measure good.lua --set node.sockets=2
expect 2 'system.feed: .*a measurement allows "memory"' "$kvcast" measure good.lua --set node.sockets=1
expect 2 'workload.arrival: a measurement allows' "$kvcast" measure good.lua $measured --set workload.arrival.clients=10
expect 2 "threads need 129 cores, this machine has [0-9]+: .*shared" "$kvcast" measure good.lua $measured \
    --set system.threads=own --set system.streams=64 --set node.cpu.cores=1002
sed 's/run = {/run = { changes = { { device = "node0.socket0.gpu", at = "100us", off = "100us" } },/' good.lua >changes.lua
expect 2 'changes.lua:[0-9]+: run.changes: found changes of devices' "$kvcast" measure changes.lua $measured
"$kvcast" predict changes.lua | grep -q 'ignores run.changes' || fail "predict says nothing about run.changes"
"$kvcast" measure good.lua $measured --set run.duration=100ms --out real --quiet >real.txt ||
    { fail "measure"; cat real.txt; }
grep -q '"command": "measure"' real/result.json || fail "real/result.json is no measurement"
[ -s real/latency.hgrm ] || fail "real/latency.hgrm is missing"

# Two stores in one process: twice the value takes longer to read, whatever the machine does meanwhile.
expect 2 'measure: --pairs counts the turns of --against, which is missing' "$kvcast" measure good.lua $measured --pairs 12
expect 2 'measure: --pairs: found "11", allowed: a whole number from 12 to 10000' "$kvcast" measure good.lua $measured \
    --against workload.value=2000 --pairs 11
expect 2 'measure: --against: found "nothing", allowed: a file that ends in .lua, or changes PATH=VALUE' "$kvcast" measure good.lua \
    $measured --against nothing
expect 2 'node.sockets = 1' "$kvcast" measure good.lua $measured --against node.sockets=2
expect 2 'the run needs' "$kvcast" measure good.lua $measured --against 'system.slab=128GiB;workload.keys=100e6'
"$kvcast" measure good.lua $measured --against 'workload.value=4000;run.seed=2' --pairs 20 --out pair --quiet >pair.txt ||
    { fail "measure --against"; cat pair.txt; }
grep -q 'workload.value: 1000 against 4000' pair.txt || fail "pair.txt does not say what differs"
grep -q 'kvcast.pair/1' pair/pair.json || fail "pair/pair.json is no pair"
# On a machine so busy that the stores answered in hardly any turn, a note says that there is no reading.
awk -F, '$1 == "throughput_mops" { found = 1; if ($4 != "" && ($4 >= 1 || $5 > $4 || $6 < $4)) exit 1 } END { exit !found }' pair/pair.csv &&
    { grep -Eq '^throughput_mops,[0-9]' pair/pair.csv || grep -q 'no metric has a reading' pair.txt; } ||
    { fail "larger values are not slower"; cat pair/pair.csv; }

# Small pages are asked for in a scenario of a calibrated machine.
pages='{ { footprint = "1MiB", huge = "5ns", small = "6ns", huge_latency = "50ns", small_latency = "60ns" }, source = "a test" }'
sed "s/node = {/node = { dram = { pages = $pages },/" good.lua >pages.lua
"$kvcast" measure pages.lua $measured --against node.huge_pages=false --pairs 20 --quiet >pages.txt || { fail "measure --against small pages"; cat pages.txt; }
grep -q 'node.huge_pages: - against false' pages.txt || { fail "pages.txt does not say what differs"; cat pages.txt; }
# A co-runner needs cores of its own.
contention='{ { taken = "0GB/s", line = "5ns", latency = "50ns" }, { taken = "8GB/s", line = "6ns", latency = "60ns" }, source = "a test" }'
sed "s#node = {#node = { dram = { contention = $contention }, co_runner = \"1GB/s\",#" good.lua >co_runner.lua
expect 2 "node.co_runner: the store's threads take 2 cores and the co-runner needs 1000 more .*, this machine has [0-9]+" \
    "$kvcast" measure co_runner.lua $measured --set node.co_runner_cores=1000
expect 2 'node.co_runner: found 9 GB/s, allowed: up to the measured 8 GB/s' "$kvcast" check co_runner.lua --set node.co_runner=9GB/s
if [ "$(nproc)" -gt 2 ]; then
    "$kvcast" measure co_runner.lua $measured --set run.duration=100ms --quiet >/dev/null || fail "measure beside a co-runner"
fi
echo 'return { system = { kind = "mica" }, node = { sockets = 1 }, workload = { keys = 1000 } }' >mica.lua
expect 2 'node.co_runner: found with system.kind "mica", allowed only with megakv' "$kvcast" check mica.lua --set node.co_runner=1GB/s
expect 2 'node.huge_pages: found with system.kind "mica", allowed only with megakv' "$kvcast" check mica.lua --set node.huge_pages=false
# Stalls of a machine lengthen the tail of a simulation; the closed form says that it leaves them out.
sed 's/node = {/node = { stalls = { { length = "300us", every = "2ms" } },/' good.lua >stalled.lua
"$kvcast" predict stalled.lua | grep -q 'the closed form ignores node.stalls' || fail "predict says nothing about node.stalls"
"$kvcast" run stalled.lua --out stalled --quiet >stalled.txt || { fail "run with stalls"; cat stalled.txt; }
grep -q '"stalled_frac": 0\.[0-9]' stalled/result.json && grep -q '"node.stalls.1.length": "300us"' stalled/result.json ||
    { fail "stalled/result.json does not tell the stalls"; cat stalled.txt; }
sed 's/node = {/node = { stalls = { { length = "300us", every = "2ms" } },/' mica.lua >stalled.lua
expect 2 'node.stalls: found with system.kind "mica", allowed only with megakv' "$kvcast" check stalled.lua

finish
