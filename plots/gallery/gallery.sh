#!/usr/bin/env bash
# Draws every kind of picture at the size of a paper, in colour and in grey, onto one page: FOLDER/index.html. The
# scenarios are small, so that it takes seconds. Then checks each picture with svg_check; exit status 1 if one has a fault.
# Usage: gallery.sh KVCAST SVG_CHECK FOLDER
set -uo pipefail
kvcast=$(realpath "$1")
check=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$3" && cd "$3" || exit 1
rm -rf out ./*.svg ./*.lua index.html
failed=0

work() { # COMMAND...: runs kvcast quietly
    if ! "$kvcast" "$@" --quiet >said 2>&1; then
        echo "kvcast $*: $(cat said)"
        exit 1
    fi
}

picture() { # NAME KIND CAPTION ARGUMENTS...: draws NAME.svg, checks it as svg_check's KIND, and adds it to the page
    local name=$1 kind=$2 caption=$3
    shift 3
    if ! "$kvcast" plot "$@" -o "$name.svg"; then
        failed=1
        return
    fi
    "$check" "$kind" "$name.svg" || failed=1
    cat >>index.html <<HTML
<figure><figcaption>$caption <code>kvcast plot $*</code></figcaption>
<img src="$name.svg" alt="$caption"> <img class="grey" src="$name.svg" alt="The same in grey."></figure>
HTML
}

store='system = { kind = "megakv", index = "64MiB", slab = "64MiB" }, node = { sockets = 1 },
  run = { functional = "off", duration = "2ms", replicas = 2 },'
load='keys = 1e5, get = 0.95, set = 0.05, dist = { zipf = 0.99 }'
cat >shop.lua <<LUA
return { $store
  workload = { $load, arrival = { poisson_mops = 40 } },
  slo = { p99 = "350us" },
  sweep = {
    ["system.cycle"] = { "120us", "160us", "240us" }, ["system.gpu_core"] = { "875MHz", "666MHz" },
    ["system.api"] = { "get", "getk" },
  },
}
LUA
cat >limit.lua <<LUA
return { system = { kind = "memcached" }, workload = { $load, arrival = { poisson_mops = 1 } }, run = { duration = "10ms" } }
LUA
cat >plan.lua <<LUA
return { $store
  workload = { $load, connections = 256, arrival = { poisson_mops = 100 } },
  slo = { p99 = "350us", watts = 1000 },
  sweep = { ["cluster.nodes"] = { 1, 2, 3, 4 }, ["system.cycle"] = { "120us", "200us" }, ["system.gpu_core"] = { "875MHz", "666MHz" } },
  plan = { minimise = "watts" },
}
LUA
cat >day.lua <<LUA
return { $store
  workload = { $load }, slo = { p99 = "350us" },
  day = { windows = 8, curve = { { hour = 4, rate = 12 }, { hour = 16, rate = 50 } } },
}
LUA
cat >cluster.lua <<LUA
return { $store cluster = { nodes = 3 }, workload = { $load, arrival = { poisson_mops = 100 } } }
LUA
cat >outage.lua <<LUA
return { system = { kind = "megakv", index = "64MiB", slab = "64MiB" }, workload = { $load, arrival = { poisson_mops = 60 } },
  run = { functional = "off", duration = "12ms",
          changes = { { at = "4ms", device = "node0.socket0.gpu", off = "1ms" } } } }
LUA
cat >small.lua <<LUA
return { system = { kind = "memcachedgpu", entries = 16384 }, workload = { keys = 10000, key = 16, value = 8, arrival = { poisson_mops = 5 } },
  run = { duration = "1ms" } }
LUA
cat >own.lua <<LUA
return {
  system = {
    kind = "composed", pipelines = 3, index = { kernel = "cuckoo", memory = "gpu" }, values = { kernel = "slab" },
    batch = { count = 2048, timeout = "50us" },
    stages = {
      { name = "receive", on = "nic.rx" },
      { name = "collect", on = "cpu", cores = 2, cycles = 150, queue = 64, full = "drop", does = { "parse", "write" } },
      { name = "copy in", on = "pcie.down", bytes = 8 },
      { name = "search", on = "gpu", pool = "streams", does = "search" },
      { name = "insert", on = "gpu", pool = "streams", does = { "insert", "erase" }, every = 4, background = true },
      { name = "copy out", on = "pcie.up", bytes = 4 },
      { name = "read", on = "cpu", cores = 2, cycles = 150, does = { "compare", "read" } },
      { name = "fetch", on = "cpu", cores = 4, ns = 500, when = { "get", "miss" } },
      { name = "send", on = "nic.tx" },
    },
  },
  node = { sockets = 1, cpu = "epyc-9654", gpu = "h200" },
  workload = { keys = 1e5, preload = 0.5, get = 0.95, set = 0.05, arrival = { poisson_mops = 20 } }, run = { duration = "2ms" },
}
LUA
mkdir -p other
sed 's/"memcached"/"mica"/' limit.lua >other/limit.lua

work run own.lua --out out/own
work sweep shop.lua --out out/sweep
work run limit.lua --out out/memcached
work run other/limit.lua --out out/mica
work run shop.lua --out out/shop
work run shop.lua --set system.gpu_core=666MHz --out out/slower
work run outage.lua --out out/outage
work run cluster.lua --out out/cluster
work capacity limit.lua --precision 0.1 --out out/capacity
work plan plan.lua --out out/plan
work day day.lua --out out/day
work why small.lua --out out/why
# The scores of the papers, as committed.
mkdir -p out/errors
for paper in "$source"/validate/papers/*/; do
    awk -F, 'FNR == NR { error[$1] = $2; next }
        FNR > 1 && $6 ~ /^[0-9.]+$/ && $6 > 0 && $1 in error && error[$1] > -1 && error[$1] != 0 {
            unit = $5 ~ /mops$/ ? "Mops" : $5 ~ /_us$/ ? "µs" : "other units"
            print $1 "," unit "," $6 "," $6 * (1 + error[$1]) }' "$paper/baseline.csv" "$paper/cases.csv"
done | sed '1i case,metric,published,predicted' >out/errors/errors.csv

cat >index.html <<'HTML'
<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Pictures of kvcast</title>
<style>
body { font: 10pt sans-serif; margin: 1cm auto; max-width: 36cm }
figure { margin: 0 0 1cm; break-inside: avoid }
figcaption { margin-bottom: 2mm }
img { border: 1px solid #ccc; vertical-align: top; max-width: 100% }
.grey { filter: grayscale(1) }
</style>
<h1>Every kind of picture, as in a paper, in colour and in grey</h1>
HTML
picture cdf axes "Latency of two settings." out/shop out/slower -k cdf
picture stores axes "Latency of two stores under one load." out/memcached out/mica -k cdf
picture tail axes "Slower requests." out/shop out/slower -k tail
picture timeline axes "An outage of a GPU." out/outage -k timeline
picture sweep axes "A metric over a swept value, with its objective." out/sweep -k sweep -y latency_p99_us --by system.gpu_core,system.api
picture words words "Words on the x axis." out/sweep -k sweep -x system.api -y bottleneck_utilization_frac --by system.cycle
picture panels axes "A panel for each value of the rest." out/sweep -k sweep -y latency_p99_us --by system.gpu_core --wide
picture capacity axes "Latency over the load, up to the capacity." out/capacity -k capacity
picture wide axes "The same in two columns." out/capacity -k capacity --wide
picture pareto axes "The front of a plan." out/plan -k pareto
picture critical bars "Where requests spend their time, and what faster devices change." out/why -k critical
picture day axes "A day of eight windows." out/day -k day
picture error axes "Predicted against published values." out/errors -k error
picture machine graph "A node." out/shop -k platform
picture cluster graph "A cluster." out/cluster -k platform --wide
picture stages graph "The stages of a store." out/own -k pipeline
picture abreast graph "The stages of another store." out/shop -k pipeline --wide
echo '</html>' >>index.html
echo "$PWD/index.html"
exit $failed
