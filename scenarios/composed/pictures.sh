#!/usr/bin/env bash
# Draws the pictures of docs/composing.md, docs/pictures/composing_*.svg, from the scenarios that the page states.
# Usage: pictures.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
project=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
awk '/^<!-- file: /{ file = $3 } /^```$/{ if (inside) close(file); inside = 0 } inside { print >file } /^```lua$/{ inside = file != "" }
    !/^<!-- file: / && !inside && !/^```/ { file = "" }' "$project/docs/composing.md"
cp "$project/scenarios/composed/adaptive_batches.lua" seven.lua

picture() { # NAME COMMAND ARGUMENTS...: draws the result of a command
    local name=$1
    shift
    "$kvcast" "$@" --quiet --json "$name.json" >/dev/null
    "$kvcast" plot "$name.json" -k pipeline --wide -o "$project/docs/pictures/composing_$name.svg"
}

picture one run one.lua
picture two run two.lua
picture three predict two.lua --set workload.arrival=saturate --set system.stages.serve.overlap=8
picture four run four.lua
picture five run five.lua
picture six run six.lua
picture seven run seven.lua
picture eight predict four.lua --set workload.arrival=saturate
