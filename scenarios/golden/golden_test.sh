#!/usr/bin/env bash
# The golden runs: their results must equal the committed ones byte for byte, whatever the number of jobs.
# Usage: golden_test.sh KVCAST [--update]    --update accepts today's results.
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Wall-clock figures, the version and the command line may differ.
simulate() { # STORE JOBS
    "$kvcast" run "$1.lua" --jobs "$2" --json - --quiet |
        grep -vE '"(wall_[a-z_]*|[a-z_]*_per_wall_s|version|command_line)":' >"$folder/$1-jobs$2.json"
}

for store in megakv kvdirect; do
    simulate "$store" 1
    simulate "$store" 2
    cmp "$folder/$store-jobs1.json" "$folder/$store-jobs2.json"
    if [ "${2:-}" = --update ]; then
        cp "$folder/$store-jobs1.json" "$store.json"
    else
        diff -u "$store.json" "$folder/$store-jobs1.json"
    fi
done
