#!/usr/bin/env bash
# kvcast validate: a machine's plan is measured and scored, and a mistake in its files is reported with file and line.
# Usage: cli_test_validate.sh KVCAST
script=$(realpath "$0")
source "$(dirname "$0")/../../scenarios/cli/cli_testing.sh"

scenario good ""
expect 2 'found "nosuch".*papers \(bluecache, composed, dido, kvdirect, megakv, memcachedgpu\).*measured machines' "$kvcast" validate nosuch
export KVCAST_MEASURED=machines
mkdir -p machines/tiny machines/bench_only && cp good.lua machines/tiny/
memory_fed="node.sockets=1;system.feed=memory;system.streams=1;run.warmup=auto;run.duration=20ms"
# Two cores are enough, and large values keep the number of prepared requests small.
memory_fed+=";workload.value=1000;workload.get=0.5;workload.set=0.5;system.threads=shared;system.index_on=thread;node.cpu.cores=2"
printf 'id,scenario,load_frac,of,overrides\nfull,good.lua,,,%s\nopen,good.lua,0.5,full,%s\nhidden,good.lua,,,%s\n' "$memory_fed" "$memory_fed" "$memory_fed" \
    >machines/tiny/plan.csv
expect 2 'found "nosuch".*measured machines \(tiny\)' "$kvcast" validate nosuch
expect 2 'tiny/runs.csv: cannot read' "$kvcast" validate tiny
expect 2 'needs the NAME of a machine' "$kvcast" validate --measure
expect 2 'needs the NAME of a machine' "$kvcast" validate megakv --measure
expect 2 '--unseen needs the NAME of a machine' "$kvcast" validate megakv --unseen
expect 2 '--unseen only prints and logs' "$kvcast" validate tiny --unseen --update-baseline
expect 2 '--elasticities needs the NAME of a paper' "$kvcast" validate tiny --elasticities
expect 2 'more than one of --measure, --elasticities, --identify, --unseen and --accuracy' "$kvcast" validate tiny --measure --unseen
expect 2 'only allowed with --measure' "$kvcast" validate tiny --repetitions 2
expect 2 '--repetitions: found "-1"' "$kvcast" validate tiny --measure --repetitions -1
expect 2 'plan.csv: has no pairs, which are all that --repetitions 0 measures' "$kvcast" validate tiny --measure --repetitions 0
expect 2 '--pairs: found "11"' "$kvcast" validate tiny --measure --pairs 11
expect 2 'writes runs.csv only' "$kvcast" validate tiny --measure --out scored
expect 2 '--calibrations: found "x"' "$kvcast" validate tiny --measure --calibrations x
expect 2 '--resume is only allowed with --measure' "$kvcast" validate tiny --resume
"$kvcast" validate tiny --measure --calibrations 0 --repetitions 2 --quiet >measured.txt || fail "validate --measure"
[ ! -e machines/tiny/runs.unfinished.csv ] || fail "machines/tiny/runs.unfinished.csv is left"
# An interrupted measurement continues with the runs that it has.
awk -F, -v OFS=, 'NR == 2 { $12 = 12345 } NR < 3' machines/tiny/runs.csv >machines/tiny/runs.unfinished.csv
"$kvcast" validate tiny --measure --calibrations 0 --repetitions 1 --resume --quiet >/dev/null || fail "validate --resume"
grep -q '^full,.*,12345,' machines/tiny/runs.csv || fail "--resume measures everything again"
"$kvcast" validate tiny --measure --calibrations 0 --repetitions 1 --quiet >/dev/null || fail "validate --measure"
[ "$(wc -l <machines/tiny/runs.csv)" -eq 4 ] || fail "machines/tiny/runs.csv"
# On a busy machine, no interval is narrow enough to score these short runs.
narrow() { awk -F, -v OFS=, -v half="$1" 'NR > 1 { for (i = 21; i <= 25; i++) $i = half } 1' machines/tiny/runs.csv >narrow.csv && cp narrow.csv machines/tiny/runs.csv; }
narrow 0.5
"$kvcast" validate tiny --quiet >undecided.txt || { fail "undecidable readings cannot regress"; cat undecided.txt; }
grep -q 'throughput_mops.*undecidable' undecided.txt || { fail "a wide interval is undecidable"; cat undecided.txt; }
narrow 0.001
"$kvcast" validate tiny --update-baseline --quiet >/dev/null || fail "validate --update-baseline"
"$kvcast" validate tiny --quiet --out scored --json scored.json >scored.txt ||
    { fail "errors as large as the baseline's are no regression"; cat scored.txt; }
grep -q hidden scored.txt scored.json scored/errors.csv machines/tiny/baseline.csv && fail "the third run is unseen"
expect 2 'set KVCAST_COMMIT' "$kvcast" validate tiny --unseen --quiet
KVCAST_COMMIT=v9 "$kvcast" validate tiny --unseen --quiet >unseen.txt || fail "validate --unseen"
grep -q '^hidden ' unseen.txt && ! grep -q '^full ' unseen.txt || fail "--unseen shows the unseen runs alone"
grep -Eq '^[0-9]{4}-[0-9]{2}-[0-9]{2},v9,throughput_mops,1,' machines/tiny/unseen.log || fail "unseen.log"
grep -q '"closed_form_error_frac"' scored.json || fail "scored.json has no machine's cases"
grep -q '^full,throughput_mops,,' scored/errors.csv || fail "scored/errors.csv"
cp machines/tiny/runs.csv kept.csv
awk -F, -v OFS=, '$1 == "full" { $12 = 1e-9; $21 = 0.001 } 1' kept.csv >machines/tiny/runs.csv
"$kvcast" validate tiny --quiet >/dev/null
[ $? -eq 1 ] || fail "an error that grew is a regression"
cp kept.csv machines/tiny/runs.csv
# A run whose cores, or whose memory, were seen to be slower than in the calibration is forecast to be slower, by no more than they
# were.
state_of() { # OPTION PROFILE COLUMN RUN KEY: scores the runs with this state of the machine; the profile may be empty
    sed -i "s/node.cpu.cores=2\(;$1=[0-9.a-z]*\)\?/node.cpu.cores=2${2:+;$1=$2}/" machines/tiny/plan.csv machines/tiny/runs.csv
    awk -F, -v OFS=, -v column="$3" -v state="$4" 'NR > 1 { $column = state } 1' machines/tiny/runs.csv >state.csv
    cp state.csv machines/tiny/runs.csv
    "$kvcast" validate tiny --quiet --json speed.json >speed.txt
    [ $? -le 1 ] || { fail "$1 $4 of ${2:-unknown}"; cat speed.txt; }
    # The first case of the list is the throughput of the run "full".
    for key in closed_form simulated "$5"; do
        grep -m 1 -oE "\"$key\": [0-9nul][^,]*" speed.json | cut -d ' ' -f 2
    done | paste -sd ' '
}
speed_of() { state_of node.cpu.core_speed "$1" 9 "$2" core_speed_frac; }
memory_of() { state_of node.dram.watched_line "$1" 27 "$2" memory_speed_frac; }
read -r predicted simulated none <<<"$(speed_of "" 1.8)"
[ "$none" = null ] || fail "core_speed_frac without a calibrated speed is $none"
[ "$(speed_of 2 2)" = "$predicted $simulated 1.0" ] || fail "the same speed changes the forecast"
read -r slow_predicted slow_simulated frac <<<"$(speed_of 2 1.8)"
awk -v a="$predicted" -v b="$slow_predicted" -v c="$simulated" -v d="$slow_simulated" -v frac="$frac" \
    'BEGIN { exit !(frac == 0.9 && b < 0.99 * a && b >= 0.9 * a && d < 0.99 * c && d > 0.88 * c) }' ||
    fail "cores at $frac of their speed: $predicted and $simulated Mops became $slow_predicted and $slow_simulated"
grep -q '^full .* 90.0 % ' speed.txt || { fail "the table has no core speed"; cat speed.txt; }
speed_of "" 1.8 >/dev/null
cp kept.csv machines/tiny/runs.csv
[ "$(memory_of 100ns 100)" = "$predicted $simulated 1.0" ] || fail "memory of the same speed changes the forecast"
read -r slow_predicted slow_simulated frac <<<"$(memory_of 100ns 125)"
awk -v a="$predicted" -v b="$slow_predicted" -v c="$simulated" -v d="$slow_simulated" -v frac="$frac" \
    'BEGIN { exit !(frac == 0.8 && b < 0.99 * a && b >= 0.8 * a && d < 0.99 * c && d > 0.78 * c) }' ||
    fail "memory at $frac of its speed: $predicted and $simulated Mops became $slow_predicted and $slow_simulated"
grep -q '^full .* 80.0 % ' speed.txt || { fail "the table has no memory speed"; cat speed.txt; }
memory_of "" 125 >/dev/null
# Stalls that a measurement met are an input of another forecast of the tail, which is not scored.
awk -F, -v OFS=, -v stalls="node.stalls.1.length=2ms;node.stalls.1.every=5ms" '$1 == "open" { $14 = 400; $30 = 7000; $31 = stalls } 1' kept.csv >machines/tiny/runs.csv
"$kvcast" validate tiny --quiet >tails.txt
grep -Eq 'open: measured 7000 us in all windows \(400 us in the quiet ones\); simulation [0-9.e+]+ \+- [0-9.e+]+ us with the measured stalls \([0-9.]+ us without\)' tails.txt ||
    { fail "validate shows no tail with stalls"; cat tails.txt; }
sed -nE 's/.*simulation ([^ ]+) .*stalls \(([^ ]+) us without.*/\1 \2/p' tails.txt | awk '{ exit !($1 > 2 * $2) }' || { fail "stalls do not lengthen the tail"; cat tails.txt; }
# Files of earlier measurements lack the memory and the stalls.
cut -d, -f 1-26 kept.csv >machines/tiny/runs.csv
[ "$(state_of node.cpu.core_speed "" 9 "" memory_speed_frac)" = "$predicted $simulated null" ] || fail "runs.csv without the memory"
cp kept.csv machines/tiny/runs.csv
# Pairs are measured in turns, whose ratio is compared with that of two forecasts; the third one is unseen.
cp machines/tiny/plan.csv plain.csv
awk -v OFS=, 'NR == 1 { print $0 ",against"; next } { print $0 "," }' plain.csv >machines/tiny/plan.csv
for pair in one two three; do echo "$pair,good.lua,,,$memory_fed,workload.value=4000"; done >>machines/tiny/plan.csv
expect 2 'tiny/pairs.csv: cannot read' "$kvcast" validate tiny
"$kvcast" validate tiny --measure --calibrations 0 --repetitions 0 --pairs 12 --quiet >/dev/null || fail "validate --measure of pairs"
cmp kept.csv machines/tiny/runs.csv || fail "--repetitions 0 changes runs.csv"
awk -F, -v OFS=, 'NR > 1 { $17 = 0.5; $18 = 0.001 } 1' machines/tiny/pairs.csv >pairs.csv && cp pairs.csv machines/tiny/pairs.csv
"$kvcast" validate tiny --update-baseline --quiet >/dev/null || fail "validate --update-baseline with pairs"
"$kvcast" validate tiny --quiet --json pairs.json >pairs.txt || { fail "pairs are as good as their baseline"; cat pairs.txt; }
grep -Eq '^one +throughput_mops' pairs.txt && ! grep -q '^three' pairs.txt || { fail "seen pairs are shown"; cat pairs.txt; }
grep -Eq 'throughput_mops +2 +0 .* 2 of 2' pairs.txt || { fail "both seen pairs are slower, and forecast so"; cat pairs.txt; }
grep -q '"against": "workload.value=4000"' pairs.json || fail "pairs.json"
# Files of earlier measurements lack the energy.
cut -d, -f 1-42 machines/tiny/pairs.csv >pairs.csv && cp pairs.csv machines/tiny/pairs.csv
"$kvcast" validate tiny --quiet >earlier.txt && cmp pairs.txt earlier.txt || fail "pairs.csv without the energy"
sed -i '/^one,/s/,0.5,0.001/,2,0.001/' machines/tiny/pairs.csv
"$kvcast" validate tiny --quiet >/dev/null
[ $? -eq 1 ] || fail "the error of a pair that grew is a regression"
sed -i '/^one,/s/workload.value=4000/workload.value=2000/' machines/tiny/pairs.csv
expect 2 'machines/tiny/pairs.csv:2: pair "one" differs from the plan' "$kvcast" validate tiny
sed -i '/^one,/d' machines/tiny/pairs.csv
expect 2 'machines/tiny/plan.csv:5: pair "one" is planned but not in pairs.csv' "$kvcast" validate tiny
sed -i '/^two,/s/,12,/,0,/' machines/tiny/pairs.csv
expect 2 'machines/tiny/pairs.csv:2: pairs: found "0", expected a whole number from 1' "$kvcast" validate tiny
cp plain.csv machines/tiny/plan.csv
sed -i 's/run.warmup=auto/run.warmup=1ms/' machines/tiny/plan.csv machines/tiny/runs.csv
expect 2 'machines/tiny/plan.csv:2: run.warmup: .*a fixed warm-up cannot be scored' "$kvcast" validate tiny
sed -i 's/run.warmup=1ms/run.warmup=auto/' machines/tiny/plan.csv machines/tiny/runs.csv
sed -i '/^open,/s/0.5,full/0.6,full/' machines/tiny/runs.csv
expect 2 'machines/tiny/runs.csv:3: run "open" differs from the plan' "$kvcast" validate tiny
echo 'full,0,0' >>machines/tiny/runs.csv
sed -i '/^open,/d' machines/tiny/runs.csv
expect 2 'machines/tiny/runs.csv:4: found 3 columns, expected 31' "$kvcast" validate tiny
sed -i '$d' machines/tiny/runs.csv
expect 2 'machines/tiny/plan.csv:3: run "open" is planned but not in runs.csv' "$kvcast" validate tiny
echo 'far,missing.lua,,,' >>machines/tiny/plan.csv
expect 2 'missing.lua.*run far' "$kvcast" validate tiny --measure --calibrations 0
sed -i -e '/^far,/d' -e '/^full,/s/$/;workload.arrival.poisson_mops=1/' machines/tiny/plan.csv
expect 2 'plan.csv:3: of: found "full", allowed: a run whose workload.arrival is "saturate"' "$kvcast" validate tiny --measure --calibrations 0

# A paper of our own: a paced rate comes back as it went in, a node under saturation does not, and a bound is no point.
source=$(realpath "$(dirname "$script")/../..")
mkdir -p data/validate/papers/mini && ln -s "$source/scenarios" "$source/models" data/ && cp good.lua data/
{
    echo 'id,mode,scenario,overrides,metric,published,low,high,tolerance_frac,role,lacks,fact'
    echo 'paced,predict,good.lua,workload.arrival.fixed_mops=1,throughput_mops,1,,,0.1,prediction,,here'
    echo 'full,predict,good.lua,,throughput_mops,50,,,10,prediction,,here'
    echo 'bound,predict,good.lua,,throughput_mops,,1,,,prediction,,here'
    echo 'half,predict,good.lua,,throughput_mops,,,,,input,,here'
} >data/validate/papers/mini/cases.csv
export KVCAST_DATA=$folder/data
expect 2 'elasticities.csv: cannot read.*kvcast validate mini --elasticities writes the file' "$kvcast" validate mini
"$kvcast" validate mini --elasticities --quiet >/dev/null || fail "validate --elasticities"
grep -qx 'paced,workload.arrival.fixed_mops,1.000' data/validate/papers/mini/elasticities.csv || fail "elasticities.csv"
grep -q '^half,' data/validate/papers/mini/elasticities.csv && fail "inputs have no elasticities"
"$kvcast" validate mini --quiet >/dev/null
[ $? -eq 1 ] || fail "cases without a baseline are a regression"
"$kvcast" validate mini --quiet --update-baseline >/dev/null || fail "validate --update-baseline of a paper"
[ ! -e data/validate/accuracy.csv ] || fail "\$KVCAST_MEASURED, and accuracy.csv without the committed machines"
env -u KVCAST_MEASURED "$kvcast" validate mini --quiet --update-baseline >/dev/null || fail "--update-baseline of all"
grep -q '^megakv,closed form,saturated,throughput,1,' data/validate/accuracy.csv || fail "accuracy.csv of a new baseline: $(cat data/validate/accuracy.csv)"
"$kvcast" validate mini --quiet --json mini.json >mini.txt || { fail "the errors are those of the baseline"; cat mini.txt; }
"$kvcast" validate mini --quiet --jobs 1 --json alone.json >/dev/null
cmp mini.json alone.json || fail "the scores depend on the number of jobs"
grep -q '^mini: 1 points' mini.txt || fail "only the node under saturation is counted"
grep -q 'claims held: 1 of 1; not counted: 1 that' mini.txt || fail "the bound is held, the paced rate is not counted"
grep -q 'paced .*workload.arrival.fixed_mops +1.00, which it returns: not counted' mini.txt || fail "what moves the paced rate"
cp data/validate/papers/mini/elasticities.csv kept.csv
sed -i '/^full,/d' data/validate/papers/mini/elasticities.csv
expect 2 'case "full" is missing; kvcast validate mini --elasticities' "$kvcast" validate mini
cp kept.csv data/validate/papers/mini/elasticities.csv
# A parameter that the scenario has wrong by a factor of two is found from two figures, and predicts a third one.
papers=data/validate/papers
mops() { # SCENARIO CORES [--set PATH=VALUE]: what the closed form says
    "$kvcast" predict "$1" --set node.cpu.cores="$2" "${@:3}" --json - | grep -A 1 '"throughput_mops"' | grep -oE '[0-9.]+'
}
mkdir -p $papers/costly
{
    head -n 1 $papers/mini/cases.csv
    for cores in 7 8 9 10 11 12 13 14; do
        echo "cores-$cores,predict,good.lua,node.cpu.cores=$cores,throughput_mops,$(mops good.lua "$cores" --set node.cpu.operation=200ns),,,0.1,prediction,,here"
    done
} >$papers/costly/cases.csv
"$kvcast" validate costly --elasticities --quiet >/dev/null || fail "--elasticities of another paper"
expect 2 'costly/identified.csv: the file that names the parameters is missing' "$kvcast" validate costly --identify
identify() { # SYSTEM,PARAMETER,LOW,HIGH,FIGURES
    printf 'system,scenarios,parameter,low,high,figures,source\n%s,bounds of a test\n' "$1" >$papers/costly/identified.csv
}
identify 'megakv,*,node.cpu.operation,50ns,500ns,cores-7 cores-8'
expect 2 'identification.csv: cannot read.*--identify writes the file' "$kvcast" validate costly
expect 2 '--identify writes identification.csv only' "$kvcast" validate costly --identify --out scored
expect 2 'needs the NAME of a paper' "$kvcast" validate --identify
"$kvcast" validate costly --identify --quiet >identified.txt || fail "--identify"
grep -q 'node.cpu.operation  100ns  200ns .*used$' identified.txt || { fail "the identified value"; cat identified.txt; }
grep -q 'cores-7  *+100.0 %  *+0.0 %  *node.cpu.operation=200ns' identified.txt || fail "the value without the figure"
"$kvcast" validate costly --update-baseline --quiet --json costly.json >costly.txt || fail "a new cross-validated baseline"
grep -q '^costly: 8 points, absolute error mean 100.0 %' costly.txt || { fail "the score by facts"; cat costly.txt; }
grep -q '^cross-validated with 1 identified parameters: 8 points, absolute error mean 0.0 %' costly.txt || fail "the other score"
grep -q '"cross_validated_error_frac": [-0-9.e]*,' costly.json || fail "costly.json"
"$kvcast" validate costly --quiet >costly.txt || { fail "nothing has changed"; cat costly.txt; }
# Scenarios that ask for it take the value, unless --set has another one.
scenario calibrated '  calibrated = "paper",'
scenario measured '  calibrated = "machine",'
[ "$(mops calibrated.lua 9)" = "$(mops good.lua 9 --set node.cpu.operation=200ns)" ] || fail "calibrated = \"paper\": $(mops calibrated.lua 9)"
[ "$(mops calibrated.lua 9 --set node.cpu.operation=100ns)" = "$(mops good.lua 9)" ] || fail "--set against calibrated = \"paper\""
"$kvcast" predict calibrated.lua --json calibrated.json >/dev/null && grep -q '"identified from figures of the paper (costly)"' calibrated.json || fail "the source of an identified value"
expect 2 'measured.lua:[0-9]+: calibrated: found "machine", allowed: "paper"' "$kvcast" predict measured.lua
expect 2 'calibrated: found "paper" with system.kind "mica", of which no paper' "$kvcast" predict calibrated.lua --set system.kind=mica
sed -i 's/^cores-9,.*/cores-9,0.0001,/' $papers/costly/cross_validated.csv
sed -i "s/^\(cores-9,.*throughput_mops\),[^,]*,/\1,$(mops good.lua 9 --set node.cpu.operation=400ns),/" $papers/costly/cases.csv
"$kvcast" validate costly --quiet >/dev/null
[ $? -eq 1 ] || fail "a cross-validated error that grew is a regression"
identify 'megakv,*,node.cpu.operation,50ns,500ns,cores-7 cores-9'
"$kvcast" validate costly --identify --quiet >identified.txt || fail "--identify of figures that contradict each other"
grep -q 'is dropped: cores-7 asks for 200ns (.*) and cores-9 for 400ns' identified.txt || { fail "the contradiction"; cat identified.txt; }
identify 'megakv,*,node.cpu.operation,50ns,150ns,cores-7'
"$kvcast" validate costly --identify --quiet | grep -q 'outside of the bounds, 50ns to 150ns' || fail "a value outside of the bounds"
identify 'megakv,*,node.cpu.operation,50ns,500ns,cores-77'
expect 2 'costly/identified.csv:2: found figure "cores-77"' "$kvcast" validate costly --identify
identify "megakv,*,node.cpu.operation,50ns,500ns,cores-7,x
megakv,*,node.sockets,1,2,cores-7"
expect 2 'costly/identified.csv: found 2 parameters for 8 points that count, allowed: one for 8 points' "$kvcast" validate costly --identify
rm -r $papers/costly
# A mistake in a case is found before anything runs, and the message names the case and its line.
cases=data/validate/papers/mini/cases.csv
cp "$cases" kept_cases.csv
mistake() { sed "s/^half,predict,good.lua,,/half,$1,/" kept_cases.csv >"$cases"; }
mistake 'capacity,good.lua,capacity.depth=2'
expect 2 'mini/cases.csv:5: case half: found "capacity.depth=2", allowed: capacity.loss' "$kvcast" validate mini
mistake 'capacity,good.lua,capacity.precision=2'
expect 2 'mini/cases.csv:5: case half: precision: found "2"' "$kvcast" validate mini
mistake 'run,good.lua,workload.nosuch=2'
expect 2 'mini/cases.csv:5: case half: .*nosuch' "$kvcast" validate mini
mistake 'run,missing.lua,'
expect 2 'mini/cases.csv:5: case half: .*missing.lua' "$kvcast" validate mini
cp kept_cases.csv "$cases"
unset KVCAST_DATA

finish
