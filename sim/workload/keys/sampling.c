#include "sim/workload/keys/sampling.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"

enum { FIRST_STRATA = 8, CHOICE_STRATA = 65536, BLOCK_KEYS = 1024 };

struct kvc_sampling kvc_sampling_of(const struct kvc_workload *workload, uint64_t rate, uint64_t hot_strata)
{
    struct kvc_sampling sampling = {.rate = rate};
    if (rate > 1 && workload->popularity != KVC_POPULARITY_UNIFORM) {
        uint64_t hot = hot_strata * rate, half = workload->keys / 2 / rate * rate;
        sampling.hot_keys = hot < half ? hot : half;
    }
    return sampling;
}

void kvc_sampling_add_keys(const struct kvc_sampling *sampling, const struct kvc_source *source,
                           uint64_t first, uint64_t end, struct kvc_batch *batch)
{
    uint64_t rate = sampling->rate;
    if (rate == 1) {
        kvc_source_keys(source, first, (uint32_t)(end - first), batch);
        return;
    }
    for (uint64_t stratum = first / rate; stratum * rate < end; stratum++) {
        uint64_t key_id = kvc_sampling_key(stratum, rate);
        if (key_id >= first && key_id < end) {
            kvc_source_keys(source, key_id, 1, batch);
        }
    }
}

/* ---- representatives ---- */

/* A stratum whose key may represent others. */
struct candidate {
    uint32_t shard, kind, stratum;
};

static int compare(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->shard != b->shard) {
        return a->shard < b->shard ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->stratum < b->stratum ? -1 : a->stratum > b->stratum;
}

static struct candidate candidate_of(const struct kvc_source *source, const struct kvc_sampling_kinds *kinds,
                                     const struct kvc_batch *batch, uint32_t row, uint64_t stratum)
{
    return (struct candidate){kvc_source_shard(source, batch->hash[row]),
                              kinds->kind(batch->key_bytes[row], batch->value_bytes[row]), (uint32_t)stratum};
}

/* Returns the number of the first candidate that does not come before `wanted`, or the last one. */
static size_t find(const struct candidate *candidate, size_t count, const struct candidate *wanted)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&candidate[middle], wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the stratum of the nearest candidate of the wanted shard and kind. If there is none, returns the
 * stratum of the nearest candidate of the shard, or the wanted stratum. */
static uint64_t nearest(const struct candidate *candidate, size_t count, const struct candidate *wanted)
{
    size_t at = find(candidate, count, wanted), before = at > 0 ? at - 1 : at;
    const struct candidate *next = &candidate[at], *last = &candidate[before];
    bool fits = next->shard == wanted->shard && next->kind == wanted->kind;
    bool last_fits = last->shard == wanted->shard && last->kind == wanted->kind;
    if (fits && last_fits) {
        fits = next->stratum - wanted->stratum <= wanted->stratum - last->stratum;
    }
    if (fits || (!last_fits && next->shard == wanted->shard)) {
        return next->stratum;
    }
    return last->shard == wanted->shard ? last->stratum : wanted->stratum;
}

static struct candidate *candidates_of(const struct kvc_sampling *sampling, const struct kvc_source *source,
                                       const struct kvc_sampling_kinds *kinds, struct kvc_batch *batch,
                                       size_t count)
{
    struct candidate *candidate = kvc_array_of(count, sizeof(*candidate));
    for (size_t stratum = 0; stratum < count; stratum++) {
        batch->count = 0;
        kvc_source_keys(source, kvc_sampling_key(stratum, sampling->rate), 1, batch);
        candidate[stratum] = candidate_of(source, kinds, batch, 0, stratum);
    }
    qsort(candidate, count, sizeof(*candidate), compare);
    return candidate;
}

uint64_t *kvc_sampling_representatives(const struct kvc_sampling *sampling, const struct kvc_source *source,
                                       const struct kvc_sampling_kinds *kinds)
{
    uint64_t rate = sampling->rate, strata = rate > 0 ? kinds->keys / rate : 0;
    size_t count = strata < CHOICE_STRATA ? strata : CHOICE_STRATA;
    if (sampling->hot_keys == 0 || count == 0) {
        return NULL;
    }
    struct kvc_batch *batch = kvc_batch_create(BLOCK_KEYS, kinds->key_stride);
    uint64_t *key_id = kvc_array_of(sampling->hot_keys, sizeof(*key_id));
    struct candidate *candidate = candidates_of(sampling, source, kinds, batch, count);
    for (uint64_t first = 0; first < sampling->hot_keys; first += batch->count) {
        uint64_t left = sampling->hot_keys - first;
        batch->count = 0;
        kvc_source_keys(source, first, left < BLOCK_KEYS ? (uint32_t)left : BLOCK_KEYS, batch);
        for (uint32_t i = 0; i < batch->count; i++) {
            uint64_t at = kvc_mix64(first + i) % count;
            if (kinds->choice == KVC_SAMPLING_ALIKE) {
                uint64_t stratum = (first + i) / rate;
                at = stratum < FIRST_STRATA ? at % FIRST_STRATA : stratum;
            }
            struct candidate wanted = candidate_of(source, kinds, batch, i, at);
            key_id[first + i] = kvc_sampling_key(nearest(candidate, count, &wanted), rate);
        }
    }
    free(candidate);
    kvc_batch_free(batch);
    return key_id;
}
