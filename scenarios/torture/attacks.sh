#!/usr/bin/env bash
# Scenarios that attack the sandbox (attacks.txt): each must end in time and memory with the message that it deserves.
# Usage: attacks.sh KVCAST WATCHED ATTACKS.txt
# A case begins with "=== name | text of the message"; the lines up to the next one are the scenario. A case without a
# text must load.
source "$(dirname "$0")/cases.sh"
kvcast=$(realpath "$1")
watched=$(realpath "$2")
attacks=$(realpath "$3")
seconds=15
peak_mib=200
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# Case 7 becomes 007.lua, and its header 007.head.
awk '/^=== / { close(lua); name = sprintf("%03d", ++cases); lua = name ".lua"
               print substr($0, 5) >(name ".head"); close(name ".head"); printf "" >lua; next }
     cases { print >lua }' "$attacks"

judge() { # SCENARIO TEXT: prints what is wrong, if anything
    local file=$1 text=$2 how peak children
    "$watched" $seconds report "$kvcast" check "$file" >/dev/null 2>stderr
    IFS=, read -r how peak children <report
    [ "$how" != timeout ] || { echo "runs for more than $seconds s"; return; }
    [ "$how" = "exit $([ -n "$text" ] && echo 2 || echo 0)" ] || { echo "ends with $how: $(head -c 300 stderr)"; return; }
    [ "${peak% KiB}" -lt $((peak_mib * 1024)) ] || { echo "takes $peak, allowed: less than $peak_mib MiB"; return; }
    [ "$children" = " alone" ] || { echo "leaves children"; return; }
    if [ -n "$text" ]; then
        message_fault stderr || return
        grep -qF -- "$text" stderr || { echo "the message has no \"$text\": $(head -c 300 stderr)"; return; }
        grep -qE "^kvcast: $file:[0-9]+: " stderr || echo "the message has no line of the file: $(head -c 300 stderr)"
    fi
}

for file in *.lua; do
    IFS='|' read -r name text <"${file%.lua}.head"
    report "sandbox attack" "${name% }" "$(judge "$file" "${text# }")"
done
