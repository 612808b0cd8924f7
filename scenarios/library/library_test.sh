#!/usr/bin/env bash
# The library exports its header's functions and nothing else, the examples in C and Python find the same answer,
# which `kvcast predict` confirms, and docs/library.md shows them as they are.
# Usage: library_test.sh SOURCE BUILD [CC]
set -euo pipefail
source=$(realpath "$1")
build=$(realpath "$2")
cc=${3:-cc}
here=$source/scenarios/library
library=$build/scenarios/libkvcast.so
page=$source/docs/library.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

cd "$folder"
sed -n 's/^KVCAST_API .*[ *]\(kvcast_[a-z]*\)(.*/\1/p' "$here/kvcast.h" | sort >declared
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >exported
diff declared exported || fail "the library exports other functions than its header declares"
[ "$(wc -l <declared)" -ge 5 ] && [ "$(wc -l <declared)" -le 10 ] || fail "the header declares $(wc -l <declared) functions"
! readelf -d "$library" | grep -q 'NEEDED.*libmpi' || fail "the library needs MPI"

[ "$(wc -l <"$here/examples/best_cycle.py")" -le 30 ] || fail "best_cycle.py has more than 30 lines"
"$cc" -std=c11 -Wall -Wextra -Werror "$here/examples/best_cycle.c" -I"$here" -L"${library%/*}" -lkvcast -o best_cycle
LD_LIBRARY_PATH=${library%/*} ./best_cycle "$source/scenarios/examples/first.lua" >c.txt || fail "best_cycle.c"
/usr/bin/python3 "$here/examples/best_cycle.py" "$source/scenarios/examples/first.lua" "$library" >python.txt ||
    fail "best_cycle.py"
diff c.txt python.txt || fail "C and Python find different answers"

# At the load found, the percentile is met; at 0.1 % more it is not, or the load is not served (null).
read -r _ cycle _ mops _ <c.txt
p99() {
    "$build/scenarios/kvcast" predict "$source/scenarios/examples/first.lua" --set "system.cycle=${cycle}us" \
        --set "workload.arrival.poisson_mops=$1" --json - | jq '[.latency_us.percentiles[] | select(.p == 0.99).us][0]'
}
above=$(awk "BEGIN { print $mops * 1.001 }")
jq -en "$(p99 "$mops") as \$met | $(p99 "$above") as \$not | \$met <= 400.1 and (\$not == null or \$not > 400)" >/dev/null ||
    fail "kvcast predict: $(p99 "$mops") us at $mops and $(p99 "$above") us at $above million requests/s"

# The page has the program and its output.
sed -n '/^    """Finds the cycle/,/^[^ ]/p' "$page" | sed -n 's/^    //p; /^$/p' | sed '$d' >shown.py
diff shown.py "$here/examples/best_cycle.py" || fail "docs/library.md shows another best_cycle.py"
grep -qxFf c.txt "$page" || fail "docs/library.md shows another output than: $(cat c.txt)"
