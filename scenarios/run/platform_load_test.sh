#!/usr/bin/env bash
# The platform.xml of every example loads in plain SimGrid, and has every device that the result names.
# Usage: platform_load_test.sh KVCAST PLATFORM_LOAD
set -euo pipefail
kvcast=$(realpath "$1")
platform_load=$(realpath "$2")
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

found=0
for scenario in scenarios/examples/*.lua; do
    duration=(--set run.duration=1ms)
    if grep -qE 'changes|policy = |window = ' "$scenario"; then # They lie within the duration that the scenario states.
        duration=()
    fi
    # The devices are the same for few keys. Some stores are always simulated in full, which their refusal says.
    small=(--set workload.keys=1e4 --set run.functional=sampled --set run.sample_memory=1MiB)
    for words in 6 2 0; do
        status=0
        "$kvcast" run "$scenario" "${small[@]:0:words}" --set run.warmup=1ms "${duration[@]}" --set run.replicas=1 \
            --set run.bottleneck=utilization --quiet --out "$folder" >"$folder/said" 2>&1 || status=$?
        [ $status = 2 ] || break
    done
    [ $status = 0 ] || { cat "$folder/said" >&2; exit 1; }
    mapfile -t devices < <(sed -n '/^  "devices": \[/,/^  \]/s/.*"name": "\([^"]*\)".*/\1/p' "$folder/result.json")
    if grep -q '^  "cluster": {' "$folder/result.json"; then # If nodes are simulated one by one, the platform shows the first node.
        mapfile -t devices < <(printf '%s\n' "${devices[@]}" | grep '^node0\.')
    fi
    counts=$("$platform_load" "$folder/platform.xml" "${devices[@]}") || exit 1
    hosts=$(grep -c '<host ' "$folder/platform.xml") links=$(grep -c '<link ' "$folder/platform.xml" || true)
    # Every platform has the host of the actors, which is no device.
    [ "${#devices[@]}" -eq $((hosts - 1 + links)) ] || { echo "$scenario: the result names ${#devices[@]} devices" >&2; exit 1; }
    # SimGrid has a loopback link of its own.
    case $counts in
    "$hosts hosts, $links links" | "$hosts hosts, $((links + 1)) links") ;;
    *) echo "$scenario: SimGrid loads $counts, the file has $hosts hosts, $links links" >&2; exit 1 ;;
    esac
    # The devices' energies add up, and energy is power times time.
    awk -v scenario="$scenario" '
        /^  "energy": \{/ { inside = 1 }
        /^  }/ { inside = 0 }
        inside && /^    "joules":/ { joules = $2 + 0 }
        inside && /^    "watts_mean":/ { watts = $2 + 0 }
        inside && /^        "joules":/ { sum += $2; devices++ }
        /"simulated_s":/ { simulated = $2 + 0 }
        function differ(a, b) { return a - b > 1e-9 * b || b - a > 1e-9 * b }
        END { if ((devices > 0 && differ(sum, joules)) || differ(watts * simulated, joules)) {
            print scenario ": " sum " J of devices, " joules " J, " watts " W for " simulated " s"; exit 1 } }
    ' "$folder/result.json" >&2
    echo "$scenario: $counts"
    found=$((found + 1))
done
[ "$found" -gt 0 ] || { echo "no example was found" >&2; exit 1; }
