#!/usr/bin/env bash
# Man pages, completion and docs/reference.md have every command and every flag that --help shows, and docs/reference.md
# matches the tables. Usage: generate_test.sh KVCAST SOURCE
set -uo pipefail
kvcast=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

"$source/scenarios/cli/generate.sh" "$kvcast" "$folder" || fail "generate.sh"
commands=$("$kvcast" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 10 ] || fail "kvcast --help lists these commands only: $commands"
[ "$commands" = "$("$kvcast" --help=commands)" ] || fail "--help=commands differs from --help"

complete_flags() { # COMMAND: what bash offers after "kvcast COMMAND -"
    bash -c 'source "$1"; COMP_WORDS=(kvcast "$2" -) COMP_CWORD=2; _kvcast; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$folder/bash/kvcast" "$1"
}
first=$(bash -c 'source "$1"; COMP_WORDS=(kvcast "") COMP_CWORD=1; _kvcast; printf "%s\n" "${COMPREPLY[@]}"' \
    bash "$folder/bash/kvcast")
for command in $commands; do
    page=$folder/man1/kvcast-$command.1
    [ -s "$page" ] || fail "no man page of $command"
    grep -q "kvcast.-$command" "$folder/man1/kvcast.1" || fail "kvcast.1 does not name $command"
    grep -qx -- "$command" <<<"$first" || fail "bash does not complete $command"
    grep -q "^    $command)" "$folder/zsh/_kvcast" || fail "zsh does not complete $command"
    grep -q -- "-a $command " "$folder/fish/kvcast.fish" || fail "fish does not complete $command"
    flags=$("$kvcast" "$command" --help | sed -n '/^options:/,$s/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\1\2/p' | tr -d ,)
    [ -n "$flags" ] || fail "$command --help shows no flags"
    offered=$(complete_flags "$command")
    zsh=$(sed -n "/^    $command)/,/;;/p" "$folder/zsh/_kvcast")
    fish=$(grep "__fish_seen_subcommand_from $command'" "$folder/fish/kvcast.fish")
    for flag in $flags; do
        grep -qE -- "^\.B (.*, )?${flag//-/\\\\-}( |$)|^\.B ${flag//-/\\\\-}," "$page" || fail "the man page of $command has no $flag"
        grep -qx -- "$flag" <<<"$offered" || fail "bash does not complete $command $flag"
        grep -qE -- "[{,*]$flag[],}[]" <<<"$zsh" || fail "zsh does not complete $command $flag"
        bare=${flag#-}
        grep -qE -- " -(l|s) ${bare#-}( |$)" <<<"$fish" || fail "fish does not complete $command $flag"
    done
done
bash -n "$folder/bash/kvcast" || fail "the completion is no bash"
if command -v zsh >/dev/null; then
    zsh -n "$folder/zsh/_kvcast" || fail "the completion is no zsh"
fi
if command -v fish >/dev/null; then
    fish --no-execute "$folder/fish/kvcast.fish" || fail "the completion is no fish"
fi
if command -v groff >/dev/null; then
    for page in "$folder"/man1/*.1; do
        warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$warnings" ] || fail "$warnings"
    done
fi

"$kvcast" --help=markdown >"$folder/reference.md" || fail "--help=markdown"
diff -u "$source/docs/reference.md" "$folder/reference.md" >"$folder/diff" ||
    { head -40 "$folder/diff"; fail "docs/reference.md is out of date; refresh it with: make reference"; }

exit $failed
