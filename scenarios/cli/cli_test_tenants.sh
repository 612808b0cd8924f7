#!/usr/bin/env bash
# Tenants that share a store: what is told of each, and that they are no more than a load in parts.
# Usage: cli_test_tenants.sh KVCAST
examples=$(realpath "$(dirname "$0")/../examples")
source "$(dirname "$0")/cli_testing.sh"

tenants() { # NAME KIND MOPS OPTIONS FIELDS FIELDS: writes NAME.lua with tenants a and b at half the rate each
    cat >"$1.lua" <<LUA
return { system = { kind = "$2" }, $4
  workload = { tenants = {
    { name = "a", mops = $3 / 2, keys = 20000, $5 },
    { name = "b", mops = $3 / 2, keys = 20000, $6 } } },
  run = { duration = "4ms" } }
LUA
}
same='key = 10, value = 48, get = 0.9, zipf = 0.8'

# Alike tenants of every store that takes them share what one load of twice as many keys gets, and fare alike.
for store in megakv:20 dido:5 kvdirect:20 mica:10 memcached:0.3 bluecache:0.3 fpga_memcached:5; do
    kind=${store%:*} mops=${store#*:}
    tenants two "$kind" "$mops" '' "$same" "$same"
    sed "s/tenants = {/keys = 40000, key = 10, value = 48, get = 0.9, dist = { zipf = 0.8 }, arrival = { poisson_mops = $mops } },/; /name = /d" two.lua >one.lua
    for way in run predict; do
        "$kvcast" $way two.lua -q --json two.json >two.txt 2>&1 || fail "$kind: $(cat two.txt)"
        "$kvcast" $way one.lua -q --json one.json >one.txt 2>&1 || fail "$kind, one load: $(cat one.txt)"
        jq -rs '[.[0].throughput_mops.mean, .[1].throughput_mops.mean, .[0].latency_us.mean, .[1].latency_us.mean] | @tsv' two.json one.json |
            awk '{ exit !($1 / $2 < 1.06 && $1 / $2 > 0.94 && $3 / $4 < 1.06 && $3 / $4 > 0.94) }' ||
            fail "$kind, $way: $(grep -hE '^(throughput|latency)' two.txt one.txt)"
    done
    "$kvcast" run two.lua -q --json two.json >/dev/null
    jq -r '[.throughput_mops.mean, ([.tenants[].throughput_mops] | add), (.tenants | map(.latency_mean_us) | .[0] / .[1]),
            (.tenants | map(.hit_frac) | .[0] - .[1])] | @tsv' two.json |
        awk '{ exit !($1 / $2 < 1.0001 && $1 / $2 > 0.9999 && $3 < 1.05 && $3 > 0.95 && $4 ^ 2 < 0.001) }' ||
        fail "$kind: tenants that are alike: $(jq -c .tenants two.json)"
done

# Different tenants: the answer tells them apart, for any jobs, and an objective is met or missed.
tenants t megakv 20 'node = { sockets = 1 },' 'value = 8, p99 = "5ms"' 'key = 16, value = 900, get = 0.2, p99 = "10us"'
"$kvcast" run t.lua -q --json t.json >t.txt || fail "t.lua: $(cat t.txt)"
grep -Eq '^a .* met: p99 at most 5000 us$' t.txt && grep -Eq '^b .* missed: p99 at most 10 us$' t.txt || fail "t.txt: $(cat t.txt)"
[ "$(jq -c '[.tenants[] | [.name, .p99_at_most_us, .met]]' t.json)" = '[["a",5000,true],["b",10,false]]' ] || fail "t.json: $(jq -c .tenants t.json)"
"$kvcast" run t.lua -q --replicas 2 --jobs 2 --json r2.json >/dev/null && "$kvcast" run t.lua -q --replicas 2 --jobs 1 --json r1.json >/dev/null
cmp <(jq -S 'del(.simulation, .command_line)' r1.json) <(jq -S 'del(.simulation, .command_line)' r2.json) || fail "one job and two"
jq -e '.tenants[0].latency_p99_ci95_us > 0' r2.json >/dev/null || fail "replicas give intervals: $(jq -c .tenants r2.json)"
"$kvcast" report t.json -o t.html && grep -q '<caption>Tenants' t.html && grep -q '>batch<\|>b<' t.html || fail "the page"

# A stated rate is shared in proportion, and a sweep may turn one tenant's.
"$kvcast" run t.lua -q --set workload.arrival.poisson_mops=5 --set workload.tenants.1.mops=30 --json s.json >/dev/null || fail "a stated rate"

# What the tenants offer adds up to the load, also where its rate changes: a burst of 11 times for a tenth of the time doubles it.
offers() { # FILE MOPS SHARE: the tenants of FILE offer MOPS together within 5 %, the first of them SHARE
    jq -e --argjson mops "$2" --argjson share "$3" '([.tenants[].offered_mops] | add) as $sum |
        ($sum / .requests.offered_mops - 1 | fabs < 1e-9) and ($sum / $mops - 1 | fabs < 0.05) and (.tenants[0].offered_mops / $sum / $share - 1 | fabs < 1e-9)' \
        "$1" >/dev/null || fail "$1 offers $(jq -c '[.requests.offered_mops, .tenants[].offered_mops]' "$1"), not $2"
}
offers t.json 20 0.5
offers s.json 5 0.75
sed 's/workload = {/workload = { arrival = { poisson_mops = 5, bursts = { { times = 11, length = "100us", every = "1ms" } } },/' t.lua >b.lua
"$kvcast" run b.lua -q --json b.json >/dev/null || fail "tenants in bursts"
offers b.json 10 0.5
sed 's/, p99 = "[0-9]*[um]s"//; s/run = {/sweep = { ["workload.tenants.2.mops"] = { 5, 10 } }, run = {/' t.lua >w.lua
"$kvcast" sweep w.lua -q --out w >/dev/null || fail "a sweep"
"$kvcast" sweep w.lua --predict -q --out wp >/dev/null || fail "a sweep of the closed form"
[ "$(cut -d, -f1-3 wp/sweep.csv | tail -2 | wc -l)" = 2 ] || fail "wp/sweep.csv"
"$kvcast" run "$examples/tenants.lua" -q --set run.duration=1ms >e.txt && grep -q '^web .* met:' e.txt || fail "tenants.lua: $(cat e.txt)"

# A sweep has columns for each tenant, and a point meets its objectives only if those of the tenants are met.
sed 's/"10us"/"260us"/; s/run = {/slo = { p99 = "400us" }, sweep = { ["system.cycle"] = { "150us", "300us" } }, run = {/' t.lua >o.lua
for jobs in 1 2; do
    "$kvcast" sweep o.lua -q --jobs $jobs --out o$jobs --json o$jobs.json >o.txt || fail "o.lua: $(cat o.txt)"
done
cmp o1/sweep.csv o2/sweep.csv && cmp o1.json o2.json || fail "a sweep by one job and two"
grep -q '^best: point 1 with the lowest p99 latency' o.txt && grep -q '^slo: 1 of 2 points meet it' o.txt || fail "o.txt: $(cat o.txt)"
jq -e '.points | map(.latency_p99_us < 400 and .tenant_a_latency_p99_us < 5000 and .slo_p99_margin_frac > 0) == [true, true] and
       map(.tenant_b_latency_p99_us < 260) == [true, false] and map(.slo_tenant_b_p99_margin_frac > 0) == [true, false] and
       map(.slo_met) == [1, 0]' o1.json >/dev/null || fail "verdicts of a sweep: $(jq -c '.points[]' o1.json)"
"$kvcast" run o.lua -q --set system.cycle=300us --json o.json >/dev/null
[ "$(jq -c '.tenants[1] | [.throughput_mops, .hit_frac, .latency_mean_us, .latency_p99_us]' o.json)" = \
    "$(jq -c '.points[1] | [.tenant_b_throughput_mops, .tenant_b_hit_frac, .tenant_b_latency_mean_us, .tenant_b_latency_p99_us]' o1.json)" ] ||
    fail "a point is a run: $(jq -c .tenants o.json)"
jq -e '.slo.met == false and (.slo.objectives | map([.name, .met]) | . == [["latency_p99_us", true], ["unserved_frac", true],
       ["tenant_a_latency_p99_us", true], ["tenant_b_latency_p99_us", false]])' o.json >/dev/null || fail "slo of a run: $(jq -c .slo o.json)"
"$kvcast" sweep o.lua -q --jobs 2 --out o2 >o.txt && grep -q '(2 kept' o.txt || fail "going on with a sweep: $(cat o.txt)"
"$kvcast" plot -k sweep o1 -y tenant_b_latency_p99_us -o o.svg && grep -q 'tenant b latency p99' o.svg && grep -q 'objective: at most 260 µs' o.svg ||
    fail "the picture of a tenant: $(grep -o '>[^<]*</text' o.svg)"
"$kvcast" export o1.json -o o.csv && grep -q 'points\[1\].tenant_b_latency_p99_us,[0-9.]*,.*us$' o.csv || fail "o.csv: $(grep tenant o.csv)"
"$kvcast" sweep o.lua -q --predict --out op >o.txt && [ "$(grep -c tenant_ op/sweep.csv)" = 1 ] || fail "a closed form has no tenants"
grep -q '^best: none, because no point is known to meet the slo' o.txt || fail "objectives that a closed form does not know: $(cat o.txt)"
for axis in p99 name; do
    sed 's/"system.cycle"/"workload.tenants.1.'$axis'"/' o.lua >oa.lua
    expect 2 'oa.lua:5: point 1 .workload.tenants.1.'$axis' = 150us.: workload.tenants: found other tenants' "$kvcast" sweep oa.lua -q --out oa
done
"$kvcast" measure o.lua -q --set system.feed=memory --set run.duration=1ms >o.txt 2>&1
[ $? -le 3 ] || fail "a measurement with tenants: $(cat o.txt)"

# A plan takes the larger machine if the smaller one keeps the objective of all requests and misses a tenant's.
tenants t memcached 1.8 'slo = { p99 = "100us" }, plan = { minimise = "nodes" }, sweep = { ["cluster.nodes"] = { 1, 2, 4 } },' \
    'value = 8' 'key = 16, value = 900, get = 0.2, p99 = "20us"'
sed 's/duration = "4ms"/duration = "10ms"/' t.lua >p.lua
for jobs in 1 2; do
    "$kvcast" plan p.lua -q --jobs $jobs --out p$jobs >p.txt || fail "p.lua: $(cat p.txt)"
done
cmp p1/plan.json p2/plan.json && cmp p1/plan.csv p2/plan.csv || fail "a plan by one job and two"
grep -q '^chosen *cluster.nodes = 2 ' p.txt && grep -q '1 failed in simulation (tenant_b_latency_p99_us 1)' p.txt || fail "p.txt: $(cat p.txt)"
jq -e '.chosen.values["cluster.nodes"] == "2" and (.chosen.goals[2] | .metric == "tenant_b_latency_p99_us" and .found < 20 and .at_most == 20)' \
    p1/plan.json >/dev/null || fail "plan.json: $(jq -c .chosen p1/plan.json)"
grep -q '^1,"1",1,failed,tenant_b_latency_p99_us,' p1/plan.csv && head -1 p1/plan.csv | grep -q ',tenant_b_latency_p99_us,tenant_b_latency_p99_us_half_width,' ||
    fail "plan.csv: $(cat p1/plan.csv)"
sed 's/, p99 = "20us"//' p.lua >pw.lua
"$kvcast" plan pw.lua -q >p.txt && grep -q '^chosen *cluster.nodes = 1 ' p.txt || fail "without the objective of a tenant: $(cat p.txt)"
"$kvcast" plan p.lua -q --set workload.tenants.2.p99=1us >p.txt 2>/dev/null
[ $? -eq 1 ] && grep -q 'comes nearest and misses tenant_b_latency_p99_us by' p.txt || fail "an objective that none meets: $(cat p.txt)"

# The headroom of the plan keeps the objective, too.
for plan in p pw; do
    "$kvcast" plan $plan.lua -q --headroom --set workload.arrival.poisson_mops=3 --json $plan.json >p.txt || fail "a headroom: $(cat p.txt)"
done
jq -se '.[0].chosen.point == .[1].chosen.point and .[0].headroom.high_mops < .[1].headroom.low_mops' p.json pw.json >/dev/null ||
    fail "headroom: $(jq -c '.chosen.point, .headroom' p.json pw.json)"

# A day judges each window, and a capacity each load.
sed 's/^  workload/  day = { curve = { { hour = 4, rate = 0.4 }, { hour = 16, rate = 2 } }, windows = 4 },&/' p.lua >d.lua
for jobs in 1 2; do
    "$kvcast" day d.lua -q --jobs $jobs --out d$jobs >d.txt || fail "d.lua: $(cat d.txt)"
    "$kvcast" capacity d.lua -q --jobs $jobs --precision 0.2 --out c$jobs >c.txt || fail "capacity: $(cat c.txt)"
done
cmp d1/day.json d2/day.json && cmp d1/day.csv d2/day.csv && cmp c1/capacity.json c2/capacity.json && cmp c1/capacity.csv c2/capacity.csv ||
    fail "a day and a capacity by one job and two"
grep -q '^slo *missed in 6 of 24 hours$' d.txt && [ "$(grep -c 'missed by tenant b$' d.txt)" = 1 ] || fail "d.txt: $(cat d.txt)"
jq -e '.slo_met == false and (.windows | map(.slo_met) == [true, true, false, true] and all(.latency_p99_us < 100) and
       map(.tenant_b_latency_p99_us < 20) == map(.slo_met) and map(.slo_tenant_b_p99_margin_frac > 0) == map(.slo_met))' d1/day.json >/dev/null ||
    fail "day.json: $(jq -c '.windows[]' d1/day.json)"
"$kvcast" report d1 -o d.html && [ "$(grep -o 'not met: tenant_b_p99' d.html | wc -l)" = "$(jq '[.windows[] | select(.slo_met | not)] | length' d1/day.json)" ] ||
    fail "the page of a day: $(grep -o '[a-z ]*met[^<]*' d.html | sort | uniq -c)"
grep -q '^offered .* p99 of b$' c.txt && grep -q 'missed: p99 latency of b ' c.txt || fail "c.txt: $(cat c.txt)"
jq -e '(.slo.objectives | map([.name, .met]) | .[-1] == ["tenant_b_latency_p99_us", false]) and (.points |
       all(.tenants[0].met == null and .tenants[1].p99_at_most_us == 20 and .tenants[1].met == (.tenants[1].latency_p99_us.mean <= 20)) and
       (map(.tenants[1].met) | unique == [false, true]))' c1/capacity.json >/dev/null || fail "capacity.json: $(jq -c '.slo, .points[].tenants' c1/capacity.json)"
head -1 c1/capacity.csv | grep -q ',tenant_b_latency_p99_us,tenant_b_latency_p99_ci95_us$' || fail "capacity.csv: $(head -1 c1/capacity.csv)"

# Wrong inputs.
tenants t megakv 20 'node = { sockets = 1 },' 'value = 8, p99 = "5ms"' 'key = 16, value = 900, get = 0.2, p99 = "10us"'
wrong() { # PATTERN SED
    sed "$2" t.lua >bad.lua
    expect 2 "$1" "$kvcast" run bad.lua
}
wrong 'bad.lua:[0-9]+: workload.tenants.2.name: found "a", allowed' 's/name = "b"/name = "a"/'
wrong 'bad.lua:[0-9]+: workload.tenants.2.name: found "A", allowed' 's/name = "b"/name = "A"/'
wrong 'bad.lua:[0-9]+: workload.tenants.1.name: found "a b", allowed' 's/name = "a"/name = "a b"/'
wrong 'bad.lua:[0-9]+: workload.tenants.1: name is missing|workload.tenants.1.name' 's/name = "a",//'
wrong 'bad.lua:[0-9]+: .*workload.tenants.1.mops' 's/mops = 20 \/ 2, keys = 20000, value = 8/mops = 0, keys = 20000, value = 8/'
wrong 'bad.lua:[0-9]+: .*workload.tenants.1.keys' 's/keys = 20000, value = 8/keys = 0, value = 8/'
wrong 'bad.lua:[0-9]+: .*workload.tenants.2: get = 0.2 and delete = 0.9 add up to 1.1' 's/get = 0.2/get = 0.2, delete = 0.9/'
wrong 'bad.lua:[0-9]+: unknown key "valeu" in workload.tenants.1' 's/value = 8/valeu = 8/'
wrong 'bad.lua:[0-9]+: workload.arrival: allowed with workload.tenants are' 's/workload = {/workload = { arrival = "saturate",/'
wrong 'bad.lua:[0-9]+: workload.arrival: allowed with workload.tenants are' 's/workload = {/workload = { arrival = { clients = 10 },/'
wrong 'bad.lua:[0-9]+: workload.sizes: allowed with workload.tenants' 's/workload = {/workload = { sizes = "etc",/'
wrong 'bad.lua:[0-9]+: workload.tenants: found with system.kind "rdma", allowed only with' 's/"megakv"/"rdma"/'
wrong 'bad.lua:[0-9]+: .*tenants.*8' 's/tenants = {/tenants = { {}, {}, {}, {}, {}, {}, {},/'

finish
