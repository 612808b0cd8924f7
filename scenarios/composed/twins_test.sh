#!/usr/bin/env bash
# Simulates compositions beside the built-in stores that they describe, and compares throughput (with saturating clients, the
# capacity), mean latency, p99, the hit ratio, and the counters of the real structures that both results have. Fails if one differs
# by more than its goal and is not listed as different, or is listed and does not differ.
# Usage: twins_test.sh KVCAST             compares all lines of twins.txt
#        twins_test.sh KVCAST --capacity  compares what `kvcast capacity` finds instead, which takes minutes
#        twins_test.sh KVCAST --speed     compares simulated requests per second of CPU time instead, as medians of 5 runs
# Further arguments are the compositions to compare, such as mica.lua; without any, it compares all.
set -euo pipefail
kvcast=$(realpath "$1")
shift
mode=""
[[ ${1:-} != --* ]] || { mode=$1 && shift; }
wanted=" $* "
scenarios=$(realpath "$(dirname "$0")/..")
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
failed=0

# Answers a scenario with settings: answer FILE COMMAND SCENARIO SETTINGS...
answer() {
    local arguments=(--set run.bottleneck=utilization)
    for setting in "${@:4}"; do arguments+=(--set "$setting"); done
    timeout 600 "$kvcast" "$2" "$scenarios/$3" -q --json "$1" "${arguments[@]}" >/dev/null
}

# Prints a row of the table: NAME BUILT-IN COMPOSED ERROR GOAL, the last two in percent. A part that is listed must differ. Counters
# that are equal have no row.
row() {
    local listed=0 verdict="" within
    [[ " $differs " != *" $1 "* ]] || listed=1
    within=$(awk -v e="$4" -v g="$5" 'BEGIN { print (e < 0 ? -e : e) <= g }')
    [[ $listed$within != 01 || $1 =~ ^(throughput|mean|p99|capacity|speed)$ ]] || return 0
    [ "$within" != "$listed" ] || { verdict="  FAILED: the goal is $5 %, listed as different: $listed"; failed=1; }
    printf '%-24s %-46s %10.4g %10.4g %7.1f%%%s\n' "$composition" "${both[*]: -1}, $1" "$2" "$3" "$4" "$verdict"
}

compare_runs() {
    answer "$results/ours" run "composed/$composition" "${both[@]}" &
    answer "$results/theirs" run "$built" "${both[@]}" "${own[@]}"
    wait "$!"
    # Rows of all parts: the hit ratio differs in points. MICA and memcached have names of their own for some counters.
    local parts
    parts=$(jq -rn --slurpfile ours "$results/ours" --slurpfile theirs "$results/theirs" '
        $ours[0] as $a | $theirs[0] as $b |
        def p99: .latency_us.percentiles[] | select(.p == 0.99).us;
        def error($x; $y): if $x == $y then 0 elif $y == 0 then 100 else ($x / $y - 1) * 100 end;
        def part($name; $x; $y; $goal): [$name, $y, $x, error($x; $y), $goal];
        part("throughput"; $a.throughput_mops.mean; $b.throughput_mops.mean; 3),
        part("mean"; $a.latency_us.mean; $b.latency_us.mean; 5), part("p99"; $a | p99; $b | p99; 8),
        ["hits", $b.requests.hit_frac, $a.requests.hit_frac, ($a.requests.hit_frac - $b.requests.hit_frac) * 100, 0.5],
        ({ lines_per_search: "lines_per_get", lines_per_insert: "lines_per_set" } as $names |
         $a.kernel | keys[] as $k | ($b.kernel | .[$k] // .[$names[$k] // $k]) as $y | select($y != null and .[$k] != null) |
         part($k; .[$k]; $y; 1)) | @tsv')
    while read -r name x y error goal; do row "$name" "$x" "$y" "$error" "$goal"; done <<<"$parts"
}

compare_capacities() {
    [[ "${both[*]}" != *workload.arrival* ]] || return 0
    answer "$results/ours" capacity "composed/$composition" "${both[@]}" &
    answer "$results/theirs" capacity "$built" "${both[@]}" "${own[@]}"
    wait "$!"
    local ours theirs
    ours=$(jq .capacity_mops.mean "$results/ours") theirs=$(jq .capacity_mops.mean "$results/theirs")
    row capacity "$theirs" "$ours" "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { print (a / b - 1) * 100 }')" 3
}

# The two take turns. A composition may be faster.
compare_speeds() {
    [[ "${both[*]}" != *workload.arrival* ]] || return 0
    local median='sort -g | sed -n 3p' ours theirs
    for i in 1 2 3 4 5; do
        answer "$results/ours" run "composed/$composition" "${both[@]}"
        jq '.simulation | .requests / .wall_cpu_s / 1e6' "$results/ours" >>"$results/our_speeds"
        answer "$results/theirs" run "$built" "${both[@]}" "${own[@]}"
        jq '.simulation | .requests / .wall_cpu_s / 1e6' "$results/theirs" >>"$results/their_speeds"
    done
    ours=$(eval "$median" <"$results/our_speeds") theirs=$(eval "$median" <"$results/their_speeds")
    rm "$results/our_speeds" "$results/their_speeds"
    row speed "$theirs" "$ours" "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { e = (a / b - 1) * 100; print e < 0 ? e : 0 }')" 20
}

printf '%-24s %-46s %10s %10s %8s\n' composition "settings, value" built-in composed error
while IFS='|' read -r composition built both own differs; do
    [[ $composition != \#* && -n ${composition// /} ]] || continue
    read -ra both <<<"$both"
    read -ra own <<<"$own"
    own=("${own[@]//\~/ }") # A ~ stands for a space.
    read -r composition <<<"$composition"
    read -r built <<<"$built"
    [[ $wanted == "  " || $wanted == *" $composition "* ]] || continue
    case $mode in
    --capacity) compare_capacities ;;
    --speed) compare_speeds ;;
    *) compare_runs ;;
    esac
done <"$scenarios/composed/twins.txt"
exit "$failed"
