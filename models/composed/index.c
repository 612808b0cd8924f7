#include "models/composed/index.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/index_kinds.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/memo.h"
#include "sim/base/rng.h"

/* Names of the kinds, in the order of the words of system.index.kernel. */
static const char *const kind_names[] = {
    NULL,
    "megakv-cuckoo",
    "cuckoo-interleaved",
    "memcachedgpu-set-assoc",
    "memcachedgpu-hopscotch",
    "memcachedgpu-chained",
    "kvdirect",
    "bluecache",
    "mica",
    "memc3",
    "farm-hopscotch",
};

const struct kvc_index_kind *kvc_composed_index_kind(int kernel)
{
    for (size_t i = 0; kernel > 0 && kvc_index_kinds[i] != NULL; i++) {
        if (strcmp(kvc_index_kinds[i]->name, kind_names[kernel]) == 0) {
            return kvc_index_kinds[i];
        }
    }
    return NULL;
}

void kvc_composed_pair_kernels(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; kvc_index_kinds[i] != NULL; i++) {
        if (kvc_index_kinds[i]->pairs != NULL) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", kvc_index_kinds[i]->name);
        }
    }
}

/* Size of the index that stands for larger ones [bytes]. */
enum { TRIAL_BYTES = 1 << 18 };

static struct kvc_index *create_trial(const struct kvc_index_kind *kind, const struct kvc_index_pairs *pairs)
{
    struct kvc_index *index =
        pairs != NULL ? kind->pairs->create(TRIAL_BYTES, pairs, 1) : kind->create(TRIAL_BYTES, 1);
    if (index == NULL) {
        kvc_out_of_memory("an index of %d KiB", TRIAL_BYTES / 1024);
    }
    return index;
}

double kvc_composed_index_slots(const struct kvc_index_kind *kind, const struct kvc_index_pairs *pairs,
                                double bytes)
{
    static _Thread_local struct kvc_memo memo;
    enum { ARGUMENTS = 3 };
    double argument[ARGUMENTS] = {(double)kvc_name_hash(kind->name)}, slots;
    if (pairs != NULL) {
        argument[1] = pairs->inline_bytes;
        argument[2] = pairs->pair_bytes;
    }
    if (!kvc_memo_find_all(&memo, argument, ARGUMENTS, &slots, 1)) {
        struct kvc_index *index = create_trial(kind, pairs);
        slots = (double)kvc_index_capacity(index);
        kvc_index_free(index);
        kvc_memo_keep_all(&memo, argument, ARGUMENTS, &slots, 1);
    }
    return slots * bytes / TRIAL_BYTES;
}

double kvc_composed_index_bytes(const struct kvc_index_kind *kind, const struct kvc_index_pairs *pairs,
                                double keys)
{
    static const double load_most = 0.9;
    double bytes = KVC_COMPOSED_INDEX_LEAST;
    while (keys > load_most * kvc_composed_index_slots(kind, pairs, bytes)) {
        bytes *= 2;
    }
    return bytes;
}

static double per(uint64_t sum, uint64_t operations)
{
    return operations > 0 ? (double)sum / (double)operations : 0;
}

static struct kvc_composed_lines measure_lines(const struct kvc_index_kind *kind,
                                               const struct kvc_index_pairs *pairs, double load_frac)
{
    struct kvc_index *index = create_trial(kind, pairs);
    uint32_t keys = (uint32_t)fmax(load_frac * (double)kvc_index_capacity(index), 64);
    uint64_t *hash = kvc_array_of(2 * keys, sizeof(*hash));
    uint32_t *location = kvc_array_of(2 * keys, sizeof(*location));
    struct kvc_index_stats filled = {0}, hit = {0}, miss = {0}, insert = {0}, erase = {0};
    for (uint32_t i = 0; i < 2 * keys; i++) {
        hash[i] = kvc_mix64(i + 1);
        location[i] = pairs != NULL ? pairs->pair_bytes : i;
    }
    kvc_index_insert(index, hash, location, keys, NULL, &filled);
    kvc_index_search(index, hash, keys, location, &hit);
    kvc_index_search(index, hash + keys, keys, location + keys, &miss);
    for (uint32_t i = 0; i < keys; i++) {
        location[i] = pairs != NULL ? pairs->pair_bytes : i;
    }
    kvc_index_insert(index, hash, location, keys, NULL, &insert);
    kvc_index_erase(index, hash, location, keys / 2, NULL, &erase);
    kvc_index_free(index);
    free(hash);
    free(location);
    return (struct kvc_composed_lines){.kept = per(hit.search_hits, hit.searches),
                                       .hit = per(hit.search_lines, hit.searches),
                                       .miss = per(miss.search_lines, miss.searches),
                                       .insert = per(insert.insert_lines, insert.inserts),
                                       .erase = per(erase.erase_lines, erase.erases),
                                       .hit_next = per(hit.search_next_lines, hit.searches),
                                       .insert_next = per(insert.insert_next_lines, insert.inserts),
                                       .erase_next = per(erase.erase_next_lines, erase.erases)};
}

struct kvc_composed_lines kvc_composed_index_lines(const struct kvc_index_kind *kind,
                                                   const struct kvc_index_pairs *pairs, double load_frac)
{
    static _Thread_local struct kvc_memo memo;
    enum { RESULTS = 8, ARGUMENTS = 4 };
    double load = round(fmin(fmax(load_frac, 0), 1) * 100) / 100, result[RESULTS];
    double argument[ARGUMENTS] = {(double)kvc_name_hash(kind->name), load};
    if (pairs != NULL) {
        argument[2] = pairs->inline_bytes;
        argument[3] = pairs->pair_bytes;
    }
    if (!kvc_memo_find_all(&memo, argument, ARGUMENTS, result, RESULTS)) {
        struct kvc_composed_lines lines = measure_lines(kind, pairs, load);
        memcpy(result, &lines, sizeof(result));
        kvc_memo_keep_all(&memo, argument, ARGUMENTS, result, RESULTS);
    }
    return (struct kvc_composed_lines){result[0], result[1], result[2], result[3],
                                       result[4], result[5], result[6], result[7]};
}
