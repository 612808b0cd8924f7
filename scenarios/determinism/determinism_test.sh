#!/usr/bin/env bash
# Computes the answers of answers.txt twice, the second time with everything changed that must not matter, and compares
# all files that they write, byte for byte. Only the clock, the version and the command line may differ, and the
# dates in PDF files. Where something differs, each change is tried alone, so that it is named.
# Usage: determinism_test.sh KVCAST OTHER    OTHER is built by another compiler, with other optimisations.
# Needs the definitions of locales (Debian: locales), of which it makes its own.
set -uo pipefail
answers=$(dirname "$(realpath "$0")")/answers.txt
source_folder=$(realpath "$(dirname "$answers")/../..")
export LC_ALL=C TZ=UTC source_folder

# ---- one answer in one way ----

# Removes everything that may differ between two computations of the same answer.
strip_volatile() { # FILE: prints the rest
    case $1 in
    *.json) grep -vE '"(wall_[a-z_]*|[a-z_]*_per_wall_s|memory_[a-z_]*|version|command_line)":' "$1" ;;
    *) cat "$1" ;;
    esac
}

digest() { # FOLDER: prints one line for each file
    local file
    for file in "$1"/*; do
        case $file in
        *.lock | *.sqlite) ;; # They record the writer and the order of rows, which may differ; sweep.csv has the rows.
        *.pdf) ;;             # Cairo writes the date into it; the .svg is the same drawing.
        *) printf '%s %s\n' "$(basename "$file")" "$(strip_volatile "$file" | sha256sum)" ;;
        esac
    done
}

compute() { # FOLDER JOBS KVCAST LAUNCHER COMMAND SCENARIO [PATH=VALUE...]: writes into FOLDER and FOLDER.digest
    local folder=$1 jobs=$2 kvcast=$3 launcher=$4 command=$5 scenario=$6 value
    local options=(--quiet --out "$folder")
    [ "$command" = predict ] || options+=(--jobs "$jobs")
    for value in "${@:7}"; do
        options+=(--set "$value")
    done
    $launcher "$kvcast" "$command" "$source_folder/$scenario" "${options[@]}" >/dev/null 2>"$folder.errors" </dev/null ||
        echo "exit status $?: $(cat "$folder.errors")" >"$folder.digest"
    [ -e "$folder.digest" ] || digest "$folder" >"$folder.digest"
}

# Computes an answer in the reference way and with everything changed at once: number of jobs, decimal comma, time zone,
# working folder, layout and contents of memory, compiler and optimisation. Prints "all same STORE", or a line
# "WAY differs ..." for each single change that makes a difference.
compare() { # NUMBER STORE COMMAND SCENARIO [PATH=VALUE...]
    local folder=$work/$1 store=$2 answer=("${@:3}") found=0
    local turkish=(LOCPATH="$work/locales" LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati)
    # Fresh memory holds rubbish, and the stack begins elsewhere.
    local dirty=(MALLOC_PERTURB_=165 ASAN_OPTIONS=malloc_fill_byte=165:max_malloc_fill_size=1000000000
        PADDING="$(printf '%05000d' 0)")
    mkdir -p "$folder/empty"
    differs() { # WAY JOBS KVCAST [LAUNCHER...]
        compute "$folder/$1" "$2" "$3" "${*:4}" "${answer[@]}"
        local status=0
        cmp -s "$folder/reference.digest" "$folder/$1.digest" && status=1 ||
            difference=$(diff "$folder/reference.digest" "$folder/$1.digest" | grep '^>' | cut -c 3-200 |
                cut -d ' ' -f 1-12 | head -n 3 | tr '\n' ' ')
        rm -rf "${folder:?}/$1" "$folder/$1.digest"
        return $status
    }
    cd "$source_folder" || exit 1
    compute "$folder/reference" 1 "$kvcast" '' "${answer[@]}"
    if ! grep -q '^[a-z]*\.\(json\|csv\) ' "$folder/reference.digest"; then
        echo "reference failed $store ${answer[*]}: $(cat "$folder/reference.digest")"
    elif ! differs all 2 "$other" setarch -R env --chdir="$folder/empty" "${turkish[@]}" "${dirty[@]}"; then
        echo "all same $store"
    else
        local all=$difference
        single() { # WAY JOBS KVCAST [LAUNCHER...]
            differs "$@" && { found=1; echo "$1 differs $store ${answer[*]}: $difference"; }
        }
        single two_jobs 2 "$kvcast"
        single far_place 1 "$kvcast" env "${turkish[@]}"
        single working_folder 1 "$kvcast" env --chdir="$folder/empty"
        single fixed_addresses 1 "$kvcast" setarch -R
        single dirty_memory 1 "$kvcast" env "${dirty[@]}"
        single other_build 1 "$other"
        [ $found = 1 ] || echo "all differs $store ${answer[*]}: $all"
    fi
    rm -rf "$folder"
}

if [ "${1:-}" = --compare ]; then # xargs below calls it.
    kvcast=$2 other=$3 work=$4
    read -ra line <<<"$5"
    compare "${line[@]}"
    exit
fi

# ---- all answers ----

kvcast=$(realpath "$1")
other=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/locales"
if ! localedef -i tr_TR -f UTF-8 "$work/locales/tr_TR.UTF-8"; then
    echo "cannot make the locale tr_TR; are the definitions of locales installed (Debian: locales)?" >&2
    exit 1
fi
grep -vE '^(#|$)' "$answers" | nl -w 1 -s ' ' >"$work/list"
xargs -d '\n' -n 1 -P "$(nproc)" "$0" --compare "$kvcast" "$other" "$work" <"$work/list" >"$work/lines"

awk -v answers="$(wc -l <"$work/list")" '
    $2 == "same" { same++; stores[$3]++; next }
    { print }
    END {
        printf "%d of %d answers are the same bytes with everything changed\n", same, answers
        for (store in stores) {
            if (stores[store] < 5) { printf "only %d answers of %s are the same\n", stores[store], store; few++ }
        }
        exit (same != answers || answers == 0 || few > 0)
    }' "$work/lines"
