#!/usr/bin/env bash
# Compares the memory that kvcast predicts for a run with what the run takes, and prints a table. Fails if they differ by
# more than a tenth of what it takes, in either direction.
# Usage: memory_test.sh KVCAST [SCENARIO.lua...]    Without scenarios: all that come with kvcast.
set -euo pipefail
kvcast=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- scenarios/examples/*.lua scenarios/papers/*/*.lua
ran=0
missed=0
most=0.1
# Scenarios that the table shows, but that cannot fail. No closed form knows how late the launches of the first come and
# how full its buffers are then; the keys of a short trace hit the pages of the index by chance.
known=" scenarios/papers/dido/fig16_megakv.lua scenarios/examples/trace.lua "
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

value() { # KEY: its number in the result on standard input
    sed -n "s/^ *\"$1\": \([0-9.e+]*\),\{0,1\}$/\1/p"
}

printf '%-52s %12s %12s %8s\n' scenario "planned MiB" "taken MiB" error
for scenario in "$@"; do
    # One replica takes what each of several takes, and the bottleneck by gain needs no other memory.
    if ! result=$("$kvcast" run "$scenario" --replicas 1 --jobs 1 --quiet --json - --set run.bottleneck=utilization \
        2>"$errors"); then
        grep -q "this machine has" "$errors" || { cat "$errors" >&2; exit 1; }
        printf '%-52s skipped: %s\n' "$scenario" "$(grep -o 'needs .* available' "$errors")"
        continue
    fi
    planned=$(value memory_planned_bytes <<<"$result")
    taken=$(value memory_taken_bytes <<<"$result")
    awk -v name="$scenario" -v planned="$planned" -v taken="$taken" -v most=$most 'BEGIN {
        error = planned / taken - 1
        far = error * error > most * most
        printf("%-52s %12.1f %12.1f %+7.1f %%%s\n", name, planned / 2^20, taken / 2^20, 100 * error,
            far ? "  <-- more than a tenth" : "")
        exit far
    }' || [[ $known == *" $scenario "* ]] || missed=$((missed + 1))
    ran=$((ran + 1))
done
echo "$ran scenarios, $missed of them more than a tenth away"
[ "$ran" -gt 0 ] && [ "$missed" -eq 0 ]
