/* Runs requests on the real structures: all requests, or those for a sample of the keys.
 *
 * With functional = "sampled", the structures hold one key in sample_rate (sim/workload/keys/sampling.h) and
 * are smaller by that rate (config.h). The structures change with all requests for a key of the sample. One
 * in sample_rate of the requests for hot keys changes them, too: it goes to the key's representative. The
 * machine handles all requests at their full cost:
 *  - A GET or DELETE of another key finds what its stand-in key would find now (sim/workload/keys/alike.h),
 *    and leaves the stand-in unchanged. A hot key is also missing between its own DELETE and its next SET.
 *  - A hot key whose SETs go to the write buffer stays there until the chunk of the whole log is written,
 *    because the sample's buffer is emptied more often than the representative is SET.
 *  - A SET of another key goes where the last SET of the sample went: to DRAM or to the write buffer.
 *  - The simulated card has its real size. A hash of a key and of its page in the sample's log selects the
 *    page of the whole log that a GET reads. So reads are spread evenly over channels and chips, and a key is
 *    read from the same chip until its next SET. Programs and erases match a whole log (struct
 *    kvc_bluecache_whole_log).
 *
 * Not modelled: DELETEs of hot keys would change the structures until the next SET, which follows soon; SETs
 * of different sizes would find room in DRAM by their own size classes. */
#ifndef KVC_MODELS_BLUECACHE_SAMPLE_H
#define KVC_MODELS_BLUECACHE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/card.h"
#include "models/bluecache/config.h"
#include "models/bluecache/store.h"
#include "sim/base/rng.h"
#include "sim/workload/keys/alike.h"

/* The log of a whole card in a sampled run.
 *
 * The log of the sample has fewer pages and is written less often. The simulated card therefore programs,
 * reads to reclaim and erases the pages of this log, which has the size that the scenario asks for. It has
 * no contents, but takes the same steps as flash_log.h, a chunk at a time. Every SET adds the share of a
 * page that recent SETs brought to the log of the sample, so that chunks fill as regularly as in a full
 * run. */

struct kvc_bluecache_whole_log {
    struct kvc_bluecache_card *card; /* Card that receives this log's flash operations. */
    uint64_t pages, row_pages, next; /* Pages of the log, pages of a row, and the next page to write. */
    uint32_t chips, chunk_pages;
    bool begun, full;       /* At least one page has been written; all pages have been written. */
    uint64_t chunks;        /* Chunks written since the log was opened. */
    double due_pages;       /* Pages in the write buffer. */
    double sets_known;      /* Recent SETs that the structures ran. */
    double set_pages_known; /* Pages that these SETs brought to the log. */
};

struct kvc_bluecache_sample {
    const struct kvc_bluecache_config *config;
    struct kvc_bluecache_shards *shards;
    const struct kvc_source *source;
    struct kvc_sampling sampling; /* If its rate is 1, the fields below are unused. */
    struct kvc_alike alike;
    struct kvc_rng thinning;             /* Picks the requests for hot keys that change the structures. */
    struct kvc_bluecache_whole_log *log; /* Whole log of each store. */
    uint8_t *set_place;                  /* Place of each store's last SET: enum kvc_bluecache_place. */
    uint64_t *chunk; /* Chunk of the whole log, from 1 on, that took each hot key's last SET; 0: none. */
};

/* Opens the sample. `shards` and `source` must outlive it. Exits with status 3 if memory is short. */
void kvc_bluecache_sample_open(struct kvc_bluecache_sample *sample, const struct kvc_scenario *scenario,
                               struct kvc_bluecache_shards *shards, const struct kvc_source *source,
                               uint64_t seed);
void kvc_bluecache_sample_close(struct kvc_bluecache_sample *sample);

/* Returns whether a request for a key changes the structures. Call it once for each request of a client:
 * cache requests that follow it at a database share the answer. */
bool kvc_bluecache_sample_keeps(struct kvc_bluecache_sample *sample, uint64_t key_id);

/* Runs requests like kvc_bluecache_shards_run(); kept[i] says whether row first + i changes the
 * structures. The card's steps are then operations of the whole card. */
void kvc_bluecache_sample_run(struct kvc_bluecache_sample *sample, uint32_t number,
                              const struct kvc_batch *batch, uint32_t first, uint32_t count, const bool *kept,
                              struct kvc_bluecache_done *done);

#endif
