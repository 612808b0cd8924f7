#!/usr/bin/env bash
# kvcast export: tables of answers, with units, as CSV and as SQLite.
# Usage: cli_test_export.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

scenario s ''
"$kvcast" run s.lua -q --out r >/dev/null || fail "run"
"$kvcast" predict s.lua --json p.json >/dev/null || fail "predict"
"$kvcast" export r p.json -o t.csv || fail "export t.csv"
"$kvcast" export r p.json -o t.sqlite || fail "export t.sqlite"
grep -q "^r,kvcast.result/1,throughput_mops.mean,$(jq .throughput_mops.mean r/result.json),,million/s$" t.csv || fail "the throughput: $(grep throughput t.csv)"
# Every number of the document is in the tables, once, with the same value.
numbers=$(jq '[.. | numbers] | length' r/result.json)
[ "$(awk -F, '$1 == "r" && $4 != ""' t.csv | wc -l)" = "$numbers" ] || fail "t.csv has not all $numbers numbers"
/usr/bin/python3 - "$numbers" <<'END' || fail "t.sqlite"
import json, sqlite3, sys
database = sqlite3.connect("t.sqlite")
assert database.execute("SELECT count(*) FROM metric WHERE source = 'r'").fetchone()[0] == int(sys.argv[1])
document = json.load(open("p.json"))
value, unit = database.execute("SELECT value, unit FROM metric WHERE source = 'p.json' AND path = 'throughput_mops.mean'").fetchone()
assert (value, unit) == (document["throughput_mops"]["mean"], "million/s")
text = database.execute("SELECT text FROM value WHERE source = 'r' AND path LIKE 'parameters[_system.index_]'").fetchone()[0]
assert text == "1MiB", text
END
# Texts with commas and quotes stay one field.
/usr/bin/python3 -c 'import csv; assert all(len(row) == 6 for row in csv.reader(open("t.csv", newline="")))' || fail "fields of t.csv"
"$kvcast" export r p.json -o again.csv && cmp t.csv again.csv || fail "another export differs"

# Wrong inputs.
expect 2 'no --output, allowed: --output FILE.csv' "$kvcast" export p.json
expect 2 'found --output t.txt, allowed' "$kvcast" export p.json -o t.txt
expect 2 'nosuch: is no JSON: .*No such file' "$kvcast" export nosuch -o x.csv
echo '{"schema": "other/1"}' >other.json
expect 2 'other.json: has the schema other/1, allowed' "$kvcast" export other.json -o x.csv
echo '{' >bad.json
expect 2 'bad.json:2: is no JSON' "$kvcast" export p.json bad.json -o x.sqlite
mkdir empty
expect 2 'empty' "$kvcast" export empty -o x.csv
expect 2 'export needs|ANSWER' "$kvcast" export -o x.csv
expect 2 'nowhere/x.csv: cannot be written' "$kvcast" export p.json -o nowhere/x.csv
[ ! -e x.csv ] && [ ! -e x.sqlite ] || fail "a file of a failed export"

finish
