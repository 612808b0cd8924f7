#!/usr/bin/env bash
# Builds the GPU kernels alone, checks them against their CPU twins, times them, and writes their output to
# validate/measured/MACHINE/. Needs nvcc, CMake and a GPU, but none of kvcast's packages.
#
#   gpu_kernels.sh [--sanitize] MACHINE    MACHINE names the folder, e.g. h200-pcie5
#   --sanitize  runs the tests under compute-sanitizer (memcheck, racecheck) instead of timing: minutes
# KVCAST_COMMIT names the commit where there is no Git repository.
set -euo pipefail

usage() {
    echo "usage: gpu_kernels.sh [--sanitize] MACHINE" >&2
    exit 2
}

sanitize=no
if [ "${1:-}" = --sanitize ]; then
    sanitize=yes
    shift
fi
[ $# = 1 ] || usage
case $1 in
'' | *[!a-z0-9-]*)
    echo "gpu_kernels.sh: machine \"$1\": allowed: lower-case letters, digits and -" >&2
    exit 2
    ;;
esac

cd "$(dirname "$0")/../.."
out=validate/measured/$1
build=build/gpu-kernels
mkdir -p "$out"
cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DKVCAST_KERNELS_ONLY=ON -DKVCAST_CUDA=ON \
    -DKVCAST_COMMIT="${KVCAST_COMMIT:-}" > /dev/null
cmake --build $build -j "$(nproc)" > /dev/null

tests=$(cd $build/kernels && ls -d *_cuda_test */*_cuda_test)
run_tests() { # NAME OF THE LOG, COMMAND IN FRONT...
    log=$1
    shift
    : > "$out/$log.part"
    for test in $tests; do
        echo "== $* $test" | tee -a "$out/$log.part"
        "$@" $build/kernels/"$test" 2>&1 | tee -a "$out/$log.part"
    done
    mv "$out/$log.part" "$out/$log"
}

if [ $sanitize = yes ]; then
    for tool in memcheck racecheck; do
        run_tests $tool.txt compute-sanitizer --tool $tool --error-exitcode 1
    done
    exit
fi
run_tests gpu_tests.txt
benches=$(cd $build/kernels && ls -d *_cuda_bench */*_cuda_bench)
for bench in $benches; do
    name=$(basename $bench)
    $build/kernels/$bench 2>&1 | tee "$out/$name.part"
    mv "$out/$name.part" "$out/$name.txt"
done
