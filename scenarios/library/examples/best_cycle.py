"""Finds the cycle of Mega-KV at which a node serves most with a 99th percentile of 400 us: 320 predictions."""
import ctypes
import sys

kvcast = ctypes.CDLL(sys.argv[2] if len(sys.argv) > 2 else "libkvcast.so.0")
kvcast.kvcast_error.restype = ctypes.c_char_p
scenario, value = ctypes.c_void_p(), ctypes.c_double()

def must(status):
    if status != 0:
        sys.exit(kvcast.kvcast_error(scenario).decode())


def p99_us(cycle_us, mops):
    must(kvcast.kvcast_set(scenario, b"system.cycle", b"%.6gus" % cycle_us))
    must(kvcast.kvcast_set(scenario, b"workload.arrival.poisson_mops", b"%.6g" % mops))
    must(kvcast.kvcast_predict(scenario))
    must(kvcast.kvcast_get(scenario, b"latency_us.percentiles[p=0.99].us", ctypes.byref(value)))
    return value.value  # NaN where the store does not serve the load


must(kvcast.kvcast_open(sys.argv[1].encode(), ctypes.byref(scenario)))
best = (0, 0)
for cycle_us in range(100, 300, 10):
    low, high = 1, 200
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if p99_us(cycle_us, middle) <= 400 else (low, middle)
    best = max(best, (low, cycle_us))
print("cycle %d us: %.2f million requests/s" % (best[1], best[0]))
