#!/usr/bin/env bash
# Every command that writes a result by --json writes what result.schema.json says.
# Usage: schema_test.sh KVCAST
set -euo pipefail
kvcast=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
source=$(realpath "$here/../../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
quiet() {
    "$kvcast" "$@" --quiet >/dev/null
}

for scenario in "$source"/models/*/golden/*.lua; do
    name=$(basename "$(dirname "$(dirname "$scenario")")")_$(basename "$scenario" .lua)
    quiet predict "$scenario" --json "predict_$name.json"
    quiet run "$scenario" --set run.replicas=1 --json "run_$name.json"
done
examples=$source/scenarios/examples
for example in plan day cluster outage; do
    quiet predict "$examples/$example.lua" --json "predict_$example.json"
done
quiet run "$examples/outage.lua" --set run.replicas=1 --json run_outage.json
for example in trace bursts storm tenants; do
    quiet run "$examples/$example.lua" --json "run_$example.json"
done
quiet day "$examples/day_energy.lua" --predict --json day.json
cat >tenants.lua <<'LUA'
return { system = { kind = "memcached" }, slo = { p99 = "1ms" }, run = { duration = "2ms" }, plan = { minimise = "nodes" },
  workload = { tenants = { { name = "a", mops = 0.5, keys = 2000 }, { name = "b", mops = 0.5, keys = 2000, p99 = "1ms" } } },
  day = { curve = { { hour = 4, rate = 0.5 }, { hour = 16, rate = 1 } }, windows = 4 }, sweep = { ["cluster.nodes"] = { 1, 2 } } }
LUA
quiet sweep tenants.lua --out tenants --json sweep_tenants.json
for command in day capacity plan; do
    quiet $command tenants.lua --json "${command}_tenants.json"
done
small=$source/models/memcached/golden/mica.lua
quiet predict "$small" --sensitivity --json sensitivity.json
quiet capacity "$small" --set run.replicas=2 --json capacity.json
quiet plan "$examples/plan.lua" --json plan.json
quiet sweep "$source/scenarios/papers/megakv/fig12.lua" --predict --json sweep.json --out sweep
quiet trace "$examples/trace.csv" --twin twin --json trace.json
quiet why "$small" --json why.json
quiet compare run_memcached_mica.json run_memcached_memcached.json --json compare.json
cat >measured.lua <<'LUA'
return { system = { kind = "megakv", feed = "memory", index_on = "thread", threads = "shared", streams = 1 },
  node = { sockets = 1, cpu = { base = "xeon-e5-2650v2", cores = 2 } }, workload = { keys = 1e4 }, run = { warmup = "20ms" } }
LUA
quiet measure measured.lua --against 'workload.value=64;run.seed=2' --pairs 12 --json pair.json
quiet validate mechanisms --json validation.json
quiet doctor --json doctor.json || true # It says with 1 that something is missing.
/usr/bin/python3 "$here/schema_test.py" "$here/result.schema.json" ./*.json
