#!/usr/bin/env bash
# Commands that write to disks that are too small for their output: each file must be the old one, a whole new one or
# none, and the command must end with 3 and one message that names a file. Usage: full_disks.sh KVCAST
# The disks are tmpfs in a mount namespace of this script alone. Exits with 1 if a case fails, and with 77 if this user
# may mount nothing.
source "$(dirname "$0")/cases.sh"
kvcast=$(realpath "$1")
kind="full disk"

if [ -z "${KVCAST_MAY_MOUNT-}" ]; then
    for how in "unshare -m" "unshare -rm"; do
        if $how sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
            KVCAST_MAY_MOUNT=1 exec $how "$0" "$kvcast"
        fi
    done
    report "$kind" "all" "not tried: this user may mount nothing, neither as root nor in a namespace"
    exit 77
fi

folder=$(mktemp -d -p /var/tmp)
disk=$folder/disk
mkdir "$disk"
trap 'umount "$disk" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

cat >small.lua <<'LUA'
return {
  system = { kind = "megakv", api = "getk", index = "1MiB", slab = "8MiB" },
  workload = { keys = 1000, get = 0.95, set = 0.05, arrival = { poisson_mops = 100 } },
  run = { warmup = "1ms", duration = "1ms" },
}
LUA
sed 's/duration = "1ms"/duration = "20ms"/' small.lua >long.lua # a timeline of about 450 KiB
cat >sweep.lua <<'LUA'
return {
  system = { kind = "rdma" },
  workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.1 } },
  run = { warmup = "10us", duration = "200us", bottleneck = "utilization" },
  sweep = { ["run.seed"] = { from = 1, to = 10, steps = 10, whole = true } },
}
LUA
cat >plan.lua <<'LUA'
return {
  system = { kind = "megakv", index = "1MiB", slab = "8MiB" },
  workload = { keys = 1000, arrival = { poisson_mops = 10 } },
  run = { warmup = "1ms", duration = "2ms" },
  slo = { p99 = "1ms", mops = 5 },
  plan = { minimise = "watts" },
  sweep = { ["system.cycle"] = { "120us", "160us" } },
}
LUA

# Files that the same commands write if there is room.
"$kvcast" run small.lua --quiet --out whole >/dev/null || exit 1
"$kvcast" sweep sweep.lua --quiet --out whole_sweep >/dev/null || exit 1

is_whole() { # FILE: its last bytes are there
    case $1 in
    *.json) [ "$(tail -c 2 "$1")" = "}" ] ;;
    *.svg) tail -c 16 "$1" | grep -q '</svg>' ;;
    *.pdf) tail -c 16 "$1" | grep -q '%%EOF' ;;
    *.png) tail -c 16 "$1" | grep -qa 'IEND' ;;
    *.xml) tail -c 16 "$1" | grep -q '</platform>' ;;
    *.csv | *.hgrm) tail -c 1 "$1" | cmp -s - <(echo) ;;
    *.sqlite*) true ;; # The sweep is resumed.
    *) false ;;
    esac
}

new_disk() { # SIZE [OPTION]: an empty disk
    umount "$disk" 2>/dev/null
    mount -t tmpfs -o "size=$1${2:+,$2}" none "$disk"
}

fault_of_files() { # prints what is wrong with the files on the disk
    local file
    while read -r file; do
        [ "$(head -c 4 "$file" | tr -d '\0')" = old ] || is_whole "$file" || echo "$file is not whole, $(stat -c %s "$file") bytes"
    done < <(find "$disk" -type f ! -name fill ! -name stdout)
    find "$disk" -name '*.partial' -o -name kvcast.lock | sed 's/$/ is left/'
}

# Runs a command and prints what is wrong with its end. It may succeed if `enough` is yes, must if it is must.
judge() { # ENOUGH COMMAND...
    local enough=$1 got
    shift
    "$@" >"${stdout-$folder/stdout}" 2>stderr </dev/null
    got=$?
    if [ $got -eq 0 ] && [ "$enough" = no ]; then
        echo "ends with success"
    elif [ $got -ne 0 ] && { [ $got -ne 3 ] || [ "$enough" = must ]; }; then
        echo "ends with $got: $(head -c 300 stderr)"
    elif [ $got -eq 3 ] && message_fault stderr && ! grep -qE "^kvcast: (stdout|$disk/)" stderr; then
        echo "the message names no file: $(head -c 300 stderr)"
    fi
    fault_of_files
}

tell() { # NAME WHY
    report "$kind" "$1" "$2"
    [ -z "$2" ] || failed=1
}

# A command on disks of several sizes, of which the first is too small for sure, and the last is not.
on_disks() { # NAME "SIZE..." COMMAND...
    local name=$1 sizes=($2) i enough
    shift 2
    for i in "${!sizes[@]}"; do
        enough=yes
        [ "$i" -ne 0 ] || enough=no
        [ "$i" -ne $((${#sizes[@]} - 1)) ] || enough=must
        new_disk "${sizes[i]}"
        for file in ${old-}; do
            echo old >"$disk/$file"
        done
        tell "$name, ${sizes[i]}" "$(judge $enough "$@")"
    done
}

on_disks "run --out" "8k 32k 64k 96k 128k 4m" "$kvcast" run small.lua --quiet --out "$disk/out"

# A timeline alone does not fit: the results and the table are there all the same.
for size in 160k 256k 400k; do
    new_disk $size
    why=$(judge no "$kvcast" run long.lua --quiet --out "$disk/out")
    for file in result.json latency.hgrm cdf.csv windows.csv platform.xml; do
        [ -s "$disk/out/$file" ] || why+=" $file is missing"
    done
    [ ! -e "$disk/out/timeline.json" ] || why+=" the timeline fits"
    grep -q "^kvcast: $disk/out/timeline.json: " stderr || why+=" another message: $(cat stderr)"
    grep -q '^throughput ' stdout || why+=" no table"
    tell "run --out, a timeline too large for $size" "$why"
done

# Results of an earlier run do not change.
new_disk 300k
mkdir "$disk/out"
cp whole/*.* "$disk/out"
(cd "$disk/out" && sha256sum -- *) >before
head -c 1M /dev/zero >"$disk/fill" 2>/dev/null
why=$(judge no "$kvcast" run small.lua --seed 2 --quiet --out "$disk/out")
(cd "$disk/out" && sha256sum -- *) | cmp -s before - || why+=" old results have changed"
tell "run --out over old results" "$why"

# No room for one more file.
new_disk 1m nr_inodes=6
tell "run --out without inodes" "$(judge no "$kvcast" run small.lua --quiet --out "$disk/out")"

for format in svg pdf png; do
    old=a.$format on_disks "plot -o a.$format" "4k 8k 12k 1m" "$kvcast" plot whole/result.json -k cdf -o "$disk/a.$format"
done
old=a.png on_disks "plot -k platform" "4k 16k 1m" "$kvcast" plot whole -k platform -o "$disk/a.png"
old=r.json on_disks "run --json FILE" "4k 32k 1m" "$kvcast" run small.lua --quiet --json "$disk/r.json"
on_disks "predict --out" "4k 1m" "$kvcast" predict small.lua --quiet --out "$disk/out"
on_disks "plan --out" "8k 32k 48k 1m" "$kvcast" plan plan.lua --quiet --out "$disk/out"
on_disks "list --json FILE" "4k 1m" "$kvcast" list --json "$disk/list.json"

# A sweep keeps its finished points and continues when there is room.
for size in 16k 64k 96k 128k 192k 256k; do
    new_disk $size
    why=$(judge "$([ $size = 16k ] || [ $size = 64k ] && echo no || echo yes)" "$kvcast" sweep sweep.lua --quiet --jobs 1 --out "$disk/out")
    mount -o remount,size=16m "$disk"
    why+=$(judge must "$kvcast" sweep sweep.lua --quiet --jobs 1 --out "$disk/out")
    cmp -s whole_sweep/sweep.csv "$disk/out/sweep.csv" || why+=" the resumed sweep has other points"
    tell "sweep --out, $size" "$why"
done

# stdout itself. The file that the shell opened is not the program's: only the exit and the message count.
new_disk 4k
head -c 1M /dev/zero >"$disk/fill" 2>/dev/null
for what in "run small.lua --quiet --json -" "run small.lua --quiet" "list" "describe megakv" "plan plan.lua --quiet"; do
    tell "stdout: $what" "$(stdout=$disk/stdout judge no "$kvcast" $what)"
    rm -f "$disk/stdout"
done

# Nothing is written to a folder for temporary files.
unset TMPDIR
new_disk 4k
mount --bind "$disk" /tmp
head -c 1M /dev/zero >"$disk/fill" 2>/dev/null
tell "plot with a full /tmp" "$(judge must "$kvcast" plot whole/result.json -k cdf -o a.png)"
tell "run with a full /tmp" "$(judge must "$kvcast" run small.lua --quiet --out out)"
is_whole a.png && is_whole out/result.json || tell "files with a full /tmp" "they are not whole"
exit $failed
