#!/usr/bin/env bash
# Shows the effect of quiet windows: measures a scenario alone and next to a neighbour that keeps all cores of the
# store busy for 0.2 of every 0.6 seconds, in five pairs, and compares the metrics of the quiet windows and of all
# windows.
# Usage: quiet_windows.sh KVCAST SCENARIO.lua [OPTION...]   The options go to `kvcast measure`.
# Medians over the pairs count, because the clock of a shared machine changes from one second to the next. The exit status is 1 when
# a metric of the quiet windows moves by more than 3 %. Needs taskset and nothing else running.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }
kvcast=$1 scenario=$2 pairs=5
shift 2
folder=$(mktemp -d)
neighbours=()
leave_alone() {
    for neighbour in "${neighbours[@]}"; do kill -- "-$neighbour" 2>/dev/null; done
    neighbours=()
}
trap 'leave_alone; rm -rf "$folder"' EXIT
cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
disturb() {
    local core
    for core in $cores; do
        # A session of its own, so that it ends with all its children.
        setsid taskset -c "$core" bash -c 'while :; do timeout 0.2 bash -c "while :; do :; done"; sleep 0.4; done' &
        neighbours+=($!)
    done
}
measure() { # NAME OPTION...: measures for at least two seconds
    local name=$1
    shift
    "$kvcast" measure "$scenario" --set run.duration=2s "$@" --quiet --json "$folder/$name.json" >/dev/null || exit 3
}
value() { # NAME KEY: the first number after the key, which may be the mean of an interval, or nan
    local found
    found=$(tr -d '\n' <"$folder/$1.json" | grep -oE "\"$2\": (\{ *\"mean\": )?[-0-9.e+]+" | head -1)
    echo "${found##* }" | grep . || echo nan
}
for pair in $(seq "$pairs"); do
    measure "alone$pair" "$@"
    disturb
    measure "beside$pair" "$@"
    leave_alone
done
# Prints KEY's medians alone and with the neighbour, and the median of its change within a pair; "-" where it
# is unknown.
medians() { # KEY
    local pair
    for pair in $(seq "$pairs"); do echo "$(value "alone$pair" "$1") $(value "beside$pair" "$1")"; done |
        LC_ALL=C awk '
            function median(list, n,   i, j, t) {
                for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
                    t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
                }
                return (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
            }
            $1 != "nan" && $2 != "nan" && $1 > 0 && $2 > 0 { n++; a[n] = $1; b[n] = $2; moved[n] = 100 * ($2 / $1 - 1) }
            END { if (2 * n > NR) printf "%g %g %.2f\n", median(a, n), median(b, n), median(moved, n); else print "- - -" }'
}
printf '%-28s %12s %12s %9s\n' metric alone "neighbour" moved
status=0
for key in throughput_mops raw_throughput_mops raw_latency_mean_us raw_latency_p99_us t_search_us t_insert_us quiet_frac windows; do
    read -r alone beside moved <<<"$(medians $key)"
    [ "$moved" = - ] || printf -v shown '%+.1f %%' "$moved"
    printf '%-28s %12s %12s %9s\n' "$key" "$alone" "$beside" "$([ "$moved" = - ] && echo - || echo "$shown")"
    case $key in
        throughput_mops) [ "$moved" != - ] || { echo "no quiet windows: run this on a machine that does nothing else" && status=1; } ;;&
        throughput_mops | t_search_us | t_insert_us)
            [ "$moved" = - ] || awk -v moved="$moved" 'BEGIN { exit moved > 3 || moved < -3 }' || status=1 ;;
    esac
done
exit $status
