# Copies a page with its quotes renewed: each quoted command is run, and each line of the quote that the output still
# has, with other numbers or without, becomes the line of the output. See quotes_test.sh.

# Numbers that depend on the wall clock, the machine or the moment: all those of a line that counts seconds of cores or
# the memory of a process. A quote keeps its own.
function masked(line) {
    if (line ~ /of one core|preload |memory of a process/) { gsub(/[0-9][0-9.]*/, "#", line) }
    return line
}

# A line without its numbers, intervals and columns.
function skeleton(line) {
    gsub(/[0-9][0-9.]*(e[-+][0-9]+)?/, "#", line)
    gsub(/ +\+- +#/, "", line)
    gsub(/[-+]#/, "#", line)
    gsub(/ +/, " ", line)
    return line
}

# The first word of a line with the blanks before it, which says what the line is about; "" if it is no word.
function label(line) {
    return match(line, /^ *[a-z][^ ]*/) ? substr(line, 1, RLENGTH) : ""
}

# Returns the first line of the output after `after` that is like the quoted one; 0: there is none.
function find(quoted, after,   way, i) {
    if (quoted == "") { return after + 1 <= lines && output[after + 1] == "" ? after + 1 : 0 }
    for (way = 1; way <= 3; way++) {
        for (i = after + 1; i <= lines; i++) {
            if (way == 1 && masked(output[i]) == masked(quoted) || way == 2 && skeleton(output[i]) == skeleton(quoted) ||
                way == 3 && label(quoted) != "" && label(output[i]) == label(quoted)) {
                return i
            }
        }
    }
    return 0
}

# Prints the quote of a command: those of the `lines` lines of output[] that quote[] has, with all between two of them
# that the quote has without "..." in between.
function renew(   i, j, at, gap, moved, shown) {
    at = gap = 0
    split("", shown)
    quote[++count] = "the end"
    for (i = 1; i <= count; i++) {
        if (quote[i] == "...") { gap = 1; continue }
        j = i == count ? lines + 1 : find(quote[i], at)
        moved = j == 0
        j = moved ? find(quote[i], 0) : j
        if (j > 0) { shown[j] = masked(output[j]) == masked(quote[i]) ? quote[i] : output[j] }
        if (j == 0 && quote[i] != "") { print page ": the output has no line like: " quote[i] >"/dev/stderr" }
        if (moved) { continue }
        for (; !gap && ++at < j;) { if (!(at in shown)) { shown[at] = output[at] } }
        at = j
        gap = 0
    }
    for (j = 1; j <= lines; j++) {
        if (j in shown) { print shown[j] } else if (j == 1 || (j - 1) in shown) { print "..." }
    }
}

# Runs a command and reads what it prints.
function run(command,   script, file) {
    script = folder "/command"
    file = folder "/output"
    print command >script
    close(script)
    system("cd " folder "/work && bash " script " 2>&1 </dev/null | sed '/^kvcast: after [0-9.]* s: /d' >" file) # Progress is no output.
    lines = 0
    while ((getline output[lines + 1] <file) > 0) { sub(/ +$/, "", output[++lines]) }
    close(file)
}

# Prints a console block of `size` lines, block[], whose quotes are renewed.
function transcribe(   i, command) {
    for (i = 1; i <= size;) {
        if (block[i] !~ /^\$ /) { refuse("a console block begins with a command"); return }
        command = ""
        do {
            print block[i]
            command = command (command == "" ? substr(block[i], 3) : "\n" block[i])
        } while (block[i++] ~ /\\$/ && i <= size)
        for (count = 0; i <= size && block[i] !~ /^\$ /; i++) { quote[++count] = block[i] }
        run(command)
        renew()
    }
}

function refuse(what) {
    print page ":" NR ": " what >"/dev/stderr"
    failed = 1
}

# Puts a block into the file that the page named before it: as its contents, or in front of its last line.
function store(   file, old, i, n) {
    if (target == "" || size == 0) { return }
    file = folder "/work/" target
    n = 0
    while (adds && (getline old[n + 1] <file) > 0) { n++ }
    close(file)
    printf "" >file
    for (i = 1; i < n; i++) { print old[i] >file }
    for (i = 1; i <= size; i++) { print block[i] >file }
    if (n > 0) { print old[n] >file }
    close(file)
    target = ""
}

state == "hidden" && /^-->$/ { store(); state = ""; size = 0; print; next }
state == "fence" && /^```/ {
    if (runs) { transcribe() } else { store() }
    state = ""; size = 0; print; next
}
state == "fence" || state == "hidden" { block[++size] = $0; if (!(state == "fence" && runs)) { print } next }
state == "indented" && $0 != "" && !/^    / {
    while (size > 0 && block[size] == "") { size-- }
    store()
    state = ""; size = 0
}
/^<!-- (file|add to): / {
    adds = $2 == "add"
    target = adds ? $4 : $3
    size = 0
    if (!/-->$/) { state = "hidden" }
    print; next
}
/^```/ {
    kind = substr($0, 4)
    if (kind !~ /^(console|console slow|text|lua|sh)$/) { refuse("found a block of kind \"" kind "\", allowed: console, console slow, text, lua, sh") }
    runs = kind == "console" || kind == "console slow" && slow
    state = "fence"; size = 0; print; next
}
/^    / && (state == "indented" || last == "") {
    if (/^    (\$|kvcast:) /) { refuse("found output in an indented block, allowed: a console or text block") }
    state = "indented"
    block[++size] = substr($0, 5)
}
state == "indented" && $0 == "" { block[++size] = "" }
{ last = $0; print }
END { exit failed }
