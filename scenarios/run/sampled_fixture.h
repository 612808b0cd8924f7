/* Compares runs with functional = "sampled" to full ones. */
#ifndef KVC_SCENARIOS_RUN_SAMPLED_FIXTURE_H
#define KVC_SCENARIOS_RUN_SAMPLED_FIXTURE_H

#include <stdint.h>

/* Runs a scenario in full and at every sampling rate up to the first 0, with the same seeds, and expects the
 * same results: ratios within 0.5 points, rates and the utilizations of stages within 2 %. Where the
 * scenario's own replicas deviate more, up to 192 of them decide, with 95 % intervals.
 * `fields` is Lua: the fields of a scenario without `run`; `run` is Lua, too: the fields of `run`. */
void kvc_test_sampled(const char *fields, const char *run, const uint64_t *rates);

/* Likewise for a store whose flash is written in bursts, at one rate and with the scenario's own replicas:
 * expects the throughput within 3 %, the mean latency within 5 %, and hit ratios within 1 point. */
void kvc_test_sampled_bursts(const char *fields, const char *run, uint64_t rate);

#endif
