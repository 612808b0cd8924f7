/* Where GETs find their keys, in closed form.
 *
 * Without SETs, the preload decides: it stores the popular keys last, which leaves them in DRAM and the ones
 * before them on flash. With SETs, the state in the long run counts, whatever was preloaded.
 *
 * DRAM is a cache that only SETs fill, and whose victim is the oldest of four random items
 * (sim/workload/keys/set_cache.h). A key that it evicts is written to the log, where it stays until the next
 * SET or DELETE for it, or until its row is reclaimed: the log is a FIFO, whose rows hold all records that
 * were written, dead ones, too. Half of a row is free on average, and half of a chunk waits in the write
 * buffer.
 *
 * With a database behind the cache, GETs that miss fill it. A pair stays for the time in which DRAM and log
 * take as many new ones as they have room for, unless an update or a DELETE of its key comes first. DRAM
 * counts as a FIFO, too, and all that enters it is written to the log later, although what is updated before
 * is not.
 *
 * Not modelled: that GETs of a pair in the write buffer read no flash, slab classes if pairs have several
 * sizes, and that the index forgets the least recently used key of a bucket: all keys are forgotten alike. */
#ifndef KVC_MODELS_BLUECACHE_PLACES_H
#define KVC_MODELS_BLUECACHE_PLACES_H

#include "sim/scenario.h"

/* Where keys are. */
struct kvc_bluecache_places {
    double dram, flash, none; /* Shares of the GETs. */
    double written;           /* Records that a request brings to the log. */
};

/* Returns where the GETs of a resolved scenario find their keys. */
struct kvc_bluecache_places kvc_bluecache_places_of(const struct kvc_scenario *scenario);

#endif
