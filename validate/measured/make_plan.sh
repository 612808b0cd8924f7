#!/usr/bin/env bash
# Prints the plan of a machine: make_plan.sh two-cores|two-cores-epyc|two-cores-memcached|h200-pcie5|h200-pairs > NAME/plan.csv
#
# First come saturating runs that vary one axis at a time around a base, then a Latin hypercube over all axes, and
# then open loops at 40, 60, 80 and 90 % of the capacity of some of them. Every third line of a plan is unseen, so
# the values of an axis are listed in an order that puts some of them, and never only the ends, on unseen lines.
# The plans of two-cores-epyc and h200-pairs have pairs: configurations of two-cores or h200-pcie5, most of them saturated,
# against the same with one axis changed, then two, and a few open loops at 35 and 50 % of a capacity, whose run is the only
# one that is measured alone.
# The plan of two-cores-memcached has two bases and a Latin hypercube of saturating runs, and pairs of such configurations against the
# same with one axis changed, then two, and open loops. Over UDP, nothing is planned that a socket's buffer could lose.
# The random numbers come from the seed below; nothing here depends on a measurement.
set -euo pipefail
case ${1:-} in
two-cores | two-cores-* | h200-*) ;;
*)
    echo "usage: make_plan.sh two-cores|two-cores-*|h200-*" >&2
    exit 2
    ;;
esac
scenario=$(cd "$(dirname "$0")/$1" && ls -- *.lua | grep -vx machine.lua) # there is one
machine=$1 has_pairs=0
case $machine in
two-cores-epyc) machine=two-cores has_pairs=1 ;;
h200-pairs) machine=h200-pcie5 has_pairs=1 ;;
esac
random='
function random(below) { # SplitMix would need 64 bits; this generator (Park, Miller, CACM 1988) needs 53
    seed = seed * 16807 % 2147483647
    return int(seed / 2147483647 * below)
}
function shuffle(list, count,    i, j, t) {
    for (i = count; i > 1; i--) { j = 1 + random(i); t = list[i]; list[i] = list[j]; list[j] = t }
}
'
if grep -q 'loopback = true' "$(dirname "$0")/$1/$scenario"; then # a server whose clients are on the same machine
    awk -v scenario="$scenario" "$random"'
# Whether nothing is lost: a datagram takes up to twice its bytes and 800 more in the 208 KiB of the socket of the server, and the responses
# fit into the 4 MiB of that of the clients. Items take at most 400 MB.
function fits(    most) {
    most = now["get"] < 1 && now["value"] > now["key"] * now["multiget"] ? now["key"] + now["value"] : now["key"] * now["multiget"]
    return (now["network"] == "tcp" || (now["outstanding"] * (2 * most + 800) < 200000 && now["outstanding"] * now["multiget"] * (now["value"] + 800) < 2e6)) && now["keys"] * now["value"] <= 400e6
}
function describe(    text) {
    text = sprintf("system.threads=%d;system.network=%s;system.outstanding=%d;workload.connections=%d;workload.keys=%d;workload.key=%d;workload.value=%d;workload.get=%g;workload.set=%g", now["threads"], now["network"], now["outstanding"], now["outstanding"], now["keys"], now["key"], now["value"], now["get"], 1 - now["get"])
    return now["multiget"] > 1 ? text ";workload.multiget=" now["multiget"] : text
}
function run(    id, i) {
    id = sprintf("t%d-%s-o%d-n%d-k%d-v%d-g%d", now["threads"], now["network"], now["outstanding"], now["keys"], now["key"], now["value"], now["get"] * 100)
    print id "," scenario ",,," describe() ","
    name[++count] = id
    for (i = 1; i <= axes; i++) saved[count, axis[i]] = now[axis[i]]
}
function change(which,    n, v, value) {
    n = split(values[which], v, " ")
    do value = v[1 + random(n)]; while (value == now[which])
    now[which] = value
}
# Open loops have small values; over UDP, their connections mean nothing.
function open_fits() { return now["value"] <= 1000 && (now["network"] == "tcp" || first != "outstanding" && second != "outstanding") }
function pair(frac, one, other,    of, i, from, n, m, a, b, against, allowed) {
    first = one; second = other
    do {
        of = 1 + random(count)
        for (i = 1; i <= axes; i++) now[axis[i]] = saved[of, axis[i]]
        from = describe()
        allowed = frac == 0 || open_fits()
        change(first)
        if (second != "") change(second)
        n = split(from, a, ";"); m = split(describe(), b, ";"); against = ""
        for (i = 1; i <= m; i++) if (i > n || a[i] != b[i]) against = against (against == "" ? "" : ";") b[i]
    } while (!allowed || !fits() || (from, against, frac) in known)
    known[from, against, frac] = 1
    print sprintf("pair%02d-%s%s%s,%s,%s,%s,%s,%s", ++pairs, first, second == "" ? "" : "-" second, frac > 0 ? "-" frac * 100 : "", scenario, (frac > 0 ? frac : ""), (frac > 0 ? name[of] : ""), from, against)
}
BEGIN {
    seed = 20261128
    axes = split("threads network outstanding value get key keys multiget", axis, " ")
    values["threads"] = "1 2"; values["network"] = "kernel tcp"; values["outstanding"] = "16 4 32 64 128 1 8"
    values["value"] = "10 100 500 1000 2000 4000 8000"; values["get"] = "1 0.9 0.5 0.75 0"
    values["key"] = "16 8 32 64 128 250"; values["keys"] = "1000 20000 100000"; values["multiget"] = "2 4 8 16 32"
    samples = 8
    print "id,scenario,load_frac,of,overrides,against"
    split("1 kernel 64 100 0.9 16 20000 1", v, " ")
    for (i = 1; i <= axes; i++) now[axis[i]] = v[i]
    run()
    now["network"] = "tcp"; now["outstanding"] = 32
    run()
    for (i = 1; i < axes; i++) { # every value about equally often, in random order
        n = split(values[axis[i]], v, " ")
        for (j = 1; j <= samples; j++) list[j] = v[1 + (j - 1) % n]
        shuffle(list, samples)
        for (j = 1; j <= samples; j++) cube[axis[i], j] = list[j]
    }
    for (j = 1; j <= samples; j++) {
        for (i = 1; i < axes; i++) now[axis[i]] = cube[axis[i], j]
        while (!fits()) change("outstanding")
        run()
    }
    for (i = 0; i < 28; i++) pair(0, axis[1 + i % 7])
    for (i = 0; i < 10; i++) pair(0, axis[1 + i % 7], axis[1 + (i + 1 + int(i / 7)) % 7])
    split("multiget outstanding threads key network", opened, " ")
    for (i = 0; i < 12; i++) pair(i % 2 ? 0.5 : 0.3, opened[1 + i % 5], i % 5 == 0 && i > 0 ? "outstanding" : "")
}'
    exit
fi
awk -v machine="$machine" -v has_pairs=$has_pairs -v scenario="$scenario" "$random"'
function class_bytes(bytes,    step) { # size classes of the slab store
    if (bytes <= 64) return bytes <= 32 ? 32 : bytes <= 48 ? 48 : 64
    for (step = 16; step * 8 < bytes; step *= 2) {}
    return int((bytes + step - 1) / step) * step
}
function reset() {
    key = 8; value = 8; zipf = 0; get = 0.95; index_mib = base_index; load = 0.5; streams = base_streams; cycle = base_cycle
    roomy = 0
}
# Describes the configuration in id and text. The preload fills whole slabs: a store that is not roomy is full when a run
# begins, so that every SET evicts an item; a roomy one has place for all SETs of a run.
function describe(    per_slab, slabs, keys, spare) {
    per_slab = int(slab_bytes / class_bytes(8 + key + value))
    if (per_slab > items_most) per_slab = items_most
    slabs = int(load * index_mib * 131072 / per_slab)
    while (slabs * slab_bytes > items_max || slabs * per_slab > keys_max) {
        index_mib /= 2
        slabs = int(load * index_mib * 131072 / per_slab)
    }
    keys = slabs * per_slab
    if (roomy) {
        spare = int((1 - get) * rate_max / (1 + value / 256) / per_slab) + 1
        slabs = slabs + spare > slabs_max ? slabs_max : slabs + spare
    }
    id = sprintf("k%d-v%d-g%d-%s-i%d-l%d-s%d-c%d-%s", key, value, get * 100, zipf > 0 ? "z" zipf * 100 : "u", index_mib, load * 100, streams, cycle, roomy ? "roomy" : "tight")
    text = sprintf("workload.key=%d;workload.value=%d;workload.keys=%d;workload.get=%g;workload.set=%g", key, value, keys, get, 1 - get)
    if (zipf > 0) text = text ";workload.dist.zipf=" zipf
    text = text sprintf(";system.index=%gMiB;system.slab=%dMiB;system.streams=%d;system.cycle=%dus", index_mib, slabs * slab_bytes / 1048576, streams, cycle)
}
function line(frac, of) {
    describe()
    if (frac > 0) id = id "-" frac * 100
    if (id in known) return
    known[id] = 1
    written = sprintf("%s,%s,%s,%s,%s", id, scenario, (frac > 0 ? frac : ""), of, text)
    if (has_pairs) run_of[id] = written
    else print written
    last = id
    count++
}
function restore(which,    c) {
    split(saved[which], c, " ")
    key = c[1]; value = c[2]; zipf = c[3]; get = c[4]; index_mib = c[5]; load = c[6]; streams = c[7]; cycle = c[8]; roomy = c[9]
    return c[10]
}
# Gives the axis another value.
function change(axis,    n, v, before, i) {
    before = axis == "key" ? key : axis == "value" ? value : axis == "zipf" ? zipf : axis == "get" ? get : axis == "index" ? index_mib : axis == "load" ? load : axis == "streams" ? streams : cycle
    n = split(others[axis], v, " ")
    do i = 1 + random(n); while (v[i] == before)
    if (axis == "key") key = v[i]
    else if (axis == "value") value = v[i]
    else if (axis == "zipf") zipf = v[i]
    else if (axis == "get") get = v[i]
    else if (axis == "index") index_mib = v[i]
    else if (axis == "load") load = v[i]
    else if (axis == "streams") streams = v[i]
    else cycle = v[i]
}
# Prints a pair: a saved configuration of a small store against the same with one or two axes changed.
function pair(frac, axis, second,    of, first, from, to, n, m, i, j, found, against) {
    do of = restore(1 + random(configurations)); while (index_mib > 128 || roomy) # SETs would fill a roomy store during a pair
    describe()
    first = id; from = text
    change(axis)
    if (second != "") change(second)
    describe()
    n = split(from, a_part, ";"); m = split(text, b_part, ";")
    for (i = 1; i <= m; i++) {
        found = 0
        for (j = 1; j <= n; j++) found = found || a_part[j] == b_part[i]
        if (!found) against = against (against == "" ? "" : ";") b_part[i]
    }
    if (from ~ /zipf/ && text !~ /zipf/) against = against (against == "" ? "" : ";") "workload.dist.zipf=0"
    pairs++
    if (against == "") return # the store has no room for the change
    if (frac > 0 && !(of in printed)) { # the run whose throughput is the capacity
        print run_of[of] ","
        printed[of] = 1
    }
    lines[++count_of_pairs] = sprintf("pair%02d-%s%s%s,%s,%s,%s,%s,%s", pairs, axis, second == "" ? "" : "-" second, frac > 0 ? "-" frac * 100 : "", scenario, (frac > 0 ? frac : ""), (frac > 0 ? of : ""), from, against)
}
function saturating() { line(0, ""); saved[++configurations] = key " " value " " zipf " " get " " index_mib " " load " " streams " " cycle " " roomy " " last }
function vary(axis, values,    n, i, v) {
    n = split(values, v, " ")
    for (i = 1; i <= n; i++) {
        reset()
        if (axis == "key") key = v[i]
        else if (axis == "value") value = v[i]
        else if (axis == "zipf") zipf = v[i]
        else if (axis == "get") get = v[i]
        else if (axis == "roomy") { get = v[i]; roomy = 1 }
        else if (axis == "index") { index_mib = v[i]; load = index_mib > 512 ? 0.1 : 0.5 }
        else if (axis == "load") load = v[i]
        else if (axis == "streams") streams = v[i]
        else if (axis == "cycle") cycle = v[i]
        else if (axis == "sets") { key = v[i]; get = 0.75 }
        else if (axis == "skewed") { zipf = v[i]; get = 0.75 }
        saturating()
    }
}
# One column of the hypercube: every value equally often, in random order.
function column(name, values,    n, i, v, list) {
    n = split(values, v, " ")
    for (i = 1; i <= samples; i++) list[i] = v[1 + (i - 1) % n]
    shuffle(list, samples)
    for (i = 1; i <= samples; i++) cube[name, i] = list[i]
}
BEGIN {
    seed = machine == "two-cores" ? 20261122 : 20261123
    base_streams = machine == "two-cores" ? 1 : 7
    base_index = machine == "two-cores" ? 32 : 128
    base_cycle = machine == "two-cores" ? 300 : 160
    keys_max = 55e6                                   # as many as fill a tenth of 4 GiB
    items_max = machine == "two-cores" ? 3e9 : 8e9    # slab memory of the preloaded items
    slab_bytes = 2097152                              # a slab of the store
    items_most = 65534                                # items that a slab holds at most
    slabs_max = machine == "two-cores" ? 4800 : 19000
    rate_max = machine == "two-cores" ? 100e6 : 200e6 # SETs of a run without reads of short values
    samples = machine == "two-cores" ? 12 : 6         # lines that change all axes together; they take longer on h200-pcie5
    print "id,scenario,load_frac,of,overrides" (has_pairs ? ",against" : "")
    reset(); saturating()
    vary("key", "16 64 250 32 128")
    vary("value", "2 64 1024 16 256 4096 8192")
    vary("zipf", "0.6 0.99 1.3 0.8 1.1 1.2")
    vary("get", "1 0.75 0.5 0 0.25")
    vary("roomy", "0.95 0.5 0.75 0 0.25")
    vary("index", machine == "two-cores" ? "16 128 4096 64 512 1024" : "16 1024 4096 64 512 2048")
    vary("load", "0.1 0.25 0.75 0.9 0.35 0.6")
    vary("streams", machine == "two-cores" ? "2 3 5 7" : "1 2 3 4 5 6")
    vary("cycle", "50 100 1000 2000 500")
    vary("sets", "16 64 250")
    vary("skewed", "0.6 1.1 1.3")
    column("key", "8 16 24 48 100 250"); column("value", "2 8 32 128 512 8192")
    column("zipf", "0 0 0.7 0.99 1.1 1.25"); column("get", "1 0.95 0.8 0.5 0.2 0")
    column("index", "16 32 64 128 256 512"); column("load", "0.1 0.3 0.5 0.7 0.85 0.9")
    column("streams", machine == "two-cores" ? "1 1 2 2 3 4" : "1 2 3 4 5 7"); column("cycle", "50 100 200 400 1000 2000")
    column("roomy", "0 1")
    for (i = 1; i <= samples; i++) {
        reset()
        key = cube["key", i]; value = cube["value", i]; zipf = cube["zipf", i]; get = cube["get", i]
        index_mib = cube["index", i]; load = cube["load", i]; streams = cube["streams", i]; cycle = cube["cycle", i]
        roomy = cube["roomy", i]
        saturating()
    }
    split("0.6 0.4 0.8 0.9", fractions, " ")
    for (i = 1; i <= configurations; i += 4) {
        of = restore(i)
        line(fractions[1 + n++ % 4], of)
    }
    if (has_pairs) {
        seed = 20261127
        others["key"] = "8 16 32 64 12 24 128"; others["value"] = "8 16 64 256 1024 2 100"; others["zipf"] = "0.6 0.99 1.1 1.3 0.8"
        others["get"] = "1 0.95 0.75 0.5 0.25 0"; others["index"] = "16 32 64 128 256"; others["load"] = "0.1 0.25 0.5 0.75 0.9"
        others["streams"] = "1 2 3 5 7"; others["cycle"] = "50 100 300 1000 2000"
        axes = split("key value zipf get index load streams cycle", axis, " ")
        for (i = 0; i < 4 * axes; i++) pair(0, axis[1 + i % axes], "")
        for (i = 0; i < 2 * axes; i++) pair(0, axis[1 + i % axes], axis[1 + (i + 1 + int(i / axes) * 2) % axes])
        for (i = 0; i < 12; i++) pair(i % 2 ? 0.5 : 0.35, i % 3 ? "cycle" : "zipf", "")
        while (count_of_pairs < 60) pair(0, axis[1 + pairs % axes], "")
        for (i = 1; i <= count_of_pairs; i++) print lines[i]
    }
}'
