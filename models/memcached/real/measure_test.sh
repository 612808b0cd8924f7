#!/usr/bin/env bash
# kvcast measure with the memcached of this machine: what cannot be measured is refused in one line, also where memcached is not
# installed, and where it is, every request is answered.
# Usage: measure_test.sh KVCAST
source "$(dirname "$0")/../../../scenarios/cli/cli_testing.sh"

cat >memcached.lua <<'LUA'
return {
  system = { kind = "memcached", threads = 1, loopback = true, outstanding = 32 },
  node = { sockets = 1 },
  workload = { keys = 10000, key = 16, value = 100, get = 0.9, set = 0.1, arrival = "saturate" },
  run = { duration = "100ms" },
}
LUA
measure() { # STATUS PATTERN OPTIONS...
    local status=$1 pattern=$2
    shift 2
    expect "$status" "$pattern" "$kvcast" measure memcached.lua "$@"
}
measure 2 'system: found loopback = false and lock = "item"; a measurement allows true' --set system.loopback=false
measure 2 'found 2 servers; a measurement allows one' --set cluster.nodes=2
measure 2 'system.entries: found 1000; a measurement allows at least workload.keys, 10000' --set system.entries=1000
measure 2 'workload.key: found 2 bytes for 10000 keys; .* so 4096 keys' --set workload.key=2
measure 2 'found values of up to 100000 bytes .* allows values of 60000 bytes' --set workload.value=100000
measure 2 'found 5000 connections or requests in flight; a measurement allows 4096' --set system.outstanding=5000
measure 2 'multigets of 200 keys .* and 100 keys' --set workload.multiget=200 --set workload.arrival.poisson_mops=0.001
expect 2 'memcached is not installed: the Debian package memcached has it \(apt-get install memcached\)' \
    env PATH=/nowhere "$kvcast" measure memcached.lua

# A machine file's costs replace the cycles of the options.
cat >machine.lua <<'LUA'
local function measured(ns)
  return { ns .. "ns", source = "a test" }
end
return {
  kind = "machine", name = "a test", date = "2026-11-27", compiler = "none", commit = "none",
  memcached_costs = {
    udp_get = measured(5000), udp_set = measured(5000), udp_get_byte = measured(0), udp_set_byte = measured(0),
    udp_key = measured(3000), udp_send = measured(6000), udp_receive = measured(2000), udp_send_byte = measured(0),
    udp_receive_byte = measured(0), udp_look = measured(0), udp_client_key = measured(0), udp_notify = measured(6000),
    udp_wake = measured(9000),
    tcp_get = measured(5000), tcp_set = measured(5000), tcp_get_byte = measured(0), tcp_set_byte = measured(0),
    tcp_key = measured(200), tcp_send = measured(6000), tcp_receive = measured(2000), tcp_send_byte = measured(0),
    tcp_receive_byte = measured(0), tcp_look = measured(0), tcp_client_key = measured(0), tcp_notify = measured(6000),
    tcp_wake = measured(9000), datagram = measured(5000), client_datagram = measured(0), key_byte = measured(0),
    client_key_byte = measured(0), doubling = measured(0), doubling_byte = measured(0), wait = measured(0),
    switch = measured(0),
  },
}
LUA
"$kvcast" predict memcached.lua --set node.machine=machine.lua | grep -q 'throughput  *0.1250 Mops' ||
    fail "the costs of a machine file have no effect"

if ! command -v memcached >/dev/null || [ "$(nproc)" -lt 2 ]; then
    echo "skipped: the measurements need memcached and two cores"
    [ $failed -eq 0 ] || exit 1
    exit 77
fi
answers() { # NAME OPTIONS...: every GET hits, and the client lost nothing
    local name=$1
    shift
    "$kvcast" measure memcached.lua --quiet --json "$name.json" "$@" >/dev/null || { fail "measure $*"; return; }
    python3 - "$name.json" <<'PYTHON' || fail "measure $*"
import json, sys
result = json.load(open(sys.argv[1]))
requests, model = result["requests"], result["model"]
assert requests["completed"] > 0, requests
assert requests["gets"] > 0 and requests["misses"] == 0, requests
assert model["server_ns"] > 100 and model["client_ns"] > 100, model
PYTHON
}
answers udp
answers tcp --set system.network=tcp
answers datagrams --set workload.value=4000 --set workload.get=1 --set workload.set=0
answers threads --set system.network=tcp --set system.threads=2
answers clients --set system.network=tcp --set workload.arrival.clients=8
answers multigets --set workload.multiget=8 --set workload.arrival.poisson_mops=0.01
answers open --set system.network=tcp --set workload.flows=1 --set workload.arrival.poisson_mops=0.01
grep -q multiget_mean_us multigets.json || fail "a measurement of multigets does not tell their latency"

finish
