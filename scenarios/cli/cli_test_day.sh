#!/usr/bin/env bash
# kvcast day: the energy of a day is the sum of single runs, the files and the picture, and mistakes in a scenario.
# Usage: cli_test_day.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

day() { # NAME TEXT: writes NAME.lua, a scenario with the table day that ends in TEXT
    scenario "$1" "day = { usd_per_kwh = 0.2, $2 },"
    sed -i 's/keys = 1000 }/keys = 1000, arrival = { poisson_mops = 1 } }/' "$1.lua"
}
value() { # NAME FILE: the numbers of a member of a document
    grep -o "\"$1\": [-0-9.e+]*" "$2" | sed 's/.*: //'
}

# A plateau of 5 Mops at night, and a peak: six windows of three rates, so that they share three runs.
day plain 'windows = 6, curve = { { hour = 0, rate = 5 }, { hour = 8, rate = 5 }, { hour = 16, rate = 30 } }'
"$kvcast" day plain.lua --quiet --jobs 1 --out folder --json one.json >table.txt || fail "a day: $(cat table.txt)"
"$kvcast" day plain.lua --quiet --jobs 3 --json - >three.json
cmp one.json three.json || fail "the day depends on the number of jobs"
cmp one.json folder/day.json || fail "day.json differs from --json"
[ "$(value runs one.json)" = 3 ] || fail "windows of the same rate do not share a run: $(value runs one.json) runs"
[ "$(value rate_mops one.json | tr '\n' ' ')" = "5.0 5.0 11.25 23.75 23.75 11.25 " ] ||
    fail "the windows have the rates $(value rate_mops one.json | tr '\n' ' ')"

# By hand: a run for each window, its watts times four hours. A run alone has the same bytes as within the day.
sum=0
for rate in $(value rate_mops one.json); do
    "$kvcast" run plain.lua --quiet --set run.bottleneck=utilization --set workload.arrival.poisson_mops="$rate" --json run.json >/dev/null
    watts=$(value watts_mean run.json | head -1)
    sum=$(awk -v sum="$sum" -v watts="$watts" 'BEGIN { printf "%.15g", sum + watts * 4 / 1000 }')
done
awk -v sum="$sum" -v day="$(grep -m1 -o '^  "energy_kwh": [0-9.]*' one.json | sed 's/.*: //')" -v usd="$(grep -m1 -o '^  "cost_usd": [0-9.]*' one.json | sed 's/.*: //')" \
    'BEGIN { exit !(sum > 0 && day > 0 && (sum / day - 1) ^ 2 < 1e-18 && (usd / (0.2 * sum) - 1) ^ 2 < 1e-18) }' ||
    fail "the energy is not the sum of single runs, $sum kWh: $(grep -E '^  "(energy_kwh|cost_usd)' one.json)"
grep -qE '^cost +[0-9.]+ USD at 0.2 USD/kWh$' table.txt || fail "table.txt has no cost"
grep -qE '^worst window +(12:00 to 16:00|16:00 to 20:00), 23.75 Mops' table.txt || fail "the worst window is $(grep worst table.txt)"
[ "$(wc -l <folder/day.csv)" -eq 7 ] || fail "day.csv has $(wc -l <folder/day.csv) lines, expected 7"
[ "$(awk -F, '{ print NF }' folder/day.csv | sort -u | wc -l)" -eq 1 ] || fail "the lines of day.csv differ in their columns"
if command -v gnuplot >/dev/null; then
    for format in svg pdf png; do
        [ -s folder/day.$format ] || fail "there is no day.$format"
    done
fi

# Objectives: the windows outside of the peak miss one, for 16 hours.
"$kvcast" day plain.lua --quiet --set slo.mops=20 --json slo.json >table.txt
[ "$(value missed_hours slo.json)" = 16.0 ] || fail "missed for $(value missed_hours slo.json) hours"
[ "$(value worst slo.json)" = 1 ] || fail "the window that serves least is not the worst"
grep -q '^slo  *missed in 16 of 24 hours$' table.txt || fail "table.txt says $(grep ^slo table.txt)"

# The closed form, and a load at equal distances, which keeps its kind.
"$kvcast" day plain.lua --quiet --predict --json predict.json >/dev/null || fail "--predict fails"
grep -q '"by": "closed form"' predict.json || fail "--predict simulates"
sed 's/poisson_mops/fixed_mops/' plain.lua >fixed.lua
"$kvcast" day fixed.lua --quiet --json fixed.json >/dev/null || fail "a day at equal distances fails"
cmp -s fixed.json one.json && fail "fixed_mops becomes a Poisson process"

# Bad input.
scenario bare ""
expect 2 'bare.lua:1: the scenario has no day table' "$kvcast" day bare.lua
day empty 'curve = {}'
expect 2 'empty.lua:6: day.curve: found no point, allowed: 1 to 96' "$kvcast" day empty.lua
day back 'curve = { { hour = 3, rate = 1 }, { hour = 2, rate = 1 } }'
expect 2 'day.curve.2.hour: found 2, allowed: later than 3' "$kvcast" day back.lua
day late 'curve = { { hour = 25, rate = 1 } }'
expect 2 'day.curve.1.hour: found 25, allowed: a number, from 0 to 24' "$kvcast" day late.lua
expect 2 'day.windows: found 0, allowed: a whole number, from 1 to 288' "$kvcast" day plain.lua --set day.windows=0
sed 's/poisson_mops = 1/clients = 5/' plain.lua >closed.lua
expect 2 'closed.lua:4: workload.arrival: allowed with a day' "$kvcast" day closed.lua
finish
