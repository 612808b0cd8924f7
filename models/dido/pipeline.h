/* DIDO's pipelines, which assign the tasks of a query to stages on the CPU or on the GPU.
 *
 * A pipeline is written as its stages in order, separated by ">". A stage is "cpu", "cpu:N" with N cores, or
 * "gpu", followed by its tasks:
 *
 *     cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:2 WR SD
 *
 * Batches pass through the stages in order, so that a task sees the work of earlier stages and of the tasks
 * before it in its own stage:
 *
 *   - RV, PP, search, KC, RD, WR, SD are in this order, since each needs what the one before has found.
 *   - MM is at PP or after it, and at WR or before it: a SET is answered when it has its place.
 *   - insert and delete are at MM or after it: they add the new item and remove the evicted one.
 *   - RV and SD call the operating system, and the GPU cannot (sec. IV.B). */
#ifndef KVC_MODELS_DIDO_PIPELINE_H
#define KVC_MODELS_DIDO_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/dido/tasks.h"
#include "sim/base/diag.h"

enum {
    KVC_DIDO_STAGES_MAX = 8,
    /* Most stages of pipelines that kvc_dido_pipeline_visit_all() visits. */
    KVC_DIDO_PLAN_STAGES_MAX = 3,
    KVC_DIDO_PIPELINE_TEXT_MAX = 256, /* Bytes of a pipeline as text, including the terminating zero. */
};

struct kvc_dido_stage {
    bool on_gpu;
    uint32_t cores; /* Cores of the CPU; 0 if they are not stated, and on the GPU. */
    uint32_t tasks; /* Set of tasks: a bit for each enum kvc_dido_task. */
};

struct kvc_dido_pipeline {
    uint32_t stages;
    struct kvc_dido_stage stage[KVC_DIDO_STAGES_MAX];
};

/* Mega-KV's pipeline: the GPU has the index. */
extern const char kvc_dido_megakv_pipeline[];

static inline bool kvc_dido_stage_has(const struct kvc_dido_stage *stage, enum kvc_dido_task task)
{
    return (stage->tasks & kvc_dido_bit(task)) != 0;
}

/* Returns the number of the stage that does a task. */
static inline uint32_t kvc_dido_stage_of(const struct kvc_dido_pipeline *pipeline, enum kvc_dido_task task)
{
    uint32_t stage = 0;
    while (!kvc_dido_stage_has(&pipeline->stage[stage], task)) {
        stage++;
    }
    return stage;
}

/* Reads a pipeline from text. Refuses unknown words, a task twice or nowhere, an order that the data flow
 * forbids, a stage without tasks, RV or SD on the GPU, and two stages on the GPU. The message begins with
 * "system.pipeline". */
enum kvc_status kvc_dido_pipeline_parse(const char *text, struct kvc_dido_pipeline *pipeline,
                                        struct kvc_diag *diag);

/* Checks that the stages on the CPU have no more cores than it, and that all or none of them say how many. */
enum kvc_status kvc_dido_pipeline_check_cores(const struct kvc_dido_pipeline *pipeline, uint32_t cores,
                                              struct kvc_diag *diag);

/* Writes the pipeline as text. */
void kvc_dido_pipeline_print(const struct kvc_dido_pipeline *pipeline, char *text, size_t bytes);

/* Calls visit() for every division of `cores` cores over the pipeline's stages on the CPU, at least one each;
 * if the pipeline states its cores, calls it once for this pipeline. */
void kvc_dido_pipeline_visit_cores(const struct kvc_dido_pipeline *pipeline, uint32_t cores,
                                   void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline),
                                   void *data);

/* Calls visit() for every pipeline that the authors consider, with every way to give `cores` cores to its
 * stages: the GPU does a series of neighbours among PP, MM, search, KC, RD and WR, or nothing; insert and
 * delete are at MM's stage or any later one. Pipelines with fewer tasks on the GPU come first, so that a
 * planner that keeps the first of equal pipelines, such as pipelines that differ in unused tasks, leaves the
 * GPU idle. */
void kvc_dido_pipeline_visit_all(uint32_t cores,
                                 void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline),
                                 void *data);

#endif
