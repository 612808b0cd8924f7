#!/usr/bin/env bash
# Shows what quotes_test.sh accepts, refuses and renews, on a page of its own. Usage: quotes_rules_test.sh KVCAST
set -uo pipefail
test=$(realpath "$(dirname "$0")")/quotes_test.sh
kvcast=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
page() { cat >"$folder/page.md"; }
check() { "$test" "$kvcast" "$folder/page.md" "$@" >"$folder/said" 2>&1; }
fail() {
    echo "FAILED: $*"
    cat "$folder/said"
    failed=1
}
true_page() {
    page <<'END'
<!-- file: a.txt -->

    throughput   80 +- 0.3 Mops
    latency      229 us
    2.5 s of one core, 3 M requests/s

<!-- add to: a.txt
power        100 W
-->

```console
$ cat \
    a.txt
throughput   80 +- 0.3 Mops
...
2.0 s of one core, 2 M requests/s
$ cat a.txt | tail -n 2
power        100 W
2.5 s of one core, 3 M requests/s
```

```console slow
$ echo late
```
END
}

true_page
check || fail "a true page is refused"
check slow && fail "a slow command whose output is not quoted is accepted"
check slow --update
check slow || fail "the renewed page is not true"
grep -qx late "$folder/page.md" || fail "the output of a slow command was not written"

# Another number, a gap that is not shown, a line less, and a line that is not in the output.
for change in 's/^throughput   80/throughput   81/' '/^\.\.\.$/d' '/^power .*W$/d' 's/^2.5 s of one core/2.5 s of two cores/'; do
    true_page
    sed -i "/^\\$ cat/,\$ { $change }" "$folder/page.md"
    check && fail "accepted: $change"
    check --update
    check || fail "not renewed: $change"
done
true_page
cp "$folder/page.md" "$folder/true.md"
sed -i '/^\$ cat/,$ s/^throughput   80/throughput   81/' "$folder/page.md"
check --update
cmp -s "$folder/page.md" "$folder/true.md" || fail "more than the wrong number was renewed"

# Output belongs into blocks that say whether it is compared.
for block in '    $ kvcast list' $'```\nkvcast list\n```' $'```console\nkvcast list\n```'; do
    page <<<"$block"
    check && fail "accepted: $block"
done
exit $failed
