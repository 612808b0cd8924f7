#!/usr/bin/env bash
# Pools give the same answers for 1, 2 and 4 ranks, and a failure anywhere ends the job with one message.
# Usage: ranks_test.sh MPIRUN RANKS_MAIN
source "$(dirname "$0")/ranks_testing.sh"

# Pools hand over every answer in its turn, for any number of ranks.
for what in "order 1" "order 2" "order 4" "any 4" "nested 2"; do
    read -r mode number <<<"$what"
    "$program" $mode >alone || fail "$mode without ranks"
    ranks $number "$program" $mode || fail "$mode with $number ranks: $(cat stderr)"
    cmp -s alone stdout || fail "$mode with $number ranks differs from one process: $(diff alone stdout | head -5)"
done

# A failure gives one message and its exit status, and leaves no process.
expect() { # MODE STATUS PATTERN
    ranks 3 "$program" "$1"
    local got=$?
    [ $got -eq "$2" ] || fail "$1: exit $got, expected $2"
    [ "$(grep -cE -- "$3" stderr)" -eq 1 ] || fail "$1: expected one line like \"$3\": $(cat stderr)"
    sleep 0.2
    pgrep -f "^$program $1" >/dev/null && fail "$1: processes stay behind"
}
expect fail 2 '^kvcast: some.lua:3: task 5 refuses$'
expect crash 3 '^kvcast: task 5 crashed: signal 11'
expect differ 3 '^kvcast: rank 1 has 25 tasks of the kind "task", rank 0 has 24'
expect die 137 'rank 1 with PID .* exited on signal 9'

exit $failed
