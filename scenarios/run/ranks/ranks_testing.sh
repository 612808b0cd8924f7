# Shared by the tests of several ranks, which source it with the arguments LAUNCHER PROGRAM. They begin in a folder of their
# own.
set -uo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun=$1 program=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail() { # TEXT
    echo "FAILED: $1"
    failed=1
}

ranks() { # NUMBER COMMAND...: runs the command; stdout and stderr go to files
    local number=$1
    shift
    timeout 60 "$mpirun" -n "$number" --oversubscribe "$@" >stdout 2>stderr </dev/null
}
