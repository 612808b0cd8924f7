#!/usr/bin/env bash
# cpack makes a .deb that names its dependencies and whose program runs. Usage: deb_test.sh BUILD
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

cpack --config "$1/CPackConfig.cmake" -G DEB -B "$folder" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "cpack"; }
deb=$(ls "$folder"/kvcast_*.deb)
for field in Package Version Maintainer Description Depends; do
    [ -n "$(dpkg-deb -f "$deb" "$field")" ] || fail "the .deb has no $field"
done
dpkg-deb -f "$deb" Depends | grep -q libsimgrid || fail "the .deb does not depend on SimGrid: $(dpkg-deb -f "$deb" Depends)"
dpkg-deb -x "$deb" "$folder/root"
cd "$folder"
root=$folder/root/usr
"$root/bin/kvcast" check "$root/share/kvcast/scenarios/examples/first.lua" >/dev/null || fail "the packed program"
[ -s "$root/include/kvcast.h" ] && [ -n "$(find "$root" -name 'libkvcast.so.0')" ] || fail "the .deb has no libkvcast"
[ -s "$root/share/man/man1/kvcast.1" ] || fail "the .deb has no man page"
