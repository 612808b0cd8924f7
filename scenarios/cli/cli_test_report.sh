#!/usr/bin/env bash
# kvcast report: pages are well-formed, complete in themselves and accessible, and their numbers are those of the answer.
# Usage: cli_test_report.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

find_in() { # XPATH FILE: what the path finds, or nothing
    xmllint --nonet --xpath "$1" "$2" 2>/dev/null
}

none() { # WHAT XPATH FILE: the path finds nothing
    [ "$(find_in "count($2)" "$3")" = 0 ] || fail "$3: $1: $(find_in "$2" "$3" | head -3)"
}

# The ratios of contrast of a page, as WCAG 2 defines them, of each pair of colours that text has.
contrasts() {
    grep -o ':root{[^}]*}' "$1" | grep -- --bg | awk '
        function channel(hex, at,    value) {
            value = (index("0123456789abcdef", substr(hex, at, 1)) - 1) * 16 + index("0123456789abcdef", substr(hex, at + 1, 1)) - 1
            value /= 255
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ^ 2.4
        }
        function luminance(name,    hex) {
            match($0, "--" name ":#[0-9a-f]*")
            hex = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4)
            if (length(hex) == 3) hex = substr(hex, 1, 1) substr(hex, 1, 1) substr(hex, 2, 1) substr(hex, 2, 1) substr(hex, 3, 1) substr(hex, 3, 1)
            return 0.2126 * channel(hex, 1) + 0.7152 * channel(hex, 3) + 0.0722 * channel(hex, 5)
        }
        function ratio(a, b) { return a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05) }
        { print ratio(luminance("fg"), luminance("bg")), ratio(luminance("fg"), luminance("soft")), ratio(luminance("link"), luminance("bg")) }'
}

page() { # INPUT NAME: writes NAME.html, which has the structure of a page
    "$kvcast" report "$1" -o "$2.html" 2>said || fail "report $1: $(cat said)"
    xmllint --nonet --noout "$2.html" 2>said || fail "$2.html is not well-formed: $(head -3 said)"
    none "needs another file" '//@src | //@href[not(starts-with(., "#"))] | //*[local-name() = "script" or local-name() = "link"]' "$2.html"
    [ -z "$(find_in '//@id' "$2.html" | sort | uniq -d)" ] || fail "$2.html: an id is there twice"
    find_in '//@*[local-name() = "href"]' "$2.html" | grep -o '#[^"]*' | sort -u | tr -d '#' >links
    find_in '//@id' "$2.html" | sed 's/.*="//; s/"//' | sort -u | comm -23 links - | grep . && fail "$2.html: a link leads nowhere"
    none "a table lacks its caption or scope" '//*[local-name() = "table"][not(*[local-name() = "caption"])] | //*[local-name() = "th"][not(@scope)]' "$2.html"
    none "a picture lacks its label" '//*[local-name() = "svg"][not(@role = "img" and string-length(@aria-label) > 9)] | //*[local-name() = "figure"][not(*[local-name() = "figcaption"])]' "$2.html"
    none "a row is not as long as its head" '//*[local-name() = "tbody"]/*[count(*) != count(../../*[local-name() = "thead"]/*/*)]' "$2.html"
    [ "$(find_in 'count(//*[local-name() = "h1"])' "$2.html")$(find_in 'string(/*/@lang)' "$2.html")" = 1en ] || fail "$2.html: h1 or lang"
    find_in 'string(//*[@name = "viewport"]/@content)' "$2.html" | grep width=device-width >/dev/null || fail "$2.html: viewport"
    [ "$(contrasts "$2.html" | wc -l)" = 3 ] && contrasts "$2.html" | awk '{ for (i = 1; i <= NF; i++) if (!($i >= 4.5)) exit 1 }' || fail "$2.html: contrast $(contrasts "$2.html")"
}

answers() { # NAME: "KEY VALUE SHOWN" of each number of the answer
    find_in '//*[local-name() = "data"]' "$1.html" | sed 's/<data value="\([^"]*\)" data-key="\([^"]*\)">\([^<]*\)<\/data>/\2\t\1\t\3\n/g' | grep .
}

numbers() { # JSON NAME COUNT: the answer of NAME.html has COUNT numbers, and each is that of the document
    local key value shown
    [ "$(answers "$2" | wc -l)" = "$3" ] || fail "$2.html: numbers of the answer: $(answers "$2")"
    while IFS=$'\t' read -r key value shown; do
        jq -e --arg key "$key" --argjson value "$value" 'getpath($key | split(".") | map(tonumber? // .)) == $value' "$1" >/dev/null &&
            [ "$(printf %.4g "$value")" = "$(printf %.4g "$shown")" ] || fail "$2.html: $key is shown as $shown ($value)"
    done < <(answers "$2")
}

# A result: its answer, its parameters with sources, and commands.
scenario s '  slo = { p99 = "1ms" },'
sed -i 's/keys = 1000 /keys = 1000, arrival = { poisson_mops = 5 } /' s.lua
"$kvcast" run s.lua -q --replicas 3 --out r >/dev/null || fail "run"
page r r
numbers r/result.json r 4
[ "$(find_in 'count(//*[@id = "parameters"]//*[local-name() = "tbody"]/*)' r.html)" = "$(jq '.parameters | length' r/result.json)" ] || fail "parameters"
[ "$(jq -r '.provenance."node.gpu.sms"' r/result.json)" = "$(find_in 'string(//*[local-name() = "tr"][*[1] = "node.gpu.sms"]/*[3])' r.html)" ] || fail "the source of a parameter"
grep -q 'kvcast run s.lua' r.html && grep -q 'kvcast report r -o page.html' r.html || fail "commands: $(grep kvcast r.html)"
cp r.html again.html && "$kvcast" report r/result.json -o r.html && cmp <(sed 's/report r /report r\/result.json /' again.html) r.html || fail "the same page"
if command -v gnuplot dot >/dev/null; then
    [ "$(grep -c '<figure>' r.html)" = 4 ] || fail "pictures: $(grep -c '<figure>' r.html)"
    cp -r r lone && rm lone/platform.xml && page lone lone && [ "$(grep -c '<figure>' lone.html)" = 3 ] || fail "no platform"
fi
# Text of strangers is text.
jq '.scenario = "<script>alert(1)</script> & \"x\u0001\u202e" | .parameters."system.kind" = "<b>" | .notes = ["<i>"]' r/result.json >evil.json
page evil.json evil
grep -q '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x' evil.html || fail "escapes: $(grep '<title>' evil.html)"
grep -q "kvcast report 'it'.''s &amp; .json' -o" <(cp evil.json "it's & .json" && "$kvcast" report "it's & .json" -o quoted.html && cat quoted.html) || fail "quotes"
"$kvcast" predict s.lua --json p.json >/dev/null && page p.json p && numbers p.json p 4
grep -q 'by its closed form' p.html || fail "a prediction: $(cat p.html)"

# The other kinds of answers.
"$kvcast" capacity s.lua -q --precision 0.5 --out c >/dev/null && page c c && numbers c/capacity.json c 4
"$kvcast" day s.lua -q --set day.curve.1.hour=3 --set day.curve.1.rate=2 --set day.windows=2 --set day.usd_per_kwh=0.1 --out day >/dev/null && page day day &&
    numbers day/day.json day 4
"$kvcast" compare r p.json --out both >/dev/null 2>&1 && page both both && numbers both/compare.json both 4
grep -q 'kvcast compare r p.json' both.html || fail "the command of a comparison"
"$kvcast" compare s.lua -q --set system.cycle=300us --out variants >/dev/null && page variants variants && numbers variants/compare.json variants 4
"$kvcast" why s.lua -q --predict --out w >/dev/null && page w w && numbers w/why.json w 2
printf '1,get,a,1,8\n2,get,b,1,8\n3,get,a,1,8\n4,set,<c&>,4,9\n' >t.csv
"$kvcast" trace t.csv -q --twin t.twin --out t >/dev/null && page t t && numbers t/trace.json t 4 && grep -q 'kvcast trace t.csv --twin t.twin' t.html || fail "the command of a trace"
"$kvcast" trace t.csv -q --json t.json >/dev/null && page t.json t && numbers t.json t 4
sed -i 's/  slo = .*/  slo = { p99 = "1ms" }, plan = { minimise = "watts" }, sweep = { ["system.cycle"] = { "160us", "200us" } },/' s.lua
"$kvcast" plan s.lua -q --out plan >/dev/null && page plan plan && numbers plan/plan.json plan 4
"$kvcast" plan s.lua -q --set slo.p99=1us --out nothing >/dev/null 2>&1
page nothing nothing && numbers nothing/plan.json nothing 1 && grep -q 'None of the' nothing.html || fail "a plan without a choice"
"$kvcast" sweep s.lua -q --out sweep >/dev/null && page sweep sweep
[ "$(answers sweep | cut -f 1 | tr '\n' ,)" = "row 2 throughput_mops,row 2 latency_p99_us," ] || fail "the answer of a sweep: $(answers sweep)"
[ "$(answers sweep | cut -f 2 | tr '\n' ,)" = "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 3 { print $at["throughput_mops"] "," $at["latency_p99_us"] "," }' sweep/sweep.csv)" ] ||
    fail "the numbers of a sweep: $(answers sweep)"
[ "$(find_in 'string(//*[local-name() = "tr"][*[1] = "node.gpu.sms"]/*[3])' sweep.html)" = "$(jq -r '.provenance."node.gpu.sms"' r/result.json)" ] || fail "the parameters of a sweep"
"$kvcast" sweep s.lua -q --predict --set workload.keys=2000 --out "a?b" >/dev/null && page "a?b" predicted
grep -q "kvcast sweep s.lua --set workload.keys=2000 --predict --out 'a?b'" predicted.html || fail "the command of a sweep: $(grep kvcast predicted.html)"
"$kvcast" report "a?b/sweep.csv" -o predicted.html && grep -q -- "--predict --out 'a?b'" predicted.html || fail "the folder of a sweep"
ls "a?b" | tr '\n' ' ' | grep -x 'sweep.csv sweep.sqlite ' >/dev/null || fail "files beside the database: $(ls "a?b")"
echo junk >"a?b/sweep.sqlite" && page "a?b" junk
mkdir errors
printf 'case,metric,measured,predicted\na,mops,10,11\nb,mops,20,18\nc,us,100,150\nd,us,0,1\n' >errors/errors.csv
page errors errors
[ "$(answers errors | cut -f 2 | tr '\n' ,)" = 10,50,150,100, ] || fail "the numbers of errors: $(answers errors)"
grep -q '>3 of 4 predictions can be compared' errors.html || fail "errors: $(grep answer errors.html)"
(echo case,measured,predicted && seq -f 'c%g,1,2' 61) >many.csv && page many.csv many
grep -q '<summary>All 61 rows of the table' many.html || fail "a long table"
if command -v gnuplot >/dev/null; then
    for pictures in c=1 both=0 variants=2 w=1 plan=1 nothing=0 sweep=2 errors=1; do
        [ "$(grep -c '<figure>' ${pictures%=*}.html)" = ${pictures#*=} ] || fail "pictures: $pictures: $(grep 'is missing' ${pictures%=*}.html)"
    done
    find_in '//*[local-name() = "svg"]' sweep.html | grep 'p99 latency' >/dev/null || fail "a picture of the 99th percentile"
fi
# Without gnuplot and dot, the page says so.
PATH=/nonexistent "$kvcast" report r -o bare.html 2>said
[ "$(grep -c 'is not installed' bare.html)" = 4 ] && xmllint --noout bare.html || fail "without gnuplot: $(cat said)"

# Wrong inputs.
expect 2 'report needs|RESULT' "$kvcast" report
expect 2 'report: found no --output, allowed: --output FILE.html' "$kvcast" report r
expect 2 'report: found --output x.pdf, allowed: --output FILE.html' "$kvcast" report r -o x.pdf
expect 2 'nosuch: cannot be read: No such file' "$kvcast" report nosuch -o x.html
mkdir empty
expect 2 'empty: is no answer of kvcast; allowed is a folder' "$kvcast" report empty -o x.html
expect 2 's.lua: is no answer of kvcast' "$kvcast" report s.lua -o x.html
echo '{"schema": "kvcast.result/1"}' >bad.json
expect 2 'bad.json: has no throughput' "$kvcast" report bad.json -o x.html
echo '{"schema": "kvcast.trace/1"}' >bad.json
expect 2 'bad.json: has no requests, which every document of kvcast trace has' "$kvcast" report bad.json -o x.html
echo '{"schema": "kvcast.result/1", ' >bad.json
expect 2 'bad.json:2: cannot be read as a JSON result' "$kvcast" report bad.json -o x.html
expect 2 'nosuch/x.html: cannot be written' "$kvcast" report r -o nosuch/x.html
for bad in '{"schema": "kvcast.plan/1"}' '{"schema": "kvcast.capacity/1"}' '{"schema": "kvcast.compare/1"}' '{"schema": "kvcast.why/1"}' '{"schema": "kvcast.day/1"}'; do
    echo "$bad" >bad.json
    expect 2 'bad.json: has no .*, which every .* has' "$kvcast" report bad.json -o x.html
done
jq '.results = null' variants/compare.json >bad.json
expect 2 'bad.json: has no results, which every document of kvcast compare has' "$kvcast" report bad.json -o x.html
printf 'point,throughput_mops\n' >bad.csv
expect 2 'bad.csv' "$kvcast" report bad.csv -o x.html
[ ! -e x.html ] || fail "a page of a wrong input"
finish
