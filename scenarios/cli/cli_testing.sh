# Shared by the tests of the command line, which source it: an empty folder to work in, a scenario, and `expect`.
# Each test is called with the path of kvcast.
set -uo pipefail
kvcast=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

scenario() { # NAME TEXT: writes NAME.lua, a small scenario that ends in TEXT
    cat >"$1.lua" <<LUA
return {
  system = { kind = "megakv", index = "1MiB", slab = "8MiB" },
  node = { sockets = 1 },
  workload = { keys = 1000 },
  run = { warmup = "1ms", duration = "1ms" },
$2
}
LUA
}

fail() { # TEXT: reports a failure and continues
    echo "FAILED: $1"
    failed=1
}

expect() { # STATUS PATTERN COMMAND...: the command ends with STATUS and one line on stderr, which matches
    local status=$1 pattern=$2 got
    shift 2
    "$@" >stdout 2>said </dev/null
    got=$?
    grep -v '^kvcast: after [0-9.]* s: ' said >stderr # Progress, on a machine that has other work.
    if [ "$got" -ne "$status" ] || ! grep -qE -- "$pattern" stderr || [ "$(wc -l <stderr)" -ne 1 ]; then
        printf 'FAILED: %s\n  exit %s (expected %s), stderr (expected one line like "%s"):\n' "$*" "$got" "$status" "$pattern"
        sed 's/^/    /' stderr
        failed=1
    fi
}

finish() { # ends the test: a command must not leave partial files
    [ -z "$(find . -name '*.partial')" ] || fail "partial files are left"
    exit $failed
}
