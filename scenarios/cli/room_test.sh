#!/usr/bin/env bash
# A store that is too small for its keys: `check` names the option and a size that fits, the closed form and the run say
# the same hit ratio and why keys are missing. Without stated sizes, all keys are held. A long run says what it is doing.
# Usage: room_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "room_test: $1" >&2
    exit 1
}

scenario() { # SYSTEM GET LOAD DURATION
    cat >"$folder/small.lua" <<END
return {
  system = { $1 },
  workload = { keys = 1e5, key = 16, value = 64, get = $2, set = 1 - $2, dist = { zipf = 0.8 }, arrival = { $3 } },
  run = { warmup = "1ms", duration = "$4" },
}
END
}

hits_of() { # PATH
    jq "$1" "$folder/out.json"
}

notes() { # TEXT
    jq -r '.notes[]' "$folder/out.json" | grep -qF -- "$1" || fail "no note \"$1\": $(jq -c .notes "$folder/out.json")"
}

# The hit ratios of predict and run differ by no more than TOLERANCE.
agrees() { # SYSTEM OPTION GET TOLERANCE LOAD DURATION
    scenario "$1" "$3" "$5" "$6"
    "$kvcast" check "$folder/small.lua" >/dev/null 2>"$folder/err"
    grep -q "small.lua:2: $2: .* has room for .* of 1e+05 keys, .* holds all" "$folder/err" ||
        fail "check does not name $2: $(cat "$folder/err")"
    fits=$(sed -n 's/.*; \(.*\) holds all/\1/p' "$folder/err")
    "$kvcast" check "$folder/small.lua" --set "$2=$fits" >/dev/null 2>"$folder/err"
    [ ! -s "$folder/err" ] || fail "$2=$fits should fit: $(cat "$folder/err")"
    "$kvcast" predict "$folder/small.lua" --quiet --json - >"$folder/out.json"
    notes "$2: "
    predicted=$(hits_of .model.hit_frac)
    "$kvcast" run "$folder/small.lua" --quiet --json - >"$folder/out.json"
    notes "$2: "
    found=$(hits_of .requests.hit_frac)
    awk -v a="$predicted" -v b="$found" -v d="$4" 'BEGIN { exit !(a < 0.98 && a - b < d && b - a < d) }' ||
        fail "$1: predicted $predicted, found $found"
}

agrees 'kind = "megakv", index = "256KiB"' system.index 1 0.02 'poisson_mops = 20' 2ms
agrees 'kind = "megakv", index = "256KiB"' system.index 0.9 0.03 'poisson_mops = 20' 2ms
agrees 'kind = "dido", index = "512KiB"' system.index 0.9 0.03 'poisson_mops = 1' 10ms
agrees 'kind = "bluecache", index = "512KiB", dram = "32MiB"' system.index 1 0.03 'poisson_mops = 0.2' 50ms
agrees 'kind = "memcached", entries = 2e4' system.entries 1 0.03 'poisson_mops = 0.2' 50ms
agrees 'kind = "fpga_memcached", entries = 2.5e4' system.entries 1 0.03 'poisson_mops = 2' 10ms
agrees 'kind = "mica", buckets = 256' system.buckets 1 0.03 'poisson_mops = 2' 10ms
agrees 'kind = "mica", log = "256KiB"' system.log 1 0.03 'poisson_mops = 2' 10ms

# A store that refuses too many keys says which memory fits.
scenario 'kind = "kvdirect", memory = "5MiB"' 1 'poisson_mops = 20' 1ms
! "$kvcast" check "$folder/small.lua" >/dev/null 2>"$folder/err" || fail "kvdirect holds too many keys"
grep -q 'system.memory = .* GiB fits' "$folder/err" || fail "kvdirect: $(cat "$folder/err")"

# Sizes that are not stated have room for the keys.
for store in megakv dido memcachedgpu bluecache kvdirect memcached fatcache fpga_memcached mica rdma; do
    printf 'return { system = { kind = "%s" }, workload = { keys = 3e6, key = 16, value = 64 } }\n' $store >"$folder/open.lua"
    "$kvcast" check "$folder/open.lua" >/dev/null 2>"$folder/err"
    if grep -q 'has room for' "$folder/err"; then fail "$store: $(cat "$folder/err")"; fi
done

# Not on a terminal, a line says what is done.
scenario 'kind = "rdma"' 1 'poisson_mops = 2' 10s
"$kvcast" run "$folder/small.lua" >/dev/null 2>"$folder/err" &
sleep 2
kill $!
wait $! 2>/dev/null || true
grep -qE '^kvcast: after [0-9.]+ s: [a-z ]*, [0-9.]+ %(, [0-9]+:[0-9][0-9] left)?$' "$folder/err" || fail "no progress: $(cat "$folder/err")"
echo "stores have room for their keys, or say why not"
