# shellcheck shell=bash
# The parts of the report of speed, sourced by report.sh: each measures the figures of one topic and adds them as rows. The
# goals are those of this project, for a machine with 100 M random lines/s or more.
# shellcheck disable=SC2154 # build, work, rows, lines_mops and scan_gb are set by report.sh.

quick=false
repeat=${REPEAT:-5}
if [ -n "${QUICK:-}" ]; then
    quick=true
    repeat=1
fi

list_parts() {
    cat <<END
bare          the simulation beside the bare kernels
simulate      requests per second of one core, by store, and preloading
capacity      searches for the capacity, wall time on two cores
first_output  wall time until a command shows something
plan          a plan of 10,000 candidates, wall time on two cores
predict       the closed form, points per second by store, as grids and at random
growth        exponents of the time in requests, keys, nodes and points; fixed cost of a run
kernels       index and GET of the CPU kernels beside memory and well-known hash tables
instructions  committed instruction counts of the hottest paths
END
}

choose() { # SHORT LONG: the first one if the report is quick
    if $quick; then echo "$1"; else echo "$2"; fi
}

median() { # of the numbers on stdin; nothing if there are none
    sort -g | awk '{ value[NR] = $1 } END { if (NR) { printf "%.6g\n", NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 } }'
}

calculate() { # EXPRESSION: of awk
    awk "BEGIN { printf \"%.6g\\n\", $1 }"
}

miss() { # TEXT: says what the report lacks
    echo "$1" | tee -a "$work/missing" >&2
}

# Adds a row. The goal is ">= NUMBER", "<= NUMBER" or empty; a limit is a text. A value that is missing adds none.
add() { # TOPIC NAME VALUE UNIT GOAL LIMIT
    [ -n "$3" ] || { miss "$1, $2: no number; the library is missing or the time was too short"; return 0; }
    awk -v OFS='\t' -v topic="$1" -v name="$2" -v value="$3" -v unit="$4" -v goal="$5" -v limit="$6" 'BEGIN {
        split(goal, half, " ")
        reached = goal == "" ? "" : half[1] == ">=" ? value / half[2] : half[2] / value
        print topic, name, sprintf(value + 0 >= 1000 ? "%.0f" : "%.4g", value), unit, limit, goal, reached == "" ? "" : sprintf("%.4g", reached) }' >>"$rows"
}

ratio() { # FILE FILE: of the medians of two files of numbers in the folder of work
    calculate "$(median <"$work/$1") / $(median <"$work/$2")"
}

kvcast() {
    "$build"/scenarios/kvcast "$@"
}

wall_s() { # COMMAND...: prints its wall time; its output is thrown away
    local TIMEFORMAT=%R
    { time "$@" >/dev/null 2>&1; } 2>&1
}

cpu_s() { # COMMAND...: prints its processor time, that of its children included
    local TIMEFORMAT='%U %S'
    { time "$@" >"$work/said" 2>&1; } 2>"$work/times" || { cat "$work/said" >&2; return 1; }
    awk '{ print $1 + $2 }' "$work/times"
}

of_run() { # FILE KEY: a number of the member "simulation" of a result
    awk -v key="\"$2\":" '/"simulation":/ { inside = 1 } inside && $1 == key { print $2 + 0; exit }' "$1"
}

simulate() { # FILE JOBS SCENARIO SETTING: one replica; its result goes to FILE
    kvcast run "$3" --replicas 1 --jobs "$2" --set run.bottleneck=utilization --set "$4" --quiet --json "$1" >/dev/null
}

# Stores: name, scenario, simulated time of a quick and a whole report, goal for requests per second [million].
stores="Mega-KV|scenarios/examples/first.lua|20ms|200ms|15
KV-Direct|scenarios/examples/kvdirect.lua|5ms|30ms|5
DIDO|models/dido/golden/dido.lua|100ms|500ms|12
MemcachedGPU|models/memcachedgpu/golden/run.lua|300ms|1500ms|8
BlueCache|models/bluecache/golden/run.lua|2s|10s|2
fatcache|models/memcached/golden/fatcache.lua|4s|20s|2"

part_simulate() {
    local name scenario short long goal run file keys
    local topic=Simulation settings
    while IFS='|' read -r name scenario short long goal; do
        for ((run = 0; run < repeat; run++)); do
            file=$work/$name.$run.json
            simulate "$file" 1 "$scenario" run.duration="$(choose "$short" "$long")"
            calculate "$(of_run "$file" requests) / $(of_run "$file" wall_cpu_s) / 1e6" >>"$work/$name.mops"
        done
        add "$topic" "$name, one core" "$(median <"$work/$name.mops")" 'M requests/s' ">= $goal" "$scenario"
    done <<<"$stores"

    # The default scenario has the largest store. Its runs preload first, and two cores share the work of one replica.
    settings=run.duration=$(choose 20ms 200ms)
    for ((run = 0; run < repeat; run++)); do
        simulate "$work/two.$run.json" 2 scenarios/examples/first.lua "$settings"
    done
    keys=$(awk '$1 == "\"workload.keys\":" { print $2 + 0; exit }' "$work/two.0.json")
    for file in Mega-KV two; do
        for ((run = 0; run < repeat; run++)); do
            calculate "$(of_run "$work/$file.$run.json" requests_per_wall_s) / 1e6" >>"$work/$file.wall_mops"
            calculate "$keys / $(of_run "$work/$file.$run.json" wall_preload_s) / 1e6" >>"$work/$file.preload_mops"
        done
    done
    add "$topic" 'Mega-KV, two cores over one, wall' "$(ratio two.wall_mops Mega-KV.wall_mops)" times '>= 1.6' ''
    add Preload 'Mega-KV, one core, wall' "$(median <"$work/Mega-KV.preload_mops")" 'M items/s' '>= 30' \
        "$lines_mops M random lines/s, $scan_gb GB/s in order"
    add Preload 'Mega-KV, two cores over one, wall' "$(ratio two.preload_mops Mega-KV.preload_mops)" times '>= 1.8' ''
}

part_bare() {
    local run
    for ((run = 0; run < repeat; run++)); do
        "$build"/scenarios/papers/megakv/megakv_bench scenarios/examples/first.lua run.duration="$(choose 20ms 100ms)" >"$work/bare.$run"
        awk '$1 == "bare" { print $2 }' "$work/bare.$run" >>"$work/bare.ns"
        awk '$1 == "simulation" { print $2 }' "$work/bare.$run" >>"$work/bare.simulation_ns"
        awk '$1 == "simulation/bare" { print $2 }' "$work/bare.$run" >>"$work/bare.times"
    done
    add Simulation 'Mega-KV over its bare kernels, wall' "$(median <"$work/bare.times")" times '<= 1.25' \
        "$(median <"$work/bare.simulation_ns") over $(median <"$work/bare.ns") ns a request"
}

# Adds the median wall time of a command, which is interrupted at a limit and then has that time at least.
add_wall() { # TOPIC NAME GOAL_S LIMIT_S COMMAND...
    local topic=$1 name=$2 goal=$3 limit=$4 unit=s run status note=
    shift 4
    : >"$work/wall"
    for ((run = 0; run < repeat; run++)); do
        status=0
        wall_s timeout -s INT -k 10 "$limit" "$@" >>"$work/wall" || status=$?
        case $status in
        0) ;;
        124 | 137)
            unit='s or more'
            note="interrupted after $limit s, before its end"
            ;;
        *) miss "$topic, $name: ended with status $status"; return 0 ;;
        esac
    done
    add "$topic" "$name" "$(median <"$work/wall")" "$unit" "<= $goal" "$note"
}

part_capacity() {
    local name scenario limit setting
    limit=$(choose 40 300)
    while IFS='|' read -r name scenario _; do
        [ "$name" != fatcache ] || continue # Its clients wait for responses, so that they have no capacity.
        setting=run.seed=1
        [ "$name" != MemcachedGPU ] || setting=system.damaged=0 # Damaged frames are lost at any load.
        add_wall 'Capacity to 1 %, two cores, wall' "$name" 20 "$limit" \
            "$build"/scenarios/kvcast capacity "$scenario" --set "$setting" --jobs 2 --quiet
    done <<<"$stores"
    awk '/^<!-- file: shop.lua -->/ { inside = 1; text = ""; next } inside && /^    / { text = text $0 "\n"; next }
         inside && /[^ ]/ { inside = 0 } END { printf "%s", text }' README.md >"$work/shop.lua"
    export shop=$work/shop.lua kvcast=$build/scenarios/kvcast
    # shellcheck disable=SC2016 # The inner shell expands these.
    add_wall 'Capacity to 1 %, two cores, wall' 'both of the tutorial, to 5 %' 30 "$limit" bash -c '
        for bound in loss=0 latency=p99=400us; do
            "$kvcast" capacity "$shop" --precision 0.05 --set run.duration=5ms --${bound%%=*} "${bound#*=}" --jobs 2 --quiet || exit 1
        done'
}

# Wall time until a command writes its first byte, to either stream; then it is ended.
first_output_s() { # COMMAND...
    local from=$EPOCHREALTIME until_s pid
    exec 3< <(exec "$@" 2>&1)
    pid=$!
    read -r -n 1 -u 3 || true
    until_s=$EPOCHREALTIME
    kill "$pid" 2>/dev/null || true
    exec 3<&-
    wait "$pid" 2>/dev/null || true
    calculate "$until_s - $from"
}

part_first_output() {
    local command run
    for command in 'predict scenarios/examples/first.lua' 'run scenarios/examples/first.lua' 'capacity scenarios/examples/first.lua' \
        'run scenarios/examples/kvdirect.lua' "sweep scenarios/examples/flash_today.lua --out $work/sweep" \
        "plan scenarios/examples/plan_large.lua --out $work/plan"; do
        : >"$work/first"
        for ((run = 0; run < repeat; run++)); do
            # shellcheck disable=SC2086 # The command is words.
            first_output_s "$build"/scenarios/kvcast $command >>"$work/first"
        done
        add 'First output, wall' "${command%% --out*}" "$(median <"$work/first")" s '<= 1' ''
    done
}

part_plan() {
    add_wall 'Plan, two cores, wall' '10,000 candidates' 60 "$(choose 120 600)" \
        "$build"/scenarios/kvcast plan scenarios/examples/plan_large.lua --jobs 2 --quiet --out "$work/plan" --force
}

# The benchmark makes five runs of its own. It prints a line when a size is done, so that one that is ended has some.
part_predict() {
    local store goal points design name
    points=10000
    for store in megakv:200000 dido:50000 kvdirect:20000 memcachedgpu:20000 bluecache:20000 rdma:20000 mica:20000 fatcache:20000; do
        goal=${store#*:}
        store=${store%:*}
        timeout "$(choose 20 600)" "$build"/scenarios/papers/megakv/evaluator_bench "$points" "$store" >"$work/predict" || true
        for design in grid random 'and keys'; do
            name="$store, ${design/and keys/random with random keys}"
            add 'Closed form, one core' "$name" "$(awk -v store="$store" -v design="$design" -v points="$points" \
                '$1 == store && index($0, " " design " ") { sub(design, "design") } $2 == "design" && $3 == points { print $6 }' "$work/predict")" \
                points/s ">= $goal" ''
        done
    done
}

cpu_of_size() { # SIZE COMMAND...: median of the processor time; SIZE stands for the size in the words
    local size=$1 run
    shift
    for ((run = 0; run < repeat; run++)); do
        cpu_s "${@//SIZE/$size}"
    done | median
}

add_growth() { # NAME SIZE COMMAND...: in whose words SIZE stands for the size and for four times it
    local name=$1 size=$2 one four
    shift 2
    one=$(cpu_of_size "$size" "$@")
    four=$(cpu_of_size $((4 * size)) "$@")
    add Growth "$name" "$(calculate "log($four / $one) / log(4)")" exponent '<= 1.05' "$one and $four s"
}

part_growth() {
    local run=("$build"/scenarios/kvcast run "$work/growth.lua" --replicas 1 --jobs 1 --quiet)
    cat >"$work/growth.lua" <<'END' # The default scenario, whose index has room for the keys.
return { system = { kind = "megakv" },
  workload = { keys = 1e6, get = 0.95, set = 0.05, dist = { zipf = 0.99 }, arrival = { poisson_mops = 100 } },
  run = { warmup = "1ms", bottleneck = "utilization" } }
END
    add_growth requests "$(choose 20 100)" "${run[@]}" --set run.duration=SIZEms
    add_growth keys "$(choose 3 6)" "${run[@]}" --set workload.keys=SIZEe6 --set run.duration=1ms
    add_growth 'nodes, each with the same keys and load' 4 "$build"/scenarios/kvcast run scenarios/examples/cluster.lua --replicas 1 \
        --jobs 1 --quiet --set run.bottleneck=utilization --set cluster.nodes=SIZE --set workload.keys=SIZEe6 \
        --set workload.arrival.poisson_mops=SIZE00
    cat >"$work/points.lua" <<'END'
return { system = { kind = "megakv" },
  workload = { keys = 1e6, get = 0.9, set = 0.1, dist = { zipf = 0.99 }, arrival = { poisson_mops = 80 } },
  sweep = { ["system.cycle"] = { from = "100us", to = "400us", steps = 50 },
            ["workload.arrival.poisson_mops"] = { from = 10, to = 160, steps = COUNT } } }
END
    # shellcheck disable=SC2016 # The inner shell expands these.
    add_growth 'points of a sweep by the closed form' "$(choose 200 1000)" bash -c '
        sed "s/COUNT/$1/" "$2/points.lua" >"$2/grid.lua"; "$3" sweep --predict "$2/grid.lua" --out "$2/grid" --restart --quiet' \
        - SIZE "$work" "$build/scenarios/kvcast"
    add Growth 'fixed cost of a run' "$(cpu_of_size 1 "${run[@]}" --set workload.keys=1000 \
        --set node.sockets=1 --set run.duration=1ms)" s '<= 0.1' 'processor time of 1 ms of Mega-KV with 1000 keys'
}

part_kernels() {
    local batch peer goal run topic='CPU kernels, one core'
    for ((run = 0; run < repeat; run++)); do
        "$build"/kernels/peers/peers_bench -c "$(choose 24 26)" >"$work/peers.$run"
    done
    for batch in 32 256; do
        goal=$([ $batch = 32 ] && echo 0.6 || echo 0.8)
        add "$topic" "index search alone, batches of $batch" "$(of_peers "^index search alone, batches of $batch " ' ([0-9.]+) of limit')" \
            'of the line limit' ">= $goal" "$(sed -n 's/.*random lines: \([^;]*(index)\).*/\1/p' "$work/peers.0")"
    done
    add "$topic" 'insert, index and slab' "$(of_peers '^insert to load 0.75, index and slab' ' ([0-9.]+) M/s')" 'M/s' '>= 15' ''
    for peer in 'DPDK rte_hash:2.0' 'Boost unordered_flat_map:1.25' 'MICA:1.2'; do
        for batch in 32 256; do
            add "$topic" "GET over ${peer%:*}, batches of $batch" "$(of_peer "${peer%:*}" "GET, batches of $batch " ': +([0-9.]+) times')" \
                times ">= ${peer#*:}" "$(of_peer "${peer%:*}" "GET, batches of $batch " ' ([0-9.]+) M/s, ours') M/s of the peer"
        done
    done
    add "$topic" 'GET, batches of 256 over those of 32' "$(calculate "$(of_peer MICA 'GET, batches of 256 ' 'ours +([0-9.]+)') / \
        $(of_peer MICA 'GET, batches of 32 ' 'ours +([0-9.]+)')")" times '>= 1' ''
}

of_peers() { # LINE NUMBER: median of the number, the first group of a pattern, on lines that match
    local file
    for file in "$work"/peers.[0-9]*; do
        sed -nE "/$1/s#.*$2.*#\1#p" "$file" | head -n 1
    done | median
}

of_peer() { # PEER LINE NUMBER: the same, of the lines after the one that begins with the peer
    local file
    for file in "$work"/peers.[0-9]*; do
        sed -nE "/^$1.* on huge pages/,/^[^ ]/{/^ +$2/s#.*$3.*#\1#p}" "$file" | head -n 1
    done | median
}

part_instructions() {
    local name count unit
    while IFS='|' read -r name count unit _; do
        add 'Instructions, as committed' "${name// /}" "${count// /}" "per ${unit// /}" '' 'scenarios/instructions/counts.txt'
    done < <(grep -v '^#' scenarios/instructions/counts.txt)
}
