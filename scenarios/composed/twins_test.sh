#!/usr/bin/env bash
# Simulates compositions beside the built-in stores that they describe, and compares throughput, mean latency and p99. Fails if
# one differs by more than its goal and is not listed as different, or is listed and does not differ.
# Usage: twins_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
scenarios=$(realpath "$(dirname "$0")/..")
failed=0

# Prints throughput [Mops], mean latency and p99 [us] of a run.
numbers() {
    local arguments=()
    for setting in "${@:2}"; do arguments+=(--set "$setting"); done
    "$kvcast" run "$scenarios/$1" -q "${arguments[@]}" |
        awk '/^throughput/ { mops = $2 } /^latency/ { mean = $3 } / p99 / { for (i = 1; i < NF; i++) if ($i == "p99") p99 = $(i + 1) }
             END { print mops, mean, p99 }'
}

printf '%-15s %-46s %10s %10s %8s\n' composition "settings, value" built-in composed error
while IFS='|' read -r composition built both own differs; do
    [[ $composition != \#* && -n ${composition// /} ]] || continue
    read -ra both <<<"$both"
    read -ra own <<<"$own"
    read -r composition <<<"$composition"
    read -r built <<<"$built"
    read -ra ours <<<"$(numbers "composed/$composition" "${both[@]}")"
    read -ra theirs <<<"$(numbers "$built" "${both[@]}" "${own[@]}")"
    names=(throughput mean p99)
    goals=(3 5 8)
    for i in 0 1 2; do
        error=$(awk -v a="${ours[$i]}" -v b="${theirs[$i]}" 'BEGIN { printf "%.1f", (a / b - 1) * 100 }')
        within=$(awk -v e="$error" -v g="${goals[$i]}" 'BEGIN { print (e < 0 ? -e : e) <= g }')
        listed=$([[ " $differs " == *" ${names[$i]} "* ]] && echo 1 || echo 0)
        verdict=""
        [ "$within" != "$listed" ] || { verdict="  FAILED: the goal is ${goals[$i]} %, listed as different: $listed"; failed=1; }
        printf '%-15s %-46s %10s %10s %7s%%%s\n' "$composition" "${both[*]: -1}, ${names[$i]}" "${theirs[$i]}" "${ours[$i]}" "$error" "$verdict"
    done
done <"$scenarios/composed/twins.txt"
exit "$failed"
