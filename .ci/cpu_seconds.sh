# Functions for scripts that report the CPU time of their parts; source it.
cpu_seconds() { # sets cpu: seconds of user and system time that all commands of this script took so far
    local file
    file=$(mktemp)
    times >"$file" # A pipe or $(...) would ask a child of the shell.
    cpu=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, sys, /[ms]/)
                         printf "%d", user[1] * 60 + user[2] + sys[1] * 60 + sys[2] }' "$file")
    rm -f "$file"
}
