/* Gathering: host cores do the random memory accesses for KV-Direct's NIC.
 *
 * Source: KV-Direct (SOSP 2017), sec. 6.1, fig. 18 and 19. The NIC writes addresses, and data to be
 * written, into a queue in host memory. Cores poll it, do the random accesses, and put the data that they
 * read into another queue. One doorbell announces a whole batch to the NIC, which fetches it with DMA reads
 * of the largest payload.
 *
 * A batch is complete when it is full, or when its first access has waited for the time that a core needs for
 * a full batch. The queue of addresses is written in the background and takes its share of the links. Not
 * modelled: other work of the cores. */
#ifndef KVC_MODELS_KVDIRECT_GATHER_H
#define KVC_MODELS_KVDIRECT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/devices/pcie.h"

enum {
    KVC_KVDIRECT_GATHER_BATCH = 256, /* Accesses of a batch, sec. 6.1. */
    KVC_KVDIRECT_GATHER_ADDRESS_BYTES = 8,
    KVC_KVDIRECT_GATHER_CORES_MAX = 64,
};

struct kvc_kvdirect_gather_batch {
    uint32_t part[KVC_KVDIRECT_GATHER_BATCH]; /* Step of each access. */
    uint32_t count, read_bytes, written_bytes;
    uint32_t packets; /* Packets of the fetch that are still to come. */
    uint64_t number;  /* Number among all batches. */
};

struct kvc_kvdirect_gather {
    uint32_t cores;   /* Host cores; 0: the NIC accesses memory itself. */
    double access_ns; /* Time of an access on a core. */
    struct kvc_events *events;
    uint16_t full_kind; /* Kind of the event at which a core has finished a batch. */
    uint16_t wait_kind; /* Kind of the event at which a batch has waited long enough. */
    double core_free_ns[KVC_KVDIRECT_GATHER_CORES_MAX];
    struct kvc_kvdirect_gather_batch *batch; /* An array that grows. */
    uint32_t *free_batch;
    uint32_t batches, free_count;
    int32_t filling;   /* The batch being filled; NONE: no batch. */
    uint64_t begun;    /* Batches begun so far. */
    uint64_t accesses; /* Accesses added so far. */
    double busy_ns;    /* Busy time of all cores. */
};

/* Opens the gathering. `core_reads_per_s` is the rate at which one core accesses memory. */
void kvc_kvdirect_gather_open(struct kvc_kvdirect_gather *gather, uint32_t cores, double core_reads_per_s,
                              struct kvc_events *events, uint16_t full_kind, uint16_t wait_kind);
void kvc_kvdirect_gather_close(struct kvc_kvdirect_gather *gather);

/* Adds the access of a step to the current batch. Exits with status 3 if memory is short. */
void kvc_kvdirect_gather_add(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t part, uint32_t bytes,
                             bool write);

/* Handles an event of wait_kind: a core gets the batch unless the batch is already full. */
void kvc_kvdirect_gather_waited(struct kvc_kvdirect_gather *gather, const struct kvc_event *event);

/* Releases a batch whose accesses are all done. */
void kvc_kvdirect_gather_release(struct kvc_kvdirect_gather *gather, uint32_t batch);

#endif
