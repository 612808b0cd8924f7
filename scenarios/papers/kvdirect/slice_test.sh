#!/usr/bin/env bash
# The NICs of a node meet at the memory that they share once in a slice. Half the slice must not change throughput and
# 95th percentile by 1 %, neither at the limit of the memory nor below it.
# Usage: slice_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")/../../.."

# Ten NICs write to the memory of one socket, which is the limit.
simulate() { # SLICE LOAD
    "$kvcast" run scenarios/papers/kvdirect/fig20.lua --quiet --json - --set node.sockets=1 --set workload.set=1 \
        --set workload.keys=340e6 --set system.memory=6.4GiB --set node.fpga.dram=409.6MiB --set run.warmup=100us \
        --set run.duration=300us --set run.bottleneck=utilization --set workload.per_frame=7 \
        --set "system.slice=$1" --set "workload.arrival$2" |
        jq -r '[.throughput_mops.mean, (.latency_us.percentiles[] | select(.p == 0.95) | .us)] | @tsv'
}

for load in =saturate .poisson_mops=600; do
    read -r mops p95 <<<"$(simulate 8us "$load")"
    read -r half_mops half_p95 <<<"$(simulate 4us "$load")"
    echo "workload.arrival$load: $mops and $half_mops Mops, 95 % in $p95 and $half_p95 us"
    awk -v a="$mops" -v b="$half_mops" -v c="$p95" -v d="$half_p95" \
        'BEGIN { exit !(a > 400 && (a - b) ^ 2 < (0.01 * a) ^ 2 && (c - d) ^ 2 < (0.01 * c) ^ 2) }'
done
