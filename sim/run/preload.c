#include "sim/run/preload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/rng.h"

enum {
    BLOCK_KEYS =
        KVC_PRELOAD_KEYS_MAX - 1, /* A block that begins and ends inside a stratum has one more key. */
    RUN = 16,                     /* Neighbouring strata in a block that contains all popularities. */
    BLOCK_RUNS = BLOCK_KEYS / RUN,
};

struct kvc_preload {
    struct kvc_source *source;
    struct kvc_batch *batch;
    struct kvc_sampling sampling;
    uint64_t keys; /* Keys to walk over, sampled or not. */
    uint64_t seed;
    uint32_t shards;
    uint32_t order[KVC_PRELOAD_KEYS_MAX];
    uint32_t shard_of[KVC_PRELOAD_KEYS_MAX];
    uint32_t row[KVC_PRELOAD_KEYS_MAX];
    uint32_t *end; /* The rows of shard s end before row[end[s]]; those that no shard holds come last. */
};

/* One walk. */
struct walk {
    struct kvc_preload *preload;
    const struct kvc_progress *progress;
    const char *step;
    void (*visit)(void *data, const struct kvc_preload_visit *visit);
    void *data;
    struct kvc_rng rng;
};

void kvc_preload_free(struct kvc_preload *preload)
{
    if (preload == NULL) {
        return;
    }
    kvc_source_free(preload->source);
    kvc_batch_free(preload->batch);
    free(preload->end);
    free(preload);
}

struct kvc_preload *kvc_preload_create(const struct kvc_source_params *params,
                                       const struct kvc_sampling *sampling, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = params->workload;
    bool trace = workload->arrival == KVC_ARRIVAL_TRACE;
    struct kvc_preload *preload = kvc_array_of(1, sizeof(*preload));
    preload->sampling = *sampling;
    preload->keys = trace ? 0 : (uint64_t)(workload->preload_frac * (double)workload->keys);
    preload->seed = params->seed;
    preload->shards = params->nodes * params->sockets;
    preload->end = kvc_array_of(preload->shards + 1, sizeof(*preload->end));
    preload->source = kvc_source_create(params, diag);
    preload->batch = kvc_batch_create(KVC_PRELOAD_KEYS_MAX, kvc_workload_key_stride(workload));
    if (preload->source == NULL) {
        kvc_preload_free(preload);
        return NULL;
    }
    return preload;
}

/* Makes a random order of `count` numbers. */
static void shuffle(struct kvc_rng *rng, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)kvc_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

/* Sorts the rows of the batch by shard, in their random order, and leaves those out that no node owns. The
 * rows of shard s become row[end[s - 1]] to row[end[s] - 1]. */
static void sort_by_shard(struct kvc_preload *preload)
{
    const struct kvc_batch *batch = preload->batch;
    uint32_t *shard_of = preload->shard_of, *end = preload->end, total = 0;
    kvc_source_shards(preload->source, batch->hash, batch->count, shard_of);
    memset(end, 0, (preload->shards + 1) * sizeof(*end));
    for (uint32_t i = 0; i < batch->count; i++) {
        bool is_held = kvc_source_holds_key(preload->source, batch->key_id[i]);
        shard_of[i] = is_held ? shard_of[i] : preload->shards;
        end[shard_of[i]]++;
    }
    for (uint32_t shard = 0; shard <= preload->shards; shard++) {
        uint32_t count = end[shard];
        end[shard] = total;
        total += count;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        preload->row[end[shard_of[preload->order[i]]]++] = preload->order[i];
    }
}

/* Visits the keys in the batch. */
static void visit_batch(struct walk *walk)
{
    struct kvc_preload *preload = walk->preload;
    shuffle(&walk->rng, preload->order, preload->batch->count);
    sort_by_shard(preload);
    for (uint32_t shard = 0, first = 0; shard < preload->shards; shard++) {
        uint32_t count = preload->end[shard] - first;
        if (count > 0) {
            const struct kvc_preload_visit visit = {
                .shard = shard, .batch = preload->batch, .row = preload->row + first, .count = count};
            walk->visit(walk->data, &visit);
        }
        first = preload->end[shard];
    }
}

/* Adds the keys among `first` to end - 1 that the sample contains to the batch. */
static void add_keys(struct kvc_preload *preload, uint64_t first, uint64_t end)
{
    kvc_sampling_add_keys(&preload->sampling, preload->source, first, end, preload->batch);
}

static void walk_popular_last(struct walk *walk)
{
    struct kvc_preload *preload = walk->preload;
    /* A block of a sample spans about as many ids as one of all keys, because the order within a block has
     * nothing to do with popularity. */
    uint64_t rate = preload->sampling.rate, span = rate < BLOCK_KEYS ? BLOCK_KEYS / rate * rate : rate;
    for (uint64_t end = preload->keys, first; end > 0; end = first) {
        first = end > span ? end - span : 0;
        preload->batch->count = 0;
        add_keys(preload, first, end);
        visit_batch(walk);
        kvc_progress_report(walk->progress, walk->step, 1 - (double)first / (double)preload->keys);
    }
}

/* Every key of the sample lies in a stratum of its own, and only whole strata are visited. Each block
 * contains runs of strata of all popularities, so that the popular keys are not next to each other in the
 * store.
 */
static void walk_spread(struct walk *walk)
{
    struct kvc_preload *preload = walk->preload;
    uint64_t rate = preload->sampling.rate, strata = preload->keys / rate, runs = (strata + RUN - 1) / RUN;
    uint32_t blocks = (uint32_t)((runs + BLOCK_RUNS - 1) / BLOCK_RUNS);
    uint32_t *order = kvc_array_of(blocks + 1, sizeof(*order));
    shuffle(&walk->rng, order, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        preload->batch->count = 0;
        for (uint64_t run = order[i]; run < runs; run += blocks) {
            uint64_t end = (run + 1) * RUN < strata ? (run + 1) * RUN : strata;
            add_keys(preload, run * RUN * rate, end * rate);
        }
        visit_batch(walk);
        kvc_progress_report(walk->progress, walk->step, (double)(i + 1) / blocks);
    }
    free(order);
}

void kvc_preload_walk(struct kvc_preload *preload, enum kvc_preload_order order,
                      const struct kvc_progress *progress, const char *step,
                      void (*visit)(void *data, const struct kvc_preload_visit *visit), void *data)
{
    struct walk walk = {.preload = preload, .progress = progress, .step = step, .visit = visit, .data = data};
    kvc_rng_init(&walk.rng, preload->seed, "preload", 0);
    if (order == KVC_PRELOAD_POPULAR_LAST) {
        walk_popular_last(&walk);
    } else {
        walk_spread(&walk);
    }
}
