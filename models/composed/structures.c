#include "models/composed/structures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/shards/sizes.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"

enum { TIMED = 16 /* Calls for few requests of which one is timed. */ };

/* ---- structures of a shard ---- */

void kvc_composed_structures_open(struct kvc_composed_structures *structures,
                                  const struct kvc_composed_config *config,
                                  const struct kvc_composed_stores *stores, uint32_t shard,
                                  const struct kvc_source *source,
                                  const struct kvc_composed_expected *expected, uint64_t seed)
{
    uint32_t room = config->batch_room > config->frame_most ? config->batch_room : config->frame_most;
    double cold_frac = 1 - expected->hot_frac;
    double hit_frac = cold_frac > 0 ? (expected->hit_frac - expected->hot_frac) / cold_frac : 1;
    struct kvc_shards *store = stores != NULL ? stores->store : NULL;
    *structures = (struct kvc_composed_structures){
        .config = config, .store = store, .source = source, .hits = {.frac = hit_frac}, .rows_room = room};
    if (store != NULL && store->shards != NULL) {
        structures->shard = &store->shards[shard];
    }
    if (config->index != NULL) {
        structures->lines =
            kvc_composed_index_lines(config->index, kvc_composed_pairs_of(config), expected->load_frac);
    }
    if (config->has_hot) {
        kvc_composed_hot_open(&structures->hot, config, stores != NULL ? stores->hot : NULL, shard, room,
                              expected->hot_frac, seed);
        structures->hot.lines = kvc_composed_hot_lines(config, expected->load_frac);
    }
    structures->row = kvc_array_of(room, sizeof(*structures->row));
    structures->location = kvc_array_of(room, sizeof(*structures->location));
    structures->hash = kvc_array_of(room, sizeof(*structures->hash));
    structures->result = kvc_array_of(room, sizeof(*structures->result));
    structures->values = kvc_array_of(KVC_MEGAKV_SLAB_VALUE_MAX, 1);
    kvc_rng_init(&structures->thinning, seed, "composed.thinning", shard);
    kvc_rng_init(&structures->outcome, seed, "composed.outcome", shard);
}

void kvc_composed_structures_close(struct kvc_composed_structures *structures)
{
    kvc_composed_hot_close(&structures->hot);
    kvc_composed_writes_free(&structures->now);
    free(structures->row);
    free(structures->location);
    free(structures->hash);
    free(structures->result);
    free(structures->values);
}

void kvc_composed_structures_keep(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                                  uint32_t first)
{
    struct kvc_batch *rows = job->rows;
    uint64_t rate = structures->config->sample_rate;
    if (structures->shard == NULL || rate == 1) {
        memset(job->kept + first, structures->shard != NULL, rows->count - first);
        job->kept_count += structures->shard != NULL ? rows->count - first : 0;
        return;
    }
    for (uint32_t i = first; i < rows->count; i++) {
        job->kept[i] =
            kvc_sampling_keeps_request(&structures->store->sampling, rows->key_id[i], &structures->thinning);
        job->kept_count += job->kept[i];
        if (job->kept[i] != 0 && rows->key_id[i] < structures->store->sampling.hot_keys) {
            kvc_shards_represent(structures->store, structures->source, rows, i);
        }
    }
}

void kvc_composed_structures_expect(struct kvc_composed_structures *structures,
                                    const struct kvc_composed_job *job)
{
    const struct kvc_composed_config *config = structures->config;
    bool is_batched = config->batched < config->stages || job->rows->count > 1;
    if (structures->coming < KVC_COMPOSED_COMING && job->kept_count > 0 && !is_batched) {
        structures->coming_hash[structures->coming++] = job->rows->hash[0];
    }
}

void kvc_composed_structures_fetch(struct kvc_composed_structures *structures)
{
    enum { FEW = 4 /* Fewer lines come one after the other. */ };
    struct kvc_shard *shard = structures->shard;
    uint32_t location[KVC_COMPOSED_COMING], count = structures->coming;
    structures->coming = 0;
    if (count >= FEW && kvc_index_peek(shard->index, structures->coming_hash, count, location) &&
        shard->slab != NULL) {
        kvc_megakv_slab_fetch(shard->slab, location, count);
    }
}

/* Lists the kept rows of an operation that the hot tier does not answer, with their hashes. Returns how many
 * there are. */
static uint32_t list_rows(const struct kvc_composed_structures *structures,
                          const struct kvc_composed_job *job, enum kvc_op op)
{
    const struct kvc_batch *rows = job->rows;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        structures->row[count] = i;
        structures->hash[count] = rows->hash[i];
        bool is_one =
            op == KVC_OP_SET ? kvc_composed_job_stores(job, structures->config, i) : rows->op[i] == op;
        count += is_one && job->kept[i] != 0 && job->hot[i] == 0;
    }
    return count;
}

/* ---- writes that wait ---- */

static void add_write(uint64_t **hash, uint32_t **location, uint32_t *count, uint32_t *room,
                      uint64_t new_hash, uint32_t new_location)
{
    if (*count == *room) {
        *room = *room > 0 ? 2 * *room : 1024;
        *hash = kvc_array_grown(*hash, *room, sizeof(**hash));
        *location = kvc_array_grown(*location, *room, sizeof(**location));
    }
    (*hash)[*count] = new_hash;
    (*location)[(*count)++] = new_location;
}

static void add_insert(struct kvc_composed_writes *writes, uint64_t hash, uint32_t location)
{
    add_write(&writes->insert_hash, &writes->insert_location, &writes->inserts, &writes->insert_room, hash,
              location);
}

static void add_erase(struct kvc_composed_writes *writes, uint64_t hash, uint32_t location)
{
    add_write(&writes->erase_hash, &writes->erase_location, &writes->erases, &writes->erase_room, hash,
              location);
}

/* ---- operations ---- */

/* Appends the items of the first `count` listed rows to the log. */
static void append_items(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                         uint32_t count)
{
    struct kvc_shard *shard = structures->shard;
    const struct kvc_batch *rows = job->rows;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = structures->row[i];
        struct kvc_item_log_evicted gone;
        while (kvc_item_log_evict(shard->log, rows->key_bytes[row], rows->value_bytes[row], &gone)) {
            const struct kvc_megakv_slab_evicted evicted = {.location = gone.location, .hash = gone.hash};
            kvc_composed_job_evict(job, &evicted, 1);
            shard->slab_stats.evicted++;
        }
        job->location[row] = kvc_shards_append(structures->store, shard, rows, row);
    }
}

static void write_items(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                        struct kvc_composed_counts *counts)
{
    const struct kvc_batch *rows = job->rows;
    for (uint32_t i = 0; i < rows->count; i++) {
        counts->written_bytes += kvc_composed_job_stores(job, structures->config, i)
                                     ? kvc_shards_touched_bytes(rows->key_bytes[i], rows->value_bytes[i])
                                     : 0;
    }
    counts->copied_bytes += counts->op_bytes[KVC_OP_SET] + counts->filled_bytes;
    if (structures->shard == NULL || counts->ops[KVC_OP_SET] + counts->filled == 0) {
        return;
    }
    uint32_t sets = list_rows(structures, job, KVC_OP_SET);
    if (structures->shard->log != NULL) {
        append_items(structures, job, sets);
        return;
    }
    struct kvc_megakv_slab_evicted *evicted = kvc_array_of(sets + 1, sizeof(*evicted));
    uint32_t count = kvc_shards_write(structures->store, structures->shard, rows, structures->row, sets,
                                      structures->location, evicted);
    for (uint32_t i = 0; i < sets; i++) {
        job->location[structures->row[i]] = structures->location[i];
    }
    kvc_composed_job_evict(job, evicted, count);
    free(evicted);
}

static void search(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                   struct kvc_composed_counts *counts)
{
    struct kvc_shard *shard = structures->shard;
    double lines =
        structures->hits.frac * structures->lines.hit + (1 - structures->hits.frac) * structures->lines.miss;
    double searches = counts->ops[KVC_OP_GET] - counts->hots,
           next = structures->hits.frac * structures->lines.hit_next;
    if (shard != NULL && searches > 0) {
        const struct kvc_index_stats before = shard->index_stats;
        uint32_t gets = list_rows(structures, job, KVC_OP_GET);
        kvc_index_search(shard->index, structures->hash, gets, structures->location, &shard->index_stats);
        for (uint32_t i = 0; i < gets; i++) {
            job->location[structures->row[i]] = structures->location[i];
        }
        lines = gets > 0 ? (double)(shard->index_stats.search_lines - before.search_lines) / gets : lines;
        next = gets > 0 ? (double)(shard->index_stats.search_next_lines - before.search_next_lines) / gets
                        : next;
    }
    counts->searches += searches;
    counts->search_lines += searches * lines;
    counts->next_lines += searches * next;
}

/* Lists what a batch inserts and erases. */
static void list_writes(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                        uint32_t does, struct kvc_composed_writes *writes)
{
    const struct kvc_batch *rows = job->rows;
    bool inserts = (does & KVC_COMPOSED_INSERT) != 0, erases = (does & KVC_COMPOSED_ERASE) != 0;
    double rate = fmax((double)structures->config->sample_rate, 1);
    writes->all_inserts += inserts ? job->counts.ops[KVC_OP_SET] + job->counts.filled : 0;
    writes->all_erases += erases ? job->counts.ops[KVC_OP_DELETE] + job->evicted_count * rate : 0;
    for (uint32_t i = 0; i < rows->count && structures->shard != NULL; i++) {
        bool stores = kvc_composed_job_stores(job, structures->config, i);
        if ((rows->op[i] == KVC_OP_GET && !stores) || job->kept[i] == 0) {
            continue;
        }
        if (stores && inserts) {
            uint32_t place = structures->config->has_values ? job->location[i]
                                                            : kvc_shards_place(structures->store, rows, i);
            if (place != KVC_LOCATION_NONE) {
                add_insert(writes, rows->hash[i], place);
            }
        } else if (rows->op[i] == KVC_OP_DELETE && erases) {
            add_erase(writes, rows->hash[i], KVC_LOCATION_ANY);
        }
    }
    for (uint32_t i = 0; i < job->evicted_count && erases; i++) {
        add_erase(writes, job->evicted[i].hash, job->evicted[i].location);
    }
    job->evicted_count = erases ? 0 : job->evicted_count;
}

static void do_writes(struct kvc_composed_structures *structures, struct kvc_composed_writes *writes,
                      struct kvc_composed_counts *counts)
{
    struct kvc_shard *shard = structures->shard;
    double insert_lines = structures->lines.insert, erase_lines = structures->lines.erase;
    double insert_next = structures->lines.insert_next, erase_next = structures->lines.erase_next;
    if (writes->inserts > 0) {
        const struct kvc_index_stats before = shard->index_stats;
        kvc_index_insert(shard->index, writes->insert_hash, writes->insert_location, writes->inserts, NULL,
                         &shard->index_stats);
        insert_lines = (double)(shard->index_stats.insert_lines - before.insert_lines) / writes->inserts;
        insert_next =
            (double)(shard->index_stats.insert_next_lines - before.insert_next_lines) / writes->inserts;
    }
    if (writes->erases > 0) {
        const struct kvc_index_stats before = shard->index_stats;
        uint32_t *erased = kvc_array_of(writes->erases, sizeof(*erased));
        kvc_index_erase(shard->index, writes->erase_hash, writes->erase_location, writes->erases, erased,
                        &shard->index_stats);
        erase_lines = (double)(shard->index_stats.erase_lines - before.erase_lines) / writes->erases;
        erase_next = (double)(shard->index_stats.erase_next_lines - before.erase_next_lines) / writes->erases;
        for (uint32_t i = 0; i < writes->erases && shard->slab != NULL; i++) {
            if (writes->erase_location[i] == KVC_LOCATION_ANY && erased[i] != KVC_LOCATION_NONE) {
                kvc_megakv_slab_release_key(shard->slab, erased[i], writes->erase_hash[i]);
            }
        }
        free(erased);
    }
    counts->inserts += writes->all_inserts;
    counts->insert_lines += writes->all_inserts * insert_lines;
    counts->erases += writes->all_erases;
    counts->erase_lines += writes->all_erases * erase_lines;
    counts->written_next_lines += writes->all_inserts * insert_next;
    counts->next_lines += writes->all_inserts * insert_next + writes->all_erases * erase_next;
    writes->inserts = writes->erases = 0;
    writes->all_inserts = writes->all_erases = 0;
}

/* Reads the item of a row from the log. Returns whether it is the one that the GET asks for. */
static bool read_log(struct kvc_composed_structures *structures, const struct kvc_composed_job *job,
                     uint32_t row)
{
    struct kvc_shard *shard = structures->shard;
    const struct kvc_batch *rows = job->rows;
    const uint8_t *key = rows->keys + (size_t)row * rows->key_stride;
    bool hit = kvc_item_log_read(shard->log, job->location[row], rows->hash[row], key, rows->key_bytes[row],
                                 structures->values);
    shard->slab_stats.reads++;
    shard->slab_stats.read_lines +=
        hit ? (uint64_t)kvc_shards_item_lines(structures->config->dram, rows->key_bytes[row],
                                              rows->value_bytes[row])
            : 0;
    return hit;
}

/* Sets the outcome of a GET, and corrects the counts of its job. Returns whether it is another one than
 * before. */
static bool set_outcome(struct kvc_composed_job *job, uint32_t row, bool hit)
{
    uint8_t before = job->outcome[row], after = hit ? KVC_COMPOSED_HIT : KVC_COMPOSED_MISS;
    if (after == before || before == KVC_COMPOSED_FETCHED) { /* The database has answered this miss. */
        return false;
    }
    double more = hit ? 1 : -1;
    job->outcome[row] = after;
    job->counts.hits += more;
    job->counts.op_bytes[KVC_OP_GET] += more * job->rows->value_bytes[row];
    job->counts.response_bytes += more * job->rows->value_bytes[row];
    job->alike = 0;
    return true;
}

/* Reads the found items: results of the kept rows become outcomes, and those of other GETs are drawn. Returns
 * whether an outcome is another one than before. */
static bool find_outcomes(struct kvc_composed_structures *structures, struct kvc_composed_job *job)
{
    const struct kvc_batch *rows = job->rows;
    struct kvc_shard *shard = structures->shard;
    uint32_t gets = 0, hits = 0;
    bool changes = false;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool reads = rows->op[i] == KVC_OP_GET && job->kept[i] != 0 && job->hot[i] == 0;
        structures->location[i] = reads ? job->location[i] : KVC_LOCATION_NONE;
    }
    if (shard != NULL && shard->slab != NULL) {
        const struct kvc_megakv_slab_reads reads = {.count = rows->count,
                                                    .location = structures->location,
                                                    .hash = rows->hash,
                                                    .keys = rows->keys,
                                                    .key_stride = rows->key_stride,
                                                    .key_bytes = rows->key_bytes,
                                                    .compare = true,
                                                    .out = structures->values,
                                                    .out_bytes = KVC_MEGAKV_SLAB_VALUE_MAX,
                                                    .out_position = &structures->values_position,
                                                    .result = structures->result};
        uint64_t before = shard->slab_stats.reads;
        kvc_megakv_slab_read(shard->slab, &reads, &shard->slab_stats);
        shard->slab_stats.reads = before; /* Only GETs count, see below. */
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->op[i] != KVC_OP_GET || job->kept[i] == 0 || job->hot[i] != 0) {
            continue;
        }
        bool hit = shard->slab != NULL  ? structures->result[i] == KVC_MEGAKV_SLAB_HIT
                   : shard->log != NULL ? read_log(structures, job, i)
                                        : job->location[i] != KVC_LOCATION_NONE;
        changes |= set_outcome(job, i, hit);
        gets++;
        hits += hit;
    }
    if (shard != NULL && shard->slab != NULL) {
        shard->slab_stats.reads += gets;
    }
    kvc_composed_share_learn(&structures->hits, gets, hits);
    for (uint32_t i = 0; i < rows->count && job->kept_count < rows->count; i++) {
        if (rows->op[i] == KVC_OP_GET && job->kept[i] == 0 && job->hot[i] == 0) {
            bool hit = kvc_rng_unit(&structures->outcome) < structures->hits.frac;
            changes |= set_outcome(job, i, hit);
        }
    }
    return changes;
}

/* Counts the items that a stage reads or compares. A GET whose location another key has is a miss that read
 * one line; the closed form counts none. */
static void count_items(const struct kvc_composed_config *config, const struct kvc_composed_job *job,
                        uint32_t does, struct kvc_composed_counts *counts)
{
    const struct kvc_batch *rows = job->rows;
    bool reads = (does & kvc_composed_reads(config)) != 0, compares = (does & KVC_COMPOSED_COMPARE) != 0,
         reads_hot = (does & KVC_COMPOSED_HOT_READ) != 0;
    uint32_t items = 0, compared = 0, item_bytes = 0;
    double lines = 0, bytes = 0, item_lines = 0; /* Most items are as long as the one before them. */
    for (uint32_t i = 0; i < rows->count; i++) {
        bool hit = job->outcome[i] == KVC_COMPOSED_HIT, hot = job->hot[i] != 0;
        if (rows->op[i] != KVC_OP_GET || !(hot ? reads_hot : reads)) {
            compared += hit && !hot && compares;
            continue;
        }
        bytes += rows->key_bytes[i] + (hit ? rows->value_bytes[i] : 0);
        if (hit && (hot || !config->inlines)) { /* It is not in the lines of the index. */
            if (rows->key_bytes[i] + rows->value_bytes[i] != item_bytes) {
                item_bytes = rows->key_bytes[i] + rows->value_bytes[i];
                item_lines = kvc_shards_item_lines(config->dram, rows->key_bytes[i], rows->value_bytes[i]);
            }
            items++;
            lines += item_lines;
        }
    }
    counts->items = items;
    counts->item_lines = lines;
    counts->compared = compared;
    counts->copied_bytes += bytes;
}

/* Searches the index, and the hot tier if the index knows it. */
static void search_all(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                       uint32_t does, struct kvc_composed_counts *counts)
{
    const struct kvc_composed_config *config = structures->config;
    bool known_by_index = config->has_hot && config->hot_index == NULL;
    if ((does & KVC_COMPOSED_HOT_SEARCH) != 0) {
        kvc_composed_hot_search(&structures->hot, job, counts);
    }
    if ((does & KVC_COMPOSED_SEARCH) != 0) {
        search(structures, job, counts);
        if (known_by_index) {
            kvc_composed_hot_search(&structures->hot, job, counts);
        }
    }
}

void kvc_composed_execute(struct kvc_composed_structures *structures, struct kvc_composed_job *job,
                          uint32_t does, struct kvc_composed_writes *writes, bool due,
                          struct kvc_composed_counts *counts)
{
    const struct kvc_composed_config *config = structures->config;
    uint32_t reads = KVC_COMPOSED_COMPARE | KVC_COMPOSED_READ;
    /* Whether it has anything to write, insert or erase. */
    bool changes = job->evicted_count > 0 || job->counts.filled > 0 ||
                   job->counts.ops[KVC_OP_GET] < job->counts.requests;
    bool timed = job->rows->count >= TIMED || structures->calls++ % TIMED == 0;
    uint64_t started = timed ? kvc_clock_ticks() : 0, stands_for = job->rows->count >= TIMED ? 1 : TIMED;
    *counts = job->counts;
    if ((does & KVC_COMPOSED_WRITE) != 0 && changes) {
        write_items(structures, job, counts);
    }
    search_all(structures, job, does, counts);
    if ((does & (KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE)) != 0 && (changes || writes != NULL)) {
        struct kvc_composed_writes *all = writes != NULL ? writes : &structures->now;
        if (writes == NULL || !due) { /* What is due later has been listed before. */
            list_writes(structures, job, does, all);
        }
        if (due) {
            do_writes(structures, all, counts);
            counts->copied_bytes += config->inlines && (does & KVC_COMPOSED_INSERT) != 0
                                        ? counts->op_bytes[KVC_OP_SET] + counts->filled_bytes
                                        : 0;
        }
    }
    bool knows = config->has_values ? (does & reads) != 0 : (does & KVC_COMPOSED_SEARCH) != 0;
    if (knows && !job->knows_outcome) {
        job->knows_outcome = true;
        if (find_outcomes(structures, job)) { /* Until then, GETs count as hits. */
            counts->hits = job->counts.hits;
            counts->op_bytes[KVC_OP_GET] = job->counts.op_bytes[KVC_OP_GET];
            counts->response_bytes = job->counts.response_bytes;
        }
    }
    uint32_t copies = reads | KVC_COMPOSED_HOT_READ | (config->inlines ? KVC_COMPOSED_SEARCH : 0);
    if ((does & copies) != 0) {
        count_items(config, job, does, counts);
    }
    if ((does & KVC_COMPOSED_HOT_FILL) != 0) {
        kvc_composed_hot_fill(&structures->hot, job, counts);
    }
    if ((does & KVC_COMPOSED_HOT_ERASE) != 0) {
        kvc_composed_hot_erase(&structures->hot, job, counts);
    }
    structures->ticks += timed ? stands_for * (kvc_clock_ticks() - started) : 0;
}
