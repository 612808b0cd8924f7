#include "models/kvdirect/gather.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"

enum { NONE = -1 };

void kvc_kvdirect_gather_open(struct kvc_kvdirect_gather *gather, uint32_t cores, double core_reads_per_s,
                              struct kvc_events *events, uint16_t full_kind, uint16_t wait_kind)
{
    *gather = (struct kvc_kvdirect_gather){.cores = cores,
                                           .access_ns = cores > 0 ? 1e9 / core_reads_per_s : 0,
                                           .events = events,
                                           .full_kind = full_kind,
                                           .wait_kind = wait_kind,
                                           .filling = NONE};
}

void kvc_kvdirect_gather_close(struct kvc_kvdirect_gather *gather)
{
    free(gather->batch);
    free(gather->free_batch);
}

static uint32_t new_batch(struct kvc_kvdirect_gather *gather)
{
    if (gather->free_count == 0) {
        uint32_t count = gather->batches > 0 ? 2 * gather->batches : 8;
        gather->batch = kvc_array_grown(gather->batch, count, sizeof(*gather->batch));
        gather->free_batch = kvc_array_grown(gather->free_batch, count, sizeof(*gather->free_batch));
        while (gather->batches < count) {
            gather->free_batch[gather->free_count++] = gather->batches++;
        }
    }
    uint32_t number = gather->free_batch[--gather->free_count];
    gather->batch[number] = (struct kvc_kvdirect_gather_batch){.number = gather->begun++};
    return number;
}

/* Gives the batch to the core that becomes free first. */
static void give_to_core(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t number)
{
    uint32_t first = 0;
    for (uint32_t core = 1; core < gather->cores; core++) {
        if (gather->core_free_ns[core] < gather->core_free_ns[first]) {
            first = core;
        }
    }
    double done_ns = kvc_serve(&gather->core_free_ns[first], &gather->busy_ns, now_ns,
                               gather->batch[number].count * gather->access_ns);
    kvc_events_add(gather->events, done_ns, gather->full_kind, 0, number);
    gather->filling = NONE;
}

void kvc_kvdirect_gather_add(struct kvc_kvdirect_gather *gather, double now_ns, uint32_t part, uint32_t bytes,
                             bool write)
{
    if (gather->filling == NONE) {
        gather->filling = (int32_t)new_batch(gather);
        /* `unit` distinguishes batches that reuse the same entry. */
        kvc_events_add(gather->events, now_ns + KVC_KVDIRECT_GATHER_BATCH * gather->access_ns,
                       gather->wait_kind, (uint16_t)gather->batch[gather->filling].number,
                       (uint32_t)gather->filling);
    }
    struct kvc_kvdirect_gather_batch *batch = &gather->batch[gather->filling];
    gather->accesses++;
    batch->part[batch->count++] = part;
    if (write) {
        batch->written_bytes += bytes;
    } else {
        batch->read_bytes += bytes;
    }
    if (batch->count == KVC_KVDIRECT_GATHER_BATCH) {
        give_to_core(gather, now_ns, (uint32_t)gather->filling);
    }
}

void kvc_kvdirect_gather_waited(struct kvc_kvdirect_gather *gather, const struct kvc_event *event)
{
    if (gather->filling == (int32_t)event->tag && (uint16_t)gather->batch[event->tag].number == event->unit) {
        give_to_core(gather, event->time_ns, event->tag);
    }
}

void kvc_kvdirect_gather_release(struct kvc_kvdirect_gather *gather, uint32_t batch)
{
    gather->free_batch[gather->free_count++] = batch;
}
