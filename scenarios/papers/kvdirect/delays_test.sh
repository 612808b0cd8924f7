#!/usr/bin/env bash
# The time in the card's pipelines lengthens every latency by itself, and the acknowledgement of a write those of PUTs
# that access memory. Neither changes the throughput. Simulation and closed form agree.
# Usage: delays_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
cd "$(dirname "$0")/../../.."

answer() { # COMMAND SHARE_OF_PUTS OPTIONS...
    "$kvcast" "$1" scenarios/papers/kvdirect/fig17.lua --quiet --json - --set "workload.set=$2" --set workload.dist=uniform \
        --set system.dispatch=0.6 --set run.duration=200us "${@:3}" | jq -r '[.throughput_mops.mean, .latency_us.mean] | @tsv'
}

for command in run predict; do
    for puts in 0 1; do
        read -r mops mean <<<"$(answer $command $puts)"
        read -r later_mops later <<<"$(answer $command $puts --set system.pipeline=1us --set system.write_ack=500ns)"
        echo "$command, PUTs $puts: $mops and $later_mops Mops, mean $mean and $later us"
        awk -v a="$mops" -v b="$later_mops" -v c="$mean" -v d="$later" -v puts="$puts" \
            'BEGIN { e = d - c - 1 - 0.5 * puts; exit !((a - b) ^ 2 < (0.01 * a) ^ 2 && e ^ 2 < 0.02 ^ 2) }'
    done
done
