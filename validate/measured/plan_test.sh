#!/usr/bin/env bash
# The plans are those that make_plan.sh prints, they have at least 60 lines, and every axis has several values on seen
# lines and several on unseen ones.
# Usage: plan_test.sh FOLDER    FOLDER is validate/measured
set -u
folder=$1
failures=0
fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}
values() { # MACHINE AXIS REMAINDERS: prints how many values the axis has on lines whose number modulo 3 is one of these
    awk -F, -v axis="$2" -v rests="$3" 'NR > 1 && index(rests, (NR - 1) % 3) {
        if (match($5, axis "=[^;]*")) seen[substr($5, RSTART, RLENGTH)] = 1
    } END { n = 0; for (v in seen) n++; print n }' "$folder/$1/plan.csv"
}
for machine in two-cores h200-pcie5; do
    bash "$folder/make_plan.sh" $machine | cmp - "$folder/$machine/plan.csv" || fail "$machine: make_plan.sh prints another plan"
    lines=$(($(wc -l <"$folder/$machine/plan.csv") - 1))
    [ $lines -ge 60 ] || fail "$machine: $lines lines"
    open=$(awk -F, 'NR > 1 && $3 != ""' "$folder/$machine/plan.csv" | wc -l)
    [ "$open" -ge 10 ] || fail "$machine: $open lines with a load below the capacity"
    for axis in workload.key workload.value workload.dist.zipf workload.get system.index system.streams system.cycle; do
        seen=$(values $machine $axis 12) unseen=$(values $machine $axis 0)
        [ "$seen" -ge 4 ] && [ "$unseen" -ge 3 ] || fail "$machine: $axis has $seen values on seen lines, $unseen on unseen ones"
    done
done
changing() { # MACHINE AXIS SEEN: prints how many seen (1) or unseen (0) pairs change the axis
    awk -F, -v axis="$2=" -v seen="$3" 'NR > 1 && $6 != "" && (++n % 3 > 0) == seen && index($6, axis) { found++ }
    END { print found + 0 }' "$folder/$1/plan.csv"
}
for machine in two-cores-epyc:60 h200-pairs:60 two-cores-memcached:50; do
    least=${machine#*:} machine=${machine%:*}
    bash "$folder/make_plan.sh" $machine | cmp - "$folder/$machine/plan.csv" || fail "$machine: make_plan.sh prints another plan"
    pairs=$(awk -F, 'NR > 1 && $6 != ""' "$folder/$machine/plan.csv" | wc -l)
    [ "$pairs" -ge "$least" ] || fail "$machine: $pairs pairs"
done
for axis in system.threads system.network system.outstanding workload.keys workload.key workload.value workload.get; do
    seen=$(changing two-cores-memcached $axis 1) unseen=$(changing two-cores-memcached $axis 0)
    [ "$seen" -ge 4 ] && [ "$unseen" -ge 1 ] || fail "two-cores-memcached: $axis changes in $seen seen pairs, $unseen unseen ones"
done
bash "$folder/make_plan.sh" nowhere 2>/dev/null && fail "make_plan.sh takes any machine"
exit $((failures > 0))
