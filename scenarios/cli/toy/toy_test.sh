#!/usr/bin/env bash
# One store is one folder: through the registries alone, every command works with a store and a device of this folder,
# and the answers match queueing theory. Usage: toy_test.sh KVCAST_TOY
toy=$(realpath "$(dirname "$0")")
source "$toy/../cli_testing.sh"

# The program finds its data where KVCAST_DATA says, in the layout of the source tree.
export KVCAST_DATA=$folder/data
mkdir -p data/scenarios/examples data/validate/papers
ln -s "$toy/hardware" data/scenarios/hardware
ln -s "$toy/../../../plots" data/plots
cp "$toy/toy.lua" data/scenarios/examples/
cp -r "$toy/papers/toy" data/validate/papers/
cp "$toy/toy.lua" .

says() { # PATTERN COMMAND...: the command succeeds and a line of its output matches
    local pattern=$1
    shift
    "$@" >said 2>&1 </dev/null || fail "$*: $(cat said)"
    grep -qE -- "$pattern" said || fail "$*: no line like \"$pattern\": $(head -5 said)"
}

number() { # FILE KEY: the number of a key in a JSON document, or the first one of its table
    sed -n "/\"$2\": {/{n;s/.*: \([0-9.e+-]*\),*$/\1/p;q}; s/.*\"$2\": \([0-9.e+-]*\),*$/\1/p" "$1" | head -1
}

near() { # WHAT FOUND EXPECTED TOLERANCE: |found / expected - 1| <= tolerance
    awk -v found="$2" -v expected="$3" -v tolerance="$4" \
        'BEGIN { error = found / expected - 1; exit !(found != "" && error <= tolerance && -error <= tolerance) }' ||
        fail "$1: found \"$2\", expected $3 within $4"
}

# The loader knows the store, its options and its device, and reports where a mistake is.
says 'system.work +1 +default' "$kvcast" check toy.lua
says 'node.toydev.speed +1Mops +made up' "$kvcast" check toy.lua
says 'system.work +2 +--set' "$kvcast" check toy.lua --set system.work=2
says 'node.toydev.speed +2Mops +--set' "$kvcast" check toy.lua --set node.toydev.speed=2
refuse() { # PATTERN SYSTEM NODE: a scenario with these tables in lines 2 and 3
    printf 'return {\n  system = { kind = "toy"%s },\n  node = { %s },\n}\n' "$2" "$3" >refused.lua
    expect 2 "$1" "$kvcast" check refused.lua
}
refuse 'refused.lua:2: unknown key "wrok" in system; did you mean "work"' ', wrok = 1' ''
refuse 'refused.lua:2: system.work: found 0, allowed: a number, from 0.001 to 1000' ', work = 0' ''
refuse 'refused.lua:3: unknown key "toydve" in node; did you mean "toydev"' '' 'toydve = "toydev-1mops"'
refuse 'refused.lua:3: node.toydev.speed: found "2GB"' '' 'toydev = { speed = "2GB" }'
refuse 'refused.lua:3: .*no hardware profile "toydev-2mops"; did you mean "toydev-1mops"' '' 'toydev = "toydev-2mops"'
expect 2 'cluster.nodes: found 2, allowed: 1' "$kvcast" check toy.lua --set cluster.nodes=2
expect 2 'no measured runtime' "$kvcast" measure toy.lua

# The commands that list and describe also know the store and its device.
says '^ *toy +the smallest store' "$kvcast" list systems
says '^ *toydev-1mops +toydev +device that serves' "$kvcast" list hardware
says 'examples/toy.lua +A single server at half load' "$kvcast" list scenarios
says 'p99 = "[0-9.]+us"' "$kvcast" new # Half of its rate: 1 us of service and 0.5 us of waiting, five times.
cp said new.lua
says 'throughput +0.50* Mops of 0.5' "$kvcast" predict new.lua
says '^ *work +number +0.001 .. 1000 +1 ' "$kvcast" describe toy
says '^ *toydev +text .* toy$' "$kvcast" describe node
says '^ *speed +Mops +1Kops .. 1Gops ' "$kvcast" describe toydev
says 'Units of work per second' "$kvcast" describe node.toydev.speed
says '^ *speed +1Mops +made up' "$kvcast" describe toydev-1mops
says 'node.* has these devices' "$kvcast" --help=markdown

# A single server: throughput is the smaller of load and capacity, and latency follows the M/D/1
# queue.
"$kvcast" run toy.lua --quiet --json run.json >run.txt || fail "run: $(cat run.txt)"
near "run, throughput" "$(number run.json throughput_mops)" 0.5 0.02
near "run, mean latency" "$(number run.json latency_us)" 1.5 0.03
[ "$(number run.json activities)" -gt 20000 ] || fail "the engine had nothing to do"
"$kvcast" run toy.lua --quiet --set workload.arrival.poisson_mops=3 --set run.warmup=1ms \
    --set run.duration=10ms --json over.json >run.txt ||
    fail "run: $(cat run.txt)"
near "overload, throughput" "$(number over.json throughput_mops)" 1 0.001
"$kvcast" predict toy.lua --json predict.json >predict.txt || fail "predict: $(cat predict.txt)"
near "predict, mean latency" "$(number predict.json latency_us)" 1.5 1e-9
for jobs in 1 2; do
    "$kvcast" run toy.lua --quiet --set run.replicas=2 --jobs $jobs --out jobs$jobs >/dev/null || fail "run --jobs $jobs"
done
cmp jobs1/latency.hgrm jobs2/latency.hgrm || fail "results depend on the number of jobs"

sed 's/^  run = .*/  run = { warmup = "1ms", duration = "1ms" },\n  sweep = { ["node.toydev.speed"] = { 1, 2 }, ["system.work"] = { 1, 4 } },/
     s/arrival = .* }/arrival = "saturate" }/' toy.lua >sweep.lua
"$kvcast" sweep sweep.lua --quiet --out swept >sweep.txt || fail "sweep: $(cat sweep.txt)"
while IFS=, read -r speed work mops; do
    near "sweep, speed $speed and work $work" "$mops" "$(awk "BEGIN { print $speed / $work }")" 0.01
done < <(tail -n +2 swept/sweep.csv | cut -d, -f2-4)
[ "$(wc -l <swept/sweep.csv)" -eq 5 ] || fail "swept/sweep.csv has not 4 points"

# The device changes during a run: an outage shows as windows without completions and no request is lost; half the clock
# is half the throughput. Power follows: 30 W, 18 W at half the clock, none while the device is off.
changed() { # NAME ARRIVAL WARMUP CHANGES: runs a scenario with these changes of its device
    printf 'return {\n  system = { kind = "toy" },\n  workload = { keys = 1000, arrival = %s },\n' "$2" >"$1.lua"
    printf '  run = { warmup = "%s", duration = "20ms",\n    changes = { %s } },\n}\n' "$3" "$4" >>"$1.lua"
    "$kvcast" run "$1.lua" --quiet --out "$1" >"$1.txt" || fail "run $1.lua: $(cat "$1.txt")"
}
off='{ at = "5ms", device = "node0.toydev", off = "2ms" }'
changed off '"saturate"' 1ms "$off"
near "outage, windows without completions [us]" "$(awk -F, '$2 == 0 { n++ } END { print 50 * n }' off/windows.csv)" 2000 0.05
near "outage, throughput" "$(number off/result.json throughput_mops)" 0.9 0.001
near "outage, watts" "$(number off/result.json watts_mean)" 27 0.001
changed calm '{ poisson_mops = 0.5 }' 1ms ''
changed upset '{ poisson_mops = 0.5 }' 1ms "$off"
near "outage, completed" "$(number upset/result.json completed)" "$(number calm/result.json completed)" 1e-3
for warmup in 1ms auto; do
    changed slow '"saturate"' $warmup '{ at = "0ms", device = "node0.toydev", clock = "500kHz" }'
    near "half the clock, throughput" "$(number slow/result.json throughput_mops)" 0.5 0.001
    near "half the clock, watts" "$(number slow/result.json watts_mean)" 18 0.001
    changed half '"saturate"' $warmup '{ at = "10ms", device = "node0.toydev", clock = "500kHz" }'
    near "half the clock for half the time, throughput" "$(number half/result.json throughput_mops)" 0.75 0.001
done
expect 2 'off.lua:5: run.changes: found changes of devices during the run' "$kvcast" capacity off.lua
sed -i 's/node0.toydev/node0.toydve/' off.lua
for command in check run; do
    expect 2 'off.lua:5: run.changes.1.device: found "node0.toydve"; did you mean "node0.toydev"' "$kvcast" $command off.lua
done
sed -i 's/node0.toydve/node0.toydev/; s/"5ms"/"20ms"/' off.lua
expect 2 'off.lua:5: run.changes.1.at: found 20ms, allowed: less than run.duration, 20ms' "$kvcast" run off.lua --out never
[ ! -e never ] || fail "a refused run writes a folder"
sed -i 's/"20ms", device/"-1ms", device/' off.lua
expect 2 'off.lua:5: run.changes.1.at: found "-1ms"' "$kvcast" check off.lua

# The capacity is the rate of the device, however many jobs find it, and a latency bound gives the load of the formula.
for jobs in 1 4; do
    "$kvcast" capacity toy.lua --quiet --set run.duration=1ms --precision 0.05 --jobs $jobs --out capacity$jobs \
        --json capacity$jobs.json >capacity.txt || fail "capacity: $(cat capacity.txt)"
    cmp capacity$jobs.json capacity$jobs/capacity.json || fail "--json and --out differ"
done
diff -r -x '*.pdf' capacity1 capacity4 || fail "the capacity depends on the number of jobs"
grep -q '^capacity .* Mops  (.*)$' capacity.txt || fail "capacity prints: $(head -4 capacity.txt)"
between() { # FILE MOPS: the interval of the capacity contains it
    awk -v low="$(number "$1" low)" -v high="$(number "$1" high)" -v mops="$2" \
        'BEGIN { exit !(low != "" && low <= mops && mops <= high && high - low < 0.1 * mops) }' ||
        fail "$1: $2 Mops is not in $(number "$1" low) .. $(number "$1" high)"
}
between capacity1.json 1
near "closed form" "$(number capacity1.json closed_form_mops)" 1 1e-4
[ "$(grep -c ',1,3,3,' capacity1/capacity.csv)" -ge 12 ] || fail "capacity.csv has no latency curve"
for file in capacity.json capacity.csv capacity.svg capacity.pdf capacity.png; do
    [ -s "capacity1/$file" ] || fail "capacity1/$file is missing"
done
"$kvcast" plot capacity1 -k capacity --wide -o wide.pdf || fail "plot -k capacity"
"$kvcast" capacity toy.lua --quiet --set run.duration=5ms --precision 0.05 --latency mean=1.5us --json bounded.json >/dev/null || fail "--latency"
between bounded.json 0.5
near "closed form, bounded" "$(number bounded.json closed_form_mops)" 0.5 1e-4
expect 3 'no load meets the bounds: at [0-9.e-]* Mops, .*, the latency p99 is .* us, above the bound of 0.001 us' \
    "$kvcast" capacity toy.lua --set run.duration=1ms --latency p99=1ns --json none.json
[ ! -e none.json ] || fail "a capacity that does not exist is written"

# Published values, here computed from the formulas, are scored; a miss is a regression.
"$kvcast" validate toy --elasticities --quiet || fail "elasticities"
"$kvcast" validate toy --update-baseline --quiet >accepted.txt || fail "a baseline: $(cat accepted.txt)"
grep -q 'toy: 6 points, .* 0 outside their tolerance' accepted.txt || fail "scores: $(cat accepted.txt)"
sed -i '1b; /^half-load-latency,/!d; s/latency_mean_us,1.5,,,0.03/latency_mean_us,1.8,,,0.03/' data/validate/papers/toy/cases.csv
"$kvcast" validate toy --quiet >missed.txt
[ $? -eq 1 ] || fail "a miss is no regression: $(cat missed.txt)"

sed -i '2,$d; 1a x,capacity,scenarios/examples/toy.lua,capacity.losss=1,throughput_mops,1,,,0.1,prediction,,' data/validate/papers/toy/cases.csv
printf 'case,parameter,elasticity\nx,system.work,-1\n' >data/validate/papers/toy/elasticities.csv
expect 2 'found "capacity.losss=1", allowed: capacity.loss, capacity.latency and capacity.precision' \
    "$kvcast" validate toy --quiet

# The shared code needs no store: none is in the program. Stores are the folders with golden runs.
nm "$kvcast" >symbols
grep -q ' kvc_toy_' symbols || fail "the program's symbols are not known"
for store in "$toy"/../../../models/*/golden/; do
    store=$(basename "$(dirname "$store")")
    ! grep -q " kvc_${store}_" symbols || fail "the program contains $store"
done

finish
