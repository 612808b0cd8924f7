/* The log of a whole card, for which that of a sample stands.
 *
 * The log of a sample has fewer pages and is written less often. What the simulated card programs, reads to
 * reclaim and erases is therefore that of a log of the scenario's size: it has no contents, but goes through
 * the same steps as flash_log.h, a chunk at a time. Every SET brings it the share of a page that recent SETs
 * brought to the log of the sample, so that its chunks are due as regularly as those of a full run. */
#ifndef KVC_MODELS_BLUECACHE_WHOLE_LOG_H
#define KVC_MODELS_BLUECACHE_WHOLE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/card.h"
#include "models/bluecache/config.h"

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

/* Opens the log of a card into which so many pages have been written. */
void kvc_bluecache_whole_log_open(struct kvc_bluecache_whole_log *log,
                                  const struct kvc_bluecache_config *config, struct kvc_bluecache_card *card,
                                  double written_pages);

/* Learns that a SET brought so many pages to the log of the sample. */
void kvc_bluecache_whole_log_learn(struct kvc_bluecache_whole_log *log, double pages);

/* Takes what a SET brings, and adds the steps of chunks that are full to the card's. */
void kvc_bluecache_whole_log_set(struct kvc_bluecache_whole_log *log);

#endif
