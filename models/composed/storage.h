/* The storage behind a composed store: a database at work, and what the stages on it ask.
 *
 * A job on such a stage asks for each of its requests. The device has queues of its own, so that any number
 * of jobs may be there; a job goes on when it has all of its answers. */
#ifndef KVC_MODELS_COMPOSED_STORAGE_H
#define KVC_MODELS_COMPOSED_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/config.h"
#include "models/composed/job.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/devices/database.h"

/* An operation of a device that has not ended: which job waits for it, in which stage. */
struct kvc_composed_asked {
    uint32_t job;
    uint8_t stage;
};

struct kvc_composed_storage {
    const struct kvc_composed_config *config;
    struct kvc_database_engine database; /* Zeroed: no stage is on one. */
    struct kvc_composed_asked *asked;    /* By tag. */
    uint32_t tags;                       /* Entries of `asked`. */
    struct kvc_ring free;                /* Tags that no operation has. */
};

/* Opens the storage of a server. The configuration and the events must outlive it. */
void kvc_composed_storage_open(struct kvc_composed_storage *storage, const struct kvc_composed_config *config,
                               struct kvc_events *events, uint64_t seed, uint32_t number);
void kvc_composed_storage_close(struct kvc_composed_storage *storage); /* A zeroed one is allowed. */

/* Begins a stage on a device of the storage for the job `number`, and sets how many answers it waits for. */
void kvc_composed_storage_begin(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                uint32_t number, uint32_t stage, double now_ns);

/* Whether an event is one of the storage's. */
bool kvc_composed_storage_owns(const struct kvc_event *event);

/* Handles an event of the storage. Returns whether an operation has ended; *ended then says whose. */
bool kvc_composed_storage_handle(struct kvc_composed_storage *storage, const struct kvc_event *event,
                                 struct kvc_composed_asked *ended);

/* Returns for how long the device of a place was busy since the storage was opened [ns]. */
double kvc_composed_storage_busy_ns(const struct kvc_composed_storage *storage,
                                    enum kvc_composed_place place);

#endif
