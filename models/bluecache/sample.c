#include "models/bluecache/sample.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/bluecache/dram_slab.h"
#include "models/bluecache/costs.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"

/* ---- whole_log ---- */

/* Number of SETs after which the weight of older SETs is halved. A DRAM store begins to evict once it is
 * full, and its share of dead items changes while a run warms up; a longer memory would lag. */
static const double sets_kept = 16;

/* Opens the log of a card into which `written_pages` pages have been written. */
static void open_log(struct kvc_bluecache_whole_log *log, const struct kvc_bluecache_config *config,
                     struct kvc_bluecache_card *card, double written_pages)
{
    const struct kvc_flash_geometry *geometry = &config->geometry;
    uint64_t chips = (uint64_t)geometry->buses * geometry->chips_per_bus;
    *log = (struct kvc_bluecache_whole_log){.card = card,
                                            .pages = (uint64_t)kvc_bluecache_log_pages(geometry),
                                            .row_pages = chips * geometry->pages_per_block,
                                            .chips = (uint32_t)chips,
                                            .chunk_pages = (uint32_t)config->options->chunk_pages,
                                            .begun = written_pages > 0};
    log->next = (uint64_t)fmod(written_pages, (double)log->pages);
    log->full = written_pages >= (double)log->pages;
}

/* Records the pages that a SET brought to the log of the sample. */
static void learn_pages(struct kvc_bluecache_whole_log *log, double pages)
{
    log->sets_known++;
    log->set_pages_known += pages;
    if (log->sets_known >= sets_kept) {
        log->sets_known /= 2;
        log->set_pages_known /= 2;
    }
}

/* Reads the pages of the row at `next`, if there are any, and erases its block of each chip. */
static void reclaim_row(struct kvc_bluecache_whole_log *log)
{
    for (uint64_t i = 0; i < log->row_pages && log->full; i++) {
        kvc_bluecache_card_note(log->card, KVC_BLUECACHE_READ, log->next + i);
    }
    for (uint64_t i = 0; i < log->chips; i++) {
        kvc_bluecache_card_note(log->card, KVC_BLUECACHE_ERASE, log->next + i);
    }
}

static void write_page(struct kvc_bluecache_whole_log *log)
{
    if (log->begun && log->next % log->row_pages == 0) {
        reclaim_row(log);
    }
    kvc_bluecache_card_note(log->card, KVC_BLUECACHE_PROGRAM, log->next);
    log->begun = true;
    if (++log->next == log->pages) {
        log->next = 0;
        log->full = true;
    }
}

/* Adds the pages of a SET, and the steps of full chunks to the card. */
static void set_in_log(struct kvc_bluecache_whole_log *log)
{
    log->due_pages += log->sets_known > 0 ? log->set_pages_known / log->sets_known : 0;
    for (; log->due_pages >= log->chunk_pages; log->due_pages -= log->chunk_pages) {
        for (uint32_t i = 0; i < log->chunk_pages; i++) {
            write_page(log);
        }
        log->chunks++;
    }
}

/* A request that is being run: its own row, or the row of its stand-in key. */
struct row {
    const struct kvc_batch *batch;
    uint64_t key_id, hash; /* Key of the request, even if `batch` holds its stand-in. */
    uint32_t number, at;   /* Number of the store; row in `batch`. */
    bool hot, kept;
};

void kvc_bluecache_sample_open(struct kvc_bluecache_sample *sample, const struct kvc_scenario *scenario,
                               struct kvc_bluecache_shards *shards, const struct kvc_source *source,
                               uint64_t seed)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    *sample = (struct kvc_bluecache_sample){.config = config,
                                            .shards = shards,
                                            .source = source,
                                            .sampling = kvc_bluecache_sampling_of(scenario)};
    if (sample->sampling.rate == 1) {
        return;
    }
    struct kvc_source_params params = kvc_scenario_source(scenario, 1, seed);
    params.nodes = shards->shards;
    struct kvc_diag diag = {0};
    if (kvc_alike_open(&sample->alike, &sample->sampling, &params, KVC_SAMPLING_ALIKE,
                       kvc_dram_slab_item_bytes, &diag) != KVC_OK) {
        kvc_out_of_memory("the keys that stand for others in a sample");
    }
    kvc_rng_init(&sample->thinning, seed, "bluecache.thinning", 0);
    sample->log = kvc_array_of(shards->shards, sizeof(*sample->log));
    sample->set_place = kvc_array_of(shards->shards, sizeof(*sample->set_place));
    sample->chunk = kvc_array_of(sample->sampling.hot_keys, sizeof(*sample->chunk));
    for (uint64_t i = 0; i < sample->sampling.hot_keys; i++) {
        sample->chunk[i] = 0;
    }
    for (uint32_t i = 0; i < shards->shards; i++) {
        struct kvc_bluecache_store_stats stats;
        kvc_bluecache_store_stats(shards->shard[i].store, &stats);
        open_log(&sample->log[i], config, &shards->shard[i].card,
                 (double)stats.pages_written * (double)sample->sampling.rate);
        sample->set_place[i] =
            config->options->dram_bytes > 0 ? KVC_BLUECACHE_IN_DRAM : KVC_BLUECACHE_IN_BUFFER;
    }
}

void kvc_bluecache_sample_close(struct kvc_bluecache_sample *sample)
{
    kvc_alike_close(&sample->alike);
    free(sample->log);
    free(sample->set_place);
    free(sample->chunk);
}

bool kvc_bluecache_sample_keeps(struct kvc_bluecache_sample *sample, uint64_t key_id)
{
    return sample->sampling.rate == 1 ||
           kvc_sampling_keeps_request(&sample->sampling, key_id, &sample->thinning);
}

/* Replaces the pages of the sample's log that a GET read by pages of the whole log. */
static void spread(const struct kvc_bluecache_sample *sample, const struct row *row, uint32_t first_step)
{
    const struct kvc_bluecache_card *card = &sample->shards->shard[row->number].card;
    if (card->steps > first_step) {
        uint64_t first_page = kvc_mix64(row->hash ^ kvc_mix64(card->step[first_step].page));
        for (uint32_t i = first_step; i < card->steps; i++) { /* A record lies on consecutive pages. */
            card->step[i].page = (first_page + i - first_step) % sample->log[row->number].pages;
        }
    }
}

/* Decides by the whole log whether a hot key that is not in DRAM is in the write buffer or on flash. */
static void place_hot(struct kvc_bluecache_sample *sample, const struct row *row, uint32_t first_step,
                      struct kvc_bluecache_done *done)
{
    struct kvc_bluecache_card *card = &sample->shards->shard[row->number].card;
    if (sample->chunk[row->key_id] == sample->log[row->number].chunks + 1) {
        *done = (struct kvc_bluecache_done){.hit = true, .place = KVC_BLUECACHE_IN_BUFFER};
        card->steps = first_step;
    } else if (done->place == KVC_BLUECACHE_IN_BUFFER) {
        done->place = KVC_BLUECACHE_IN_FLASH;
        done->pages = kvc_bluecache_pages(sample->config, row->batch->key_bytes[row->at],
                                          row->batch->value_bytes[row->at]);
        for (uint32_t i = 0; i < done->pages; i++) {
            kvc_bluecache_card_note(card, KVC_BLUECACHE_READ, i);
        }
    }
}

static void get(struct kvc_bluecache_sample *sample, const struct row *row, struct kvc_bluecache_done *done)
{
    uint32_t first_step = sample->shards->shard[row->number].card.steps;
    *done = (struct kvc_bluecache_done){.hit = false, .place = KVC_BLUECACHE_IN_NONE};
    if (row->hot && !sample->alike.present[row->key_id]) {
        return;
    }
    if (row->kept) {
        kvc_bluecache_shards_run(sample->shards, row->number, row->batch, row->at, 1, done);
    } else {
        kvc_bluecache_shards_peek(sample->shards, row->number, row->batch, row->at, done);
    }
    bool buffered = sample->set_place[row->number] == KVC_BLUECACHE_IN_BUFFER;
    if (row->hot && buffered && done->hit && done->place != KVC_BLUECACHE_IN_DRAM) {
        place_hot(sample, row, first_step, done);
    }
    spread(sample, row, first_step);
}

/* Returns the records that a store has brought to its log so far. */
static uint64_t records_of(const struct kvc_bluecache_shard *shard)
{
    struct kvc_bluecache_store_stats stats;
    kvc_bluecache_store_stats(shard->store, &stats);
    return stats.evicted_keys + stats.bypassed;
}

static void set(struct kvc_bluecache_sample *sample, const struct row *row, struct kvc_bluecache_done *done)
{
    struct kvc_bluecache_shard *shard = &sample->shards->shard[row->number];
    struct kvc_bluecache_whole_log *log = &sample->log[row->number];
    if (row->kept) {
        uint32_t steps = shard->card.steps;
        uint64_t records = records_of(shard);
        kvc_bluecache_shards_run(sample->shards, row->number, row->batch, row->at, 1, done);
        shard->card.steps = steps; /* The steps of the whole log replace the sample's. */
        sample->set_place[row->number] = done->place;
        /* An evicted pair has the size class of the pair that replaces it. */
        double pages = kvc_bluecache_record_pages(sample->config, row->batch->key_bytes[row->at],
                                                  row->batch->value_bytes[row->at]);
        learn_pages(log, (double)(records_of(shard) - records) * pages);
    }
    *done = (struct kvc_bluecache_done){.hit = true, .place = sample->set_place[row->number]};
    if (row->hot) {
        sample->alike.present[row->key_id] = true;
    }
    set_in_log(log);
    if (row->hot) {
        sample->chunk[row->key_id] = log->chunks + 1;
    }
}

static void delete_key(struct kvc_bluecache_sample *sample, const struct row *row,
                       struct kvc_bluecache_done *done)
{
    struct kvc_bluecache_card *card = &sample->shards->shard[row->number].card;
    uint32_t steps = card->steps;
    if (row->kept && !row->hot) {
        kvc_bluecache_shards_run(sample->shards, row->number, row->batch, row->at, 1, done);
        return;
    }
    kvc_bluecache_shards_peek(sample->shards, row->number, row->batch, row->at, done);
    card->steps = steps; /* A DELETE reads no pages. */
    bool found = done->hit && (!row->hot || sample->alike.present[row->key_id]);
    *done = (struct kvc_bluecache_done){.hit = found,
                                        .place = found ? KVC_BLUECACHE_IN_BUFFER : KVC_BLUECACHE_IN_NONE};
    if (row->hot) {
        sample->alike.present[row->key_id] = false;
    }
}

static void run_row(struct kvc_bluecache_sample *sample, struct row *row, struct kvc_bluecache_done *done)
{
    enum kvc_op op = (enum kvc_op)row->batch->op[row->at];
    row->key_id = row->batch->key_id[row->at];
    row->hash = row->batch->hash[row->at];
    row->hot = row->key_id < sample->sampling.hot_keys;
    if (row->hot || !row->kept) {
        struct kvc_batch *stand_in = sample->alike.stand_in;
        kvc_alike_find(&sample->alike, sample->source, row->number, row->key_id);
        stand_in->op[0] = (uint8_t)op;
        row->batch = stand_in;
        row->at = 0;
    }
    switch (op) {
    case KVC_OP_GET:
        get(sample, row, done);
        break;
    case KVC_OP_SET:
        set(sample, row, done);
        break;
    default:
        delete_key(sample, row, done);
        break;
    }
}

void kvc_bluecache_sample_run(struct kvc_bluecache_sample *sample, uint32_t number,
                              const struct kvc_batch *batch, uint32_t first, uint32_t count, const bool *kept,
                              struct kvc_bluecache_done *done)
{
    if (sample->sampling.rate == 1) {
        kvc_bluecache_shards_run(sample->shards, number, batch, first, count, done);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct row row = {.batch = batch, .number = number, .at = first + i, .kept = kept[i]};
        run_row(sample, &row, &done[i]);
    }
}
