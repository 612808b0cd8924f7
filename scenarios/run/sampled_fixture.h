/* Compares runs with functional = "sampled" to full ones. */
#ifndef KVC_SCENARIOS_RUN_SAMPLED_FIXTURE_H
#define KVC_SCENARIOS_RUN_SAMPLED_FIXTURE_H

#include <stdint.h>

/* Runs a scenario in full and at every sampling rate up to the first 0, with the same seeds, and expects the
 * same results: ratios within 0.5 points, rates within 2 %. `text` is Lua: the fields of a scenario without
 * `run`; `run` is Lua, too: the fields of `run`. */
void kvc_test_sampled(const char *text, const char *run, const uint64_t *rates);

/* Parts of scenarios. The stores are small, so that full runs take a second or two. */
#define KVC_TEST_MEGAKV(slab)                                                                                \
    "system = { kind = 'megakv', cycle = '400us', index = '32MiB', slab = '" slab                            \
    "' }, node = { sockets = 1 }, "
#define KVC_TEST_KVDIRECT                                                                                    \
    "system = { kind = 'kvdirect', memory = '64MiB', dispatch = 0.6, idle_power = '87W' }, "                 \
    "node = { fpga = { base = 'catapult-stratix-v', dram = '4MiB' } }, "
#define KVC_TEST_STEADY "arrival = { fixed_mops = 40 }, fill = 'at_once', flows = 8 }"

#endif
