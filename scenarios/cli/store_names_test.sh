#!/usr/bin/env bash
# Only a store's own folders and the registries name a store. This looks for the names of the stores, which are the folders
# models/*/ with golden runs and kernels/*/, also with hyphens as in key-value, in code, strings and paths. Comments may name a store, and so may data
# (.lua, .csv, .json) and docs (.md). Tests, fuzz targets, the torture, the gallery and the report of speed may use a store's scenarios:
# strings in C and shell tests are free, C code is not; the last lines of the output list them. A store's own folders
# are all that bear its name, such as models/NAME, kernels/NAME and scenarios/papers/NAME.
# In these folders, no file may include a header of another store's models/, and no file of kernels/NAME one of another
# store's kernels/. Models may use the structures of any kernels/, which are libraries. So may the rooms of models/ that
# stores share, and therefore these rooms name kernels; but they include no store's models/.
# Usage: store_names_test.sh SOURCE [NAME...]    NAME: further stores to look for
set -euo pipefail
source=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
registries='models/registry.c|kernels/index_kinds.c|kernels/index_kinds_cuda.c'
kernel_users='models/shards|models/composed' # rooms that use kernels of several stores by name

# Prints FILE:LINE: TEXT where a name stands alone or next to characters that are no letters, as in kvc_NAME_run. Tests
# that use a store rightfully go to the file `tests`.
cat >"$folder/find.awk" <<'AWK'
BEGIN {
    gsub(/[a-z]/, "&-?", names)
    gsub(/-\?( |$)/, "|", names)
    sub(/\|$/, "", names)
    pattern = "(^|[^a-z])(" names ")([^a-z]|$)"
}
function code_of(line,    code, quote, i, one, two) { # without comments, in tests also without strings
    for (i = 1; i <= length(line); i++) {
        one = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote == "" && two == "/*") {
            in_comment = 1
            i++
        } else if (quote == "" && two == "//") {
            break
        } else {
            if (quote == "" || !is_test || line ~ /^#include/) { code = code one }
            if (quote != "" && one == "\\") { i++ }
            else if (quote == one) { quote = "" }
            else if (quote == "" && (one == "\"" || one == "'")) { quote = one }
        }
    }
    return code
}
FNR == 1 {
    is_c = FILENAME ~ /\.(c|h|cc|hh|cu|cuh)$/
    is_test = FILENAME ~ /_(test|fixture|fuzz)\.[a-z]+$|_test(_[a-z]+|ing)?\.sh$|^scenarios\/(torture|speed)\/|^plots\/gallery\/|_kills\.c$/
    in_comment = 0
    if (tolower(FILENAME) ~ pattern) { print FILENAME ": its name" }
}
!is_c && !is_test && tolower($0) ~ pattern {
    text = $0
    sub(/(^|[ \t])#.*/, "", text)
    if (tolower(text) ~ pattern) { print FILENAME ":" FNR ": " $0 }
}
is_c && (/\/\*/ || /\*\// || tolower($0) ~ pattern) && tolower(code_of($0)) ~ pattern { print FILENAME ":" FNR ": " $0 }
is_test && tolower($0) ~ pattern { uses[FILENAME] }
END { for (file in uses) { print file >tests } }
AWK

offenders() { # TREE [NAME...]: prints every place that names a store
    local tree=$1 names own=() name
    shift
    cd "$tree"
    names=$(printf '%s\n' models/*/golden/ kernels/*/ "$@" | sed 's#/golden/$##; s#/$##; s#.*/##' | sort -u | tr '\n' ' ')
    for name in $names; do
        own+=(-o -name "$name")
    done
    find * .cmake .ci \( -name build "${own[@]}" \) -prune -o -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' \
        -o -name '*.cu' -o -name '*.cuh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name Makefile -o -name '*.gp' \
        -o -name '*.sh' -o -path .ci/run -o -path .ci/fuzz \) -print |
        grep -vE "^(($registries)$|($kernel_users)/)" | sort | xargs awk -v names="$names" -v tests="$folder/tests" -f "$folder/find.awk"
}

foreign_includes() { # TREE: prints every include by which one store uses another
    local tree=$1 stores name others
    cd "$tree"
    stores=$(printf '%s\n' models/*/golden/ | sed 's#/golden/$##; s#.*/##')
    includes() { # FOLDER REGEX
        grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"([^\"]*/)?$2" "$1" || true
    }
    for name in $stores; do
        others=$(grep -vx "$name" <<<"$stores" | paste -sd'|')
        [ -n "$others" ] || continue
        find * -name build -prune -o -type d -name "$name" -print | while read -r folder; do
            includes "$folder" "(models|\.\.)/($others)/"
        done
        [ ! -d "kernels/$name" ] || includes "kernels/$name" "kernels/($others)/"
    done
    for folder in ${kernel_users//|/ }; do
        [ ! -d "$folder" ] || includes "$folder" "(models|\.\.)/($(grep -vx "${folder##*/}" <<<"$stores" | paste -sd'|'))/"
    done
}

# The search itself works: a tree with a store that is called redkv has these offenders.
tree=$folder/tree
mkdir -p "$tree"/{.ci,.cmake,models/redkv/golden,kernels/redkv,sim,scenarios/papers/redkv}
cd "$tree"
echo 'int kvc_redkv_run(void);' | tee models/redkv/run.h models/registry.c kernels/redkv/a.c scenarios/papers/redkv/b.c >sim/call.c
printf '%s\n' '/* As Red-KV does. */' 'int a; /* One word,' ' * redkv */ int b; // redkv' 'int predkv, redkvs;' >sim/comment.c
printf '%s\n' '/* none */ const char *text = "\"/* Red-KV";' >sim/string.c
printf '%s\n' 'load("redkv");' '#include "models/redkv/run.h"' | tee sim/a_fuzz.c >sim/a_test.c
echo 'int x;' >sim/redkv_tools.h
printf '%s\n' '# redkv' 'add(sim/redkv) # here' >CMakeLists.txt
echo 'run redkv.lua' | tee sim/a_test.sh sim/a_testing.sh sim/run.lua >.ci/run
expected='.ci/run:1 CMakeLists.txt:2 sim/a_fuzz.c:2 sim/a_test.c:2 sim/call.c:1 sim/redkv_tools.h sim/string.c:1'
found=$(offenders "$tree" | sed 's/^\([^:]*\(:[0-9]*\)\{0,1\}\):.*/\1/' | xargs)
[ "$found" = "$expected" ] || { printf 'FAILED: the search finds %s\ninstead of %s\n' "$found" "$expected"; exit 1; }
[ "$(sort "$folder/tests" | xargs)" = 'sim/a_fuzz.c sim/a_test.c sim/a_test.sh sim/a_testing.sh' ] || { echo "FAILED: the list of tests"; exit 1; }
rm "$folder/tests"

mkdir -p "$tree"/{models/bluekv/{golden,real},kernels/bluekv,scenarios/papers/bluekv,models/shards}
cd "$tree"
printf '%s\n' '#include "models/bluekv/run.h"' '#include "kernels/redkv/a.h"' '#include "models/redkv/run.h"' >models/bluekv/real/a.c
printf '%s\n' '#include "../redkv/run.h"' '#include "../run.h"' >models/bluekv/b.h
printf '%s\n' '#include "kernels/redkv/a.h"' '#include "kernels/bluekv/b.h"' >kernels/bluekv/a.cu
printf '%s\n' '# include "models/redkv/run.h"' >scenarios/papers/bluekv/a_test.c
printf '%s\n' '#include "kernels/redkv/a.h"' '#include "models/redkv/run.h"' >models/shards/a.c
expected='kernels/bluekv/a.cu:1 models/bluekv/b.h:1 models/bluekv/real/a.c:3 models/shards/a.c:2 scenarios/papers/bluekv/a_test.c:1'
found=$(foreign_includes "$tree" | cut -d: -f1,2 | sort | xargs)
[ "$found" = "$expected" ] || { printf 'FAILED: the search for includes finds %s\ninstead of %s\n' "$found" "$expected"; exit 1; }

found=$(foreign_includes "$source")
[ -z "$found" ] || { printf 'FAILED: these files use another store:\n%s\n' "$found"; exit 1; }
found=$(offenders "$source" "$@")
[ -z "$found" ] || { printf 'FAILED: these places name a store outside its folders:\n%s\n' "$found"; exit 1; }
if [ -s "$folder/tests" ]; then
    printf 'These tests name a store:\n'
    sort "$folder/tests"
fi
