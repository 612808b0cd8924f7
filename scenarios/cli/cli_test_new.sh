#!/usr/bin/env bash
# kvcast new: for every store it writes a scenario that loads, runs in seconds and meets its target; answers on a terminal
# and --set end up in it; mistakes give one message with what is allowed, and no file.
# Usage: cli_test_new.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

stores=$("$kvcast" list systems | sed -nE 's/^  ([a-z_0-9]+) .*/\1/p')
[ "$(wc -w <<<"$stores")" -ge 10 ] || fail "the stores are: $stores"
for store in $stores; do
    "$kvcast" new --store "$store" </dev/null 2>stderr >first.lua || fail "new $store: $(cat stderr)"
    [ -s stderr ] && fail "new $store says: $(cat stderr)"
    "$kvcast" new --store "$store" </dev/null | "$kvcast" check /dev/stdin >checked || fail "$store is refused"
    grep -q "system $store$" checked || fail "new $store is: $(head -n 1 checked)"
    timeout 60 "$kvcast" run first.lua --quiet --set run.bottleneck=utilization --json result.json >/dev/null || fail "$store does not run"
    grep -q '"state": "missed"' result.json && fail "$store misses its target"
    options=$("$kvcast" describe "$store" | sed -nE 's/^  ([a-z_0-9]+) .*/\1/p') # Each has a comment, and its default or a value.
    for option in $options; do
        grep -qE "^    -- $option: [a-zA-Z0-9]" first.lua && grep -qE "^    (-- )?$option = " first.lua ||
            fail "new $store has no $option"
    done
    # With its comments removed from the defaults, the scenario is the same.
    sed -E 's/^    -- ([a-z_0-9]+ = .*,)$/    \1/' first.lua >plain.lua
    diff <("$kvcast" check first.lua | sed '1,2d; s/ \(scenario\|default\)$//') \
        <("$kvcast" check plain.lua | sed '1,2d; s/ \(scenario\|default\)$//') >/dev/null || fail "the defaults of $store are others"
done

# --set replaces what it contradicts, and numbers and texts keep their kinds.
"$kvcast" new --set workload.arrival.clients=8 --set workload.set=0.2 --set node.gpu.memory=6GB --set run.duration=2ms -o own.lua ||
    fail "new --set"
values() { "$kvcast" check "$1" --json - | sed '/"sources": {/,$d' | grep -oE "\"($2)\": [^,]*" | sort | tr '\n' ' '; } # FILE PATHS
found=$(values own.lua 'workload.get|workload.set|workload.arrival.[a-z_]*|node.gpu.memory|run.duration')
[ "$found" = '"node.gpu.memory": "6GB" "run.duration": "2ms" "workload.arrival.clients": 8 "workload.get": 0.8 "workload.set": 0.2 ' ] ||
    fail "new --set wrote $found"
printf 'time_us,op,key,key_bytes,value_bytes\n1,get,a,1,8\n2,get,b,1,8\n' >trace.csv
mkdir elsewhere
"$kvcast" new --set workload.arrival.trace=trace.csv -o elsewhere/trace.lua && "$kvcast" check elsewhere/trace.lua --quiet >/dev/null ||
    fail "new with a trace"

# A file is never replaced unless the user says so.
cp own.lua kept.lua
expect 2 'new: -o: found "own.lua", which exists; allowed: a new file, or --force' "$kvcast" new -o own.lua
cmp -s own.lua kept.lua || fail "new replaced a file"
"$kvcast" new --force -o own.lua && ! cmp -s own.lua kept.lua || fail "new --force"

expect 2 'no system "mcia"; did you mean "mica"\? allowed: ' "$kvcast" new --store mcia -o wrong.lua
expect 2 'workload.keys: found 0, allowed: a whole number, from 1' "$kvcast" new --set workload.keys=0 -o wrong.lua
expect 2 'workload.get: found 2, allowed: a number, from 0 to 1' "$kvcast" new --set workload.get=2 -o wrong.lua
expect 2 'get = 0.5, set = 0.7 .* must add up to 1' "$kvcast" new --set workload.get=0.5 --set workload.set=0.7 -o wrong.lua
expect 2 'slo.p99: found "9parsec", allowed: a time' "$kvcast" new --set slo.p99=9parsec -o wrong.lua
expect 2 'node.gpu: no hardware profile "pentium"; allowed: ' "$kvcast" new --set node.gpu=pentium -o wrong.lua
expect 2 'unknown option --stor; did you mean --store' "$kvcast" new --stor mica -o wrong.lua
expect 2 'none/wrong.lua: cannot be written' "$kvcast" new -o none/wrong.lua
[ ! -e wrong.lua ] || fail "a refused scenario was written"

# Questions on a terminal: a wrong answer says what is allowed and is asked again; an empty one takes the default.
if script -qec true /dev/null >/dev/null 2>&1; then
    answers() { # FILE: answers the questions, with some mistakes, from stdin
        script -qec "'$kvcast' new -o $1" /dev/null | tr -d '\r' >said
        return "${PIPESTATUS[0]}"
    }
    printf '%s\n' mcia mica '' '' '' '' 2e4 0 16 64 0.9 2parsec 20 90us | answers asked.lua || fail "answers: $(cat said)"
    for message in 'did you mean "mica"' 'workload.key: found 0, allowed: a whole number' 'found "2parsec", allowed: a speed' \
        '  allowed: .*xeon-e5-2680'; do
        grep -q -- "$message" said || fail "no \"$message\" among the questions: $(cat said)"
    done
    found=$(values asked.lua 'system.kind|workload.(keys?|value|get|set)|workload.arrival.poisson_mops')
    [ "$found" = '"system.kind": "mica" "workload.arrival.poisson_mops": "20Mops" "workload.get": 0.9 "workload.key": 16 "workload.keys": 20000 "workload.set": 0.1 "workload.value": 64 ' ] ||
        fail "the answers became $found"
    grep -q 'p99 = "90us"' asked.lua || fail "the last answer is lost"
    printf 'mica\n' | answers cut.lua
    [ $? -eq 2 ] && grep -q 'new: node.cpu: found no answer, allowed: ' said && [ ! -e cut.lua ] || fail "cut answers: $(cat said)"
fi
finish
