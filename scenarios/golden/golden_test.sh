#!/usr/bin/env bash
# The golden run: its result must equal the committed one byte for byte, whatever the number of jobs.
# Usage: golden_test.sh KVCAST [--update]    --update accepts today's result.
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Wall-clock figures, the version and the command line may differ.
simulate() {
    "$kvcast" run megakv.lua --jobs "$1" --json - --quiet |
        grep -vE '"(wall_[a-z_]*|[a-z_]*_per_wall_s|version|command_line)":' >"$folder/jobs$1.json"
}

simulate 1
simulate 2
cmp "$folder/jobs1.json" "$folder/jobs2.json"
if [ "${2:-}" = --update ]; then
    cp "$folder/jobs1.json" megakv.json
else
    diff -u megakv.json "$folder/jobs1.json"
fi
