# Shared by the scripts of the torture, which source it. A script prints a line for each case,
#   KIND | NAME | survived      or      KIND | NAME | FAILED why
# and torture.sh counts them.
set -uo pipefail
export LC_ALL=C

report() { # KIND NAME WHY: a case without a WHY survived
    printf '%s | %s | %s\n' "$1" "$2" "$([ -z "$3" ] && echo survived || echo "FAILED $3" | tr '\n' ' ')"
}

# A message is one line that begins with "kvcast: " or "kvcast COMMAND: ", and never talks of the program's own faults.
message_fault() { # STDERR: prints what is wrong with a message; returns whether it is right
    local lines
    sed -i '/^kvcast: after [0-9.]* s: /d' "$1" # Progress, on a machine that has other work.
    lines=$(wc -l <"$1")
    if [ "$lines" -ne 1 ] || ! grep -qE '^kvcast( [a-z]+)?: ' "$1"; then
        echo "stderr has $lines lines, expected one that begins with \"kvcast: \": $(head -c 300 "$1")"
        return 1
    fi
    if grep -qE 'BUG|[Aa]ssert|signal [0-9]|[Cc]ore dumped|Sanitizer|[Ss]egmentation' "$1"; then
        echo "the message is about a fault of the program: $(head -c 300 "$1")"
        return 1
    fi
    if grep -q '[[:cntrl:]]' "$1"; then
        echo "the message has control characters: $(head -c 300 "$1" | tr '[:cntrl:]' '?')"
        return 1
    fi
}
