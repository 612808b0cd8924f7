#!/usr/bin/env bash
# What users get wrong, end to end: one message with its place, the right exit status, nothing half-written.
# Usage: cli_test.sh KVCAST
set -uo pipefail
kvcast=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

scenario() { # NAME TEXT: a small scenario with TEXT in the place of its last lines
    cat >"$1.lua" <<LUA
return {
  system = { kind = "megakv", index = "1MiB", slab = "8MiB" },
  node = { sockets = 1 },
  workload = { keys = 1000 },
  run = { warmup = "1ms", duration = "1ms" },
$2
}
LUA
}

expect() { # STATUS PATTERN COMMAND...: exit status, and one line on stderr that matches
    local status=$1 pattern=$2 got
    shift 2
    "$@" >stdout 2>stderr </dev/null
    got=$?
    if [ "$got" -ne "$status" ] || ! grep -qE -- "$pattern" stderr || [ "$(wc -l <stderr)" -ne 1 ]; then
        printf 'FAILED: %s\n  exit %s (expected %s), stderr (expected one line like "%s"):\n' "$*" "$got" "$status" "$pattern"
        sed 's/^/    /' stderr
        failed=1
    fi
}

scenario good ""
"$kvcast" run good.lua --out good --quiet >/dev/null || { echo "FAILED: a good scenario"; failed=1; }
for file in result.json latency.hgrm cdf.csv windows.csv platform.xml timeline.json; do
    [ -s "good/$file" ] || { echo "FAILED: good/$file is missing"; failed=1; }
done

expect 2 'good.lua.*cylce.*did you mean "cycle"|--set.*cylce.*did you mean "cycle"' "$kvcast" run good.lua --set system.cylce=1us
expect 2 'found .*160parsec.*ns, us, ms, s' "$kvcast" run good.lua --set system.cycle=160parsec
expect 2 'cycle.*0us|cycle.*0ns' "$kvcast" check good.lua --set system.cycle=0us
expect 2 'duration' "$kvcast" run good.lua --set run.duration=-5ms
expect 2 'did you mean' "$kvcast" rnu good.lua
expect 2 'did you mean' "$kvcast" run good.lua --sett a=b
expect 2 'missing.lua' "$kvcast" run missing.lua
expect 2 'pentium' "$kvcast" run good.lua --set node.cpu=pentium
expect 2 'power of two' "$kvcast" check good.lua --set run.functional=sampled --set run.sample_rate=7
expect 2 'keeps 1 of 1000 keys' "$kvcast" check good.lua --set run.functional=sampled --set run.sample_rate=512
expect 2 'functional = "sampled"' "$kvcast" run good.lua --set system.slab=120GiB --set node.sockets=8

scenario syntax "x = = 1"
expect 2 'syntax.lua:6' "$kvcast" run syntax.lua
scenario loop "slo = (function() while true do end end)()"
expect 2 'loop.lua:6.*loop' "$kvcast" run loop.lua
scenario memory "slo = (function() local t = {} while true do t[#t + 1] = string.rep('x', 1000000 + #t) end end)()"
expect 2 'memory.lua:6.*MiB' "$kvcast" run memory.lua
scenario nan "slo = { mops = 0 / 0 }"
expect 2 'nan.lua:6' "$kvcast" run nan.lua

printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n2,frob,b,1,8\n' >bad.csv
expect 2 'bad.csv:3.*frob' "$kvcast" run good.lua --set workload.arrival.trace=bad.csv
printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n2,get,b' >cut.csv
expect 2 'cut.csv:3' "$kvcast" run good.lua --set workload.arrival.trace=cut.csv

: >file
expect 2 'file' "$kvcast" run good.lua --out file/results
mkdir kept && echo old >kept/result.json
expect 2 'cut.csv:3' "$kvcast" run good.lua --set workload.arrival.trace=cut.csv --out kept
[ "$(cat kept/result.json)" = old ] || { echo "FAILED: a failed run replaced an old result"; failed=1; }
expect 2 'FILE.lua is missing' "$kvcast" calibrate --quick
expect 2 'none/machine.lua: cannot be written' "$kvcast" calibrate --quick -o none/machine.lua
"$kvcast" calibrate --quick --quiet -o machine.lua 2>warnings || { echo "FAILED: calibrate"; cat warnings; failed=1; }
"$kvcast" predict good.lua --set node.machine=machine.lua --set system.streams=auto --set node.cpu.cores=4 \
    --json calibrated.json >/dev/null
grep -q '"node.stages.base": "machine.lua"' calibrated.json && grep -qE '"name": "[0-9]+ cores of ' calibrated.json ||
    { echo "FAILED: a calibrated machine is of no use"; failed=1; }
sed 's/kind = "machine"/kind = "machina"/' machine.lua >machina.lua
expect 2 'machina.lua:3: kind: found "machina"' "$kvcast" check good.lua --set node.machine=machina.lua
sed 's/"[0-9.]*GHz"/"0GHz"/' machine.lua >clockless.lua
expect 2 'clockless.lua:[0-9]*: cpu.clock: found "0GHz"' "$kvcast" check good.lua --set node.machine=clockless.lua
sed 's/\(random_line = { "[^"]*"\).*/\1 },/' machine.lua >sourceless.lua
expect 2 'sourceless.lua:[0-9]*: dram.random_line has no source' "$kvcast" check good.lua --set node.machine=sourceless.lua

sed '/^    search_miss = /,/^    },/d' machine.lua >lawless.lua
expect 2 'lawless.lua:[0-9]*: stages.search_miss is missing' "$kvcast" check good.lua --set node.machine=lawless.lua
sed '0,/time = "/s//time = "-/' machine.lua >timeless.lua
expect 2 'timeless.lua:[0-9]*: stages.receive.1.time: found "-' "$kvcast" check good.lua --set node.machine=timeless.lua
expect 2 'tesla-k40c.lua:[0-9]*: kind: found "gpu", needed is a profile of kind "machine"' \
    "$kvcast" check good.lua --set node.machine=tesla-k40c
expect 2 'good.lua:[0-9]*: kind: found' "$kvcast" check good.lua --set node.machine=good.lua

measured="--set node.sockets=1 --set system.feed=memory --set system.admission=all --set system.streams=1 --set run.warmup=20ms"
measured+=" --set system.threads=shared --set system.index_on=thread --set node.cpu.cores=2" # two cores are enough
expect 2 'node.sockets = 1' "$kvcast" measure good.lua --set node.sockets=2
expect 2 'system.feed: measured is "memory"' "$kvcast" measure good.lua --set node.sockets=1
expect 2 'workload.arrival: measured can be' "$kvcast" measure good.lua $measured --set workload.arrival.clients=10
expect 2 "threads need 129 cores, this machine has [0-9]+: .*shared" "$kvcast" measure good.lua $measured \
    --set system.threads=own --set system.streams=64 --set node.cpu.cores=1002
"$kvcast" measure good.lua $measured --set run.duration=100ms --out real --quiet >real.txt ||
    { echo "FAILED: measure"; cat real.txt; failed=1; }
grep -q '"command": "measure"' real/result.json || { echo "FAILED: real/result.json is no measurement"; failed=1; }
[ -s real/latency.hgrm ] || { echo "FAILED: real/latency.hgrm is missing"; failed=1; }

# KV-Direct: what cannot be is one line, and leaves nothing behind
cat > kvdirect.lua <<'END'
return { system = { kind = "kvdirect", memory = "4MiB" }, node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
         workload = { keys = 100e3, key = 8, value = 8, set = 0.5 }, run = { duration = "200us", warmup = "50us" } }
END
for command in run predict; do
    "$kvcast" $command kvdirect.lua --quiet >/dev/null || { echo "FAILED: kvdirect.lua, $command"; failed=1; }
done
expect 2 'leaves room for at most .* workload.keys are 1e\+06' "$kvcast" run kvdirect.lua --set workload.keys=1e6
expect 2 'system.inline: found 60, allowed: a whole number, from 0 to 50' "$kvcast" run kvdirect.lua --set system.inline=60
expect 2 'system.dispatch: found -0.5, allowed: a number, from 0 to 1' "$kvcast" run kvdirect.lua --set system.dispatch=-0.5
expect 2 'system.nics: found 10 with 2 links of 8 lanes each, the processors have 80 lanes' \
    "$kvcast" run kvdirect.lua --set system.nics=10
expect 2 'system.lambda: found no value at "frobnicate' \
    "$kvcast" run kvdirect.lua --set system.update=update --set 'system.lambda=frobnicate(v)'
expect 2 'node.gpu: kvdirect has none, its nodes have dma, fpga, nic' "$kvcast" run kvdirect.lua --set node.gpu=h200
expect 2 'node.dma: megakv has none' "$kvcast" run good.lua --set node.dma=catapult-pcie3-x8

expect 2 'found "nosuch".*papers \(kvdirect, megakv\).*measured machines' "$kvcast" validate nosuch
export KVCAST_MEASURED=machines
mkdir -p machines/tiny machines/bench_only && cp good.lua machines/tiny/
memory_fed="node.sockets=1;system.feed=memory;system.admission=all;system.streams=1;run.warmup=20ms;run.duration=60ms"
memory_fed+=";system.threads=shared;system.index_on=thread;node.cpu.cores=2"
printf 'id,scenario,overrides\nfull,good.lua,%s\nopen,good.lua,%s;workload.arrival.fixed_mops=0.1\n' "$memory_fed" "$memory_fed" \
    >machines/tiny/plan.csv
expect 2 'found "nosuch".*measured machines \(tiny\)' "$kvcast" validate nosuch
expect 2 'tiny/runs.csv: cannot read' "$kvcast" validate tiny
expect 2 'needs the NAME of a machine' "$kvcast" validate --measure
expect 2 'needs the NAME of a machine' "$kvcast" validate megakv --measure
expect 2 'belongs to --measure' "$kvcast" validate tiny --repetitions 2
expect 2 '--repetitions: found "0"' "$kvcast" validate tiny --measure --repetitions 0
expect 2 'writes runs.csv only' "$kvcast" validate tiny --measure --out scored
"$kvcast" validate tiny --measure --repetitions 2 --quiet >measured.txt || { echo "FAILED: validate --measure"; failed=1; }
[ "$(wc -l <machines/tiny/runs.csv)" -eq 3 ] || { echo "FAILED: machines/tiny/runs.csv"; failed=1; }
"$kvcast" validate tiny --update-baseline --quiet >/dev/null || { echo "FAILED: validate --update-baseline"; failed=1; }
"$kvcast" validate tiny --quiet --out scored --json scored.json >scored.txt ||
    { echo "FAILED: errors as large as the baseline's are no regression"; cat scored.txt; failed=1; }
grep -q '"closed_form_error_frac"' scored.json || { echo "FAILED: scored.json has no machine's cases"; failed=1; }
grep -q '^full,throughput_mops,0,,' scored/errors.csv || { echo "FAILED: scored/errors.csv"; failed=1; }
cp machines/tiny/runs.csv kept.csv
awk -F, -v OFS=, '$1 == "full" { $7 = 1e-9 } 1' kept.csv >machines/tiny/runs.csv
"$kvcast" validate tiny --quiet >/dev/null
[ $? -eq 1 ] || { echo "FAILED: an error that grew is a regression"; failed=1; }
cp kept.csv machines/tiny/runs.csv
sed -i '/^open,/s/;workload.arrival.fixed_mops=0.1//' machines/tiny/runs.csv
expect 2 'machines/tiny/runs.csv:3: run "open" is not what the plan says' "$kvcast" validate tiny
echo 'full,0,0' >>machines/tiny/runs.csv
sed -i '/^open,/d' machines/tiny/runs.csv
expect 2 'machines/tiny/runs.csv:3: found 3 columns, expected 14' "$kvcast" validate tiny
sed -i '$d' machines/tiny/runs.csv
expect 2 'machines/tiny/plan.csv:3: run "open" is planned but not in runs.csv' "$kvcast" validate tiny
echo 'far,missing.lua,' >>machines/tiny/plan.csv
expect 2 'missing.lua.*run far' "$kvcast" validate tiny --measure
unset KVCAST_MEASURED

[ -z "$(find . -name '*.partial')" ] || { echo "FAILED: partial files are left"; failed=1; }

exit $failed
