/* The tasks of a batch on the real index and slabs. */
#include <string.h>

#include "models/dido/simulation.h"
#include "sim/base/clock.h"

/* ---- the rows that run through the real structures ---- */

static bool keeps(struct kvc_dido_simulation *simulation, struct kvc_batch *rows, uint32_t row)
{
    const struct kvc_shards *store = simulation->store;
    if (store->sampling.rate <= 1) {
        return store->sampling.rate == 1;
    }
    if (!kvc_sampling_keeps_request(&store->sampling, rows->key_id[row], &simulation->thinning)) {
        return false;
    }
    if (rows->key_id[row] < store->sampling.hot_keys) {
        kvc_shards_represent(store, simulation->replica.source, rows, row);
    }
    return true;
}

void kvc_dido_sample(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_batch *rows = batch->rows;
    batch->gets = batch->sets = batch->hits = batch->evictions = 0;
    batch->kept_count = batch->kept_gets = batch->kept_sets = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool get = rows->op[i] == KVC_OP_GET, set = rows->op[i] == KVC_OP_SET;
        batch->gets += get;
        batch->sets += set;
        if (keeps(simulation, rows, i)) {
            batch->kept[batch->kept_count++] = i;
            batch->kept_gets += get;
            batch->kept_sets += set;
        }
    }
}

/* Lists the kept rows of an operation. Returns how many there are. */
static uint32_t list_rows(struct kvc_dido_simulation *simulation, const struct kvc_dido_batch *batch,
                          enum kvc_op op)
{
    const struct kvc_batch *rows = batch->rows;
    uint32_t count = 0;
    for (uint32_t k = 0; k < batch->kept_count; k++) {
        uint32_t i = batch->kept[k];
        simulation->rows[count] = i;
        simulation->hashes[count] = rows->hash[i];
        count += rows->op[i] == op;
    }
    return count;
}

/* Returns how many queries of the batch `count` of the kept SETs stand for, as a share of the batch. */
static double share_of_sets(const struct kvc_dido_batch *batch, uint32_t count)
{
    return count * ((double)batch->sets / batch->kept_sets) / batch->rows->count;
}

/* Records the lines of an operation since `before`, unless there was none. */
static void note_lines(double *mean, uint64_t lines, uint64_t lines_before, uint64_t count,
                       uint64_t count_before)
{
    if (count > count_before) {
        *mean = (double)(lines - lines_before) / (double)(count - count_before);
    }
}

static void manage_memory(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_shard *shard = &simulation->store->shards[0];
    uint32_t sets = list_rows(simulation, batch, KVC_OP_SET);
    batch->evictions = kvc_shards_write(simulation->store, shard, batch->rows, simulation->rows, sets,
                                        simulation->locations, batch->evicted);
    for (uint32_t i = 0; i < sets; i++) {
        batch->location[simulation->rows[i]] = simulation->locations[i];
    }
    uint32_t deletes = batch->rows->count - batch->gets - batch->sets;
    batch->mix.set_frac = (double)batch->sets / batch->rows->count;
    if (sets > 0) {
        batch->mix.erase_frac = share_of_sets(batch, batch->evictions) + (double)deletes / batch->rows->count;
    } else if (batch->sets == 0) {
        batch->mix.erase_frac = (double)deletes / batch->rows->count;
    }
}

static void search(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_shard *shard = &simulation->store->shards[0];
    const struct kvc_index_stats before = shard->index_stats;
    uint32_t gets = list_rows(simulation, batch, KVC_OP_GET);
    kvc_index_search(shard->index, simulation->hashes, gets, simulation->locations, &shard->index_stats);
    for (uint32_t i = 0; i < gets; i++) {
        batch->location[simulation->rows[i]] = simulation->locations[i];
    }
    note_lines(&batch->mix.search_lines, shard->index_stats.search_lines, before.search_lines,
               shard->index_stats.searches, before.searches);
}

static void insert(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_shard *shard = &simulation->store->shards[0];
    const struct kvc_index_stats before = shard->index_stats;
    uint32_t inserts = 0;
    for (uint32_t k = 0; k < batch->kept_count; k++) {
        uint32_t i = batch->kept[k];
        simulation->hashes[inserts] = batch->rows->hash[i];
        simulation->locations[inserts] = batch->location[i];
        inserts += batch->rows->op[i] == KVC_OP_SET && batch->location[i] != KVC_LOCATION_NONE;
    }
    kvc_index_insert(shard->index, simulation->hashes, simulation->locations, inserts, NULL,
                     &shard->index_stats);
    if (batch->kept_sets > 0) {
        batch->mix.insert_frac = share_of_sets(batch, inserts);
    } else if (batch->sets == 0) {
        batch->mix.insert_frac = 0;
    }
    note_lines(&batch->mix.insert_lines, shard->index_stats.insert_lines, before.insert_lines,
               shard->index_stats.inserts, before.inserts);
}

static void erase(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_shard *shard = &simulation->store->shards[0];
    const struct kvc_index_stats before = shard->index_stats;
    for (uint32_t i = 0; i < batch->evictions; i++) {
        simulation->hashes[i] = batch->evicted[i].hash;
        simulation->locations[i] = batch->evicted[i].location;
    }
    kvc_index_erase(shard->index, simulation->hashes, simulation->locations, batch->evictions, NULL,
                    &shard->index_stats);
    uint32_t deletes = list_rows(simulation, batch, KVC_OP_DELETE);
    for (uint32_t i = 0; i < deletes; i++) {
        simulation->locations[i] = KVC_LOCATION_ANY;
    }
    kvc_index_erase(shard->index, simulation->hashes, simulation->locations, deletes, simulation->locations,
                    &shard->index_stats);
    for (uint32_t i = 0; i < deletes; i++) {
        if (simulation->locations[i] != KVC_LOCATION_NONE) {
            kvc_megakv_slab_release_key(shard->slab, simulation->locations[i], simulation->hashes[i]);
        }
    }
    note_lines(&batch->mix.erase_lines, shard->index_stats.erase_lines, before.erase_lines,
               shard->index_stats.erases, before.erases);
}

/* KC and RD of the real code are one call. A stage with one of them alone reads at KC. */
static void read_items(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    struct kvc_shard *shard = &simulation->store->shards[0];
    const struct kvc_batch *rows = batch->rows;
    for (uint32_t i = 0; i < rows->count; i++) {
        simulation->locations[i] = KVC_LOCATION_NONE;
    }
    for (uint32_t k = 0; k < batch->kept_count; k++) {
        uint32_t i = batch->kept[k];
        simulation->locations[i] = rows->op[i] == KVC_OP_GET ? batch->location[i] : KVC_LOCATION_NONE;
    }
    struct kvc_megakv_slab_reads reads = {
        .count = rows->count,
        .location = simulation->locations,
        .hash = rows->hash,
        .keys = rows->keys,
        .key_stride = rows->key_stride,
        .key_bytes = rows->key_bytes,
        .compare = true,
        .out = simulation->response,
        .out_bytes = KVC_DIDO_RESPONSE_BYTES,
        .out_position = &simulation->response_position,
        .result = simulation->result,
    };
    kvc_megakv_slab_read(shard->slab, &reads, &shard->slab_stats);
    for (uint32_t k = 0; k < batch->kept_count; k++) {
        uint32_t i = batch->kept[k];
        bool hit = simulation->result[i] == KVC_MEGAKV_SLAB_HIT;
        batch->outcome[i] = hit ? KVC_DIDO_HIT : KVC_DIDO_MISS;
        batch->hits += rows->op[i] == KVC_OP_GET && hit;
    }
    if (batch->kept_gets > 0 || batch->gets == 0) {
        batch->mix.hit_frac = batch->gets > 0 ? (double)batch->hits / batch->kept_gets : 1;
    }
}

/* Draws the outcomes of the GETs that are not kept, with the hit ratio of those that are. */
static void draw_outcomes(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < batch->rows->count; i++) {
        bool kept = k < batch->kept_count && batch->kept[k] == i;
        k += kept;
        if (batch->rows->op[i] != KVC_OP_GET) {
            batch->outcome[i] = KVC_DIDO_DONE;
        } else if (!kept) {
            bool hit = kvc_rng_unit(&simulation->drawn) < batch->mix.hit_frac;
            batch->outcome[i] = hit ? KVC_DIDO_HIT : KVC_DIDO_MISS;
        }
    }
}

void kvc_dido_execute(struct kvc_dido_simulation *simulation, struct kvc_dido_batch *batch, uint32_t stage)
{
    static void (*const executes[KVC_DIDO_TASKS])(struct kvc_dido_simulation *, struct kvc_dido_batch *) = {
        [KVC_DIDO_MM] = manage_memory, [KVC_DIDO_SEARCH] = search, [KVC_DIDO_INSERT] = insert,
        [KVC_DIDO_ERASE] = erase,      [KVC_DIDO_KC] = read_items,
    };
    uint64_t started = kvc_clock_ticks();
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if (executes[task] != NULL && batch->kept_count > 0 &&
            kvc_dido_stage_has(&batch->pipeline.stage[stage], (enum kvc_dido_task)task)) {
            executes[task](simulation, batch);
        }
    }
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
    if (kvc_dido_stage_has(&batch->pipeline.stage[stage], KVC_DIDO_KC)) {
        draw_outcomes(simulation, batch);
    }
}
