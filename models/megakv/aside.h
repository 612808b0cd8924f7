/* The database behind a socket (node.database), and the requests that wait for it (sim/run/cache_aside.h).
 *
 * A SET of a frame stays with its client: it begins as an update when the frame leaves, and a DELETE follows.
 * A GET that misses goes on with a query when its response arrives, and a SET follows. What follows is sent
 * at once, in a frame of its own over the same connection, to the same pipeline. The receiver's time for such
 * a frame is that of a request in a usual one.
 *
 * The database handles its events with the receivers, once a cycle, at their own times. */
#ifndef KVC_MODELS_MEGAKV_ASIDE_H
#define KVC_MODELS_MEGAKV_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/devices/database.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/batch.h"

struct kvc_megakv_buffer;
struct kvc_megakv_simulation;

/* What a row of a buffer is: the number of the request that it goes on with, or one of these. The last three
 * are known once the row is answered. */
enum {
    KVC_MEGAKV_ASIDE_NONE = UINT32_MAX - 3, /* A GET or DELETE of the application. */
    KVC_MEGAKV_ASIDE_GOES_ON,               /* Its request has not ended. */
    KVC_MEGAKV_ASIDE_FILLED,                /* Its request was a GET that missed, and ends. */
    KVC_MEGAKV_ASIDE_UPDATED,               /* Its request was a SET, and ends. */
};

struct kvc_megakv_aside_request;

struct kvc_megakv_aside {
    struct kvc_events events;
    struct kvc_database_engine database;
    struct kvc_invalidations invalidations;
    const struct kvc_source *source;
    struct kvc_batch *batch; /* Room for one key. */
    struct kvc_megakv_aside_request *request;
    uint8_t *keys; /* Of all requests, batch->key_stride bytes each. */
    uint32_t *free_request;
    uint32_t requests, free_count;
    double posted_ns; /* Busy time of the database that is already posted. */
};

/* Opens the database of a socket. The database and `source` must outlive it. Exits with status 3 if memory is
 * short. */
void kvc_megakv_aside_open(struct kvc_megakv_aside *aside, const struct kvc_database *database,
                           const struct kvc_source *source, uint32_t key_stride, uint64_t seed,
                           uint32_t number);
void kvc_megakv_aside_close(struct kvc_megakv_aside *aside);

/* Takes the SETs out of the frame that begins at row `first` of a buffer, and lets them begin as updates when
 * the frame leaves. Marks the other rows. */
void kvc_megakv_aside_take_updates(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                                   uint32_t first, uint32_t pipeline);

/* Handles the next event. Returns the number of a request whose next message its client sends at that time,
 * or KVC_MEGAKV_ASIDE_NONE. */
uint32_t kvc_megakv_aside_handle(struct kvc_megakv_aside *aside, double *time_ns);

/* Returns the pipeline of a request. */
uint32_t kvc_megakv_aside_pipeline(const struct kvc_megakv_aside *aside, uint32_t number);

/* Appends the next message of a request to a buffer, as a frame that leaves at time_ns. */
void kvc_megakv_aside_put(const struct kvc_megakv_aside *aside, uint32_t number, double time_ns,
                          struct kvc_megakv_buffer *buffer);

/* Forgets a request that has ended or whose message is lost. */
void kvc_megakv_aside_forget(struct kvc_megakv_aside *aside, uint32_t number);

/* Takes the responses of a buffer: row i found outcome[i] (enum kvc_megakv_outcome), and its response arrives
 * at done_ns[i]. Lets requests go on, and says in buffer->aside which rows end theirs. */
void kvc_megakv_aside_answer(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                             const uint8_t *outcome, const double *done_ns, uint32_t pipeline);

#endif
