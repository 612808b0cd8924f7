/* Lets requests run on the real structures: all of them, or in a sample of the keys those that belong to it.
 *
 * With functional = "sampled" the structures hold one key of each sample_rate (sim/workload/keys/sampling.h)
 * and are smaller by the rate (sizes.h). What changes them are all requests for a key of the sample and, of
 * the requests for hot keys, one in sample_rate, which goes to the key's representative. The machine handles
 * all requests at their full cost:
 *  - A GET or DELETE of another key finds what its key alike would find now (sim/workload/keys/alike.h),
 * which stays as it was. A hot key is missing after its own DELETE, too, until its next SET.
 *  - A hot key whose SETs go to the write buffer is there until the chunk of the whole log is written: its
 *    representative is SET less often than the buffer of the sample is emptied.
 *  - A SET of another key goes where the last SET of the sample went: to DRAM or to the write buffer.
 *  - The simulated card has its real size. A key that lies on a page of the sample's log is read from a page
 *    of the whole one that a hash of the key and of that page selects: all channels and chips are asked
 *    evenly, and a key that is read again is read from the same chip until its next SET. What is programmed
 *    and erased is that of a whole log (whole_log.h).
 *
 * Not modelled: DELETEs of hot keys leave the structures as they are, because a SET follows soon, and that
 * SETs of different sizes find DRAM or not by their own classes. */
#ifndef KVC_MODELS_BLUECACHE_SAMPLE_H
#define KVC_MODELS_BLUECACHE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/card.h"
#include "models/bluecache/config.h"
#include "models/bluecache/store.h"
#include "sim/base/rng.h"
#include "sim/workload/keys/alike.h"

/* The log of a whole card, for which that of a sample stands.
 *
 * The log of a sample has fewer pages and is written less often. What the simulated card programs, reads to
 * reclaim and erases is therefore that of a log of the scenario's size: it has no contents, but goes through
 * the same steps as flash_log.h, a chunk at a time. Every SET brings it the share of a page that recent SETs
 * brought to the log of the sample, so that its chunks are due as regularly as those of a full run. */

struct kvc_bluecache_whole_log {
    struct kvc_bluecache_card *card; /* Whose steps its own ones become. */
    uint64_t pages, row_pages, next; /* Pages of log and row; `next`: the page that is written next. */
    uint32_t chips, chunk_pages;
    bool begun, full;       /* A page, or all of them, have been written. */
    uint64_t chunks;        /* Written since the log was opened. */
    double due_pages;       /* In the write buffer. */
    double sets_known;      /* Recent SETs that the structures ran, */
    double set_pages_known; /* and the pages that they brought to the log. */
};

struct kvc_bluecache_sample {
    const struct kvc_bluecache_config *config;
    struct kvc_bluecache_shards *shards;
    const struct kvc_source *source;
    struct kvc_sampling sampling; /* The rest is unused if its rate is 1. */
    struct kvc_alike alike;
    struct kvc_rng thinning;             /* Of the requests for hot keys. */
    struct kvc_bluecache_whole_log *log; /* Of each store. */
    uint8_t *set_place;                  /* Likewise: enum kvc_bluecache_place of the last SET. */
    uint64_t
        *chunk; /* Of each hot key: that of the whole log into which its last SET went, from 1 on; 0: none. */
};

/* Opens the sample. `shards` and `source` must outlive it. Exits with status 3 if memory is short. */
void kvc_bluecache_sample_open(struct kvc_bluecache_sample *sample, const struct kvc_scenario *scenario,
                               struct kvc_bluecache_shards *shards, const struct kvc_source *source,
                               uint64_t seed);
void kvc_bluecache_sample_close(struct kvc_bluecache_sample *sample);

/* Returns whether a request for a key changes the structures. It is asked once for each request of a client;
 * what follows from the request in a database is part of it. */
bool kvc_bluecache_sample_keeps(struct kvc_bluecache_sample *sample, uint64_t key_id);

/* Runs requests like kvc_bluecache_shards_run(); kept[i] says whether row first + i changes the structures.
 * The steps of the card are then those of the whole card. */
void kvc_bluecache_sample_run(struct kvc_bluecache_sample *sample, uint32_t number,
                              const struct kvc_batch *batch, uint32_t first, uint32_t count, const bool *kept,
                              struct kvc_bluecache_done *done);

#endif
