#!/usr/bin/env bash
# Commands under valgrind's memcheck, in all their processes. Any report fails the test: wrong accesses, values that were
# never set, and memory that is definitely or possibly lost.
# Usage: memcheck_test.sh KVCAST SUPPRESSIONS SCENARIO|commands
suppressions=$(realpath "$2")
subject=$3
[ "$subject" = commands ] || subject=$(realpath "$3")
source "$(dirname "$0")/cli_testing.sh"
mkdir reports

check() { # ARGUMENT...: kvcast under memcheck
    valgrind --quiet --num-callers=40 --trace-children=yes --trace-children-skip='*/gnuplot*,*/dot,/bin/*' --error-exitcode=99 \
        --leak-check=full --errors-for-leak-kinds=definite,possible --show-leak-kinds=definite,possible \
        --suppressions="$suppressions" --log-file="$folder/reports/%p" "$kvcast" "$@" >stdout 2>stderr </dev/null ||
        fail "kvcast $* ended with $?: $(cat stderr)"
    find reports -type f -empty -delete
    if [ -n "$(ls reports)" ]; then
        fail "kvcast $*:"
        head -n 60 reports/*
        rm reports/*
    fi
}

# Small sizes: memcheck takes 50 times as long. The commands below run the search for the bottleneck once.
small=(--set workload.keys=4e3 --set run.replicas=1 --set run.warmup=1ms --set run.duration=1ms
    --set run.bottleneck=utilization --quiet)
if [ "$subject" = commands ]; then
    scenario good '  sweep = { ["system.cycle"] = { "160us", "200us" } }, plan = { minimise = "nodes" },
  slo = { mops = 0.5 },'
    check describe megakv
    check describe system.cycle
    check list
    check new --set node.gpu.memory=6GB --set workload.keys=1e4 -o new.lua
    check run good.lua --out out --quiet
    check sweep good.lua --out sweep --jobs 2 --quiet
    check plan good.lua --out plan --quiet --set workload.arrival.poisson_mops=1 --set run.duration=2ms
    check capacity good.lua --out capacity --quiet
    check plot out/result.json -k cdf -o cdf.svg
else
    check check "$subject"
    check predict "$subject" --quiet
    check run "$subject" "${small[@]}" --json result.json
fi
finish
