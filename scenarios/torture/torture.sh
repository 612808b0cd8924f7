#!/usr/bin/env bash
# Everything that kvcast must survive, in one table of kinds: how many cases were tried, and how many survived. Exits
# with 1 unless enough cases of each kind were tried and all survived. Usage: torture.sh KVCAST PROGRAMS SWEEP_KILLS
# PROGRAMS is the folder of the programs built from this one, SWEEP_KILLS the program of scenarios/explore.
set -uo pipefail
kvcast=$(realpath "$1")
programs=$(realpath "$2")
sweep_kills=$(realpath "$3")
source=$(realpath "$(dirname "$0")")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# The parts, longest first, two at a time; each prints "KIND | NAME | survived" or "KIND | NAME | FAILED why".
parts=(
    "$programs/kills $kvcast run"
    "$sweep_kills $kvcast"
    "$source/attacks.sh $kvcast $programs/watched $source/attacks.txt"
    "$programs/kills $kvcast signals"
    "$source/wrong_inputs.sh $kvcast $programs/watched $source/wrong_inputs.txt"
    "$programs/kills $kvcast plot"
    "$source/two_writers.sh $kvcast"
    "$source/full_disks.sh $kvcast"
)
# Every kind, and the number of cases that it must have.
kinds=(
    "sandbox attack|180"
    "wrong input|385"
    "kill -9 of a sweep|50"
    "kill -9 of a run|50"
    "kill -9 of a plot|20"
    "SIGTERM and SIGINT|30"
    "two writers|29"
    "full disk|50"
)

start=$SECONDS
for i in "${!parts[@]}"; do
    [ "$i" -lt 2 ] || wait -n
    ${parts[i]} >"$logs/$i" 2>"$logs/$i.stderr" </dev/null || grep -q ' | FAILED ' "$logs/$i" ||
        echo "${parts[i]##*/} itself failed | | FAILED $(tr '\n' ' ' <"$logs/$i.stderr")" >>"$logs/$i" &
done
wait

exit_status=0
printf '%-26s %8s %8s\n' kind tried survived
for kind in "${kinds[@]}"; do
    name=${kind%|*}
    tried=$(cat "$logs"/* | grep -c "^$name | ")
    survived=$(cat "$logs"/* | grep -c "^$name | .* | survived$")
    printf '%-26s %8d %8d\n' "$name" "$tried" "$survived"
    if [ "$tried" -lt "${kind#*|}" ]; then
        echo "  FAILED: ${kind#*|} cases must be tried"
    fi
    [ "$survived" -ge "${kind#*|}" ] && [ "$survived" -eq "$tried" ] || exit_status=1
done
echo "$((SECONDS - start)) s"
# The end of the output is what readers see first.
! grep -h ' | FAILED ' "$logs"/* || exit_status=1
exit $exit_status
