#include "models/composed/index.h"

#include <math.h>
#include <stdint.h>
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

/* Size of the index that stands for larger ones [bytes]. */
enum { TRIAL_BYTES = 1 << 18 };

static struct kvc_index *create_trial(const struct kvc_index_kind *kind)
{
    struct kvc_index *index = kind->create(TRIAL_BYTES, 1);
    if (index == NULL) {
        kvc_out_of_memory("an index of %d KiB", TRIAL_BYTES / 1024);
    }
    return index;
}

double kvc_composed_index_slots(const struct kvc_index_kind *kind, double bytes)
{
    static _Thread_local struct kvc_memo memo;
    double argument[] = {(double)kvc_name_hash(kind->name)}, slots;
    if (!kvc_memo_find(&memo, argument, &slots)) {
        struct kvc_index *index = create_trial(kind);
        slots = (double)kvc_index_capacity(index);
        kvc_index_free(index);
        kvc_memo_keep(&memo, argument, 1, slots);
    }
    return slots * bytes / TRIAL_BYTES;
}

double kvc_composed_index_bytes(const struct kvc_index_kind *kind, double keys)
{
    static const double load_most = 0.9;
    double bytes = KVC_COMPOSED_INDEX_LEAST;
    while (keys > load_most * kvc_composed_index_slots(kind, bytes)) {
        bytes *= 2;
    }
    return bytes;
}

static double per(uint64_t sum, uint64_t operations)
{
    return operations > 0 ? (double)sum / (double)operations : 0;
}

static struct kvc_composed_lines measure_lines(const struct kvc_index_kind *kind, double load_frac)
{
    struct kvc_index *index = create_trial(kind);
    uint32_t keys = (uint32_t)fmax(load_frac * (double)kvc_index_capacity(index), 64);
    uint64_t *hash = kvc_array_of(2 * keys, sizeof(*hash));
    uint32_t *location = kvc_array_of(2 * keys, sizeof(*location));
    struct kvc_index_stats filled = {0}, hit = {0}, miss = {0}, insert = {0}, erase = {0};
    for (uint32_t i = 0; i < 2 * keys; i++) {
        hash[i] = kvc_mix64(i + 1);
        location[i] = i;
    }
    kvc_index_insert(index, hash, location, keys, NULL, &filled);
    kvc_index_search(index, hash, keys, location, &hit);
    kvc_index_search(index, hash + keys, keys, location + keys, &miss);
    for (uint32_t i = 0; i < keys; i++) {
        location[i] = i;
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
                                       .erase = per(erase.erase_lines, erase.erases)};
}

struct kvc_composed_lines kvc_composed_index_lines(const struct kvc_index_kind *kind, double load_frac)
{
    static _Thread_local struct kvc_memo memo;
    enum { RESULTS = 5, ARGUMENTS = 3 };
    double load = round(fmin(fmax(load_frac, 0), 1) * 100) / 100, result[RESULTS];
    double argument[ARGUMENTS] = {(double)kvc_name_hash(kind->name), load, 0};
    if (!kvc_memo_find_all(&memo, argument, ARGUMENTS, result, RESULTS)) {
        struct kvc_composed_lines lines = measure_lines(kind, load);
        memcpy(result, &lines, sizeof(result));
        kvc_memo_keep_all(&memo, argument, ARGUMENTS, result, RESULTS);
    }
    return (struct kvc_composed_lines){result[0], result[1], result[2], result[3], result[4]};
}
