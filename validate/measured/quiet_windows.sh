#!/usr/bin/env bash
# Shows what quiet windows are worth: measures a scenario alone, then beside a neighbour that keeps all cores of the
# store busy for 0.2 of every 0.6 seconds, and compares the metrics of the quiet windows and of all windows.
# Usage: quiet_windows.sh KVCAST SCENARIO.lua [OPTION...]   The options go to `kvcast measure`.
# The exit status is 1 when a metric of the quiet windows moves by more than 3 %. Needs taskset and nothing else running.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
kvcast=$1 scenario=$2
shift 2
folder=$(mktemp -d)
neighbours=()
stop() {
    for neighbour in "${neighbours[@]}"; do kill -- "-$neighbour" 2>/dev/null; done
    rm -rf "$folder"
}
trap stop EXIT
measure() { # NAME OPTION...: measures for at least two seconds
    local name=$1
    shift
    "$kvcast" measure "$scenario" --set run.duration=2s "$@" --quiet --json "$folder/$name.json" >/dev/null || exit 3
}
value() { # NAME KEY: the first number behind the key, which may be the mean of an interval, or nan
    local found
    found=$(tr -d '\n' <"$folder/$1.json" | grep -oE "\"$2\": (\{ *\"mean\": )?[-0-9.e+]+" | head -1)
    echo "${found##* }" | grep . || echo nan
}
measure alone "$@"
cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
for core in $cores; do
    # A session of its own, so that it ends with all its children.
    setsid taskset -c "$core" bash -c 'while :; do timeout 0.2 bash -c "while :; do :; done"; sleep 0.4; done' &
    neighbours+=($!)
done
measure beside "$@"
printf '%-28s %12s %12s %9s\n' metric alone "neighbour" moved
status=0
for key in throughput_mops raw_throughput_mops raw_latency_mean_us raw_latency_p99_us t_search_us t_insert_us quiet_frac windows; do
    LC_ALL=C awk -v key="$key" -v a="$(value alone $key)" -v b="$(value beside $key)" 'BEGIN {
        known = a != "nan" && b != "nan" && a > 0 && b > 0
        moved = known ? sprintf("%+.1f %%", 100 * (b / a - 1)) : "-"
        printf "%-28s %12s %12s %9s\n", key, a, b, moved
        quiet = key == "throughput_mops" || key == "t_search_us" || key == "t_insert_us"
        exit quiet && known && (b / a > 1.03 || b / a < 0.97) }' || status=1
done
LC_ALL=C awk -v a="$(value alone quiet_frac)" -v b="$(value beside quiet_frac)" 'BEGIN { exit a > 0 && b > 0 }' &&
    { echo "no quiet windows: nothing is shown; run this on a machine that does nothing else" && status=1; }
exit $status
