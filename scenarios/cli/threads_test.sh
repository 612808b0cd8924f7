#!/usr/bin/env bash
# Measures a scenario with the store's real runtime, built with ThreadSanitizer. A race ends the program with status 66.
# Usage: threads_test.sh KVCAST SCENARIO
subject=$(realpath "$2")
source "$(dirname "$0")/cli_testing.sh"

"$kvcast" measure "$subject" --quiet --json real.json >table.txt 2>message.txt ||
    fail "measure ended with $?: $(cat message.txt)"
grep -qE '"completed": [1-9]' real.json || fail "no request was answered"
finish
