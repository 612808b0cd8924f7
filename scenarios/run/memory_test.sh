#!/usr/bin/env bash
# Compares the memory that kvcast predicts for a run with the run's use, and prints a table. Fails if they differ by
# more than a tenth of the use, in either direction.
# Usage: memory_test.sh KVCAST [SCENARIO.lua...]    Without scenarios: all that come with kvcast.
set -euo pipefail
here=$(dirname "$(realpath "$0")")

# Scenarios that the table shows, but that cannot fail. No closed form knows how late the launches of the first come and
# how full its buffers are then; the keys of a short trace hit the pages of the index by chance; the last slabs of a store go
# to the tenant that needs them first; fig18_latency has a few hundred of the 8192 operations in flight that it
# allows, all of which a later backlog would need; and the last two are loads above the capacity, whose backlog grows more
# slowly than the closed form says.
known=" scenarios/papers/dido/fig16_megakv.lua scenarios/examples/trace.lua scenarios/examples/tenants.lua scenarios/papers/kvdirect/fig18_latency.lua scenarios/examples/plan.lua scenarios/examples/bursts.lua "

value() { # KEY: its number in the result on standard input
    sed -n "s/^ *\"$1\": \([0-9.e+]*\),\{0,1\}$/\1/p"
}

compare() { # KVCAST SCENARIO: prints "missed" in front of the row if the two are too far apart
    local result row
    # One replica takes what each of several takes, and the bottleneck by gain needs no other memory.
    if ! result=$("$1" run "$2" --replicas 1 --jobs 1 --quiet --json - --set run.bottleneck=utilization 2>&1); then
        grep -q "this machine has" <<<"$result" || { echo "failed $2: $result"; return; }
        printf 'skipped %-52s %s\n' "$2" "$(grep -o 'needs .* available' <<<"$result")"
        return
    fi
    row=$(awk -v planned="$(value memory_planned_bytes <<<"$result")" -v taken="$(value memory_taken_bytes <<<"$result")" \
        -v name="$2" 'BEGIN {
            error = planned / taken - 1
            far = error * error > 0.1 * 0.1
            printf "%s %-52s %12.1f %12.1f %+7.1f %%\n", far ? "missed" : "ran", name, planned / 2^20, taken / 2^20, 100 * error
        }')
    [[ $known == *" $2 "* ]] && row=${row/#missed /known }
    echo "$row"
}

if [ "${1:-}" = --compare ]; then # For xargs below.
    compare "$2" "$3"
    exit
fi

kvcast=$(realpath "$1")
shift
cd "$here/../.."
[ $# -gt 0 ] || set -- scenarios/examples/*.lua scenarios/papers/*/*.lua
printf '%-7s %-52s %12s %12s %8s\n' '' scenario "planned MiB" "taken MiB" error
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" "$here/memory_test.sh" --compare "$kvcast" | sort -k2 |
    awk '{ printf "%-7s %s\n", $1, substr($0, length($1) + 2); count[$1]++ } END {
        printf "%d scenarios, %d of them more than a tenth away\n", count["ran"] + count["known"] + count["missed"], count["missed"]
        exit count["missed"] + count["failed"] > 0 || count["ran"] == 0
    }'
