#!/usr/bin/env bash
# kvcast validate --accuracy: the committed summary is that of the committed scores, and follows from them.
# Usage: cli_test_accuracy.sh KVCAST SOURCE
source_tree=$(realpath "$2")
source "$(dirname "$0")/../../scenarios/cli/cli_testing.sh"

expect 2 '--accuracy gathers the errors of all.*remove NAME' "$kvcast" validate megakv --accuracy
expect 2 'more than one of --measure, --elasticities, --identify, --unseen and --accuracy' "$kvcast" validate --accuracy --elasticities

mkdir -p data/scenarios data/validate
cp -r "$source_tree"/scenarios/{hardware,papers,composed} data/scenarios/
cp -r "$source_tree"/validate/{papers,measured,carried,carried_over.csv} data/validate/
export KVCAST_DATA=$PWD/data
made=data/validate/accuracy.csv
make_it() { "$kvcast" validate --accuracy >printed.txt && grep -q "^$PWD/$made\$" printed.txt || fail "validate --accuracy: $(cat printed.txt)"; }
line() { grep "^$1," $made; } # SYSTEM,ANSWER,LOAD,METRIC
make_it
cmp data/validate/fidelity.csv "$source_tree/validate/fidelity.csv" ||
    fail "validate/fidelity.csv is not that of the committed scores: kvcast validate --accuracy writes it"
mkdir -p pages && cp "$source_tree/docs/fidelity.md" pages/
"$source_tree/validate/papers/document.sh" "$source_tree" pages || fail "document.sh"
cmp pages/fidelity.md "$source_tree/docs/fidelity.md" && cmp pages/pictures/fidelity.svg "$source_tree/docs/pictures/fidelity.svg" ||
    fail "docs/fidelity.md does not show the committed errors: validate/papers/document.sh . docs makes it"
cmp $made "$source_tree/validate/accuracy.csv" ||
    fail "validate/accuracy.csv is not that of the committed scores: kvcast validate --accuracy writes it"

# The mean latency of Mega-KV under an open loop was scored on one machine and in its paper, so that their baselines have the median.
median=$( (awk -F'[:,]' '$2 == "latency_mean_us" { print $3 < 0 ? -$3 : $3 }' data/validate/measured/two-cores/baseline.csv
    awk -F, '$1 == "latency-mean-160" { print $2 < 0 ? -$2 : $2 }' data/validate/papers/megakv/baseline.csv) | sort -n |
    awk '{ error[NR] = $1 } END { printf "%d,%.4f,%.4f", NR, (error[int((NR + 1) / 2)] + error[int(NR / 2) + 1]) / 2, error[NR] }')
line "megakv,simulation,open loop,latency_mean" | grep -q "latency_mean,$median,two-cores " || fail "the median is not $median: $(line megakv)"

# Errors grow; a case that becomes an input, or that returns one, does not count; the last look at the unseen runs does.
sed -i 's/^load-b,[-0-9.]*/load-b,-0.9/' data/validate/papers/megakv/baseline.csv
sed -i 's/^\(latency-mean-160,.*,\)[0-9.]*,,,[0-9.]*,prediction,/\1,,,,input,/' data/validate/papers/megakv/cases.csv
sed -i '/^dram-set,/d' data/validate/papers/bluecache/elasticities.csv
echo "dram-set,," >>data/validate/papers/bluecache/elasticities.csv
echo "2026-12-01,v9,latency_mean_us,5,0.5000,0.6000,0.7000" >>data/validate/measured/two-cores/unseen.log
make_it
line "megakv,simulation,capacity,throughput" | grep -q ',8,[0-9.]*,0.9000,megakv load-b,' || fail "a larger error: $(line megakv)"
line "megakv,simulation,open loop,latency_mean" | grep -q "latency_mean,$((${median%%,*} - 1))," || fail "an input counts: $(line megakv)"
line "bluecache,simulation,saturated,throughput" | grep -q 'throughput,5,' || fail "a case that nothing moves counts: $(line bluecache)"
line "megakv,simulation,open loop,latency_mean" | grep -q ',5,0.5000,0.7000,two-cores$' || fail "the last unseen runs: $(line megakv)"

# Answers quote the file of their store, and have no number without a score.
scenario open ', '
sed -i 's/keys = 1000/keys = 1000, arrival = { poisson_mops = 5 }/; s/^, $//' open.lua
"$kvcast" run open.lua -q --json open.json >said.txt || fail "run open.lua: $(cat said.txt)"
grep -q '^accuracy .*simulation of megakv, open loop, against measured: mean latency .*; 5 unseen 50.0 %).*no score of throughput' said.txt || fail "run: $(grep accuracy said.txt)"
awk '/"accuracy"/ { found = 1 } found && /"metric": "latency_mean"/ { metric = 1 } metric && /"points": 5/ { ok = 1 } END { exit !ok }' open.json ||
    fail "accuracy in the document"
"$kvcast" predict open.lua >said.txt
grep -q '^accuracy .*closed form of megakv, open loop, against measured: no score of throughput, mean latency, tail latency, energy (only simulation' said.txt &&
    ! grep '^accuracy' said.txt | grep -q '%' || fail "predict: $(grep accuracy said.txt)"
sed 's/"megakv", index = "1MiB", slab = "8MiB"/"dido"/' open.lua >none.lua
"$kvcast" predict none.lua | grep '^accuracy .*of dido, open loop, against measured: no score of throughput, mean latency, tail latency, energy$' >/dev/null || fail "predict without scores"
sed 's/^  run =/  sweep = { ["workload.value"] = { 8, 16 } },\n  run =/' open.lua >points.lua
"$kvcast" sweep points.lua --predict -q --out points | grep '^accuracy .*closed form of megakv, open loop, against measured: ' >/dev/null || fail "sweep"
sed 's/\["workload.value"\] = { 8, 16 }/["workload.arrival.poisson_mops"] = { 4, 5 }/' points.lua >rates.lua
"$kvcast" sweep rates.lua --predict -q --out rates | grep '^accuracy .*closed form of megakv, open loop, against measured: ' >/dev/null || fail "a sweep over rates"
sed 's/\["workload.value"\] = { 8, 16 }/["workload.arrival"] = { "saturate", { poisson_mops = 5 } }/' points.lua >loads.lua
"$kvcast" sweep loads.lua --predict -q --out loads --json loads.json | grep '^accuracy .*differs from point to point' >/dev/null || fail "a sweep over loads"
grep -q '"accuracy": null' loads.json || fail "accuracy of a sweep over loads"

# An answer about a GPU that was not measured quotes how far launches of a measured one were off.
grep -q '"carried_over": \[\]' open.json && ! grep '^accuracy .*carried' said.txt || fail "a measured GPU is carried over"
"$kvcast" predict open.lua --set node.gpu=b200 --json b200.json >said.txt
error=$(awk -F, '/^gpu,h200,h100,search,mechanism,/ { printf "search %.1f %% off (largest %.1f %%)", 100 * $7, 100 * ($8 < 0 ? -$8 : $8) }' data/validate/carried_over.csv)
grep -qF "; gpu carried over from h200, as measured on h100: $error, " said.txt && grep -q '"rule": "mechanism"' b200.json ||
    fail "a GPU by its data sheet, expected $error: $(grep accuracy said.txt)"
cp data/validate/measured/h200-pcie5/machine.lua machine.lua
sed 's/node = {/& machine = "machine.lua", gpu = "h100",/; s/kind = "megakv",/& feed = "memory",/' open.lua >card.lua
"$kvcast" why card.lua --predict --json card.json >said.txt && grep -q '; gpu carried over from h200.*: search .*)$' said.txt && grep -q '"rule": "unchanged"' card.json ||
    fail "another card beside a calibrated machine: $(cat said.txt)"
sed 's/gpu = "h100"/cpu = "epyc-9654"/' card.lua >cores.lua
"$kvcast" predict cores.lua --set system.streams=7 | grep '; cpu carried over from h200-pcie5, as measured on two-cores: threads .*)$' >/dev/null || fail "other cores beside a calibrated machine"
sed 's/ gpu = "h100",//' card.lua >own.lua
"$kvcast" predict own.lua | grep 'carried over' && fail "a machine's own card"
sed -i '/,mechanism,/d' data/validate/carried_over.csv
"$kvcast" predict open.lua --set node.gpu=b200 | grep '; gpu carried over from another one: no score$' >/dev/null || fail "no scores of the rule"

# A file that is damaged or missing leaves the answer without accuracy.
sed -i 's/^megakv,simulation,open loop,latency_mean,7/megakv,simulation,open loop,latency_mean,-7/' $made
"$kvcast" predict open.lua | grep '^accuracy .*unknown: validate/accuracy.csv: found -7' >/dev/null || fail "a damaged accuracy.csv"
rm $made
"$kvcast" predict open.lua --json none.json >/dev/null
grep -q '"accuracy": null' none.json || fail "no accuracy.csv"
finish
