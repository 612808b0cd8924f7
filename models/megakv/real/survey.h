/* A survey of the stages of senders and receivers, which measures the points of their cost curves on a
 * testbench. */
#ifndef KVC_MODELS_MEGAKV_REAL_SURVEY_H
#define KVC_MODELS_MEGAKV_REAL_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/real/measurement.h"
#include "models/megakv/real/testbench.h"

struct kvc_megakv_survey {
    struct kvc_megakv_watching watching; /* Its pool runs the stages. */
    struct kvc_megakv_measurement *measurement;
    uint32_t cores;    /* Hardware threads that may be used. */
    bool shared_cores; /* There are too few cores to give every thread of a pipeline its own. */
    double pass_ns;    /* Time in which the CLOCK hand passes an item [ns]. */
    struct kvc_megakv_testbench testbench;

    /* The point that is measured. */
    struct kvc_megakv_testbench_work work;
    struct kvc_megakv_testbench_round round[KVC_MEGAKV_REPETITIONS];
    double frame_requests; /* Requests of its frames. */
    uint32_t one_in;       /* One in this many reference bits is clear. */
    double marked;         /* Bits that reads may have set since then. */
};

/* Opens a new store for each number of pipelines, because a store's resources (packets, buffers) contribute
 * to the costs of its stages. `room_bytes` is the free memory for SETs. `frame_requests`, `last_load` and the
 * errors are the same as for kvc_megakv_testbench_open. */
enum kvc_status kvc_megakv_survey_open(struct kvc_megakv_survey *survey, uint32_t key_bytes,
                                       uint32_t value_bytes, double items_bytes, double room_bytes,
                                       uint32_t frame_requests, uint32_t pipelines,
                                       enum kvc_megakv_testbench_load last_load, struct kvc_diag *diag);

/* ---- senders: reads of items ---- */

/* Measures only reads with all reference bits nearby known to be set, in a store that fits the caches next to
 * a core: popular items are found there. `misses` and the errors are as below. */
enum kvc_status kvc_megakv_survey_reads_nearby(struct kvc_megakv_survey *survey, bool misses,
                                               struct kvc_diag *diag);

/* Measures GETs that hit by the size of their batches. */
void kvc_megakv_survey_read_batches(struct kvc_megakv_survey *survey);

/* Measures reads of all kinds, and with `misses` the time of a miss, too. Returns KVC_ERR_RUNTIME if items
 * that were stored are not found. */
enum kvc_status kvc_megakv_survey_senders(struct kvc_megakv_survey *survey, bool misses,
                                          struct kvc_diag *diag);

/* ---- receivers, and the scheduler that collects the index jobs of SETs ---- */

/* Slab memory that the SETs of a survey may take [bytes]. */
extern const double kvc_megakv_survey_room_bytes;

/* Measures the time of a receiver for a frame of GETs, by the batches that it fills. */
void kvc_megakv_survey_receive(struct kvc_megakv_survey *survey, uint32_t frame_requests);

/* Measures SETs that find free places, then SETs that evict while no item was read since the CLOCK hand
 * passed it, and then SETs that evict while every other one was. */
void kvc_megakv_survey_writes(struct kvc_megakv_survey *survey);

/* Measures how long the CLOCK hand takes to pass an item that was read: the first SET that finds no free
 * place sends it around. Afterwards every SET evicts. */
void kvc_megakv_survey_pass(struct kvc_megakv_survey *survey);

/* Measures the extra cost of a request if a random half of them are SETs. Every SET must evict. */
void kvc_megakv_survey_mix(struct kvc_megakv_survey *survey);

/* Measures the scheduler's time to collect the jobs of SETs that evict. */
void kvc_megakv_survey_drain(struct kvc_megakv_survey *survey);

#endif
