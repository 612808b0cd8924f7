/* Draws stores that a scenario composes, as the text of scenarios, so that tests go through the whole loader.
 *
 * A composition has 1 to 8 pipelines of up to 12 stages on cores, a GPU, an FPGA, links, flash, a database
 * and another node, any index, items or none, batches or none, and few keys. It is valid: the loader takes
 * it with every load below. Its operations are spread over the stages in any order that the store allows. */
#ifndef KVC_SCENARIOS_RUN_COMPOSITIONS_COMPOSITION_FIXTURE_H
#define KVC_SCENARIOS_RUN_COMPOSITIONS_COMPOSITION_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { KVC_COMPOSITION_BYTES = 8192 };

/* How a composition is asked. */
struct kvc_composition_use {
    const char *arrival;      /* The value of workload.arrival, such as "'saturate'". */
    double duration_us;       /* Measured time; the warm-up takes half of it [us]. */
    uint32_t cores_times;     /* Each stage on the CPU has this many times its cores: 1 or 2. */
    uint32_t pipelines_times; /* There are this many times its pipelines: 1 or 2. */
    bool has_policy;          /* A function chooses its batches and cores, if there are any to choose. */
    bool full_batches; /* Nothing closes a batch before it is full, which saturating clients make it. */
};

/* Writes the scenario of a seed. The same seed gives the same composition, however it is asked. */
void kvc_composition_write(uint64_t seed, const struct kvc_composition_use *use,
                           char text[KVC_COMPOSITION_BYTES]);

#endif
