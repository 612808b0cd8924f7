#include "models/bluecache/places.h"

#include <math.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/index.h"
#include "models/bluecache/costs.h"
#include "sim/workload/keys/set_cache.h"

/* Pairs that all nodes have room for; `log` is the mean number of records that flash and the write buffers
 * hold once the log is full: all rows but half of one, which is being written over, and half of a chunk. */
struct room {
    double dram, flash, log;
};

static struct room room_of(const struct kvc_scenario *scenario)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    uint32_t key = (uint32_t)kvc_workload_key_bytes_mean(&scenario->workload);
    uint32_t value = (uint32_t)kvc_workload_value_bytes_mean(&scenario->workload);
    const struct kvc_flash_geometry *geometry = &config->geometry;
    double pages = kvc_bluecache_log_pages(geometry);
    double slabs = ceil(config->options->dram_bytes / KVC_DRAM_SLAB_BYTES);
    double in_slab = floor(KVC_DRAM_SLAB_BYTES / (double)kvc_dram_slab_item_bytes(key, value));
    double records = config->stores / kvc_bluecache_record_pages(config, key, value);
    double row_pages = pages / geometry->blocks_per_chip;
    return (struct room){.dram = config->stores * slabs * in_slab,
                         .flash = records * pages,
                         .log = records * (pages - row_pages / 2 + (double)config->options->chunk_pages / 2)};
}

/* Returns the share of the keys of a node that its index keeps: buckets of four, filled at random. */
static double index_keeps(double keys, double index_bytes)
{
    double mean = keys / (index_bytes / KVC_BLUECACHE_BUCKET_BYTES), kept = 0, left = 1, p = exp(-mean);
    for (int n = 0; n < KVC_BLUECACHE_WAYS; n++) {
        kept += n * p;
        left -= p;
        p *= mean / (n + 1);
    }
    return mean > 0 ? fmin((kept + KVC_BLUECACHE_WAYS * fmax(left, 0)) / mean, 1) : 1;
}

/* Sets the shares without SETs and returns the number of keys that are stored. */
static double place_preloaded(const struct kvc_workload *workload, const struct room *room,
                              struct kvc_bluecache_places *places)
{
    double stored = floor(workload->preload_frac * (double)workload->keys);
    places->dram = kvc_popularity_mass(workload, fmin(stored, room->dram));
    places->flash = kvc_popularity_mass(workload, fmin(stored, room->dram + room->flash)) - places->dram;
    return fmin(stored, room->dram + room->flash);
}

/* Returns how often DRAM evicts a key for each request for it: what SETs bring to DRAM leaves it for flash,
 * unless a DELETE comes first. */
static double evicted_of(const struct kvc_workload *workload, double present)
{
    return fmax(workload->set_frac * (1 - present) - workload->delete_frac * present, 0);
}

/* Likewise with SETs. */
static double place_in_long_run(const struct kvc_workload *workload, const struct room *room,
                                struct kvc_bluecache_places *places)
{
    struct kvc_set_cache dram = {0};
    double stored = 0, changed = workload->set_frac + workload->delete_frac;
    kvc_set_cache_open(&dram, workload, fmax(room->dram, 1), KVC_DRAM_SLAB_SAMPLES);
    for (uint32_t i = 0; i < dram.blocks; i++) {
        dram.block[i].present = room->dram > 0 ? dram.block[i].present : 0;
        places->written += dram.block[i].keys.mass * evicted_of(workload, dram.block[i].present);
    }
    double stay = room->log / fmax(places->written, 1e-300);
    for (uint32_t i = 0; i < dram.blocks; i++) {
        const struct kvc_set_cache_block *block = &dram.block[i];
        double rate = block->keys.mass / block->keys.keys;
        double on_flash = evicted_of(workload, block->present) * -expm1(-changed * rate * stay) / changed;
        places->dram += block->keys.mass * block->present;
        places->flash += block->keys.mass * on_flash;
        stored += block->keys.keys * (block->present + on_flash);
    }
    kvc_set_cache_close(&dram);
    return stored;
}

/* Returns for how long a pair is valid if it may stay for `stay` requests and updates and DELETEs of its
 * key come at a rate. */
static double valid_for(double stay, double update_rate)
{
    return update_rate > 0 ? -expm1(-update_rate * stay) / update_rate : stay;
}

/* Sets the shares for a stay in DRAM and in DRAM and log together [requests]. */
static double place_for(const struct kvc_workload *workload, double dram_stay, double stay,
                        struct kvc_bluecache_places *places)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double hits = 0, hits_dram = 0, stored = 0;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double rate = block.mass / block.keys, updates = block.updates / block.keys;
        double valid = valid_for(stay, updates), cycle = valid + 1 / (workload->get_frac * rate);
        hits += block.mass * valid / cycle;
        hits_dram += block.mass * valid_for(dram_stay, updates) / cycle;
        stored += block.keys * valid / cycle;
    }
    kvc_popularity_blocks_close(&blocks);
    *places = (struct kvc_bluecache_places){
        .dram = hits_dram, .flash = hits - hits_dram, .written = workload->get_frac * (1 - hits)};
    return stored;
}

/* Sets the shares behind which a database fills misses, and returns the number of keys that are stored. The
 * stay follows from what is written, and that from the stay. */
static double place_before_database(const struct kvc_workload *workload, const struct room *room,
                                    struct kvc_bluecache_places *places)
{
    double room_pairs = room->dram + room->log, low = 1, high = 1e18, stored = 0;
    for (int i = 0; i < 100; i++) {
        double stay = sqrt(low * high);
        stored = place_for(workload, stay * room->dram / room_pairs, stay, places);
        *(places->written * stay < room_pairs ? &low : &high) = stay;
    }
    return stored;
}

struct kvc_bluecache_places kvc_bluecache_places_of(const struct kvc_scenario *scenario)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct room room = room_of(scenario);
    struct kvc_bluecache_places places = {0};
    double stored = config->database != NULL ? place_before_database(workload, &room, &places)
                    : workload->set_frac > 0 ? place_in_long_run(workload, &room, &places)
                                             : place_preloaded(workload, &room, &places);
    double keeps = index_keeps(stored / config->stores, config->options->index_bytes);
    places.dram *= keeps;
    places.flash *= keeps;
    places.none = fmax(1 - places.dram - places.flash, 0);
    return places;
}
