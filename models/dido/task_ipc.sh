#!/usr/bin/env bash
# Prints how many instructions of DIDO's tasks a core completes in a cycle if all their lines are in its first-level
# cache and all branches are predicted: llvm-mca schedules the instructions that task_counts_bench --trace has seen.
# Usage: task_ipc.sh BENCH CPU [OPTION...]    CPU is a name of LLVM, such as bdver2; options go to llvm-mca.
#
# The last line is the mean over the instructions of a GET: PP, search, KC, RD, WR.
#
# llvm-mca reads a straight line of code: here what a core executes for a batch, several times over. It lets a load wait
# for no store, fuses no compare with its branch, and knows neither the decoders nor the instruction cache. To it, a call
# takes 100 cycles, and the stack pointer delays what follows a push, pop, call or return. Cores have a stack engine
# before their scheduler instead (Agner Fog, The microarchitecture of Intel, AMD and VIA CPUs), so these instructions
# become what it leaves to the scheduler: a store, a load or a jump.
set -euo pipefail
bench=$(realpath "$1")
cpu=$2
shift 2
mca=${LLVM_MCA:-llvm-mca}
least=200000 # Instructions that llvm-mca schedules of a task.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$bench" --trace >"$folder/trace"

# Lines of an object's code: ADDRESS<tab>OBJECT<tab>INSTRUCTION.
sed '/^task /d; s/^[^ ]* //' "$folder/trace" | sort -u | while read -r object; do
    objdump -d --no-show-raw-insn "$object" |
        awk -v object="$object" -F '\t' '/^ *[0-9a-f]+:\t/ { gsub(/[ :]/, "", $1); print $1 "\t" object "\t" $2 }'
done >"$folder/code"

# One file per task. Jumps go to a label, because objdump's targets are no numbers for an assembler. An endbr64 does
# nothing on processors without control-flow enforcement.
awk -F '\t' -v folder="$folder" '
function assembly(text,    operand) {
    sub(/ *[#<].*/, "", text)
    sub(/^(bnd|notrack) +/, "", text)
    sub(/^repz ret/, "ret", text)
    operand = text
    sub(/^[a-z]+ +/, "", operand)
    if (text ~ /^push +[%$]/) return "movq " operand ",-8(%rsp)"
    if (text ~ /^pop +%/) return "movq (%rsp)," operand
    if (text ~ /^ret/) return "jmp *(%rsp)"
    if (text ~ /^call/) return "movq $0,-8(%rsp)\njmp " (operand ~ /^\*/ ? operand : "target")
    if (text ~ /^j[a-z]+ +[0-9a-f]/) sub(/[0-9a-f]+ *$/, "target", text)
    if (text ~ /^endbr64/) return "nop"
    return text
}
FNR == NR { code[$1 " " $2] = assembly($3); next }
/^task / {
    file = sprintf("%s/%02d.s", folder, ++tasks)
    print substr($0, 6) >(folder "/names")
    print "target:" >file
    next
}
!($0 in code) { print "task_ipc.sh: no code at " $0 >"/dev/stderr"; exit 3 }
{ print code[$0] >file }
' "$folder/code" "$folder/trace"

# Prints the instructions of the tasks, in the order of the trace.
instructions() {
    awk '$1 == "task" { if (NR > 1) print n; n = 0; next } { n++ } END { print n }' "$folder/trace"
}

printf '%-7s %-5s %12s %9s %5s\n' task query instructions cycles IPC
paste -d ' ' "$folder/names" <(instructions) | while read -r name query queries instructions; do
    number=$((${number:-0} + 1))
    times=$(((least + instructions - 1) / instructions))
    cycles=$("$mca" -mcpu="$cpu" -iterations="$times" -instruction-info=false -resource-pressure=false "$@" \
        "$(printf '%s/%02d.s' "$folder" "$number")" 2>"$folder/errors" |
        awk '/^Total Cycles:/ { print $3 }') || { cat "$folder/errors" >&2; exit 3; }
    echo "$name $query $queries $instructions $times $cycles"
done | awk '
{
    n = $4 / $3; cycles = $6 / $5 / $3
    printf "%-7s %-5s %12.1f %9.1f %5.2f\n", $1, $2, n, cycles, n / cycles
    if ($2 == "GET") { get_n += n; get_cycles += cycles }
}
END { printf "%-7s %-5s %12.1f %9.1f %5.2f\n", "all", "GET", get_n, get_cycles, get_n / get_cycles }'
