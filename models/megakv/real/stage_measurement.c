#include "models/megakv/real/stage_measurement.h"

#include <stddef.h>
#include <stdlib.h>

#include "models/megakv/real/survey_receivers.h"
#include "models/megakv/real/survey_senders.h"

enum {
    THREADS_MAX = 2, /* Numbers of threads that are measured. */
    CORES_OF_A_PIPELINE = 3,
};

/* The numbers of pipelines that are measured: one alone, and as many as the machine has cores for. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
};

uint32_t kvc_megakv_pipelines_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    return most < KVC_MEGAKV_REAL_PIPELINES_MAX ? most : KVC_MEGAKV_REAL_PIPELINES_MAX;
}

static struct threads threads_of(uint32_t cores)
{
    struct threads threads = {.most = kvc_megakv_pipelines_of(cores)};
    threads.value[threads.count++] = 1;
    if (threads.most > 1) {
        threads.value[threads.count++] = threads.most;
    }
    return threads;
}

/* A survey and what it shall find out. */
struct plan {
    const struct kvc_megakv_measurement_options *params;
    struct threads threads;
    struct kvc_steadiness *steadiness;
    const struct kvc_progress *progress;
    struct kvc_megakv_survey survey;
};

static enum kvc_status survey_frames(struct plan *plan, uint32_t key_bytes, uint32_t pipelines,
                                     struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = plan->params;
    enum kvc_status status = KVC_OK;
    for (int f = 0; status == KVC_OK && f < KVC_MEGAKV_FRAMES_MAX && params->frames[f] > 0; f++) {
        status = kvc_megakv_survey_open(&plan->survey, key_bytes, params->usual_value_bytes,
                                        params->items_bytes[0], 0, params->frames[f], pipelines, diag);
        if (status == KVC_OK) {
            kvc_megakv_survey_receive(&plan->survey, params->frames[f]);
        }
        kvc_megakv_testbench_close(&plan->survey.testbench);
    }
    return status;
}

static enum kvc_status survey_full_store(struct plan *plan, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = plan->params;
    const struct kvc_megakv_shapes *shapes = &params->shapes[0];
    double items_bytes = params->items_bytes[1] > 0 ? params->items_bytes[1] : params->items_bytes[0];
    enum kvc_status status = kvc_megakv_survey_open(
        &plan->survey, shapes->key_bytes, params->usual_value_bytes, items_bytes, 0, 0, pipelines, diag);
    if (status == KVC_OK) {
        kvc_megakv_survey_read_batches(&plan->survey);
        kvc_megakv_survey_pass(&plan->survey);
        kvc_megakv_survey_mix(&plan->survey);
        kvc_megakv_survey_drain(&plan->survey);
    }
    kvc_megakv_testbench_close(&plan->survey.testbench);
    return status;
}

/* Measures one length of keys and values in a small store for the popular items and in larger ones. */
static enum kvc_status survey_items(struct plan *plan, uint32_t key_bytes, uint32_t value_bytes,
                                    bool first_of_key, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = plan->params;
    struct kvc_megakv_survey *survey = &plan->survey;
    enum kvc_status status =
        kvc_megakv_survey_open(survey, key_bytes, value_bytes, params->nearby_bytes, 0, 0, pipelines, diag);
    if (status == KVC_OK) {
        status = kvc_megakv_survey_reads_nearby(survey, first_of_key, diag);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    for (int f = 0; status == KVC_OK && f < KVC_MEGAKV_FOOTPRINTS_MAX && params->items_bytes[f] > 0; f++) {
        status = kvc_megakv_survey_open(survey, key_bytes, value_bytes, params->items_bytes[f],
                                        kvc_megakv_survey_room_bytes, 0, pipelines, diag);
        if (status == KVC_OK) {
            status = kvc_megakv_survey_senders(survey, first_of_key, diag);
        }
        if (status == KVC_OK) {
            kvc_megakv_survey_writes(survey);
        }
        kvc_megakv_testbench_close(&survey->testbench);
        kvc_steadiness_check(plan->steadiness);
    }
    return status;
}

static uint32_t keys_of(const struct kvc_megakv_measurement_options *params)
{
    uint32_t keys = 0;
    while (keys < KVC_MEGAKV_COST_KEYS_MAX && params->shapes[keys].key_bytes > 0) {
        keys++;
    }
    return keys;
}

/* Measures everything with a number of pipelines. Items of other lengths of keys than the first are measured
 * with the most pipelines only, which saves minutes. */
static enum kvc_status survey_pipelines(struct plan *plan, uint32_t pipelines, double done_frac,
                                        struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = plan->params;
    uint32_t keys = keys_of(params), items = pipelines < plan->threads.most ? 1 : keys;
    enum kvc_status status = KVC_OK;
    for (uint32_t k = 0; status == KVC_OK && k < keys; k++) {
        status = survey_frames(plan, params->shapes[k].key_bytes, pipelines, diag);
    }
    if (status == KVC_OK) {
        status = survey_full_store(plan, pipelines, diag);
    }
    for (uint32_t k = 0; status == KVC_OK && k < items; k++) {
        const struct kvc_megakv_shapes *shapes = &params->shapes[k];
        kvc_progress_report(plan->progress, "stages", done_frac + (double)k / items / plan->threads.count);
        for (int v = 0; status == KVC_OK && v < KVC_MEGAKV_VALUES_MAX && shapes->value_bytes[v] > 0; v++) {
            status = survey_items(plan, shapes->key_bytes, shapes->value_bytes[v], v == 0, pipelines, diag);
        }
    }
    return status;
}

enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a testbench");
    }
    *plan = (struct plan){.params = params,
                          .threads = threads_of(params->cores),
                          .steadiness = steadiness,
                          .progress = progress,
                          .survey = {.pool = kvc_thread_pool_create(params->cores),
                                     .measurement = measurement,
                                     .cores = params->cores,
                                     .shared_cores = params->cores < CORES_OF_A_PIPELINE}};
    enum kvc_status status = KVC_OK;
    if (plan->survey.pool == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%u threads cannot be started", params->cores);
    }
    for (uint32_t t = 0; status == KVC_OK && t < plan->threads.count; t++) {
        status = survey_pipelines(plan, plan->threads.value[t], (double)t / plan->threads.count, diag);
    }
    kvc_thread_pool_free(plan->survey.pool);
    free(plan);
    return status;
}
