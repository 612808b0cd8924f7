#!/usr/bin/env bash
# Compares predictions with simulations of all compositions: with saturating clients, at 30, 60 and 90 % of what these get, and with
# clients of a closed loop: a fifth of those that just keep the store busy, as many, and five times as many, and half as many and as
# many that pause for three times as long as an answer takes. Prints throughput, mean latency and p99 of the simulation, and the errors
# of each prediction in percent (-: it knows none), and at last their means and medians by kind of load. Fails if one has no result.
# Usage: forecasts.sh KVCAST [SCENARIO...]    simulates and predicts, which takes minutes
#        BEFORE=OTHER_KVCAST forecasts.sh ... shows the errors of another program's predictions in front of these
set -euo pipefail
kvcast=$(realpath "$1")
folder=$(realpath "$(dirname "$0")")
scenarios=("${@:2}")
[ ${#scenarios[@]} -gt 0 ] || scenarios=("$folder"/*.lua)

# Prints throughput, mean latency and p99 of a scenario with settings: answer PROGRAM COMMAND SCENARIO SETTINGS...
answer() {
    local arguments=(--set run.bottleneck=utilization)
    for setting in "${@:4}"; do arguments+=(--set "$setting"); done
    timeout 300 "$1" "$2" "$3" -q --json - "${arguments[@]}" |
        jq -r '[.throughput_mops.mean, .latency_us.mean, ((.latency_us.percentiles[]? | select(.p == 0.99).us) // "-")] | map(. // "-") | @tsv'
}

# Prints a row: row SCENARIO KIND LOAD SETTINGS...
row() {
    local simulated predicted before=""
    simulated=$(answer "$kvcast" run "$1" "${@:4}")
    predicted=$(answer "$kvcast" predict "$1" "${@:4}")
    [ -z "${BEFORE:-}" ] || before=$(answer "$BEFORE" predict "$1" "${@:4}")
    awk -v name="$(basename "$1" .lua)" -v kind="$2" -v load="$3" -v simulated="$simulated" -v predicted="$predicted" -v before="$before" '
        function errors(text, i, x) {
            split(text, x)
            for (i = 1; i <= 3; i++) printf x[i] == "-" || y[i] == "-" ? "       -" : " %7.1f", y[i] == 0 ? 0 : (x[i] / y[i] - 1) * 100
        }
        BEGIN {
            split(simulated, y)
            printf "%-21s %-9s %-22s %10.5g %9.4g %9.4g |", name, kind, load, y[1], y[2], y[3]
            if (before != "") { errors(before); printf " |" }
            errors(predicted); print ""
        }' | tee -a "$rows"
}

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo "scenario              load                                   Mops   mean us    p99 us | errors of Mops, mean and p99 [%]"
for scenario in "${scenarios[@]}"; do
    saturate=workload.arrival=saturate
    mops=$(answer "$kvcast" run "$scenario" $saturate | cut -f 1)
    row "$scenario" saturated "" $saturate
    for percent in 30 60 90; do
        row "$scenario" open "$percent %" workload.arrival.poisson_mops="$(awk "BEGIN { print $mops * $percent / 100 }")"
    done
    # What an answer takes at 30 % says how many clients just keep the store busy.
    us=$(awk 'END { print $0 }' <(grep -F "$(basename "$scenario" .lua) " "$rows" | grep -F '30 %') | sed 's/.* 30 % *//' | awk '{ print $2 }')
    for part in 0.2 1 5; do
        clients=$(awk "BEGIN { n = int($mops * $us * $part + 0.5); print n < 1 ? 1 : n }")
        row "$scenario" closed "$clients clients" $saturate workload.arrival.clients="$clients"
    done
    for part in 2 4; do
        clients=$(awk "BEGIN { print int($mops * $us * $part + 0.5) }") think=$(awk "BEGIN { print $us * 3 }")
        row "$scenario" pausing "$clients, ${think} us" $saturate workload.arrival.clients="$clients" workload.arrival.think="${think}us"
    done
done

# Means and medians of the sizes of the errors, of the last three columns and, with BEFORE, of those in front of them.
awk -F '|' '{ split($1, w, " "); for (c = 2; c <= NF; c++) { split($c, e, " "); for (i = 1; i <= 3; i++) if (e[i] != "-") print w[2], c - 1, i, e[i] < 0 ? -e[i] : e[i] } }' "$rows" |
    sort -k 1,3 -k 4,4n | awk '
        function flush() { if (n) printf "%-9s prediction %d, %-4s: mean %6.1f %%, median %6.1f %%\n", k[1], k[2], what[k[3]], sum / n, value[int((n + 1) / 2)] }
        BEGIN { split("Mops mean p99", what) }
        { now = $1 " " $2 " " $3; if (now != last) { flush(); n = sum = 0; last = now; split(now, k) } value[++n] = $4; sum += $4 }
        END { flush() }'
