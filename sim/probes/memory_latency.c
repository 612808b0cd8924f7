#include "sim/probes/memory_latency.h"

#include "kernels/pages.h"
#include "sim/base/rng.h"
#include "sim/probes/timing.h"

enum { LINE_BYTES = 64, LINE_WORDS = LINE_BYTES / 8, STEPS = 1 << 18, CHAINS_MAX = 32 };

static const uint64_t smallest_bytes = 16 << 10;

/* Cache lines linked into one ring in random order (Sattolo's shuffle). */
struct ring {
    uint64_t *line;
    uint64_t lines;
    uint32_t chains;
    uint64_t keep; /* Depends on what was read, so that the compiler keeps the reads. */
};

static void link_ring(struct ring *ring)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "ring", 0);
    for (uint64_t i = 0; i < ring->lines; i++) {
        ring->line[i * LINE_WORDS] = i;
    }
    for (uint64_t i = ring->lines - 1; i > 0; i--) {
        uint64_t j = kvc_rng_below(&rng, i), word = ring->line[i * LINE_WORDS];
        ring->line[i * LINE_WORDS] = ring->line[j * LINE_WORDS];
        ring->line[j * LINE_WORDS] = word;
    }
}

static void follow(void *data, uint32_t repetition)
{
    struct ring *ring = data;
    uint64_t at[CHAINS_MAX];
    for (uint32_t c = 0; c < ring->chains; c++) {
        at[c] = (kvc_mix64(repetition) + c * (ring->lines / ring->chains)) % ring->lines;
    }
    for (uint32_t step = 0; step < STEPS / ring->chains; step++) {
        for (uint32_t c = 0; c < ring->chains; c++) {
            at[c] = ring->line[at[c] * LINE_WORDS];
        }
    }
    for (uint32_t c = 0; c < ring->chains; c++) {
        ring->keep += at[c];
    }
}

static void read_all(void *data, uint32_t repetition)
{
    struct ring *ring = data;
    (void)repetition;
    for (uint64_t i = 0; i < ring->lines * LINE_WORDS; i++) {
        ring->keep += ring->line[i];
    }
}

enum kvc_status kvc_memory_latency_measure(uint64_t bytes_max, struct kvc_memory_latency_curve *curve,
                                           struct kvc_diag *diag)
{
    struct ring ring = {.line = kvc_pages_alloc(bytes_max)};
    if (ring.line == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a working set of %llu MiB",
                             (unsigned long long)(bytes_max >> 20));
    }
    *curve = (struct kvc_memory_latency_curve){0};
    for (uint64_t bytes = smallest_bytes; bytes <= bytes_max && curve->count < KVC_MEMORY_LATENCY_SIZES_MAX;
         bytes *= 4) {
        struct kvc_memory_latency_point *point = &curve->point[curve->count++];
        point->bytes = bytes;
        ring.lines = bytes / LINE_BYTES;
        link_ring(&ring);
        for (uint32_t i = 0; i < KVC_MEMORY_LATENCY_CHAINS; i++) {
            ring.chains = 1u << i;
            uint32_t steps = STEPS / ring.chains * ring.chains;
            point->line_ns[i] = kvc_timing_measure(NULL, follow, &ring).median_s / steps * 1e9;
        }
    }
    curve->sequential_bytes_per_s =
        (double)(ring.lines * LINE_BYTES) / kvc_timing_measure(NULL, read_all, &ring).median_s;
    kvc_pages_free(ring.line, bytes_max);
    return KVC_OK;
}
