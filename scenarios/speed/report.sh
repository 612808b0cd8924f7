#!/usr/bin/env bash
# Measures how fast this project is, and writes each figure beside its physical limit or its peer and its goal:
# speed.md, speed.csv, speed.json and the picture speed.svg (with .pdf and .png), with the machine, the commit and the date.
# Usage: report.sh BUILD FOLDER [PART...]; report.sh --list    BUILD has kvcast and the benchmarks; all parts by default
# Environment: REPEAT, runs of which a timing is the median (5); QUICK=1 for one short run of each, about ten minutes
#
# Speeds are by processor time where a line does not say "wall". "reached" is the value over the goal, or the goal over
# the value where less is better: the goal is met from 1 on. No test depends on these figures.
set -euo pipefail
# shellcheck source=scenarios/speed/parts.sh
source "$(dirname "$0")/parts.sh"

if [ "${1:-}" = --list ]; then
    list_parts
    for part in $(list_parts | cut -d' ' -f1); do
        declare -F "part_$part" >/dev/null || { echo "there is no part_$part" >&2; exit 1; }
    done
    exit
fi
if [ $# -lt 2 ]; then
    echo "usage: report.sh BUILD FOLDER [PART...]; report.sh --list" >&2
    exit 2
fi
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
for part in "$@"; do
    list_parts | grep -q "^$part " || { echo "no part $part; there are:" >&2; list_parts >&2; exit 2; }
done
cd "$(dirname "$0")/../.."
rows=$folder/rows.tsv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$rows"

field() { # NAME: of lscpu
    lscpu | sed -n "s/^ *$1: *//p" | head -n 1
}

# Facts that every figure depends on, "name<TAB>text".
measure_facts() {
    local memory
    memory=$("$build"/kernels/memory_bench)
    lines_mops=$(sed -n 's/^memory: \([0-9.]*\) M random lines.*/\1/p' <<<"$memory")
    scan_gb=$(sed -n 's/.*lines\/s, \([0-9.]*\) GB\/s.*/\1/p' <<<"$memory")
    {
        printf 'processor\t%s, %s cores\n' "$(field 'Model name')" "$(nproc)"
        printf 'caches\tL1d %s, L2 %s, L3 %s\n' "$(field L1d.cache)" "$(field L2.cache)" "$(field L3.cache)"
        printf 'memory of one core\t%s M random lines/s and %s GB/s in order, in 512 MiB\n' "$lines_mops" "$scan_gb"
        printf 'commit\t%s\n' "$(git describe --always --dirty 2>/dev/null || echo unknown)"
        printf 'date\t%s\n' "$(date -u +'%Y-%m-%d %H:%M UTC')"
        printf 'runs\t%s\n' "$([ "$repeat" = 1 ] && echo 'one of each' || echo "medians of $repeat")$($quick && echo ', short')"
        printf 'load before\t%s runnable processes in the last minute\n' "$(cut -d' ' -f1 /proc/loadavg)"
    } >"$folder/facts.tsv"
}

# Columns: topic, name, value, unit, limit or peer, goal, reached.
write_markdown() {
    printf '# Speed\n\n'
    awk -F '\t' '{ printf "- %s: %s\n", $1, $2 }' "$folder/facts.tsv"
    awk -F '\t' '$1 != topic { topic = $1; printf "\n## %s\n\n| | value | unit | goal | reached | limit or peer |\n|---|--:|---|--:|--:|---|\n", topic }
                 { printf "| %s | %s | %s | %s | %s | %s |\n", $2, $3, $4, $6, $7 == "" ? "" : sprintf("%.2f", $7), $5 }' "$rows"
    [ ! -s "$work/missing" ] || { printf '\n## Not measured\n\n'; sed 's/^/- /' "$work/missing"; }
}

write_csv() {
    echo 'topic,name,value,unit,limit,goal,reached'
    awk -F '\t' '{ for (i = 1; i <= 7; i++) { gsub(/"/, "\"\"", $i); printf "%s\"%s\"", (i > 1 ? "," : ""), $i } print "" }' "$rows"
}

write_json() {
    awk -F '\t' '
        function text(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
        function number(s) { return s == "" ? "null" : s + 0 }
        FILENAME ~ /facts/ { facts = facts (facts != "" ? ",\n    " : "") text($1) ": " text($2); next }
        { figures = figures (figures != "" ? ",\n    " : "") "{\"topic\": " text($1) ", \"name\": " text($2) ", \"value\": " number($3) \
            ", \"unit\": " text($4) ", \"limit\": " text($5) ", \"goal\": " text($6) ", \"reached\": " number($7) "}" }
        END { printf "{\n  \"schema\": \"kvcast.speed/1\",\n  \"facts\": {\n    %s\n  },\n  \"figures\": [\n    %s\n  ]\n}\n", facts, figures }
    ' "$folder/facts.tsv" "$rows"
}

draw() {
    local format facts
    facts=$(awk -F '\t' '/^(processor|memory|commit|date)/ { printf "%s%s", n++ ? "; " : "", $2 }' "$folder/facts.tsv")
    for format in svg pdf png; do
        gnuplot -c scenarios/speed/report.gp plots/style.gp "$work/bars" "$folder/speed.$format" "$format" "$facts"
    done
}

# Bars from the top: "height<TAB>label<TAB>reached<TAB>text", and the line of a topic without a value.
write_bars() {
    awk -F '\t' -v OFS='\t' '
        $7 == "" { next }
        $1 != topic { topic = $1; at += 1.4; print -at, topic, "", "" }
        { at++; print -at, $2, $7, $3 " " $4 " (" $6 ")" }' "$rows"
}

measure_facts
for part in $(list_parts | cut -d' ' -f1); do
    if [ $# = 0 ] || [[ " $* " == *" $part "* ]]; then
        echo "== $part" >&2
        "part_$part"
    fi
done
write_markdown | tee "$folder/speed.md"
write_csv >"$folder/speed.csv"
write_json >"$folder/speed.json"
write_bars >"$work/bars"
[ ! -s "$work/bars" ] || draw
rm "$folder/facts.tsv" "$rows"
