#!/usr/bin/env bash
# Puts into docs/fidelity.md: the accepted errors of the papers (validate/fidelity.csv) as table and picture, the identified
# parameters (identification.csv), and the figures that a paper contradicts (cases.csv).
# Usage: document.sh PROJECT FOLDER: rewrites FOLDER/fidelity.md and FOLDER/pictures/fidelity.svg
set -euo pipefail
errors=$1/validate/fidelity.csv
table=$(mktemp) points=$(mktemp) parameters=$(mktemp) excluded=$(mktemp)
trap 'rm -f "$table" "$points" "$parameters" "$excluded"' EXIT
# Mean of the points, largest error, and bounds that are held, by facts and cross-validated. An error of 0 holds a bound.
awk -F, '
    NR == 1 { next }
    !($1 in parameters) { paper[++papers] = $1; parameters[$1] = $2 }
    $4 == "point" {
        points[$1]++
        for (i = 5; i <= 6; i++) { size = $i < 0 ? -$i : $i; sum[$1, i] += size; if (size > most[$1, i]) most[$1, i] = size }
    }
    $4 != "point" { bounds[$1]++; for (i = 5; i <= 6; i++) held[$1, i] += $i == 0 }
    END {
        print "| paper | points | mean error by facts | largest | bounds held | parameters | cross-validated mean | largest | bounds held |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (p = 1; p <= papers; p++) {
            n = paper[p]
            printf "| %s | %d ", n, points[n]
            for (i = 5; i <= 6; i++) {
                if (i == 6) printf "| %d ", parameters[n]
                printf "| %.1f %% | %.0f %% | %d of %d ", 100 * sum[n, i] / points[n], 100 * most[n, i], held[n, i], bounds[n]
            }
            print "|"
        }
    }' "$errors" >"$table"
# Splits a line of a CSV file into cell[1], cell[2], ...
split_csv='
    function split_csv(line, cell,   n, quoted, i, c) {
        n = 1; quoted = 0; cell[1] = ""
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) cell[++n] = ""
            else cell[n] = cell[n] c
        }
        return n
    }'
for folder in "$1"/validate/papers/*/; do
    paper=$(basename "$folder")
    # The first line of a parameter; the last cell, why it is dropped, may contain commas.
    [ ! -e "$folder/identification.csv" ] || awk -F, -v paper="$paper" 'NR > 1 && $4 == "" {
        dropped = $0; for (i = 1; i < 10; i++) sub(/^[^,]*,/, "", dropped)
        printf "| %s | `%s` | %s | %s | %s |\n", paper, $3, $8 == "" ? "-" : $8,
            dropped == "" ? $5 " (" $6 " to " $7 ")" : "-", dropped == "" ? "used" : "dropped: " dropped
    }' "$folder/identification.csv" >>"$parameters"
    awk -v paper="$paper" "$split_csv"'
        { split_csv($0, cell) }
        cell[10] == "excluded" { printf "| %s | %s, %s | %s |\n", paper, cell[1], cell[6] == "" ? "a bound" : cell[6], cell[11] }
    ' "$folder/cases.csv" >>"$excluded"
done
# Each table of the page is known by its header.
awk -v table="$table" -v parameters="$parameters" -v excluded="$excluded" '
    function put(file, line) { while ((getline line <file) > 0) print line; skipping = 1 }
    !/^\|/ { skipping = 0 }
    skipping { next }
    /^\| paper \| points/ { put(table); next }
    { print }
    /^\| paper \| parameter/ { print "|---|---|---|---|---|"; put(parameters) }
    /^\| paper \| figure/ { print "|---|---|---|"; put(excluded) }
' "$2/fidelity.md" >"$2/fidelity.md.new"
mv "$2/fidelity.md.new" "$2/fidelity.md"
# Each paper has two rows of points, which spread over a third of a row in the order of the cases.
awk -F, '
    NR > 1 && !($1 in place) { place[$1] = ++papers }
    NR > 1 && $4 == "point" {
        at[$1]++
        for (i = 5; i <= 6; i++) {
            size = 100 * ($i < 0 ? -$i : $i)
            print i - 5, (size < 0.3 ? 0.3 : size), -place[$1] + (i == 5 ? 0.2 : -0.2) + 0.12 * (at[$1] % 5 - 2) / 2, $1, -place[$1]
        }
    }' "$errors" >"$points"
papers=$(awk -F, 'NR > 1 { print $1 }' "$errors" | uniq)
tics=$(n=0; for paper in $papers; do n=$((n + 1)); printf '%s"%s" -%d' "$([ $n -gt 1 ] && echo ,)" "$paper" $n; done)
means=$(awk -F'[ |%]+' '/^\| [a-z]+ \| [0-9]/ { n++; printf "set arrow from %s,%.2f to %s,%.2f nohead front ls 1 lw 2.5\nset arrow from %s,%.2f to %s,%.2f nohead front ls 2 lw 2.5 dt 1\n", $4, -n + 0.34, $4, -n + 0.04, $10, -n - 0.04, $10, -n - 0.34 }' "$table")
mkdir -p "$2/pictures"
gnuplot - <<G
FORMAT = "svg"; OUTPUT = "$2/pictures/fidelity.svg"; COLUMNS = 2; HEIGHT = 8.5
load "$1/plots/style.gp"
set logscale x
set xrange [0.3:300]
set yrange [-$(echo "$papers" | wc -w) - 0.6:-0.4]
set xtics ("≤ 0.3" 0.3, "1" 1, "3" 3, "10" 10, "30" 30, "100" 100, "300" 300)
set ytics ($tics)
set xlabel "error of a published number (%); a bar is the mean of its row"
set key outside top center horizontal
$means
plot "$points" using (\$1 == 0 ? \$2 : NaN):3 with points ls 1 title "from hardware facts alone", \
    "$points" using (\$1 == 1 ? \$2 : NaN):3 with points ls 2 title "with identified parameters, cross-validated"
G
