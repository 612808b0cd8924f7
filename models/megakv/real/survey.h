/* A survey of the stages under way: what surveys of senders and of receivers share. */
#ifndef KVC_MODELS_MEGAKV_REAL_SURVEY_H
#define KVC_MODELS_MEGAKV_REAL_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/megakv/real/measurement.h"
#include "models/megakv/real/testbench.h"

struct kvc_megakv_survey {
    struct kvc_thread_pool *pool;
    struct kvc_megakv_measurement *measurement;
    uint32_t cores;    /* Hardware threads that may be used. */
    bool shared_cores; /* There are too few of them to give every thread of a pipeline its own. */
    double pass_ns;    /* Time in which the CLOCK hand passes an item [ns]. */
    struct kvc_megakv_testbench testbench;

    /* The point that is measured. */
    struct kvc_megakv_testbench_work work;
    struct kvc_megakv_testbench_round round[KVC_MEGAKV_REPETITIONS];
    double frame_requests; /* Requests of its frames. */
    uint32_t one_in;       /* One in this many reference bits is clear. */
    double marked;         /* Bits that reads may have set since then. */
};

/* Work that reads GETs of keys that exist, as many as a small batch has. */
extern const struct kvc_megakv_testbench_work kvc_megakv_survey_reads;

/* Requests of the batches that are measured: from those that stay in the caches until their buffer's next
 * turn to full ones. */
enum { KVC_MEGAKV_SURVEY_BATCHES = 4 };
extern const uint32_t kvc_megakv_survey_batch_rows[KVC_MEGAKV_SURVEY_BATCHES];

/* Returns the memory of batches of `rows` requests that a receiver's core fills in turn [bytes]. */
double kvc_megakv_survey_batches_bytes(const struct kvc_megakv_survey *survey, uint32_t rows);

/* Opens a new store for each number of pipelines, because a store's resources (packets, buffers) contribute
 * to the costs of its stages. `room_bytes` is what SETs find free; `frame_requests` is as for
 * kvc_megakv_testbench_open, and so are the errors. */
enum kvc_status kvc_megakv_survey_open(struct kvc_megakv_survey *survey, uint32_t key_bytes,
                                       uint32_t value_bytes, double items_bytes, double room_bytes,
                                       uint32_t frame_requests, uint32_t pipelines, struct kvc_diag *diag);

/* Reads about `requests` random items. */
void kvc_megakv_survey_read(struct kvc_megakv_survey *survey, double requests);

/* Runs a round of survey->work and keeps it. */
const struct kvc_megakv_testbench_round *kvc_megakv_survey_round(struct kvc_megakv_survey *survey,
                                                                 int repetition);

/* Returns where the testbench is on a curve over items, at `size`. */
struct kvc_megakv_cost_point kvc_megakv_survey_place(const struct kvc_megakv_survey *survey, double size);

/* Returns what a request touches of an item [bytes], which is the size on curves over items. */
double kvc_megakv_survey_touched_bytes(const struct kvc_megakv_survey *survey);

/* Measures a point over the item's bytes, at a footprint. */
void kvc_megakv_survey_measure(struct kvc_megakv_survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                               double footprint_bytes, struct kvc_megakv_measured_curve *curve);

#endif
