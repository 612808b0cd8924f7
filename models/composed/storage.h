/* The storage behind a composed store: a database and flash at work, and what the stages on them ask.
 *
 * A job on such a stage asks for each of its requests. The devices have queues of their own, so that any
 * number of jobs may be there; a job goes on when it has all of its answers. */
#ifndef KVC_MODELS_COMPOSED_STORAGE_H
#define KVC_MODELS_COMPOSED_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/config.h"
#include "models/composed/flash.h"
#include "models/composed/job.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/devices/database.h"

/* An operation of a device that has not ended. */
struct kvc_composed_asked {
    uint32_t job; /* Number of the job that waits for it. */
    uint8_t stage;
    uint8_t kind; /* Defined by storage.c. */
};

struct kvc_composed_storage {
    const struct kvc_composed_config *config;
    struct kvc_events *events;
    struct kvc_database_engine database; /* Zeroed: no stage is on one. */
    struct kvc_composed_flash flash;     /* Zeroed: there is none. */
    struct kvc_composed_asked *asked;    /* By tag. */
    uint32_t tags;                       /* Entries of `asked`. */
    struct kvc_ring free;                /* Tags that no operation has. */
    struct kvc_ring blocked; /* Jobs that wait for room in the write buffer, each with its stage. */
    /* By stage: what has ended for it since the latest catch-up, its share of what has ended last, and its
     * part of the time for which its device was busy [ns]. */
    double ended_ns[KVC_COMPOSED_STAGES_MAX], share[KVC_COMPOSED_STAGES_MAX],
        busy_ns[KVC_COMPOSED_STAGES_MAX];
    double database_ns, flash_ns; /* Busy times of the devices that stages have got their parts of [ns]. */
};

/* Opens the storage of a server; `log` holds the items on flash, or is NULL. The configuration, the log and
 * the events must outlive it. */
void kvc_composed_storage_open(struct kvc_composed_storage *storage, const struct kvc_composed_config *config,
                               const struct kvc_item_log *log, struct kvc_events *events, uint64_t seed,
                               uint32_t number);
void kvc_composed_storage_close(struct kvc_composed_storage *storage); /* A zeroed one is allowed. */

/* Whether a stage must wait for room in the write buffer. */
bool kvc_composed_storage_is_full(const struct kvc_composed_storage *storage, uint32_t stage);

/* Begins a stage on a device of the storage for the job `number`, whose operations have been executed, and
 * sets how many answers it waits for. Returns the bytes that cross the host's memory for it. */
double kvc_composed_storage_begin(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                  uint32_t number, uint32_t stage, double now_ns);

/* Lets the job `number` wait for the answer of another node, which comes at returns_ns. */
void kvc_composed_storage_visit(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                uint32_t number, uint32_t stage, double returns_ns);

/* Whether an event is one of the storage's. */
bool kvc_composed_storage_owns(const struct kvc_event *event);

/* Handles an event of the storage. Returns whether an operation has ended that a job waits for; *ended then
 * says which. */
bool kvc_composed_storage_handle(struct kvc_composed_storage *storage, const struct kvc_event *event,
                                 struct kvc_composed_asked *ended);

/* Brings the devices up to a time until which all events have been handled, and gives the stages their parts
 * of the time for which a device was busy since. */
void kvc_composed_storage_catch_up(struct kvc_composed_storage *storage, double now_ns);

#endif
