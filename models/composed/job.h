/* A batch of requests on its way through a composed store: a frame, or what several frames have formed. */
#ifndef KVC_MODELS_COMPOSED_JOB_H
#define KVC_MODELS_COMPOSED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/megakv/slab.h"
#include "models/composed/costs.h"
#include "models/composed/fluid.h"
#include "sim/metrics/paths.h"
#include "sim/workload/batch.h"

/* What a request has become. Until the store knows, every GET counts as a hit. */
enum kvc_composed_outcome {
    KVC_COMPOSED_HIT,
    KVC_COMPOSED_MISS,
    KVC_COMPOSED_FETCHED, /* A miss whose value has come from the database. */
    KVC_COMPOSED_DONE,
    KVC_COMPOSED_OUTCOMES
};

/* Index jobs of one or several batches. A zeroed struct is empty. */
struct kvc_composed_writes {
    uint32_t inserts, insert_room, erases, erase_room;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
    double all_inserts, all_erases; /* The same with the requests that do not run through the structures. */
};
void kvc_composed_writes_free(struct kvc_composed_writes *writes);

/* What a stage that does not work for each batch does later. A zeroed struct is empty. */
struct kvc_composed_later {
    struct kvc_composed_writes writes;
    struct kvc_composed_counts counts; /* What all its batches need. */
    uint32_t batches;
};

/* What every frame uses comes first, because many wait at the same time. */
struct kvc_composed_job {
    struct kvc_batch *rows;
    uint32_t *location; /* By row: of a GET's item once it is searched for, of a SET's once it is written. */
    uint8_t *outcome;   /* By row: enum kvc_composed_outcome. */
    uint8_t *kept;      /* By row: whether it runs through the structures. */
    uint8_t *hot;       /* By row: whether the hot tier answers it. */
    uint8_t *route;     /* By row: number of its route. */
    uint64_t alike;     /* Jobs with the same number have the same counts; 0: only the counts tell. */
    uint32_t kept_count;
    uint32_t evicted_count, evicted_room;
    uint32_t pipeline, station; /* Number of the station that serves it. */
    uint32_t next;              /* Number of the next free job. */
    uint8_t buffer;             /* A batch, and what comes of it, has this number in its pipeline. */
    bool is_batch;              /* It has been formed of frames. */
    bool is_apart;              /* It is a request of a batch that has come apart. */
    bool is_ghost;              /* It has no rows, only work in the background. */
    bool is_part;               /* It has no rows, only the work of a stage for the job `whole`. */
    bool is_refused;            /* Its requests are answered with an error. */
    bool knows_outcome;         /* Its GETs have been compared with the items. */
    uint32_t parts;             /* Stages beside each other that have not done their work for it. */
    uint32_t port;              /* Number of the port that carries its responses. */
    uint32_t answered;          /* The number of its rows that are answered. */
    uint32_t shares;            /* A bit for each shared device that works for it. */
    uint32_t marks;             /* Used entries of mark_ns. */
    double ready_ns;            /* When it was ready for the stage [ns]. */
    double began_ns;            /* When the stage began with it [ns]. */
    double filled_ns;           /* When its latest answers were filled [ns]. */
    double latency_ns;          /* Time from the end of the stage to the next one [ns]. */
    double backlog_ns;          /* Work of the wire when the stage began [ns]. */
    double steal_ns;            /* What it costs the core that has taken it from another pipeline [ns]. */
    double mark_ns[KVC_PATHS_PARTS_MAX - 1]; /* When it left the parts of its way so far [ns]. */
    double share[KVC_COMPOSED_SHARED]; /* Rates of its work for the shared devices while it is served. */
    struct kvc_composed_counts counts; /* They count its rows, and not what operations touch. */
    double over_ns;                    /* Kernels: time for which it was taken to run when it began [ns]. */
    uint32_t core;                     /* With stalls: number of the server that serves it. */
    uint32_t whole;                    /* Number of the job of which it is a part. */
    uint32_t waits;                    /* Answers of storage that it waits for. */
    struct kvc_megakv_slab_evicted *evicted; /* Items that its SETs evicted, and that the index still has. */
    struct kvc_composed_later later; /* What its stage does in place of its own work, if that is due. */
};

/* Creates a job with room for `rows` requests, which takes memory as they come. Exits with status 3 if memory
 * is short. */
struct kvc_composed_job *kvc_composed_job_create(uint32_t rows, uint32_t key_stride);
void kvc_composed_job_free(struct kvc_composed_job *job); /* NULL is allowed. */

/* Returns the memory of a job that has held `used` of its rows [bytes]. */
double kvc_composed_job_memory_bytes(double rows, double used, uint32_t key_stride);

/* Appends `count` rows of `from`, from `first` on, without the evicted items. */
void kvc_composed_job_append(struct kvc_composed_job *job, const struct kvc_composed_job *from,
                             uint32_t first, uint32_t count);

/* Moves the evicted items of `from` to a job. */
void kvc_composed_job_take_evicted(struct kvc_composed_job *job, struct kvc_composed_job *from);

/* Notes that a job leaves a part of its way. */
void kvc_composed_job_mark(struct kvc_composed_job *job, double now_ns);

/* Adds an evicted item. */
void kvc_composed_job_evict(struct kvc_composed_job *job, const struct kvc_megakv_slab_evicted *evicted,
                            uint32_t count);

/* Moves the rows with moves[i] from `from` to the empty job `to`; the others stay in their order. */
void kvc_composed_job_split(struct kvc_composed_job *from, const bool *moves, struct kvc_composed_job *to);

/* Moves a row of a batch, and all of its evicted items, to an empty job that is no batch. */
void kvc_composed_job_take_apart(struct kvc_composed_job *job, struct kvc_composed_job *batch, uint32_t row);

/* Counts `count` rows of a job, from `first` on. */
struct kvc_composed_counts kvc_composed_job_count_rows(const struct kvc_composed_job *job, uint32_t first,
                                                       uint32_t count,
                                                       const struct kvc_composed_config *config);

/* Counts the rows of a job again. */
void kvc_composed_job_count(struct kvc_composed_job *job, const struct kvc_composed_config *config);

/* Whether a row brings the store an item: a SET, or a GET whose value has come from the database. */
static inline bool kvc_composed_job_stores(const struct kvc_composed_job *job,
                                           const struct kvc_composed_config *config, uint32_t row)
{
    return job->rows->op[row] == KVC_OP_SET || (config->fills && job->outcome[row] == KVC_COMPOSED_FETCHED);
}

/* Whether a row meets the conditions of a stage: one of each kind that it states. */
bool kvc_composed_job_meets(const struct kvc_composed_job *job, uint32_t row, uint32_t when,
                            double large_bytes);

#endif
