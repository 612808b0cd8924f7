#!/usr/bin/env bash
# Commands give the same bytes for 1, 2 and 4 ranks, and print one answer or one message.
# Usage: ranks_cli_test.sh MPIRUN KVCAST
set -uo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun=$1 kvcast=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail() { # TEXT
    echo "FAILED: $1"
    failed=1
}

ranks() { # NUMBER COMMAND...: runs the command; stdout and stderr go to files
    local number=$1
    shift
    timeout 60 "$mpirun" -n "$number" --oversubscribe "$@" >stdout 2>stderr </dev/null
}

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
    sed -E '/"wall_|_per_wall_s/d' "$1"
}
"$kvcast" run small.lua --quiet --json alone.json >/dev/null || fail "run without ranks"
for number in 1 2 4; do
    ranks $number "$kvcast" run small.lua --quiet --json ranks.json --out out$number || fail "run: $(cat stderr)"
    cmp -s <(timeless alone.json) <(timeless ranks.json) || fail "run with $number ranks gives other numbers"
    [ "$(grep -c '^throughput' stdout)" -eq 1 ] || fail "run with $number ranks does not print one table"
    [ -s out$number/timeline.json ] || fail "run with $number ranks writes no timeline"
done

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
