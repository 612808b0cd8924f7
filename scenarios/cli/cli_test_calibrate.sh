#!/usr/bin/env bash
# kvcast calibrate: its profile can be used in a scenario, and a spoilt profile is refused with its place.
# Usage: cli_test_calibrate.sh KVCAST
source "$(dirname "$0")/cli_testing.sh"

scenario good ""
expect 2 'FILE.lua is missing' "$kvcast" calibrate --quick
expect 2 'none/machine.lua: cannot be written' "$kvcast" calibrate --quick -o none/machine.lua
for try in 1 2 3; do # A quick calibration may find too few times that other work did not disturb, and says so.
    "$kvcast" calibrate --quick --quiet -o machine.lua 2>warnings && break
    grep -q 'found [0-3] points for a line' warnings && [ $try -lt 3 ] || { fail "calibrate"; cat warnings; break; }
done
"$kvcast" predict good.lua --set node.machine=machine.lua --set system.streams=auto --set node.cpu.cores=4 \
    --json calibrated.json >/dev/null
grep -q '"node.megakv_costs.base": "machine.lua"' calibrated.json && grep -qE '"name": "[0-9]+ cores of ' calibrated.json ||
    fail "a calibrated machine is of no use"
grep -qE '^    core_speed = \{ [0-9.]+, source = |^-- cpu.core_speed is not known: cores share' machine.lua ||
    fail "calibrate measured no speed of the cores"
times() { sed -n "/^    $1 = {/,/^    },/p" machine.lua | grep -oE 'time = \{ "[^"]*"' | cut -d '"' -f 2; } # CURVE
# The file has every curve that the model needs, each with points of more than one size and without negative times.
for curve in receive write evict evict_half_marked pass mix read read_checked read_half_marked read_marked \
    read_half_missed read_slowest compare search search_miss search_half_missed insert replace insert_half_replaced erase \
    erase_miss erase_half_missed drain; do
    points=$(sed -n "/^    $curve = {/,/^    },/p" machine.lua | grep -c 'size = ')
    times "$curve" | grep -vxE '[0-9]+(\.[0-9]+)?(e\+[0-9]+)?ns' && fail "calibrate measured no times of $curve"
    [ "$points" -gt 3 ] || [[ $curve = pass || $curve = mix ]] && [ "$points" -gt 0 ] || fail "calibrate measured $points points of $curve"
done
for curve in receive read read_checked search insert; do
    times $curve | grep -qx 0ns && fail "$curve takes no time"
done
sed -n '/^    read = {/,/^    },/p' machine.lua | grep 'key = "64B"' >/dev/null || fail "calibrate measured keys of one length only"
sed -n '/^    erase = {/,/^    },/p' machine.lua | grep 'load = 0.9' >/dev/null || fail "calibrate measured no full index"
# The comparison of keys is measured for every item that is read, and a profile without it charges get and getk the same.
items() { sed -n "/^    $1 = {/,/^    },/p" machine.lua | grep -c 'size = [1-9]'; }
[ "$(items compare)" -gt 0 ] && [ "$(items compare)" -eq "$(items read_checked)" ] || fail "the comparison of keys is not measured"
senders() { # MACHINE API: prints the senders' limit
    "$kvcast" predict good.lua --set node.machine="$1" --set system.api="$2" --set system.feed=memory \
        --set system.streams=auto --set node.cpu.cores=4 --json api.json >/dev/null
    grep -oE '"senders_limit_mops": [0-9.]+' api.json | cut -d ' ' -f 2
}
# The advantage of getk over get is noise with the short times of a quick calibration, so the rates are compared with
# given times. A profile without the curve charges both the same.
sed -E '/^    compare = \{/,/^    \},/s/time = \{ [^}]*\}/time = "40ns"/
        /^    read(_[a-z]+)* = \{/,/^    \},/s/time = \{ [^}]*\}/time = "100ns"/' machine.lua >given.lua
sed '/^    compare = /,/^    },/d' given.lua >keyless.lua
get=$(senders given.lua get) getk=$(senders given.lua getk)
awk -v a="$get" -v b="$getk" 'BEGIN { exit !(a > 0 && b > 1.1 * a) }' || fail "get $get Mops, getk $getk Mops"
[ "$(senders keyless.lua get)" = "$get" ] || fail "get depends on the comparison curve"
[ "$(senders keyless.lua getk)" = "$get" ] || fail "getk differs from get without a measured comparison"
# Lines of small pages, without which a store is not forecast on them.
[ "$(sed -n '/^    pages = {/,/^    },/p' machine.lua | grep -c 'small_latency = "[0-9.]*ns" }')" -eq 9 ] || fail "calibrate measured no small pages"
[ "$(sed -n '/^    contention = {/,/^    },/p' machine.lua | grep -c 'taken = ')" -gt 1 ] || [ "$(nproc)" -eq 1 ] || fail "calibrate measured no co-runner"
"$kvcast" check good.lua --set node.machine=machine.lua --set node.huge_pages=false --set system.streams=auto --set node.cpu.cores=4 \
    --quiet >/dev/null || fail "small pages of a calibrated machine"
expect 2 'node.co_runner: found 1 GB/s, allowed with node.dram.contention, .* which kvcast calibrate writes' \
    "$kvcast" check good.lua --set node.co_runner=1GB/s
expect 2 'node.huge_pages: found false, allowed with node.dram.pages, .* which kvcast calibrate writes' \
    "$kvcast" check good.lua --set node.huge_pages=false
sed 's/kind = "machine"/kind = "machina"/' machine.lua >machina.lua
expect 2 'machina.lua:3: kind: found "machina"' "$kvcast" check good.lua --set node.machine=machina.lua
sed 's/"[0-9.]*GHz"/"0GHz"/' machine.lua >clockless.lua
expect 2 'clockless.lua:[0-9]*: cpu.clock: found "0GHz"' "$kvcast" check good.lua --set node.machine=clockless.lua
sed 's/\(random_line = { "[^"]*"\).*/\1 },/' machine.lua >sourceless.lua
expect 2 'sourceless.lua:[0-9]*: dram.random_line has no source' "$kvcast" check good.lua --set node.machine=sourceless.lua
sed '/^    search_miss = /,/^    },/d' machine.lua >lawless.lua
expect 2 'lawless.lua:[0-9]*: megakv_costs.search_miss is missing' "$kvcast" check good.lua --set node.machine=lawless.lua
sed '/^    erase_half_missed = /,/^    },/d' machine.lua >halfless.lua
expect 2 'halfless.lua:[0-9]*: megakv_costs.erase_half_missed is missing' "$kvcast" check good.lua --set node.machine=halfless.lua
sed '0,/time = { "/s//time = { "-/' machine.lua >timeless.lua
expect 2 'timeless.lua:[0-9]*: megakv_costs.receive.1.time: found "-' "$kvcast" check good.lua --set node.machine=timeless.lua
expect 2 'tesla-k40c.lua:[0-9]*: kind: found "gpu", allowed: a profile of kind "machine"' \
    "$kvcast" check good.lua --set node.machine=tesla-k40c
expect 2 'good.lua:[0-9]*: kind: found' "$kvcast" check good.lua --set node.machine=good.lua

finish
