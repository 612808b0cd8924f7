#!/usr/bin/env bash
# The commands that start threads, built with ThreadSanitizer: kvcast measure on a scenario, or kvcast calibrate. A race
# ends the program with status 66.
# Usage: threads_test.sh KVCAST SCENARIO|calibrate
subject=$2
[ "$subject" = calibrate ] || subject=$(realpath "$2")
source "$(dirname "$0")/cli_testing.sh"

if [ "$subject" = calibrate ]; then
    "$kvcast" calibrate --quick --quiet -o machine.lua >table.txt 2>message.txt ||
        fail "calibrate ended with $?: $(cat message.txt)"
    [ -s machine.lua ] || fail "calibrate wrote nothing"
else
    "$kvcast" measure "$subject" --quiet --json real.json >table.txt 2>message.txt ||
        fail "measure ended with $?: $(cat message.txt)"
    grep -qE '"completed": [1-9]' real.json || fail "no request was answered"
fi
finish
