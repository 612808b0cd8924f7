#!/usr/bin/env bash
# Computes the answers of answers.txt in many ways and compares all files that they write, byte for byte. Only the wall
# clock, the version and the command line may differ, and the dates in PDF files.
# Usage: determinism_test.sh KVCAST [NAME=OTHER...]    Each OTHER is a build by another compiler or optimised otherwise.
# Needs the definitions of locales (Debian: locales), of which it makes its own two.
set -uo pipefail
answers=$(dirname "$(realpath "$0")")/answers.txt
source_folder=$(realpath "$(dirname "$answers")/../..")
export LC_ALL=C TZ=UTC source_folder

# ---- one answer in one way ----

# What may differ between two computations of the same answer.
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
        *.lock | *.sqlite) ;; # Who wrote, and rows in the order in which they came; sweep.csv has them.
        *.pdf) ;;             # Cairo writes the date into it; the .svg is the same drawing.
        *) printf '%s %s\n' "$(basename "$file")" "$(strip_volatile "$file" | sha256sum)" ;;
        esac
    done
}

compute() { # FOLDER JOBS KVCAST COMMAND SCENARIO [PATH=VALUE...]: writes the files into FOLDER and FOLDER.digest
    local folder=$1 jobs=$2 kvcast=$3 command=$4 scenario=$5 value
    local options=(--quiet --out "$folder")
    [ "$command" = predict ] || options+=(--jobs "$jobs")
    for value in "${@:6}"; do
        options+=(--set "$value")
    done
    $LAUNCHER "$kvcast" "$command" "$source_folder/$scenario" "${options[@]}" >/dev/null 2>"$folder.errors" </dev/null ||
        echo "exit status $?: $(cat "$folder.errors")" >"$folder.digest"
    [ -e "$folder.digest" ] || digest "$folder" >"$folder.digest"
}

# Computes an answer in each way and prints a line "WAY same" or "WAY differs ..." for each.
compare() { # NUMBER STORE COMMAND SCENARIO [PATH=VALUE...]
    local folder=$work/$1 store=$2 answer=("${@:3}") way
    mkdir -p "$folder/empty"
    report() { # WAY
        if cmp -s "$folder/reference.digest" "$folder/$1.digest"; then
            echo "$1 same $store"
        else
            echo "$1 differs $store ${answer[*]}: $(diff "$folder/reference.digest" "$folder/$1.digest" | grep '^>' |
                cut -c 3-200 | cut -d ' ' -f 1-12 | head -n 3 | tr '\n' ' ')"
        fi
        rm -rf "${folder:?}/$1" "$folder/$1.digest"
    }
    cd "$source_folder" || exit 1
    LAUNCHER='' compute "$folder/reference" 1 "$kvcast" "${answer[@]}"
    if ! grep -q '^[a-z]*\.\(json\|csv\) ' "$folder/reference.digest"; then
        echo "reference failed $store ${answer[*]}: $(cat "$folder/reference.digest")"
        return
    fi
    LAUNCHER='' compute "$folder/two_jobs" 2 "$kvcast" "${answer[@]}" && report two_jobs
    LAUNCHER="env LOCPATH=$work/locales LC_ALL=de_DE.UTF-8" compute "$folder/comma_locale" 1 "$kvcast" "${answer[@]}" &&
        report comma_locale
    LAUNCHER="env LOCPATH=$work/locales LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati" compute "$folder/far_place" 1 \
        "$kvcast" "${answer[@]}" && report far_place
    LAUNCHER="env --chdir=$folder/empty" compute "$folder/working_folder" 1 "$kvcast" "${answer[@]}" &&
        report working_folder
    LAUNCHER='setarch -R' compute "$folder/fixed_addresses" 1 "$kvcast" "${answer[@]}" && report fixed_addresses
    # Fresh memory holds rubbish, and the stack begins elsewhere.
    LAUNCHER="env MALLOC_PERTURB_=165 PADDING=$(printf '%05000d' 0)" compute "$folder/dirty_memory" 1 "$kvcast" \
        "${answer[@]}" && report dirty_memory
    for way in "${others[@]}"; do
        LAUNCHER='' compute "$folder/${way%%=*}" 1 "${way#*=}" "${answer[@]}" && report "${way%%=*}"
    done
    rm -rf "$folder"
}

if [ "${1:-}" = --compare ]; then # For xargs below.
    kvcast=$2 work=$3
    read -ra others <<<"$4"
    read -ra line <<<"$5"
    compare "${line[@]}"
    exit
fi

# ---- all answers ----

kvcast=$(realpath "$1")
others=()
for way in "${@:2}"; do
    others+=("${way%%=*}=$(realpath "${way#*=}")") || exit 1
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/locales"
for name in de_DE tr_TR; do
    if ! localedef -i "$name" -f UTF-8 "$work/locales/$name.UTF-8"; then
        echo "cannot make the locale $name; are the definitions of locales installed (Debian: locales)?" >&2
        exit 1
    fi
done
grep -vE '^(#|$)' "$answers" | nl -w 1 -s ' ' >"$work/list"
xargs -d '\n' -n 1 -P "$(nproc)" "$0" --compare "$kvcast" "$work" "${others[*]}" <"$work/list" >"$work/lines"

awk '$2 == "differs" || $2 == "failed"' "$work/lines"
awk -v answers="$(wc -l <"$work/list")" '
    { tried[$1]++ } $2 == "same" { same[$1]++ } $2 == "same" && $1 == "two_jobs" { stores[$3]++ }
    END {
        printf "%-16s %6s %6s\n", "way", "tried", "same"
        for (way in tried) {
            printf "%-16s %6d %6d\n", way, tried[way], same[way] | "sort"
            bad += tried[way] != answers || same[way] != answers
        }
        close("sort")
        for (store in stores) {
            if (stores[store] < 5) { printf "only %d answers of %s\n", stores[store], store; bad++ }
        }
        exit (bad > 0 || !("two_jobs" in tried))
    }' "$work/lines"
