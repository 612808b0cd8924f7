#include "models/composed/hot.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/megakv/slab.h"
#include "models/shards/sizes.h"
#include "sim/base/array.h"

void kvc_composed_share_learn(struct kvc_composed_share *share, uint32_t events, uint32_t hits)
{
    enum { EVENTS_KEPT = 4096 };
    share->known += events;
    share->hits += hits;
    if (share->known > 0) {
        share->frac = share->hits / share->known;
    }
    if (share->known >= EVENTS_KEPT) {
        share->known /= 2;
        share->hits /= 2;
    }
}

struct kvc_composed_lines kvc_composed_hot_lines(const struct kvc_composed_config *config, double load_frac)
{
    if (config->hot_index == NULL) {
        double entry = kvc_composed_index_lines(config->index, kvc_composed_pairs_of(config), load_frac).hit;
        return (struct kvc_composed_lines){.kept = 1, .insert = entry, .erase = entry};
    }
    double slots = kvc_composed_index_slots(config->hot_index, NULL, config->hot_index_bytes);
    return kvc_composed_index_lines(config->hot_index, NULL, fmin(config->hot_items / slots, 1));
}

void kvc_composed_hot_open(struct kvc_composed_hot *hot, const struct kvc_composed_config *config,
                           struct kvc_shards *store, uint32_t shard, uint32_t rows, double hot_frac,
                           uint64_t seed)
{
    *hot = (struct kvc_composed_hot){
        .config = config, .store = store, .hits = {.frac = hot_frac}, .fills = {.frac = 1}};
    if (store != NULL && store->shards != NULL) {
        hot->shard = &store->shards[shard];
    }
    hot->row = kvc_array_of(rows, sizeof(*hot->row));
    hot->location = kvc_array_of(rows, sizeof(*hot->location));
    hot->hash = kvc_array_of(rows, sizeof(*hot->hash));
    hot->result = kvc_array_of(rows, sizeof(*hot->result));
    hot->values = kvc_array_of(KVC_MEGAKV_SLAB_VALUE_MAX, 1);
    kvc_rng_init(&hot->outcome, seed, "composed.hot", shard);
    kvc_rng_init(&hot->admission, seed, "composed.admission", shard);
}

void kvc_composed_hot_close(struct kvc_composed_hot *hot)
{
    free(hot->row);
    free(hot->location);
    free(hot->hash);
    free(hot->result);
    free(hot->values);
}

/* Returns the lines per operation that the real index touched, or their mean if nothing ran. */
static double lines_per(uint64_t before, uint64_t after, uint32_t operations, double mean)
{
    return operations > 0 ? (double)(after - before) / operations : mean;
}

/* ---- GETs ---- */

/* Marks the kept rows that the tier has. Returns their searches. */
static uint32_t search_kept(struct kvc_composed_hot *hot, struct kvc_composed_job *job)
{
    const struct kvc_batch *rows = job->rows;
    uint32_t gets = 0, hits = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        hot->row[gets] = i;
        hot->hash[gets] = rows->hash[i];
        gets += rows->op[i] == KVC_OP_GET && job->kept[i] != 0;
    }
    kvc_index_search(hot->shard->index, hot->hash, gets, hot->location, &hot->shard->index_stats);
    for (uint32_t i = gets, left = rows->count; left-- > 0;) { /* Back to their rows. */
        bool searched = i > 0 && hot->row[i - 1] == left;
        hot->location[left] = searched ? hot->location[i - 1] : KVC_LOCATION_NONE;
        i -= searched;
    }
    const struct kvc_megakv_slab_reads reads = {.count = rows->count,
                                                .location = hot->location,
                                                .hash = rows->hash,
                                                .keys = rows->keys,
                                                .key_stride = rows->key_stride,
                                                .key_bytes = rows->key_bytes,
                                                .compare = true,
                                                .out = hot->values,
                                                .out_bytes = KVC_MEGAKV_SLAB_VALUE_MAX,
                                                .out_position = &hot->values_position,
                                                .result = hot->result};
    kvc_megakv_slab_read(hot->shard->slab, &reads, &hot->shard->slab_stats);
    for (uint32_t i = 0; i < gets; i++) {
        bool hit = hot->result[hot->row[i]] == KVC_MEGAKV_SLAB_HIT;
        job->hot[hot->row[i]] = hit;
        hits += hit;
    }
    kvc_composed_share_learn(&hot->hits, gets, hits);
    return gets;
}

void kvc_composed_hot_search(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                             struct kvc_composed_counts *counts)
{
    const struct kvc_batch *rows = job->rows;
    bool own = hot->config->hot_index != NULL;
    double all = counts->ops[KVC_OP_GET],
           lines = hot->hits.frac * hot->lines.hit + (1 - hot->hits.frac) * hot->lines.miss;
    uint32_t hots = 0;
    if (hot->shard != NULL && all > 0) {
        uint64_t before = hot->shard->index_stats.search_lines;
        uint32_t gets = search_kept(hot, job);
        lines = lines_per(before, hot->shard->index_stats.search_lines, gets, lines);
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->op[i] == KVC_OP_GET && job->kept[i] == 0) {
            job->hot[i] = kvc_rng_unit(&hot->outcome) < hot->hits.frac;
        }
        hots += job->hot[i];
    }
    job->counts.hots = counts->hots = hots;
    job->alike = 0;
    counts->searches += own ? all : 0;
    counts->search_lines += own ? all * lines : 0;
}

/* ---- what comes and goes ---- */

/* Copies the item of a row. Returns whether it was wanting. */
static bool fill_row(struct kvc_composed_hot *hot, const struct kvc_batch *rows, uint32_t row,
                     uint32_t *evictions)
{
    struct kvc_shard *shard = hot->shard;
    struct kvc_index_stats looks = {0}; /* An insert looks at the same lines. */
    struct kvc_megakv_slab_evicted evicted;
    uint32_t location;
    kvc_index_search(shard->index, &rows->hash[row], 1, &location, &looks);
    if (location != KVC_LOCATION_NONE) {
        return false;
    }
    if (kvc_shards_write(hot->store, shard, rows, &row, 1, &location, &evicted) > 0) {
        kvc_index_erase(shard->index, &evicted.hash, &evicted.location, 1, NULL, &shard->index_stats);
        ++*evictions;
    }
    if (location != KVC_LOCATION_NONE) {
        kvc_index_insert(shard->index, &rows->hash[row], &location, 1, NULL, &shard->index_stats);
    }
    return true;
}

void kvc_composed_hot_fill(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                           struct kvc_composed_counts *counts)
{
    const struct kvc_batch *rows = job->rows;
    const struct kvc_composed_config *config = hot->config;
    double admit = config->options->hot.admit, bytes = 0, copied = 0, all = 0, fills, evictions;
    uint32_t kept = 0, filled = 0, evicted = 0;
    struct kvc_index_stats before = {0}, after = {0};
    if (hot->shard != NULL) {
        before = hot->shard->index_stats;
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        bool has = job->outcome[i] == KVC_COMPOSED_HIT || job->outcome[i] == KVC_COMPOSED_FETCHED,
             found = rows->op[i] == KVC_OP_GET && job->hot[i] == 0 && has;
        if (!found || (admit < 1 && kvc_rng_unit(&hot->admission) >= admit)) {
            continue;
        }
        all++;
        bytes += kvc_shards_touched_bytes(rows->key_bytes[i], rows->value_bytes[i]);
        copied += rows->key_bytes[i] + rows->value_bytes[i];
        if (job->kept[i] != 0 && hot->shard != NULL) {
            kept++;
            filled += fill_row(hot, rows, i, &evicted);
        }
    }
    if (hot->shard != NULL) {
        after = hot->shard->index_stats;
    }
    kvc_composed_share_learn(&hot->fills, kept, filled);
    double frac = kept > 0 ? (double)filled / kept : hot->fills.frac;
    bool own = config->hot_index != NULL;
    fills = all * frac;
    evictions = filled > 0 ? fills * evicted / filled : fills;
    counts->written_bytes += bytes * frac;
    counts->copied_bytes += copied * frac;
    counts->inserts += fills;
    counts->insert_lines +=
        fills * (own ? lines_per(before.insert_lines, after.insert_lines, filled, hot->lines.insert)
                     : hot->lines.insert);
    counts->erases += evictions;
    counts->erase_lines +=
        evictions * (own ? lines_per(before.erase_lines, after.erase_lines, evicted, hot->lines.erase)
                         : hot->lines.erase);
}

void kvc_composed_hot_erase(struct kvc_composed_hot *hot, struct kvc_composed_job *job,
                            struct kvc_composed_counts *counts)
{
    const struct kvc_batch *rows = job->rows;
    struct kvc_shard *shard = hot->shard;
    double all = counts->ops[KVC_OP_SET] + counts->ops[KVC_OP_DELETE], lines = hot->lines.erase;
    uint32_t count = 0, any = KVC_LOCATION_ANY, out;
    uint64_t before = shard != NULL ? shard->index_stats.erase_lines : 0;
    for (uint32_t i = 0; i < rows->count && shard != NULL; i++) {
        if (rows->op[i] == KVC_OP_GET || job->kept[i] == 0) {
            continue;
        }
        kvc_index_erase(shard->index, &rows->hash[i], &any, 1, &out, &shard->index_stats);
        if (out != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release_key(shard->slab, out, rows->hash[i]);
        }
        count++;
    }
    if (hot->config->hot_index != NULL) { /* Otherwise, the store's own write changes the entry. */
        counts->erases += all;
        counts->erase_lines +=
            all * lines_per(before, shard != NULL ? shard->index_stats.erase_lines : 0, count, lines);
    }
}
