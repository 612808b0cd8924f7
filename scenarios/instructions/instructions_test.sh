#!/usr/bin/env bash
# Counts the instructions of the hottest paths with callgrind and compares them with counts.txt: a path may cost at most 3 %
# more or less than the committed number. Ends with 77, which means skipped, where the numbers cannot be compared: without
# valgrind, with another compiler or library, or on a processor without AVX2.
# Usage: instructions_test.sh KVCAST [--update] [PATH...]    --update writes the present numbers and toolchain to counts.txt;
# paths are rows of that file, all by default
#
# Each path runs twice, and the count is the difference of the instructions over the difference of the requests, so that
# starting does not count. The closed form of the bottleneck is left out, because it depends on the answer. Valgrind shows
# every processor with AVX2 to the program as the same one, so functions that are chosen at run time, the C library's
# included, are the same everywhere. The C library copies and clears without "rep", of which callgrind counts each byte.
set -euo pipefail
kvcast=$(realpath "$1")
update=false
shift
if [ "${1:-}" = --update ]; then
    update=true
    shift
fi
only=" $* "
cd "$(dirname "$0")/../.."
table=scenarios/instructions/counts.txt
allowed_percent=3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

skip() {
    echo "skipped: $*"
    exit 77
}
command -v valgrind >/dev/null || skip "there is no valgrind; make setup-sanitize installs it"
grep -qw avx2 /proc/cpuinfo || skip "this processor has no AVX2, so the program takes other paths"
toolchain="$(readelf -p .comment "$kvcast" | grep -om 1 'GCC: .*' || echo 'no GCC'), $(ldd --version | sed -n '1s/.* /glibc /p'), \
$(ldd "$kvcast" | awk '/libsimgrid/ { print $1 }'), $(valgrind --version)"
committed=$(sed -n 's/^# toolchain: //p' "$table")
$update || [ "$toolchain" = "$committed" ] ||
    skip "the committed numbers are those of $committed; this is $toolchain"

# A scenario whose sweep has this many values on its two axes, for the closed form.
write_points() { # FILE VALUES VALUES
    cat >"$1" <<END
return { system = { kind = "megakv" },
  workload = { keys = 48e6, key = 8, value = 8, dist = { zipf = 0.99 }, arrival = { poisson_mops = 100 } },
  sweep = { ["system.cycle"] = { from = "100us", to = "400us", steps = $2 },
            ["workload.arrival.poisson_mops"] = { from = 10, to = 160, steps = $3 } } }
END
}

# Runs a path, short or long, under callgrind. Writes the instructions of all its processes and its number of requests,
# or what its unit is, to $folder/NAME.LENGTH.
count() { # NAME LENGTH UNIT FUNCTIONS SCENARIO SETTING...
    local name=$1 length=$2 unit=$3 functions=$4 scenario=$5 number instructions
    local out=$folder/$name.$length arguments=() options=()
    shift 5
    [ "$functions" = all ] || mapfile -t options < <(tr , '\n' <<<"$functions" | sed 's/^/--toggle-collect=/')
    if [ "$unit" = point ]; then
        write_points "$out.lua" "$@"
        arguments=(sweep --predict "$out.lua" --out "$out.sweep" --restart)
    else
        mapfile -t arguments < <(printf -- '--set\n%s\n' "$@")
        arguments=(run "$scenario" "${arguments[@]}" --set run.bottleneck=utilization --replicas 1 --json "$out.json")
    fi
    mkdir "$out.log"
    env -i PATH="$PATH" GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS valgrind --tool=callgrind --vex-iropt-level=1 \
        --callgrind-out-file=/dev/null --log-file="$out.log/%p" "${options[@]}" "$kvcast" "${arguments[@]}" --jobs 1 --quiet >/dev/null
    case $unit in
    point) number=$(($1 * $2)) ;;
    item) number=$(sed 's/.*workload.keys=\([0-9]*\).*/\1/' <<<"$*") ;;
    *) number=$(awk '/"simulation":/ { inside = 1 } inside && /"requests":/ { print $2 + 0; exit }' "$out.json") ;;
    esac
    instructions=$(cat "$out.log"/* | awk '/Collected :/ { sum += $NF } END { printf "%.0f", sum }')
    echo "$instructions $number" >"$out"
}

# The rows of the table: name, count, unit, functions, scenario and settings, those of the short run, those of the long one.
rows() {
    sed 's/#.*//; s/ *| */|/g' "$table" | awk -F '|' -v only="$only" 'NF > 1 && (only ~ /^ *$/ || index(only, " " $1 " "))'
}
[ -n "$(rows)" ] || { echo "found no path \"$*\" in $table" >&2; exit 2; }

running=0
while IFS='|' read -r name _ unit functions settings short long; do
    for length in short long; do
        [ "$running" -lt "$(nproc)" ] || wait -n
        # shellcheck disable=SC2086 # The settings are words.
        count "$name" "$length" "$unit" "$functions" $settings ${!length} &
        running=$((running < $(nproc) ? running + 1 : running))
    done
done < <(rows)
wait

failed=0
printf '%-14s %12s %12s %8s\n' path counted committed change
while IFS='|' read -r name old unit _; do
    new=$(cat "$folder/$name.short" "$folder/$name.long" |
        awk 'NR == 1 { i = $1; n = $2 } NR == 2 && $2 > n && $1 > i { printf "%.1f", ($1 - i) / ($2 - n) }')
    [ -n "$new" ] || { echo "$name: nothing was counted; the functions of $table may have other names now" >&2; exit 1; }
    change=$(awk -v a="$new" -v b="$old" 'BEGIN { printf("%+.2f", b > 0 ? 100 * (a / b - 1) : 0) }')
    printf '%-14s %12s %12s %6s %%\n' "$name" "$new" "$old" "$change"
    if $update; then
        sed -i "s/^\($name *| *\)[0-9.]*/\1$new/" "$table"
    elif awk "BEGIN { exit !($change > $allowed_percent) }"; then
        echo "$name: found $new instructions per $unit, allowed at most $allowed_percent % more than $old. Make it cheaper, or" \
            "renew the number with $0 KVCAST --update and say in the commit what costs more, and why."
        failed=1
    elif awk "BEGIN { exit !($change < -$allowed_percent) }"; then
        echo "$name: found $new instructions per $unit, $allowed_percent % or more below $old. Keep the gain: renew the number with" \
            "$0 KVCAST --update."
        failed=1
    fi
done < <(rows)
if $update; then
    sed -i "s|^# toolchain: .*|# toolchain: $toolchain|" "$table"
fi
exit $failed
