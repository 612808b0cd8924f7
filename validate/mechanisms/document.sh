#!/usr/bin/env bash
# Puts the table of kvcast validate mechanisms into docs/mechanisms.md, between the lines ```text and ```.
# Usage: document.sh KVCAST docs/mechanisms.md
set -euo pipefail
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$1" validate mechanisms --quiet >"$table"
awk -v table="$table" '
    /^```text$/ { print; while ((getline line <table) > 0) print line; skipping = 1; next }
    /^```$/ { skipping = 0 }
    !skipping' "$2" >"$2.new"
mv "$2.new" "$2"
