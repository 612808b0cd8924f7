#!/bin/bash
# Lets every call that a command makes fail once, and looks at what the command then does.
#
#   walk.sh KVCAST SOURCE_FOLDER [CASE...]
#
# KVCAST is kvcast_faults of the preset `asan-ubsan` (scenarios/faults/fault.h). cases.txt has one command per line.
# Each is run without a fault first, which counts its calls by kind and finds the first call of each site, a site
# being a function and its nearest callers. Then it is run once for each site that no earlier command has tried, and
# for a sample of the other calls, always with one fault. Such a run survives if trial.sh finds nothing to complain
# about. Prints a table: command, kind of fault, calls, sites, tried, survived, and what did not survive.
#
# KVCAST_FAULTS_MOST is the number of calls to try of a kind and command, 20 unless told, spread evenly over those that
# would be tried; 0 tries all of them, which takes much longer.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export kvcast source work=${TMPDIR:-/tmp}/kvcast-faults.$$
kvcast=$(realpath "$1")
source=$(realpath "$2")
shift 2
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:exitcode=99 NO_COLOR=1
export KVCAST_DATA=$source KVCAST_MEASURED=.

# Prints the calls to try: the sites that are new, and a geometric sample.
choose() { # KIND CALLS
    local every=50 n=1
    [ "$2" -le $every ] && seq "$2"
    awk -v kind="$1" '$1 == "site" && $2 == kind { print $4, $3 }' "$folder/report" | sort -k2n | while read -r site number; do
        grep -qx "$1 $site" "$work/tried" || echo "$number"
    done
    while [ "$n" -le "$2" ]; do
        echo "$n"
        n=$((n * 8 / 5 + 1))
    done
}

walk_kind() { # NAME KIND
    local calls sites tried failed
    calls=$(awk -v kind="$2" '$1 == "calls" && $2 == kind { print $3 }' "$folder/report")
    sites=$(awk -v kind="$2" '$1 == "site" && $2 == kind' "$folder/report" | wc -l)
    choose "$2" "$calls" | sort -nu >"$folder/all"
    awk -v most="${KVCAST_FAULTS_MOST:-20}" '{ line[NR] = $0 } END {
        take = most > 0 && NR > most ? most : NR
        for (i = 0; i < take; i++) print line[int(i * NR / take) + 1] }' "$folder/all" >"$folder/$2"
    xargs -P "$(nproc)" -I{} "$here/trial.sh" "$1" "$2" {} <"$folder/$2" >"$folder/$2.answers"
    tried=$(grep -c '^tried' "$folder/$2.answers")
    failed=$(grep -c '^failed' "$folder/$2.answers")
    printf '%-22s %-11s %7d %6d %6d %9d\n' "$1" "$2" "$calls" "$sites" "$tried" $((tried - failed))
    # A site that was left out stays untried, for the next command.
    awk -v kind="$2" 'NR == FNR { tried[$1] = 1; next } $1 == "site" && $2 == kind && $3 in tried { print $2, $4 }' \
        "$folder/$2" "$folder/report" >>"$work/tried"
    grep '^failed' "$folder/$2.answers" | tee -a "$work/failed"
    total=$((total + tried))
}

walk() { # NAME
    export folder=$work/$1
    mkdir -p "$folder/given"
    awk -F ' *[|] *' -v name="$1" '$1 == name && $2 == "given" { print substr($0, index($0, $3)) }' "$here/cases.txt" >"$folder/preparation"
    (cd "$folder/given" && while read -r line; do (eval "$line") >/dev/null || exit 1; done <"$folder/preparation") ||
        { echo "failed $1: the preparation without a fault" | tee -a "$work/failed"; return; }
    awk -F ' *[|] *' -v name="$1" '$1 == name && $2 == "faulted" { print substr($0, index($0, $3)) }' "$here/cases.txt" >"$folder/command"
    cp -r "$folder/given" "$folder/whole"
    (cd "$folder/whole" && KVCAST_FAULT=count KVCAST_FAULT_REPORT=$folder/report \
        eval "$kvcast $(cat "$folder/command")" >"$folder/stdout" 2>"$folder/stderr") ||
        { echo "failed $1: the run without a fault: $(cat "$folder/stderr")" | tee -a "$work/failed"; return; }
    for kind in allocation write fork gsl; do
        walk_kind "$1" $kind
    done
}

: >"$work/tried"
: >"$work/failed"
total=0
printf '%-22s %-11s %7s %6s %6s %9s\n' command kind calls sites tried survived
for name in ${*:-$(awk -F ' *[|] *' '!/^#/ && $2 == "faulted" { print $1 }' "$here/cases.txt")}; do
    walk "$name"
done
echo "$total tried, $(grep -c . "$work/failed") failed"
[ "$total" -gt 0 ] && [ ! -s "$work/failed" ]
