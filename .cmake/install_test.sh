#!/usr/bin/env bash
# An installed kvcast works without the source tree and the build tree: the program finds its data, and programs in C and
# C++ build against its headers and libraries. Usage: install_test.sh SOURCE BUILD [CC [CXX]]
set -euo pipefail
source=$(realpath "$1")
build=$(realpath "$2")
cc=${3:-cc}
cxx=${4:-c++}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

# Installed to one place, then moved to another: nothing may remember the first.
cmake --install "$build" --prefix "$folder/first" >"$folder/install.log" 2>&1 || { cat "$folder/install.log"; fail "cmake --install"; }
mv "$folder/first" "$folder/prefix"
prefix=$folder/prefix
cp -r "$source/.cmake/consumer" "$folder/consumer"
cd "$folder"
unset KVCAST_DATA KVCAST_MEASURED
traces=$folder/traces
mkdir "$traces"

# Nothing that was installed names the source tree or the build tree.
for tree in "$source/" "$build/"; do
    named=$(grep -rlF "$tree" "$prefix" || true)
    [ -z "$named" ] || fail "these files name $tree: $named"
done

# strace, where it is installed and allowed, tells every file that a program opens.
traced=()
if strace -o /dev/null true 2>/dev/null; then
    traced=(strace -ff -e trace=open,openat,execve -o "$traces/trace")
fi
kvcast() {
    "${traced[@]}" "$prefix/bin/kvcast" "$@" </dev/null
}

case $(kvcast --version) in kvcast\ [0-9]*.[0-9]*.[0-9]*) ;; *) fail "--version" ;; esac
kvcast list >list.txt
for name in megakv tesla-k40c ycsb-b scenarios/examples/first.lua scenarios/papers/megakv/fig12.lua "$prefix/share/kvcast"; do
    grep -qF -- "$name" list.txt || fail "kvcast list does not name $name"
done
# A file between the two, because grep -q ends at the first match and kvcast must not find its pipe closed.
kvcast describe tesla-k40c >described.txt
grep -q memory described.txt || fail "kvcast describe of a profile"
kvcast describe system.cycle >described.txt
grep -q cycle described.txt || fail "kvcast describe of an option"
cat >small.lua <<'LUA'
return {
  system = { kind = "megakv", index = "1MiB", slab = "8MiB" },
  node = { sockets = 1 },
  workload = { keys = 1000 },
  run = { warmup = "1ms", duration = "1ms" },
}
LUA
kvcast check "$prefix/share/kvcast/scenarios/examples/first.lua" >/dev/null || fail "kvcast check"
kvcast run small.lua --out out --quiet >/dev/null || fail "kvcast run"
[ -s out/result.json ] || fail "kvcast run leaves no result"
if command -v gnuplot >/dev/null; then
    kvcast plot out/result.json -k cdf -o cdf.svg && grep -q '<svg' cdf.svg || fail "kvcast plot"
fi
status=0
kvcast validate nosuch 2>message || status=$?
[ "$status" -eq 2 ] && grep -q 'papers (bluecache, composed, dido, kvdirect, megakv, memcachedgpu).*machines (.*two-cores' message ||
    fail "kvcast validate does not find papers and machines: $(cat message)"
if KVCAST_DATA=$folder/none "$prefix/bin/kvcast" check small.lua 2>message || ! grep -q "KVCAST_DATA: found" message; then
    fail "KVCAST_DATA is ignored: $(cat message)"
fi
if opened=$(grep -hE "\"($source|$build)/" "$traces"/* 2>/dev/null); then
    fail "a program opened files of the source or build tree: $opened"
fi

# Every installed header stands on its own, in C and in C++.
cd "$prefix/include/kvcast"
headers=$(find kernels -name '*.h' | sort)
[ -n "$headers" ] || fail "no headers"
for internal in $(find kernels -name '*_internal.h' -o -name '*_fixture.h'); do
    fail "$internal is installed"
done
for header in $headers; do
    case $header in *cuda*) continue ;; esac # these may need CUDA's headers
    printf '#include "%s"\n' "$header" >"$folder/alone.c"
    cp "$folder/alone.c" "$folder/alone.cc"
    "$cc" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I. "$folder/alone.c" || fail "$header in C"
    "$cxx" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I. "$folder/alone.cc" || fail "$header in C++"
done
cd "$folder"

# The library, through pkg-config and through CMake.
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name kvcast-kernels.pc)")
flags=$(pkg-config --cflags --libs kvcast-kernels)
# shellcheck disable=SC2086 # several flags
"$cc" -std=gnu11 -Wall -Wextra -Werror consumer/consumer.c $flags -o by_pkgconfig_c || fail "pkg-config in C"
# shellcheck disable=SC2086
"$cxx" -Wall -Wextra -Werror consumer/consumer.cc $flags -o by_pkgconfig_cc || fail "pkg-config in C++"
cmake -S consumer -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    >cmake.log 2>&1 && cmake --build by_cmake >>cmake.log 2>&1 || { cat cmake.log; fail "find_package(kvcast)"; }
for program in ./by_pkgconfig_c ./by_pkgconfig_cc by_cmake/consumer_c by_cmake/consumer_cc; do
    "$program" >found.txt || fail "$program: $(cat found.txt)"
done

# libkvcast, whose data are beside it.
flags=$(pkg-config --cflags --libs kvcast)
libraries=$(dirname "$(find "$prefix" -name libkvcast.so)")
example=$prefix/share/doc/kvcast/examples/best_cycle
# shellcheck disable=SC2086
"$cc" -std=c11 -Wall -Wextra -Werror "$example.c" $flags -o best_cycle || fail "pkg-config of libkvcast"
printf '#include <kvcast.h>\nint main() { return kvcast_version() == nullptr; }\n' >version.cc
# shellcheck disable=SC2086
"$cxx" -std=c++17 -Wall -Wextra -Werror version.cc $flags -o version && LD_LIBRARY_PATH=$libraries ./version ||
    fail "libkvcast in C++"
export LD_LIBRARY_PATH=$libraries
"${traced[@]}" ./best_cycle "$prefix/share/kvcast/scenarios/examples/first.lua" >found.txt || fail "libkvcast in C"
/usr/bin/python3 "$example.py" "$prefix/share/kvcast/scenarios/examples/first.lua" | diff found.txt - ||
    fail "libkvcast in Python"
if opened=$(grep -hE "\"($source|$build)/" "$traces"/* 2>/dev/null); then
    fail "libkvcast opened files of the source or build tree: $opened"
fi
