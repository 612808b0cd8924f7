/* KV-Direct's other way to host memory: cores of the host do the random accesses for the card.
 *
 * Source: KV-Direct (SOSP 2017), sec. 6.1, fig. 18 and 19. The card writes addresses (and data to be written)
 * into a queue in host memory; cores poll it, access memory at random, and put what was read into another
 * queue; one doorbell tells the card of a whole batch, which it then fetches with DMA reads of the largest
 * payload.
 *
 * A batch is complete when it is full, or when its first access has waited for the time that a core needs for
 * a full one. The queue of addresses is written behind the accesses' back and takes its share of the links.
 * Not modelled: what the cores would have done otherwise. */
#ifndef KVC_MODELS_KVDIRECT_GATHER_H
#define KVC_MODELS_KVDIRECT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/devices/pcie_engine.h"

enum {
    KVC_KVDIRECT_GATHER_BATCH = 256, /* accesses a doorbell, sec. 6.1 */
    KVC_KVDIRECT_GATHER_ADDRESS_BYTES = 8,
    KVC_KVDIRECT_GATHER_CORES_MAX = 64,
};

struct kvc_kvdirect_gather_batch {
    uint32_t part[KVC_KVDIRECT_GATHER_BATCH];
    uint32_t count, read_bytes, written_bytes;
    uint32_t packets; /* of the fetch, that are still to come */
    uint64_t number;  /* of all batches */
};

struct kvc_kvdirect_gather {
    uint32_t cores; /* 0: there is none of this */
    double access_ns;
    struct kvc_events *events;
    uint16_t full_kind,
        wait_kind; /* of events: a core has finished a batch; a batch has waited long enough */
    double core_free_ns[KVC_KVDIRECT_GATHER_CORES_MAX];
    struct kvc_kvdirect_gather_batch *batch; /* grows */
    uint32_t *free_batch;
    uint32_t batches, free_count;
    int32_t filling; /* NONE: no batch has been begun */
    uint64_t begun;
    double busy_ns; /* of all cores */
};

/* Aborts without memory. */
void kvc_kvdirect_gather_open(struct kvc_kvdirect_gather *gather, uint32_t cores, double core_reads_per_s,
                              struct kvc_events *events, uint16_t full_kind, uint16_t wait_kind);
void kvc_kvdirect_gather_close(struct kvc_kvdirect_gather *gather);

/* Adds an access. */
void kvc_kvdirect_gather_add(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t part, uint32_t bytes,
                             bool write);

/* A batch has waited: it is given to a core, unless it was full before. */
void kvc_kvdirect_gather_waited(struct kvc_kvdirect_gather *gather, const struct kvc_event *event);

/* All accesses of a batch are through. */
void kvc_kvdirect_gather_release(struct kvc_kvdirect_gather *gather, uint32_t batch);

#endif
