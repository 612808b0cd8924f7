#!/usr/bin/env bash
# Commands give the same bytes for 1, 2 and 4 ranks, and print one answer or one message.
# Usage: ranks_cli_test.sh MPIRUN KVCAST
source "$(dirname "$0")/ranks_testing.sh"
kvcast=$program

# Commands: the same bytes for any number of ranks, apart from wall-clock times.
cat >small.lua <<'LUA'
return {
  system = { kind = "megakv", index = "1MiB", slab = "8MiB" },
  node = { sockets = 1 },
  workload = { keys = 1000 },
  run = { warmup = "1ms", duration = "1ms", replicas = 4 },
}
LUA
timeless() { # FILE
    sed -E '/"wall_|_per_wall_s|"memory_(planned|taken)_bytes/d' "$1"
}
"$kvcast" run small.lua --quiet --json alone.json >/dev/null || fail "run without ranks"
for number in 1 2 4; do
    ranks $number "$kvcast" run small.lua --quiet --json ranks.json --out out$number || fail "run: $(cat stderr)"
    cmp -s <(timeless alone.json) <(timeless ranks.json) || fail "run with $number ranks gives other numbers"
    [ "$(grep -c '^throughput' stdout)" -eq 1 ] || fail "run with $number ranks does not print one table"
    [ -s out$number/timeline.json ] || fail "run with $number ranks writes no timeline"
done

# A cluster, whose nodes are tasks.
sed 's/return {/return {\n  cluster = { nodes = 3 },/; s/keys = 1000/keys = 1000, arrival = { poisson_mops = 60 }/; s/replicas = 4/replicas = 2/' small.lua >cluster.lua
"$kvcast" run cluster.lua --quiet --json alone.json >/dev/null || fail "a cluster without ranks"
ranks 2 "$kvcast" run cluster.lua --quiet --json ranks.json || fail "a cluster: $(cat stderr)"
cmp -s <(timeless alone.json) <(timeless ranks.json) || fail "a cluster on 2 ranks gives other numbers"

# A capacity, whose probes follow from each other.
"$kvcast" capacity small.lua --quiet --precision 0.1 --replicas 2 --json alone.json >/dev/null || fail "capacity without ranks"
ranks 2 "$kvcast" capacity small.lua --quiet --precision 0.1 --replicas 2 --json ranks.json || fail "capacity: $(cat stderr)"
cmp -s alone.json ranks.json || fail "capacity with 2 ranks gives other numbers"

# Sweeps: the same table and documents, and a rank that is killed leaves a database that resumes.
sed 's/replicas = 4 },/replicas = 1 },\n  sweep = { ["system.cycle"] = { "160us", "200us", "240us" }, ["run.seed"] = { 1, 2, 3, 4 } },/' small.lua >sweep.lua
documents() { # FOLDER
    sqlite3 "$1/sweep.sqlite" 'SELECT document FROM documents ORDER BY point' 2>/dev/null | timeless /dev/stdin
}
"$kvcast" sweep sweep.lua --quiet --out sweep1 >/dev/null || fail "sweep without ranks"
! command -v sqlite3 >/dev/null || [ "$(documents sweep1 | wc -l)" -gt 100 ] || fail "a sweep keeps no documents"
for number in 2 4; do
    ranks $number "$kvcast" sweep sweep.lua --quiet --out sweep$number || fail "sweep: $(cat stderr)"
    cmp -s sweep1/sweep.csv sweep$number/sweep.csv || fail "sweep with $number ranks gives another table"
    cmp -s <(documents sweep1) <(documents sweep$number) || fail "sweep with $number ranks gives other documents"
    [ "$(grep -c '12 points (0 kept' stdout)" -eq 1 ] || fail "sweep with $number ranks does not print one summary"
done
long="--set run.duration=30ms"
"$kvcast" sweep sweep.lua $long --quiet --out whole >/dev/null || fail "a long sweep"
ranks 2 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK && exec "$@"' - "$kvcast" sweep sweep.lua $long --quiet --out killed &
for _ in $(seq 200); do
    [ -f killed/sweep.sqlite-wal ] && [ "$(stat -c %s killed/sweep.sqlite-wal)" -gt 100000 ] && break
    sleep 0.05
done
kill -9 "$(cat pid.1)"
wait $!
got=$?
[ $got -eq 137 ] || fail "a job whose rank was killed ends with $got"
grep -q 'rank 1 .*exited on signal 9' stderr || fail "nothing tells that a rank was killed: $(cat stderr)"
"$kvcast" sweep sweep.lua $long --quiet --out killed >resumed || fail "a sweep whose rank was killed cannot be resumed"
grep -qE '12 points \(([1-9]|10|11) kept' resumed || fail "a killed rank: $(cat resumed)"
cmp -s whole/sweep.csv killed/sweep.csv || fail "a resumed sweep gives another table"

# A plan, whose simulations decide what is simulated next. Its exit status is 1 if nothing meets the slo.
cat >plan.lua <<'LUA'
return {
  system = { kind = "kvdirect", memory = "16MiB" },
  node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
  workload = { keys = 5e5, key = 8, value = 2, get = 1, set = 0, dist = { zipf = 0.99 }, fill = "at_once",
               arrival = { fixed_mops = 250 } },
  run = { functional = "sampled", sample_rate = 16, warmup = "50us", duration = "400us" },
  slo = { p99 = "8us", mops = 200 },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["system.nics"] = { 1, 2 } },
  plan = { minimise = "nodes" },
}
LUA
"$kvcast" plan plan.lua --quiet --json alone.json >/dev/null || fail "plan without ranks"
for number in 2 4; do
    ranks $number "$kvcast" plan plan.lua --quiet --json ranks.json || fail "plan: $(cat stderr)"
    cmp -s alone.json ranks.json || fail "plan with $number ranks gives another answer"
done
ranks 2 "$kvcast" plan plan.lua --quiet --set slo.p99=1us
[ $? -eq 1 ] && [ "$(grep -c '^kvcast: no candidate meets the slo' stderr)" -eq 1 ] || fail "a plan without answer: $(cat stderr)"

# Every command answers once; one that is about a single machine refuses.
ranks 2 "$kvcast" predict small.lua || fail "predict: $(cat stderr)"
[ "$(grep -c '^throughput' stdout)" -eq 1 ] || fail "predict does not print one table"
ranks 2 "$kvcast" measure small.lua && fail "measure runs on two ranks"
[ "$(grep -c 'measure: found 2 ranks, allowed: one' stderr)" -eq 1 ] || fail "measure: $(cat stderr)"
ranks 2 "$kvcast" run none.lua && fail "a scenario that is not there runs"
[ "$(grep -c '^kvcast: none.lua' stderr)" -eq 1 ] || fail "a missing scenario: $(cat stderr)"
ranks 2 "$kvcast" run small.lua --quiet --json none/x.json && fail "a result cannot be written, but the job succeeds"
[ "$(grep -c '^kvcast: none/x.json: cannot be written' stderr)" -eq 1 ] || fail "an unwritable result: $(cat stderr)"

# Ranks that load different files do not answer together.
mkdir other && sed 's/keys = 1000/keys = 1001/' small.lua >other/small.lua
timeout 60 "$mpirun" --oversubscribe -n 1 "$kvcast" run small.lua : -n 1 -wdir other "$kvcast" run small.lua >stdout 2>stderr
[ $? -eq 2 ] || fail "different scenarios run together"
[ "$(grep -c '^kvcast: rank 1 has another scenario than rank 0' stderr)" -eq 1 ] || fail "different scenarios: $(cat stderr)"

exit $failed
