#!/usr/bin/env bash
# Tests concurrent writers to one folder or file, the files that killed writers leave, and links that lead out of the
# folder. Usage: two_writers.sh KVCAST. Exits with 1 if a case fails.
source "$(dirname "$0")/cases.sh"
kvcast=$(realpath "$1")
kind="two writers"
folder=$(mktemp -d)
owner=""
trap '[ -z "$owner" ] || kill -9 "$owner"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

cat >small.lua <<'LUA'
return {
  system = { kind = "megakv", api = "getk", index = "1MiB", slab = "8MiB" },
  workload = { keys = 1000, get = 0.95, set = 0.05, arrival = { poisson_mops = 100 } },
  run = { warmup = "1ms", duration = "1ms" },
}
LUA
sed 's/duration = "1ms"/duration = "60s"/' small.lua >endless.lua # Only a signal ends it within this test.
points() { # NAME DURATION: writes a sweep
    cat >"$1.lua" <<LUA
return {
  system = { kind = "rdma" },
  workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.1 } },
  run = { warmup = "10us", duration = "$2", bottleneck = "utilization" },
  sweep = { ["run.seed"] = { 1, 2, 3, 4 } },
}
LUA
}
points sweep 200us
points endless_sweep 10000s

tell() { # NAME WHY
    report "$kind" "$1" "$2"
    [ -z "$2" ] || failed=1
}

start_owner() { # COMMAND...: starts a command that writes to `out`, and waits until it owns the folder
    "$@" --quiet --out out >/dev/null 2>owner.stderr </dev/null &
    owner=$!
    for _ in $(seq 200); do
        [ ! -s out/kvcast.lock ] || return 0
        sleep 0.05
    done
}

end_owner() { # SIGNAL
    kill "-$1" "$owner"
    wait "$owner" 2>/dev/null
    owner=""
}

expect() { # STATUS PATTERN COMMAND...: prints what is wrong with the end of a command
    local status=$1 pattern=$2 got
    shift 2
    "$@" >stdout 2>stderr </dev/null
    got=$?
    [ $got -eq "$status" ] || echo "ends with $got instead of $status: $(head -c 300 stderr)"
    if [ "$status" -eq 0 ]; then
        [ ! -s stderr ] || echo "stderr: $(head -c 300 stderr)"
        return
    fi
    message_fault stderr || return
    grep -qE -- "$pattern" stderr || echo "the message has no \"$pattern\": $(head -c 300 stderr)"
}

succeed() { # COMMAND...: prints what is wrong with its end
    expect 0 "" "$@"
}

fault_of_folder() { # FOLDER: prints what no writer may leave
    find "$1" -name '*.partial' -o -name '*.lock' | sed 's/$/ is left/'
    [ ! -e "$1/result.json" ] || [ "$(tail -c 2 "$1/result.json")" = "}" ] || echo "result.json is not whole"
}

# ---- one owner of a folder ----

refused() { # NAME OWNER COMMAND...: while the OWNER writes, the command is told who that is; afterwards it succeeds
    local name=$1 owning=$2 why
    shift 2
    rm -rf out
    start_owner "$kvcast" ${owning}
    why=$(expect 3 "^kvcast: out: is locked: process $owner on host $(hostname) since" "$kvcast" "$@" --quiet --out out)
    kill -0 "$owner" || why+=" the owner has ended: $(cat owner.stderr)"
    end_owner TERM
    [ ! -e out/kvcast.lock ] || why+=" the lock is left after SIGTERM"
    rm -rf out/sweep.sqlite*
    why+=$(succeed "$kvcast" "$@" --quiet --out out)
    tell "$name" "$why$(fault_of_folder out)"
}

refused "run against a run" "run endless.lua" run small.lua
refused "sweep against a sweep" "sweep endless_sweep.lua" sweep sweep.lua
refused "run against a sweep" "sweep endless_sweep.lua" run small.lua
refused "sweep against a run" "run endless.lua" sweep sweep.lua
refused "predict against a run" "run endless.lua" predict small.lua

taken_over() { # NAME OWNER COMMAND...: the OWNER is killed, and the command takes its folder over
    local name=$1 owning=$2 why=""
    shift 2
    rm -rf out
    start_owner "$kvcast" ${owning}
    end_owner KILL
    [ -e out/kvcast.lock ] || why="no lock is left to take over"
    rm -rf out/sweep.sqlite*
    why+=$(succeed "$kvcast" "$@" --quiet --out out)
    tell "$name" "$why$(fault_of_folder out)"
}

taken_over "run after a killed run" "run endless.lua" run small.lua
taken_over "sweep after a killed sweep" "sweep endless_sweep.lua" sweep sweep.lua
taken_over "run after a killed sweep" "sweep endless_sweep.lua" run small.lua

# Eight runs at once: one of them succeeds at least, and none fails otherwise than by the lock.
rm -rf out ends
for i in $(seq 8); do
    { "$kvcast" run small.lua --seed "$i" --quiet --out out >/dev/null 2>"stderr.$i"; echo $? >>ends; } &
done
wait
why=$(grep -hv ' is locked: ' stderr.[1-8])
grep -q '^0$' ends || why+=" none succeeded"
! grep -qv '^[03]$' ends || why+=" statuses $(tr '\n' ' ' <ends)"
tell "eight runs at once" "$why$(fault_of_folder out)"

# ---- one file ----

for format in svg png; do
    "$kvcast" plot out/result.json -k cdf -o whole.$format || exit 1
    why=""
    for i in 1 2 3 4; do
        "$kvcast" plot out/result.json -k cdf -o same.$format 2>"stderr.$i" &
    done
    wait
    cmp -s whole.$format same.$format || why="the picture is another one"
    tell "plot -o same.$format, four at once" "$why$(cat stderr.[1-4])$(fault_of_folder .)"
done

for i in 1 2 3 4; do
    "$kvcast" run small.lua --seed "$i" --quiet --json same.json >/dev/null 2>"stderr.$i" &
done
wait
[ "$(tail -c 2 same.json)" = "}" ] && why="" || why="the result is not whole"
tell "run --json same.json, four at once" "$why$(cat stderr.[1-4])$(fault_of_folder .)"

# ---- links and pipes ----

linked() { # NAME FILE STATUS PATTERN COMMAND...: FILE of the folder is a link out of it, whose target must not change
    local name=$1 file=$2 status=$3 pattern=$4 why
    shift 4
    rm -rf out
    mkdir out
    echo precious >victim
    ln -s ../victim "out/$file"
    why=$(expect "$status" "$pattern" "$kvcast" "$@" --quiet --out out)
    [ "$(cat victim)" = precious ] || why+=" the target was written"
    [ "$status" -ne 0 ] || [ ! -L "out/$file" ] || [ "${file%.partial}" != "$file" ] || why+=" the link is still there"
    tell "$name" "$why"
}

for file in result.json timeline.json platform.xml cdf.csv latency_cdf.svg result.json.partial; do
    linked "run, $file is a link" $file 0 "" run small.lua
done
linked "sweep, sweep.csv is a link" sweep.csv 0 "" sweep sweep.lua
for file in sweep.sqlite sweep.sqlite-wal sweep.sqlite-shm sweep.sqlite-journal; do
    linked "sweep, $file is a link" $file 2 "^kvcast: out/$file: is a symbolic link" sweep sweep.lua
done
linked "run, kvcast.lock is a link" kvcast.lock 2 "^kvcast: out/kvcast.lock: is no regular file" run small.lua

rm -rf out real
mkdir real
ln -s real out
why=$(succeed "$kvcast" run small.lua --quiet --out out)
why+=$(succeed "$kvcast" sweep sweep.lua --quiet --out out)
[ -s real/result.json ] && [ -s real/sweep.csv ] || why+=" files are missing"
tell "the folder is a link of the user's" "$why$(fault_of_folder real)"

echo precious >victim
ln -s victim link.json
why=$(succeed "$kvcast" run small.lua --quiet --json link.json)
[ "$(cat victim)" = precious ] || why+=" the target was written"
tell "run --json to a link" "$why"

mkfifo pipe
cat pipe >through &
why=$(succeed "$kvcast" run small.lua --quiet --json pipe)
wait
[ -p pipe ] || why+=" it is no pipe any more"
[ "$(tail -c 2 through)" = "}" ] || why+=" the result is not whole"
tell "run --json to a pipe" "$why"

{ echo before; "$kvcast" list --json /dev/fd/1; echo behind; } >through 2>stderr
why=$(cat stderr)
[ "$(head -1 through)" = before ] && [ "$(tail -1 through)" = behind ] && grep -q '^}' through || why+=" stdout was overwritten"
tell "list --json to stdout's own name" "$why"

"$kvcast" describe workload 2>stderr | head -1 >/dev/null
tell "a reader that goes away" "$(cat stderr)"
exit $failed
