#!/usr/bin/env bash
# Shows that disturbances do not reach the results: measures a scenario alone, next to a neighbour that keeps all cores
# of the store busy for 0.2 of every 0.6 seconds, and next to one that writes through 256 MiB of memory instead, in rounds,
# and compares what is measured.
# Usage: quiet_windows.sh KVCAST SCENARIO.lua [OPTION...]   The options go to `kvcast measure`.
# A single run compares its metrics in the quiet windows and in all windows; with --against, the ratios of a pair.
# ROUNDS=N sets the number of rounds, 5 by default. Medians over the rounds count, because the clock of a shared machine
# changes from one second to the next. The exit status is 1 when a metric of the quiet windows moves by more than 3 %, or a
# ratio by 2 % or more. Needs taskset and nothing else running.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,10s/^# //p' "$0"; exit 2; }
kvcast=$1 scenario=$2 rounds=${ROUNDS:-5}
shift 2
folder=$(mktemp -d)
neighbours=()
leave_alone() {
    for neighbour in "${neighbours[@]}"; do kill -- "-$neighbour" 2>/dev/null; done
    neighbours=()
}
trap 'leave_alone; rm -rf "$folder"' EXIT
cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
disturb() { # COMMAND...: runs it on every core, again and again
    local core
    for core in $cores; do
        # A session of its own, so that it ends with all its children.
        setsid taskset -c "$core" bash -c 'while :; do timeout 0.2 "$@"; sleep 0.4; done' neighbour "$@" 2>/dev/null &
        neighbours+=($!)
    done
}
case " $* " in
*" --against"*) pair=1 limit=2 keys="throughput_mops latency_mean_us latency_p99_us t_search_us t_insert_us" scored=$keys ;;
*)
    pair=0 limit=3 scored="throughput_mops t_search_us t_insert_us"
    keys="throughput_mops raw_throughput_mops raw_latency_mean_us raw_latency_p99_us t_search_us t_insert_us quiet_frac windows"
    ;;
esac
measure() { # NAME OPTION...: measures for at least two seconds
    local name=$1
    shift
    "$kvcast" measure "$scenario" --set run.duration=2s "$@" --quiet --json "$folder/$name.json" >/dev/null || exit 3
}
value() { # NAME KEY: the first number after the key, which may be the mean of an interval, or nan; of a pair, its ratio
    local found
    if [ $pair = 1 ]; then
        found=$(tr -d '\n' <"$folder/$1.json" | grep -oE "\"name\": \"$2\",[^}]*\"ratio\": [-0-9.e+]+" | head -1)
    else
        found=$(tr -d '\n' <"$folder/$1.json" | grep -oE "\"$2\": (\{ *\"mean\": )?[-0-9.e+]+" | head -1)
    fi
    echo "${found##* }" | grep . || echo nan
}
for round in $(seq "$rounds"); do
    measure "alone$round" "$@"
    disturb bash -c 'while :; do :; done'
    measure "busy$round" "$@"
    leave_alone
    disturb dd if=/dev/zero of=/dev/null bs=256M
    measure "memory$round" "$@"
    leave_alone
done
# Prints KEY's medians alone and with a neighbour, and the median of its change within a round; "-" where it is unknown.
medians() { # KEY NEIGHBOUR
    local round
    for round in $(seq "$rounds"); do echo "$(value "alone$round" "$1") $(value "$2$round" "$1")"; done |
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
printf '%-28s %-10s %12s %12s %9s\n' "$([ $pair = 1 ] && echo "ratio of" || echo metric)" neighbour alone beside moved
status=0
for key in $keys; do
    for neighbour in busy memory; do
        read -r alone beside moved <<<"$(medians $key $neighbour)"
        [ "$moved" = - ] || printf -v shown '%+.1f %%' "$moved"
        [ "$moved" = - ] && [ $pair = 1 ] || printf '%-28s %-10s %12s %12s %9s\n' "$key" $neighbour "$alone" "$beside" "$([ "$moved" = - ] && echo - || echo "$shown")"
        [ "$key$moved" != throughput_mops- ] || { echo "nothing was quiet: run this on a machine that does nothing else" && status=1; }
        case " $scored " in *" $key "*) [ "$moved" = - ] || awk -v moved="$moved" -v limit=$limit 'BEGIN { exit moved >= limit || moved <= -limit }' || status=1 ;; esac
    done
done
exit $status
