#!/usr/bin/env bash
# Mistakes of users, end to end: each gives one message with its place and the right exit status, and leaves nothing
# half-written.
# Usage: cli_test.sh KVCAST
scenarios=$(realpath "$(dirname "$0")/..")
source "$(dirname "$0")/cli_testing.sh"

scenario good ""
"$kvcast" run good.lua --out good --quiet >/dev/null || fail "a good scenario"
for file in result.json latency.hgrm cdf.csv windows.csv platform.xml timeline.json; do
    [ -s "good/$file" ] || fail "good/$file is missing"
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
expect 2 'good.lua:2: system.slab: found 120GiB' "$kvcast" run good.lua --set system.slab=120GiB --set node.sockets=8

scenario syntax "x = = 1"
expect 2 'syntax.lua:6' "$kvcast" run syntax.lua
scenario loop "slo = (function() while true do end end)()"
expect 2 'loop.lua:6.*loop' "$kvcast" run loop.lua
scenario memory "slo = (function() local t, kb = {}, string.rep('x', 1000) while true do t[#t + 1] = string.rep(kb, 1000 + #t) end end)()"
expect 2 'memory.lua:6.*MiB' "$kvcast" run memory.lua
scenario nan "slo = { mops = 0 / 0 }"
expect 2 'nan.lua:6' "$kvcast" run nan.lua

printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n2,frob,b,1,8\n' >bad.csv
expect 2 'bad.csv:3.*frob' "$kvcast" run good.lua --set workload.arrival.trace=bad.csv
printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n2,get,b' >cut.csv
expect 2 'cut.csv:3' "$kvcast" run good.lua --set workload.arrival.trace=cut.csv

# A power policy that a scenario writes itself: its errors have a line, whether the run finds them or the loader.
scenario policy 'power = { period = "100us", policy = function(observed) return { cpu = "1GHz" } end }'
expect 2 'policy.lua:6: power.policy: at 0.1 ms the function returned cpu = "1GHz", allowed: 2.6GHz' "$kvcast" run policy.lua
scenario policy 'power = { period = "100us", policy = function(observed) return observed.load.now end }'
expect 2 'policy.lua:6: .*load' "$kvcast" run policy.lua
printf 'return { system = { kind = "mica" }, power = { policy = "race_to_idle" } }' >mica.lua
expect 2 'mica.lua:1: power.policy: found with system.kind "mica", allowed only with megakv' "$kvcast" check mica.lua
expect 2 'policy.lua:6: power.policy: found another policy than "fixed", allowed in a measurement' "$kvcast" measure policy.lua
expect 2 'power.period: found 10s, allowed: less than run.duration' "$kvcast" check good.lua --set power.policy=manager

# Over nearly the whole run, a policy observes the same values that the run then reports: throughput, latencies, and
# power of CPU and GPU.
observing() { # BODY: runs a policy whose function, called once at 3.9 of 4 ms, has this body
    scenario observing "power = { period = \"3.9ms\", policy = function(o) $1 end }"
    "$kvcast" run observing.lua --set run.duration=4ms --set workload.arrival.poisson_mops=20 --quiet
}
observing "" >table || fail "a policy that only looks"
reported=$(sed -nE 's/^throughput +([0-9.]+).*/\1/p; s/^latency +mean ([0-9.]+).* p99 ([0-9.]+).*/\1 \2/p
    s/^ +cpu ([0-9.]+) W.*gpu ([0-9.]+) W.*/\1 \2/p' table)
observed=$(observing 'error(("%g %g %g %g"):format(o.served_mops, o.latency_mean_us, o.latency_p99_us, o.watts), 0)' 2>&1)
echo $reported "${observed#kvcast: observing.lua:6: }" | awk '
    function near(a, b) { return a > 0.95 * b && a < 1.05 * b }
    { exit !(NF == 9 && near($6, $1) && near($7, $2) && near($8, $3) && near($9, $4 + $5)) }' ||
    fail "a policy observes $observed, the run reports" $reported

# The capacity of a store: its own options, and loads without a rate.
expect 2 'capacity: --loss: found "2", allowed: a share from 0 to below 1' "$kvcast" capacity good.lua --loss 2
expect 2 'capacity: --loss: found "-0.1"' "$kvcast" capacity good.lua --loss -0.1
expect 2 'capacity: --latency: found "p98=1ms", allowed: mean, p50, p95, p99 or p999' "$kvcast" capacity good.lua --latency p98=1ms
expect 2 'capacity: --latency: found "p99=1parsec"' "$kvcast" capacity good.lua --latency p99=1parsec
interrupted() { # ends a capacity search once it reports progress; its first probe takes hours
    mkfifo progress
    "$kvcast" capacity good.lua --set run.warmup=1ms --set run.duration=10000s --long --json limit.json >/dev/null 2>progress &
    exec 3<progress
    read -r <&3
    kill -TERM $!
    cat <&3 >&2
    wait $!
}
expect 130 '^kvcast: interrupted in .*; no load has been judged yet$' interrupted
[ ! -e limit.json ] || fail "an interrupted search without an answer wrote a file"
scenario ends 'sweep = { ["run.duration"] = { "1ms", "10000s" } },'
ended() { # ends a sweep once its first point is stored; its second takes hours
    mkfifo points
    "$kvcast" sweep ends.lua --long --jobs 1 --out ends >/dev/null 2>points &
    exec 3<points
    while read -r line <&3 && [[ $line != *' 1/2 points'* ]]; do :; done
    kill -TERM $!
    grep -v '^kvcast: after' <&3 >&2
    wait $!
}
expect 130 '^kvcast: interrupted after 1 of 2 points, which ends/sweep.csv has; the same command goes on' ended
[ "$(grep -c '^[12],' ends/sweep.csv)" -eq 1 ] || fail "an interrupted sweep has no table of its points"
expect 2 'capacity: --precision: found "0", allowed: a share from 0.001 to 0.5' "$kvcast" capacity good.lua --precision 0
sed 's/keys = 1000/keys = 1000,\n    arrival = { clients = 8 }/' good.lua >closed.lua
expect 2 '^kvcast: closed.lua:5: workload.arrival: found clients, .* allows "saturate"' "$kvcast" capacity closed.lua
expect 2 '^kvcast: --set: workload.arrival: found clients' "$kvcast" capacity good.lua --set workload.arrival.clients=8
printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n' >good.csv
expect 2 'workload.arrival: found a trace, .* allows "saturate"' "$kvcast" capacity --quiet good.lua --set workload.arrival.trace=good.csv
# A check refuses the files that a run refuses.
printf '1,get,a,1,8,9\n' >wide.csv
printf 'timestamp,key,size\n1,a,8\n' >foreign.csv
sed 's/keys = 1000/keys = 1000, arrival = "saturate"/; s/^}/sweep = { ["workload.arrival.trace"] = { "good.csv", "wide.csv" } } }/' \
    good.lua >traces.lua
for command in check run predict; do
    expect 2 '^kvcast: wide.csv:1: the line has 6 columns, 5 are allowed' "$kvcast" $command good.lua --set workload.arrival.trace=wide.csv
    expect 2 '^kvcast: foreign.csv:1: the line has 3 of 5 columns' "$kvcast" $command good.lua --set workload.arrival.trace=foreign.csv
    expect 2 'none.csv cannot be read' "$kvcast" $command good.lua --set workload.arrival.trace=none.csv
done
expect 2 '^kvcast: wide.csv:1: ' "$kvcast" check traces.lua
expect 2 '^kvcast: wide.csv:1: ' "$kvcast" sweep traces.lua --out traces
expect 2 'missing/capacity.json.*kvcast capacity' "$kvcast" plot missing/capacity.json -k capacity -o picture.svg
expect 2 'good/result.json.*is not a document of kvcast capacity' "$kvcast" plot good/result.json -k capacity -o picture.svg

: >file
expect 2 'file' "$kvcast" capacity good.lua --out file/results
expect 2 'file' "$kvcast" run good.lua --out file/results
mkdir kept && echo old >kept/result.json
expect 2 'cut.csv:3' "$kvcast" run good.lua --set workload.arrival.trace=cut.csv --out kept
[ "$(cat kept/result.json)" = old ] || fail "a failed run replaced an old result"

# A store without GPU and pipeline: an impossible configuration is refused in one line and leaves no files.
cat > kvdirect.lua <<'END'
return { system = { kind = "kvdirect", memory = "4MiB" }, node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
         workload = { keys = 100e3, key = 8, value = 8, set = 0.5 }, run = { duration = "200us", warmup = "50us" } }
END
for command in run predict; do
    "$kvcast" $command kvdirect.lua --quiet >/dev/null || fail "kvdirect.lua, $command"
done
expect 2 'leaves room for at most .* workload.keys asks for 1e\+06' "$kvcast" run kvdirect.lua --set workload.keys=1e6
expect 2 'system.inline: found 60, allowed: a whole number, from 0 to 50' "$kvcast" run kvdirect.lua --set system.inline=60
expect 2 'system.dispatch: found -0.5, allowed: a number, from 0 to 1' "$kvcast" run kvdirect.lua --set system.dispatch=-0.5
expect 2 'system.nics: found 10 NICs with 2 links of 8 lanes each, allowed are 80 lanes' \
    "$kvcast" run kvdirect.lua --set system.nics=10
expect 2 'system.lambda: expected a value at "frobnicate' \
    "$kvcast" run kvdirect.lua --set system.update=update --set 'system.lambda=frobnicate(v)'
expect 2 'node.gpu: kvdirect has none, its nodes have pcie, fpga, nic' "$kvcast" run kvdirect.lua --set node.gpu=h200
expect 2 'node.fpga: megakv has none' "$kvcast" run good.lua --set node.fpga=catapult-stratix-v
expect 2 'node.pcie: ".*" does not state bulk copies' "$kvcast" run good.lua --set node.pcie=catapult-pcie3-x8
expect 2 'node.pcie: ".*" does not state packets' "$kvcast" run kvdirect.lua --set node.pcie=pcie3-k40c

# A result is replaced by the answer to the same question; another result is kept, unless the user says otherwise.
"$kvcast" run good.lua --out good --quiet >/dev/null || fail "the same run into the same folder"
[ ! -e good/older-1 ] || fail "the same result is kept twice"
cp -r good older
expect 0 'good/result.json: held another result \(kvcast run good.lua\), which is now in good/older-1$' \
    "$kvcast" run good.lua --seed 2 --out good
diff -r older good/older-1 || fail "the older result is not kept whole"
grep -q '"seed": 2,' good/result.json || fail "the new result does not replace the older one"
expect 0 'which is now in good/older-2$' "$kvcast" predict good.lua --out good
[ -e good/older-2/cdf.csv ] && [ ! -e good/cdf.csv ] || fail "a prediction stands beside files of a run: $(ls good)"
"$kvcast" run good.lua --out good --quiet --force >/dev/null || fail "run --force"
[ ! -e good/older-3 ] || fail "--force keeps a result"

# Values that are legal but senseless.
expect 2 '^kvcast: good.lua:5: run.duration: found 1us, in which [0-9]+ requests were sent and [0-9]+ answered' \
    "$kvcast" run good.lua --set run.duration=1us --set workload.arrival.poisson_mops=1
"$kvcast" run good.lua --quiet | grep -q '  the measured time of 1ms is too short for intervals: ' || fail "a short run has no note"
expect 0 '^kvcast: warning: .*workload.dist.zipf: found 10, with which 99.9 % of the requests go to one key' \
    "$kvcast" check good.lua --set workload.dist.zipf=10
expect 2 'workload.arrival.poisson_mops: found 1000Gops, with which the run needs' \
    "$kvcast" run good.lua --set workload.arrival.poisson_mops=1000Gops --set run.duration=1s

# Work that takes longer than a second tells of itself within that second, also if it reports nothing.
timeout 6 "$kvcast" run good.lua --set run.duration=100s --set run.functional=off >/dev/null 2>stderr
head -1 stderr | grep -qE '^kvcast: after [0-4]\.[0-9] s: [a-z ]+, [0-9.]+ %$' || fail "no sign of life: $(head -3 stderr)"
timeout 3 "$kvcast" run good.lua --set run.duration=100s --set run.functional=off --quiet >/dev/null 2>stderr
[ ! -s stderr ] || fail "--quiet shows $(cat stderr)"

# A total that lacks a device is a lower bound, which names the device and meets no objective.
"$kvcast" predict kvdirect.lua --set slo.watts=400 >partial.txt || fail "a store without the power of its host"
grep -q '^power  *at least 29.20 W; no power is stated for cpu, dram' partial.txt || fail "the power lacks the host"
grep -q '^price  *at least .*; no price is stated for' partial.txt || fail "the price lacks devices"
grep -q '^slo  *unknown: this answer has no complete power' partial.txt || fail "a partial power meets an objective"
grep -q 'kops/W' partial.txt && fail "requests per joule of a part of the machine"
"$kvcast" predict kvdirect.lua --json partial.json --quiet >/dev/null || fail "a partial power as JSON"
grep -A20 '"energy"' partial.json | grep -q '"kops_per_watt": null' || fail "requests per joule in JSON"
grep -A20 '"energy"' partial.json | grep -q '"missing": \["cpu", "dram"\]' || fail "missing devices in JSON"
"$kvcast" predict kvdirect.lua --set system.idle_power=87W | grep -q '^power  *116.2 W, .* kops/W' || fail "the whole power"

# The requests that were answered are fast, but half of the run answers hardly any: the worst window shows it. One replica of a
# run that changes tells no interval.
scenario outage 'slo = { p99 = "500us" }'
sed -i 's/duration = "1ms"/duration = "4ms", changes = { { at = "2ms", device = "node0.socket0.gpu", off = "5ms" } }/' outage.lua
outage=(outage.lua --set workload.arrival.poisson_mops=5 --set run.bottleneck=utilization)
"$kvcast" run "${outage[@]}" --json outage.json >stdout || fail "a run with an outage"
for line in '^throughput .*no interval: the load or the machine changes' '^  *met: p99 latency' \
    '^worst window  missed: .* take longer than 500 us .p99.' '^changes  *at 2 ms node0.socket0.gpu off for 5ms: does not recover'; do
    grep -qE "$line" stdout || fail "no \"$line\" in: $(cat stdout)"
done
[[ "$(sed -n '2p; 3p' stdout)" == throughput*offered*slo*"missed: in the worst window"* ]] || fail "no verdict in three lines: $(cat stdout)"
grep -q '"met": false' outage.json && grep -q '"worst_window"' outage.json || fail "outage.json does not miss the objective"
"$kvcast" run "${outage[@]}" --set run.replicas=2 | grep -E '^throughput .* \+- .*2 replicas' >/dev/null || fail "replicas without an interval"
"$kvcast" predict "${outage[@]}" --set slo.window=1ms | grep -q '^worst window  unknown' || fail "a closed form knows no windows"

# Files and names that a command cannot use.
expect 2 'good.lua:1: cannot be read as a JSON result of kvcast: ' "$kvcast" plot good.lua -k cdf -o picture.svg
expect 2 "plot: found -x, -y or --by with --kind cdf, allowed: --kind sweep" "$kvcast" plot good -k cdf -y hit_frac -o picture.svg
[ ! -e picture.svg ] || fail "a picture of a file that is not a result"

# What this machine can do; a program that is missing is named with what it is needed for.
# Traces: the description, its files, and what is wrong with others.
"$kvcast" trace "$(dirname "$0")/../examples/trace.csv" --out described --quiet >stdout || fail "trace"
grep -q '^requests    2000 in ' stdout || fail "trace says: $(cat stdout)"
grep -q '"schema": "kvcast.trace/1"' described/trace.json || fail "trace wrote no document"
[ "$(wc -l <described/trace.csv)" -eq 25 ] || fail "trace wrote $(wc -l <described/trace.csv) lines of the curve"
# Its twin is a trace, too, with its number of requests and nearly its misses.
"$kvcast" trace "$(dirname "$0")/../examples/trace.csv" --twin twin --json twin.json --quiet >stdout || fail "trace --twin: $(cat stdout)"
grep -qE '^twin        arrival = . trace = "twin" .; its LRU miss ratio is at most [0-9.]+ points off, at ' stdout || fail "trace --twin says: $(grep twin stdout)"
grep -q '"twin_miss_frac_off_max": 0[.]' twin.json || fail "the JSON lacks the twin: $(grep twin twin.json)"
"$kvcast" trace twin --quiet >stdout || fail "a twin is no trace: $(cat stdout)"
grep -qE '^requests    2000 in 0.0040' stdout || fail "the twin has $(grep requests stdout)"
echo "return { system = { kind = 'memcached' }, workload = { arrival = { trace = 'twin', misses = 'fill' } } }" >twin.lua
"$kvcast" run --quiet twin.lua >stdout || fail "a run of a twin: $(cat stdout)"
grep -q 'the trace (twin) has 2000 requests' stdout || fail "a run of a twin says: $(grep notes stdout)"
expect 2 'cannot open the trace "none.csv"' "$kvcast" trace none.csv --twin never.twin
[ ! -e never.twin ] || fail "a trace that cannot be read has a twin"
printf '\005\0\0\0' >cut.bin
gzip -c described/trace.csv | head -c 30 >cut.gz
printf '1,k,1,1,1,get,0\n0,k,1,1,1,get,0\n' >back.csv
printf 'key,op,size,op_count,key_size\n1,GET,5,2,4\n' >untimed.csv
expect 2 '^kvcast: cut.bin:1: record 1 has 4 of 24 bytes' "$kvcast" trace cut.bin
expect 2 '^kvcast: cut.gz: the compressed file is cut off' "$kvcast" trace cut.gz
expect 2 '^kvcast: back.csv:2: the time goes back' "$kvcast" trace back.csv
expect 2 'cannot open the trace "none.csv"' "$kvcast" trace none.csv
expect 2 'has no times, so workload.arrival.mops must state a rate' "$kvcast" run --quiet good.lua --set workload.arrival.trace=untimed.csv
echo "return { system = { kind = 'memcached' }, workload = { arrival = { trace = 'untimed.csv', mops = 0.1 } } }" >untimed.lua
"$kvcast" run --quiet untimed.lua >stdout || fail "untimed"
grep -q '^requests      2 completed' stdout || fail "an untimed trace: $(cat stdout)"
# A trace in front of a database: GETs that miss ask it, and SETs are updates that delete the pair.
printf '0,get,a,1,8\n20000,get,a,1,8\n40000,set,a,1,8\n60000,get,a,1,8\n80000,get,a,1,8\n' >asked.csv
for store in "megakv, sockets = 1" "bluecache" "memcached, sockets = 1" "fatcache, sockets = 1"; do
    echo "return { system = { kind = '${store%%,*}' }, node = { database = 'mysql-bg'${store#"${store%%,*}"} },
        workload = { arrival = { trace = 'asked.csv' } } }" >asked.lua
    "$kvcast" run --quiet asked.lua >stdout 2>stderr || fail "$store with a database: $(cat stderr)"
    grep -q 'hit ratio 50.00 %' stdout || fail "$store asks a database: $(grep requests stdout)"
    grep -qE 'database_queries +2$' stdout && grep -qE 'database_updates +1$' stdout ||
        fail "$store asks a database: $(grep database_ stdout)"
done
echo "return { system = { kind = 'rdma' }, workload = { arrival = { trace = 'asked.csv' } } }" >asked.lua
"$kvcast" run --quiet asked.lua >stdout || fail "rdma with a trace"
grep -q 'rdma has no table: every GET counts as a hit' stdout || fail "rdma does not tell that it has no table"
# A trace of GETs is a cache: with room for all, every repeated key is a hit.
printf '1,get,a,1,8\n2000,get,b,1,8\n4000,get,a,1,8\n6000,get,a,1,8\n' >gets.csv
for store in megakv dido kvdirect bluecache memcached mica fatcache fpga_memcached; do # MemcachedGPU batches them.
    echo "return { system = { kind = '$store' }, workload = { arrival = { trace = 'gets.csv', misses = 'fill', speed = 0.1 } } }" >gets.lua
    "$kvcast" run --quiet gets.lua >stdout 2>stderr || fail "$store with a trace: $(cat stderr)"
    grep -q 'hit ratio 50.00 %' stdout || fail "$store fills misses: $(grep requests stdout)"
done
"$kvcast" predict --quiet gets.lua >stdout || fail "predict of a trace"
grep -q '^throughput    6.667e-05 Mops' stdout && grep -q 'predicted for the mean rate of the trace, 6.667e-05 Mops' stdout ||
    fail "predict of a trace says: $(cat stdout)"
# A sweep forecasts the same. Half of the GETs repeat a key.
echo "return { system = { kind = 'memcached' }, sweep = { ['system.entries'] = { 16, 32 } }, workload = { arrival = {
    trace = 'gets.csv', misses = 'fill', speed = 0.1 } } }" >gets.lua
"$kvcast" sweep --predict --quiet gets.lua --out forecast >stdout || fail "sweep of a trace by closed form"
[ "$(grep -c ',6.66666666667e-05,,0.5,' forecast/sweep.csv)" -eq 2 ] || fail "sweep of a trace says: $(cat forecast/sweep.csv)"
# So is an open load: half of the keys are stored, and each of the others misses once or a little more often.
for store in megakv dido kvdirect bluecache memcached mica fpga_memcached; do
    echo "return { system = { kind = '$store' }, run = { warmup = '30ms', duration = '10ms', replicas = 1 }, workload = {
        keys = 2000, get = 1, set = 0, preload = 0.5, arrival = { poisson_mops = 1, misses = 'fill' } } }" >filled.lua
    "$kvcast" run --quiet filled.lua >stdout 2>stderr || fail "$store with fill on miss: $(cat stderr)"
    grep -q 'hit ratio 100.00 ' stdout && grep -qE 'clients filled what missed with 1[0-9]{3} SETs, besides the requests' stdout ||
        fail "$store fills misses of an open load: $(grep -E 'requests|filled' stdout)"
done
"$kvcast" predict --quiet filled.lua | grep -q 'leaves out the SETs by which clients fill misses' || fail "predict of filled misses"
"$kvcast" doctor >stdout || fail "doctor"
grep -qE '^processors  [0-9]+: ' stdout || fail "doctor says: $(cat stdout)"
PATH=/nowhere "$kvcast" doctor --json doctor.json >stdout || fail "doctor without programs"
grep -A 1 '^gnuplot     not installed$' stdout | grep -q 'apt-get install gnuplot-nox' || fail "doctor says: $(cat stdout)"
grep -q '"schema": "kvcast.doctor/1"' doctor.json || fail "no document of doctor"

# Results side by side.
"$kvcast" compare good.lua --set workload.value=64 --quiet --out pair --json pair.json >stdout || fail "compare: $(cat stdout)"
for line in '^A  good.lua  .good: megakv, run.' '^B  workload.value=64 ' '^throughput, Mops  ' '^workload.value  *8  *64$'; do
    grep -qE "$line" stdout || fail "no \"$line\" in: $(cat stdout)"
done
cmp pair.json pair/compare.json || fail "compare: --json and --out differ"
for file in compare.csv A/result.json B/result.json latency_cdf.svg; do
    [ -s "pair/$file" ] || fail "pair/$file is missing"
done
"$kvcast" compare pair/A good --quiet --json - | grep -q '"parameters": \[\]' || fail "the same scenario has other parameters"
expect 2 'compare: found 1 result, allowed: 2 to 8 results or scenarios' "$kvcast" compare good
expect 2 'compare: found --set beside "good", which is a result' "$kvcast" compare good pair/A --set run.seed=2
expect 2 'nowhere: cannot be read as a JSON result of kvcast' "$kvcast" compare good nowhere
expect 2 'is not a result of kvcast' "$kvcast" compare good pair/compare.json
expect 2 'unknown key "cylce" in system' "$kvcast" compare good.lua --set run.seed=2 --set system.cylce=1us --out never
[ ! -e never ] || fail "a comparison of a scenario with a mistake writes a folder"

expect 2 'describe: found "nonsense", allowed: a name from kvcast list, a section such as run, or an option' \
    "$kvcast" describe nonsense
expect 2 'node.cpu: found 1 cores, too few .* allowed: more cores' "$kvcast" run good.lua --set node.cpu.cores=1

# Every scenario that comes with kvcast loads, with every value of its sweep.
find "$scenarios/examples" "$scenarios/papers" -name '*.lua' >files
[ -s files ] || fail "no scenario in $scenarios"
xargs -P 2 -n 1 "$kvcast" check --json - <files >/dev/null 2>stderr || fail "a scenario: $(grep -v warning: stderr)"

finish
