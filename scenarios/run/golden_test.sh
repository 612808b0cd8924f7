#!/usr/bin/env bash
# Runs the golden scenarios of all stores, models/*/golden/*.lua. Their results must equal the committed ones byte for
# byte, for any number of jobs.
# Usage: golden_test.sh KVCAST [--update]    --update accepts the present results.
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Values that depend on the clock, the version and the command line may differ, and the scores of the store as well, which
# belong to validate/accuracy.csv.
simulate() { # SCENARIO JOBS
    "$kvcast" run "$1" --jobs "$2" --json - --quiet |
        sed '/^  "accuracy": {$/,/^  },$/d' | grep -vE '"(wall_[a-z_]*|[a-z_]*_per_wall_s|memory_(planned|taken)_bytes|version|command_line)":'
}

# The committed results come from one job, so a run with two jobs also shows that their number does not matter.
found=0
for scenario in models/*/golden/*.lua; do
    if [ "${2:-}" = --update ]; then
        simulate "$scenario" 1 >"$folder/result.json"
        cp "$folder/result.json" "${scenario%.lua}.json"
    fi
    simulate "$scenario" 2 >"$folder/result.json"
    diff -u "${scenario%.lua}.json" "$folder/result.json"
    found=$((found + 1))
done
[ "$found" -gt 0 ] || { echo "no golden scenario was found" >&2; exit 1; }
