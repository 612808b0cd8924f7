#!/usr/bin/env bash
# Draws the gallery, whose pictures have no fault, and spoils a picture in each way that svg_check has to find.
# Usage: gallery_test.sh GALLERY KVCAST SVG_CHECK FOLDER
set -uo pipefail
"$@" || exit 1
check=$(realpath "$3")
cd "$4" || exit 1
failed=0

[ "$(grep -c '<figure>' index.html)" -eq "$(find . -maxdepth 1 -name '*.svg' | wc -l)" ] || { echo "FAILED: a picture is not on the page"; failed=1; }
for kind in cdf tail timeline sweep capacity pareto day error platform pipeline; do
    grep -q -- " -k $kind" index.html || { echo "FAILED: no picture of kind $kind"; failed=1; }
done

finds() { # FAULT SED-COMMANDS: svg_check finds this fault in the picture that sed has changed
    sed "$2" sweep.svg >out/spoilt.svg
    if "$check" axes out/spoilt.svg >out/said || ! grep -q "spoilt.svg: $1" out/said; then
        printf 'FAILED: "%s" was not found after %s, but: %s\n' "$1" "$2" "$(cat out/said)"
        failed=1
    fi
}
finds "is not well-formed" '0,/<.g>/s///'
finds "is not well-formed" 's/ (µs)/ \&mu;s/'
finds "is not well-formed" '0,/<text>/s//<text x=1>/'
finds "a text leaves the page" 's/875 MHz, getk/& and much more than a page of a paper has room for/'
finds "a text leaves the page" '0,/translate([0-9.]*,/s//translate(-20,/'
finds "the title of a y axis has no unit" 's/p99 latency (µs)/p99 latency/'
finds "the title of the x axis has no unit" 's/system.cycle (µs)/system.cycle/'
finds "no y axis has a title" 's/ rotate(270)//'
exit $failed
