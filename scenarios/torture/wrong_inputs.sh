#!/usr/bin/env bash
# Inputs with one mistake each (wrong_inputs.txt): each must be refused in time with the right exit status and one
# message, and must not change the folder. Usage: wrong_inputs.sh KVCAST WATCHED WRONG_INPUTS.txt [NAME]
# With NAME, only the cases whose name contains it run, and their messages are shown.
#
# A case begins with "=== name | exit status | text", and the message must contain the text; " ... " in it stands
# for anything. Then come
#   $ COMMAND     the command that is tried; it runs in a folder of its own
#   ! COMMAND     preparation of that folder
#   --- FILE      begins the contents of a file of that folder
# What stands before the first case is in the folder of every case.
source "$(dirname "$0")/cases.sh"
PATH=$(dirname "$(realpath "$1")"):$PATH
watched=$(realpath "$2")
inputs=$(realpath "$3")
only=${4:-}
seconds=10
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# The files of case 7 come into 0007/, its header and commands into 0007.head, .try and .prepare; 0000 is common.
awk 'function begin(number) { part = sprintf("%04d", number); file = ""; system("mkdir " part)
                              printf "" >(part ".prepare"); printf "" >(part ".head") }
     BEGIN { begin(0) }
     /^=== / { if (file) close(file); close(part ".head"); close(part ".prepare"); close(part ".try")
               begin(++cases); print substr($0, 5) >(part ".head"); next }
     /^[$] / { print substr($0, 3) >(part ".try"); next }
     /^! / { if (file) close(file); file = ""; print substr($0, 3) >(part ".prepare"); next }
     /^--- / { if (file) close(file); name = substr($0, 5); file = part "/" name
               if (name ~ "/") { system("mkdir -p $(dirname " file ")") } printf "" >file; next }
     file { print >file }' "$inputs"

contents() { # FOLDER: names, kinds and bytes of everything in it
    (cd "$1" && find . -printf '%y %p %l\n' | sort && find . -type f -print0 | sort -z | xargs -0r cksum)
}

judge() { # CASE STATUS TEXT: prints what is wrong, if anything
    local case=$1 status=$2 rest=" ... $3" how children piece
    (cd "$case" && bash "../$case.prepare") >prepared 2>&1 || { echo "cannot be prepared: $(cat prepared)"; return; }
    contents "$case" >before
    (cd "$case" && "$watched" $seconds ../report bash -c "$(cat "../$case.try")" >../stdout 2>../stderr)
    IFS=, read -r how _ children <report
    [ -z "$only" ] || cat stderr >&2
    [ "$how" = "exit $status" ] || { echo "ends with $how, expected exit $status: $(head -c 400 stderr)"; return; }
    message_fault stderr || return
    while [ -n "$rest" ]; do
        rest=${rest#" ... "} piece=${rest%%" ... "*} rest=${rest#"$piece"}
        grep -qF -- "$piece" stderr || { echo "the message has no \"$piece\": $(head -c 400 stderr)"; return; }
    done
    contents "$case" >after
    cmp -s before after || { echo "files changed: $(diff before after | grep '^[<>]')"; return; }
    [ "$children" = " alone" ] || echo "leaves children"
}

(cd 0000 && bash -e ../0000.prepare) >prepared 2>&1 || { cat prepared >&2; exit 1; }
for head in *.head; do
    case=${head%.head}
    IFS='|' read -r name status text <"$head"
    [ "$case" != 0000 ] && [[ $name == *"$only"* ]] || continue
    cp -r --update=none 0000/. "$case" 2>/dev/null || cp -rn 0000/. "$case"
    report "wrong input" "${name% }" "$(judge "$case" "$((status))" "${text# }")"
    rm -rf "$case"
done
