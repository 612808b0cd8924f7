#!/bin/bash
# One run with one fault, for walk.sh: trial.sh CASE KIND NUMBER. Prints "tried" if the fault struck, and "failed" with
# the reason and the command if what followed is wrong.
#
# A fault must end the command with status 3 and one message on stderr. Afterwards the folder contains the same files
# as before or, if the fault came after the last file, the whole set. Odd trials write into a new folder, even ones
# over older files, which may stand unchanged in DIR/older-1 afterwards. A call whose failure does no harm is listed in
# harmless.txt with the reason; then the command must end with status 0 and the whole set.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1 kind=$2 number=$3
folder=$work/$name
trial=$folder/$kind-$number
command=$(cat "$folder/command")

fail() { # REASON
    echo "failed $name $kind:$number $(sed -n "s/^$kind [0-9]* //p" "$trial.report" 2>/dev/null): $1: $(tr '\n' '~' <"$trial.stderr" | head -c 300)"
    exit 0
}

is_harmless() {
    local callers
    callers=$(sed -n 's/^callers //p' "$trial.report")
    # shellcheck disable=SC2086
    addr2line -f -e "$kvcast" $callers | awk 'NR % 2 == 1' >"$trial.callers"
    grep -v '^#' "$here/harmless.txt" | sed 's/ *|.*//' | grep -qxFf - "$trial.callers"
}

files() { # FOLDER
    (cd "$1" && find . -type f | sort)
}

sums() { # FOLDER
    (cd "$1" && find . -type f -exec md5sum {} + | sort -k2)
}

# Prints the files that are missing from an otherwise present set. The files of a folder are a set, as is each file
# alone. A timeline may lack, since it is larger than all the rest, and pictures are drawn from a complete set. A file
# can be put in place although the next one cannot (rename); each is whole then, and result.json is the last.
half_sets() {
    local file set
    files "$folder/whole" | while read -r file; do
        set=$(echo "$file" | cut -d/ -f2)
        [ -e "$folder/given/$file" ] || [[ $file == *.svg || $file == *.pdf || $file == *.png || $file == */timeline.json ]] ||
            grep -qxF "$file" "$trial.changed" || { [ $status != 0 ] && ! grep -q "^[.]/$set" "$trial.changed"; } || echo " $file"
    done | tr -d '\n'
}

trap 'rm -rf "$trial" "$trial".*' EXIT
cp -r "$folder/given" "$trial"
if [ $((number % 2)) = 0 ]; then # Files of an earlier run.
    (cd "$folder/whole" && find . -type d -exec mkdir -p "$trial/{}" \;)
    files "$folder/whole" | while read -r file; do
        [ -e "$trial/$file" ] || [[ $file == *.sqlite* ]] || echo "old $file" >"$trial/$file"
    done
fi
sums "$trial" >"$trial.before"
(cd "$trial" && KVCAST_FAULT=$kind:$number KVCAST_FAULT_REPORT=$trial.report \
    eval "exec timeout -k 1 60 $kvcast $command" >"$trial.stdout" 2>"$trial.stderr" </dev/null)
status=$?
[ -s "$trial.report" ] || exit 0 # The numbers of calls of several processes differ a little between runs.
echo tried
sums "$trial" >"$trial.after"

grep -qE 'Sanitizer|runtime error:|bug at' "$trial.stderr" && fail "sanitizer or bug"
messages=$(grep -vE '^kvcast: (warning: |after [0-9.]+ s: )' "$trial.stderr" | wc -l)
case $status in
0)
    is_harmless || fail "status 0"
    [ "$messages" = 0 ] || fail "status 0 with a message"
    ;;
3)
    [ "$messages" = 1 ] || fail "$messages messages"
    grep -q '^kvcast' "$trial.stderr" || fail "no message of kvcast"
    ;;
124 | 137) fail "no end after 60 s" ;;
*) fail "status $status" ;;
esac

find "$trial" -name '*.partial' | grep -q . && fail "a partial file is left"
# A failed sweep continues from its stored points, and then answers as if nothing had happened.
if grep -q "^$name *| resumes" "$here/cases.txt"; then
    (cd "$trial" && eval "timeout -k 1 60 $kvcast $command" >"$trial.stdout" 2>>"$trial.stderr") || fail "not resumed"
    cmp -s "$trial/o/sweep.csv" "$folder/whole/o/sweep.csv" || fail "another answer after resuming"
elif ! cmp -s "$trial.before" "$trial.after" || [ $status = 0 ]; then
    diff "$trial.before" "$trial.after" | grep '^>' | sed 's/.*  //' >"$trial.changed"
    half=$(half_sets)
    [ -z "$half" ] || grep -q ' rename' "$trial.report" || fail "half a set, without$half"
    grep '/older-[0-9]*/' "$trial.changed" | while read -r file; do
        kept=$(sed 's,older-[0-9]*/,,' <<<"$file")
        [ "$(awk -v file="$file" '$2 == file { print $1 }' "$trial.after")" = \
            "$(awk -v file="$kept" '$2 == file { print $1 }' "$trial.before")" ] || echo " $file"
    done >"$trial.lost"
    [ -s "$trial.lost" ] && fail "an older file is not what it was:$(tr -d '\n' <"$trial.lost")"
    grep -vE '[.](pdf|png|partial)$|/older-[0-9]*/' "$trial.changed" | while read -r file; do
        [ "$(wc -l <"$trial/$file")" = "$(wc -l <"$folder/whole/$file")" ] || echo "$file"
    done >"$trial.cut"
    [ -s "$trial.cut" ] && fail "half a file: $(cat "$trial.cut")"
fi
exit 0
