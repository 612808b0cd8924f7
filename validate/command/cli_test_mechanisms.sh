#!/usr/bin/env bash
# kvcast validate mechanisms: a mechanism that makes no difference, or a difference that another one makes, fails the
# command, and a mistake in cases.csv is reported with its place.
# Usage: cli_test_mechanisms.sh KVCAST SOURCE
source "$(dirname "$0")/../../scenarios/cli/cli_testing.sh"

mkdir -p data/scenarios data/validate/mechanisms
ln -s "$2/scenarios/hardware" data/scenarios/hardware
export KVCAST_DATA=data
cases=data/validate/mechanisms/cases.csv
# One address serves 2.24 million fetch-and-adds a second (kvdirect.ooo.rdma.atomics), so that they queue at 2 Mops.
cat >data/atomics.lua <<'LUA'
return {
  name = "atomics",
  system = { kind = "rdma", atomics = true },
  workload = { keys = 1e6, key = 8, value = 8, get = 0, set = 1, arrival = { poisson_mops = 2 } },
  run = { warmup = "0us", duration = "2ms" },
}
LUA
list() { # OVERRIDES ON OFF METRIC: a list with this case only
    printf 'id,scenario,overrides,on,off,metric,mechanism\none,atomics.lua,%s,%s,%s,%s,"Adds on one address, in turn"\n' "$@" >$cases
}

list "" workload.keys=1 "" latency_p99_us
"$kvcast" validate mechanisms --quiet --json good.json >good.txt || fail "a mechanism that is seen: $(cat good.txt)"
grep -q '^one  *latency_p99_us .* ok$' good.txt || fail "good.txt has no verdict"
grep -q '"mechanism": "Adds on one address, in turn"' good.json || fail "good.json has no mechanism"
grep -q '"difference_frac": 0.0' good.json || fail "good.json has no difference"
"$kvcast" validate mechanisms --quiet --jobs 1 --json again.json >/dev/null
cmp good.json again.json || fail "the answers depend on the number of jobs"

list "" "" workload.keys=1 latency_p99_us
"$kvcast" validate mechanisms --quiet >same.txt
[ $? -eq 1 ] || fail "a mechanism without effect passes"
grep -q 'NO DIFFERENCE$' same.txt || fail "same.txt has no verdict"
list workload.keys=1 "" run.seed=2 latency_p99_us
"$kvcast" validate mechanisms --quiet >remains.txt
[ $? -eq 1 ] || fail "a difference that remains passes"
grep -q 'REMAINS$' remains.txt || fail "remains.txt has no verdict"

list "" workload.keys=0 "" latency_p99_us
expect 2 'case one: .*workload.keys' "$kvcast" validate mechanisms
list "" workload.keys=1 "" latency_p90_us
expect 2 'case one: the closed form states no latency_p90_us' "$kvcast" validate mechanisms

# The errors of the closed form with the mechanisms and the loads are stated; a larger error is a
# regression.
list "" workload.keys=1 "" latency_p99_us
printf 'scenario,overrides\natomics.lua,workload.arrival.poisson_mops=1\n' >data/validate/mechanisms/loads.csv
"$kvcast" validate mechanisms --quiet --update-baseline >stated.txt || fail "errors are stated: $(cat stated.txt)"
stated=data/validate/mechanisms/closed_form.csv
grep -q '^rdma,latency_p99_us,latency_p99_us,-0.2[0-9]*,0.0[0-9]*,3$' $stated || fail "closed_form.csv: $(cat $stated)"
"$kvcast" validate mechanisms --quiet >/dev/null || fail "the stated errors regress"
sed -i 's/^\(rdma,latency_p99_us,latency_p99_us\),-0.2[0-9]*,/\1,-0.1,/' $stated
"$kvcast" validate mechanisms --quiet >wider.txt
[ $? -eq 1 ] || fail "a larger error passes"
grep -q 'REGRESSED$' wider.txt || fail "wider.txt has no verdict"
rm data/validate/mechanisms/loads.csv $stated

list "" workload.keys=1 "" latency_p99_us
sed -n 2p $cases >>$cases
expect 2 'cases.csv:3: found case "one" twice' "$kvcast" validate mechanisms
sed -i '1s/mechanism/reason/' $cases
expect 2 'cases.csv:1' "$kvcast" validate mechanisms
printf 'id,scenario,overrides,on,off,metric,mechanism\n' >$cases
expect 2 'cases.csv' "$kvcast" validate mechanisms

finish
