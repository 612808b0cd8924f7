#!/usr/bin/env bash
# A card, or a link that it needs, is off for 100 us. Its requests wait on the wire and none is lost; only the packet
# that is answered last may be another one. The mean latency grows as in a fluid queue: D^2 / (2 T (1 - r)) for an
# outage D in the time T at the utilization r. A card takes no power while it is off.
# Usage: outage_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT

simulate() { # CHANGES
    cat >outage.lua <<LUA
return {
  system = { kind = "kvdirect", memory = "16MiB", idle_power = "87W" },
  node = { fpga = { base = "catapult-stratix-v", dram = "1MiB" } },
  workload = { keys = 750e3, key = 8, value = 2, set = 0.05, per_frame = 40, dist = { zipf = 0.99 },
               arrival = { poisson_mops = 100 } },
  run = { warmup = "200us", duration = "2ms", changes = { $1 } },
}
LUA
    "$kvcast" run outage.lua --quiet --json - |
        jq -r '[.requests.completed, .latency_us.mean, (.stages[] | select(.name == "decode") | .utilization_frac),
                (.energy.devices[] | select(.device | test("card")) | .joules), .energy.joules,
                ([.energy.devices[].joules | values] | add)] | @tsv'
}

check() { # DEVICE CARD: whether the device is the card itself
    read -r completed mean _ joules all sum <<<"$(simulate "{ device = \"$1\", at = \"500us\", off = \"100us\" }")"
    echo "$1: $completed requests, $mean us, $joules J of $all J"
    awk -v n="$completed" -v n0="$plain_completed" -v m="$mean" -v m0="$plain_mean" -v r="$busy" -v j="$joules" \
        -v j0="$plain_joules" -v card="$2" -v all="$all" -v sum="$sum" \
        'BEGIN {
            grown = 100 * 100 / (2 * 2000 * (1 - r)); saved = card ? 0.05 : 0
            exit !((n - n0) ^ 2 <= 40 ^ 2 && (m - m0 - grown) ^ 2 < (0.1 * grown) ^ 2 &&
                   (j / j0 - 1 + saved) ^ 2 < 1e-3 ^ 2 && (all / sum - 1) ^ 2 < 1e-12)
        }'
}

read -r plain_completed plain_mean busy plain_joules _ _ <<<"$(simulate '')"
echo "no outage: $plain_completed requests, $plain_mean us, decoder busy $busy"
check node0.nic0.card 1
check node0.nic0.rx 0
check node0.nic0.pcie-up 0
check node0.socket0.root-down 0
