#!/usr/bin/env bash
# Runs the commands that a page quotes, and compares what they print with what the page shows.
# Usage: quotes_test.sh KVCAST PAGE [slow] [--update]
#     slow      runs the blocks that take long, too
#     --update  writes what the commands print into the page; the diff belongs in the commit
#
# CONTRIBUTING.md says how a page marks its blocks. The commands of a page run in one folder, in which the folders of
# the sources are links. Every line of a quote must be in the output, in the order of the output and without a gap,
# unless a line "..." stands for what is left out.
set -euo pipefail
kvcast=$(realpath "$1")
page=$(realpath "$2")
[[ " $* " == *" slow "* ]] && slow=1 || slow=0
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work" "$folder/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$kvcast" >"$folder/bin/kvcast"
chmod +x "$folder/bin/kvcast"
ln -s "$source"/{models,scenarios,validate} "$folder/work"
export PATH=$folder/bin:$PATH LC_ALL=C

awk -v folder="$folder" -v slow="$slow" -v page="$page" -f "${0%.sh}.awk" "$page" >"$folder/page" ||
    { echo "$page: see above" >&2; exit 1; }
if [[ " $* " == *" --update "* ]]; then
    cmp -s "$folder/page" "$page" || cp "$folder/page" "$page"
elif ! diff -u "$page" "$folder/page" | sed "2s#.*#+++ what the commands print#"; then
    echo "renew the quotes with: make quotes" >&2
    exit 1
fi
