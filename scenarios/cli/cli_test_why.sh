#!/usr/bin/env bash
# kvcast why: what binds, what relieves it, where requests spend their time; of scenarios and of results.
# Usage: cli_test_why.sh KVCAST
examples=$(realpath "$(dirname "$0")/../examples")
source "$(dirname "$0")/cli_testing.sh"

scenario s ''
sed -i 's/keys = 1000 /keys = 1000, arrival = { poisson_mops = 5 } /' s.lua
"$kvcast" why s.lua -q --jobs 2 --json s.json >s.txt || fail "why s.lua: $(cat s.txt)"
grep -q '^binds  *load (load): the store serves all requests' s.txt || fail "what binds: $(cat s.txt)"
grep -Eq '^gpu +gpu .*%.*%.*%' s.txt || fail "the gpu: $(cat s.txt)"
grep -q '^receive, batch .*%.*%$' s.txt || fail "the way of a request: $(cat s.txt)"
[ "$(jq -c '[.schema, .answer, .replicas]' s.json)" = '["kvcast.why/1","simulation",3]' ] || fail "s.json: $(head -9 s.json)"
# The parts add up, to about the mean of all requests and to more than the 99th percentile.
jq -r '[([.path.parts[].mean_us] | add), .path.mean_us, .latency_us.mean, ([.path.parts[].slowest_us] | add), .path.slowest_us, .latency_us.p99] | @tsv' s.json |
    awk '{ exit !(($1 - $2) ^ 2 < 1e-6 && $2 / $3 > 0.98 && $2 / $3 < 1.02 && ($4 - $5) ^ 2 < 1e-6 && $5 > 0.99 * $6 && $5 < 1.2 * $6) }' ||
    fail "the parts of a way: $(grep -A40 '"path"' s.json)"
# A faster GPU shortens the latency, and saves no request that none was lost of.
jq -r '.resources[] | select(.resource == "gpu") | [.latency_mean.change_frac, .latency_mean.ci95_frac, .throughput.change_frac] | @tsv' s.json |
    awk '{ exit !($1 < -0.001 && $1 + $2 < 0 && $3 < 0.001 && $3 > -0.001) }' || fail "a faster gpu: $(cat s.txt)"

# A result says the same as its scenario, and so do its folder and any number of jobs.
"$kvcast" run s.lua -q --replicas 3 --out r >/dev/null || fail "run"
"$kvcast" why r -q --jobs 1 --json r.json >r.txt || fail "why r: $(cat r.txt)"
cmp <(grep -v '"name": "' s.json | sed 's/"run.replicas": 1/"run.replicas": 3/') <(grep -v '"name": "' r.json) || fail "why of the result and of the scenario"
"$kvcast" why r/result.json -q --set system.cycle=300us --json c.json >/dev/null || fail "why --set"
[ "$(jq -r '.parameters."system.cycle"' c.json)" = 300us ] || fail "--set changes the scenario of a result"
sed '/"throughput_mops"/,/}/s/"replicas": \[[0-9.]*/"replicas": [1.5/' r/result.json >old.json
"$kvcast" why old.json -q | grep 'made by kvcast .*, and 1 of its replicas have another throughput now' >/dev/null || fail "another throughput: $("$kvcast" why old.json -q)"

# A saturated store names its bottleneck. All stores record the parts of a way, which add up, unless they have a database.
scenario full ''
"$kvcast" why full.lua -q | grep -Eq '^binds  *[a-z]+ \([a-z]+\): .* 5 % faster' || fail "a saturated store"
kvdirect='--set workload.keys=50000 --set system.memory=2MiB --set node.fpga.dram=128KiB' mica='--set workload.keys=1e5'
for store in "kvdirect $kvdirect" "mica $mica" memcached rdma fatcache fpga_memcached flash_tail; do
    # shellcheck disable=SC2086 # The options are words.
    "$kvcast" why "$examples/${store%% *}.lua" -q --set run.duration=2ms --set run.warmup=1ms ${store#${store%% *}} --json parts.json >parts.txt 2>&1 ||
        fail "why $store: $(cat parts.txt)"
    jq -r '[([.path.parts[].mean_us] | add), .latency_us.mean, (.path.parts | length), ([.path.parts[].mean_us] | min)] | @tsv' parts.json |
        awk '{ exit !($1 / $2 > 0.9 && $1 / $2 < 1.1 && $3 >= 3 && $4 >= 0) }' || fail "the parts of $store: $(jq -c .path parts.json)"
done
sed 's/"megakv", index = "1MiB", slab = "8MiB"/"mica"/; s/sockets = 1/sockets = 1, database = "mysql-bg"/; s/keys = 1000 /keys = 1000, arrival = { poisson_mops = 0.001 } /; s/duration = "1ms"/duration = "100ms"/' full.lua >db.lua
"$kvcast" why db.lua -q --out u >u.txt || fail "why db.lua: $(cat u.txt)"
grep -q 'with a database behind the store, the simulation records no time' u.txt && grep -q '"path": null' u/why.json || fail "no parts: $(cat u.txt)"
[ "$(head -1 u/why.csv | tr -cd , | wc -c)" = 11 ] && [ "$(tr -cd ',\n' <u/why.csv | awk '{ print length }' | sort -u)" = 11 ] || fail "why.csv: $(cat u/why.csv)"

# The closed form, for scenarios and for predictions.
"$kvcast" predict s.lua --json p.json >/dev/null
"$kvcast" why p.json >p.txt && grep -q 'closed form$' p.txt && grep -q 'the closed form knows no single requests' p.txt || fail "why of a prediction: $(cat p.txt)"
"$kvcast" why s.lua --predict | cmp - p.txt || fail "--predict"

if command -v gnuplot >/dev/null; then
    "$kvcast" why s.lua -q --out w >/dev/null || fail "why --out"
    for format in svg pdf png; do [ -s w/critical.$format ] || fail "critical.$format"; done
    grep -q 'slowest 1 %' w/critical.svg && grep -q 'receive, batch' w/critical.svg || fail "critical.svg"
    "$kvcast" plot u -k critical -o u.svg || fail "a picture without parts"
fi

# Wrong inputs.
expect 2 'why needs|RESULT\|SCENARIO' "$kvcast" why
expect 2 'nosuch' "$kvcast" why nosuch
expect 2 'nosuch.lua' "$kvcast" why nosuch.lua
mkdir empty
expect 2 'empty: has no result.json' "$kvcast" why empty
expect 2 'it is a document of kvcast why, which is drawn by --kind critical' "$kvcast" why s.json
echo '{"schema": "kvcast.result/1"}' >bad.json
expect 2 'bad.json: has no throughput' "$kvcast" why bad.json
echo '{"schema": "kvcast.result/1", "throughput_mops": {"mean": 1}}' >bad.json
expect 2 'bad.json: its scenario cannot be built again: parameters: it has none' "$kvcast" why bad.json
echo '{' >bad.json
expect 2 'bad.json:2: cannot be read as a JSON result' "$kvcast" why bad.json
sed 's/"system.kind": "megakv"/"system.kind": "nosuch"/' r/result.json >bad.json
expect 2 'bad.json: its scenario cannot be built again: .*nosuch' "$kvcast" why bad.json
expect 2 'unknown key "cycles" in system' "$kvcast" why r --set system.cycles=3us
expect 2 'has no why.json' "$kvcast" plot r -k critical -o x.svg
echo '{"schema": "kvcast.why/1"}' >bad.json
expect 2 'bad.json: has neither parts' "$kvcast" plot bad.json -k critical -o x.svg
finish
