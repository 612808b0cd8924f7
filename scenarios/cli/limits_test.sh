#!/usr/bin/env bash
# A run that does not fit into memory or would take more than a day is refused before it starts: one message with the
# place and what is allowed, exit status 2, and nothing is written.
# Usage: limits_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scenario=$folder/large.lua
cat >"$scenario" <<'END'
return {
  system = { kind = "megakv", index = "1MiB", cycle = "1ms" },
  workload = {
    keys = 1e4,
    arrival = { poisson_mops = 10 },
  },
  run = {
    functional = "full",
    duration = "1ms",
  },
}
END

fail() {
    echo "limits_test: $1" >&2
    exit 1
}

# Runs kvcast with the arguments after TEXT, which the only line on stderr must contain.
refuses() { # TEXT COMMAND...
    local text=$1 status=0
    shift
    timeout 60 "$kvcast" "$@" --quiet >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq 2 ] || fail "exit status $status: kvcast $*: $(cat "$folder/err")"
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line: $(cat "$folder/err")"
    grep -qF -- "$text" "$folder/err" || fail "not \"$text\": $(cat "$folder/err")"
    [ ! -e "$folder/results" ] || [ -z "$(find "$folder/results" -type f)" ] || fail "files were written: kvcast $*"
    [ ! -e "$folder/result.json" ] || fail "a result was written: kvcast $*"
}

# Memory: the option that causes most of it, at its place, and a value that fits.
refuses "$scenario:4: workload.keys: found" run "$scenario" --set workload.keys=4e9 --set workload.value=4096 \
    --out "$folder/results" --json "$folder/result.json"
fits=$(sed -n 's/.*workload.keys = \([0-9]*\) fits.*/\1/p' "$folder/err")
[ -n "$fits" ] || fail "no value that fits: $(cat "$folder/err")"
"$kvcast" check "$scenario" --quiet --set workload.keys="$fits" --set workload.value=4096 >/dev/null 2>"$folder/err"
[ ! -s "$folder/err" ] || fail "$fits keys should fit: $(cat "$folder/err")"
refuses "$scenario:9: run.duration: found" run "$scenario" --set run.duration=999999s --set workload.arrival.poisson_mops=0.001

# Time, from the number of requests alone, and in a sweep from the sum of its points.
refuses "$scenario:9: run.duration: the run needs at least" run "$scenario" --set run.duration=99999s --replicas 1000 \
    --jobs 2 --set workload.arrival.poisson_mops=100 --out "$folder/results"

# Time, from the speed of the first two seconds: 5 * 10^12 requests would just do at 10^8 a second.
refuses "$scenario:9: run.duration: at its present speed the run needs" run "$scenario" --set run.duration=99999s \
    --set run.functional=off --replicas 5 --jobs 1 --out "$folder/results"

# The longer one of warm-up and measured time is named.
refuses "run.warmup: the run needs at least" run "$scenario" --set run.warmup=10000s \
    --replicas 100 --jobs 1

# --long starts such a run.
status=0
timeout 4 "$kvcast" run "$scenario" --set run.duration=99999s --set run.functional=off --long --quiet >/dev/null \
    2>"$folder/err" || status=$?
[ "$status" -eq 124 ] || fail "--long: exit status $status: $(cat "$folder/err")"
[ ! -s "$folder/err" ] || fail "--long: $(cat "$folder/err")"
echo "limits are told first"
