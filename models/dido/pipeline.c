#include "models/dido/pipeline.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/option.h"

const char kvc_dido_megakv_pipeline[] = "cpu RV PP MM > gpu search insert delete > cpu KC RD WR SD";

/* A task must not be at an earlier stage than the one that it needs. */
static const struct order {
    enum kvc_dido_task first, then;
} orders[] = {
    {KVC_DIDO_RV, KVC_DIDO_PP},     {KVC_DIDO_PP, KVC_DIDO_MM}, {KVC_DIDO_PP, KVC_DIDO_SEARCH},
    {KVC_DIDO_SEARCH, KVC_DIDO_KC}, {KVC_DIDO_KC, KVC_DIDO_RD}, {KVC_DIDO_RD, KVC_DIDO_WR},
    {KVC_DIDO_WR, KVC_DIDO_SD},     {KVC_DIDO_MM, KVC_DIDO_WR}, {KVC_DIDO_MM, KVC_DIDO_INSERT},
    {KVC_DIDO_MM, KVC_DIDO_ERASE},
};

/* The tasks that the authors divide among the processors, in the order of the pipeline. */
static const enum kvc_dido_task chain[] = {KVC_DIDO_RV, KVC_DIDO_PP, KVC_DIDO_MM, KVC_DIDO_SEARCH,
                                           KVC_DIDO_KC, KVC_DIDO_RD, KVC_DIDO_WR, KVC_DIDO_SD};
enum { CHAIN = sizeof(chain) / sizeof(*chain) };

/* ---- reading ---- */

/* Reads the next word, at most `bytes` - 1 of its characters, and moves *text past it. */
static bool next_word(const char **text, char *word, size_t bytes)
{
    size_t length = 0;
    while (isspace((unsigned char)**text)) {
        ++*text;
    }
    for (; **text != '\0' && !isspace((unsigned char)**text); ++*text) {
        if (length + 1 < bytes) {
            word[length++] = **text;
        }
    }
    word[length] = '\0';
    return length > 0;
}

static enum kvc_status refuse_word(const char *word, const char *allowed, struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.pipeline: found \"%s\", allowed: %s", word, allowed);
}

/* Reads the processor that a stage begins with. */
static enum kvc_status read_processor(const char *word, struct kvc_dido_stage *stage, struct kvc_diag *diag)
{
    char *end;
    *stage = (struct kvc_dido_stage){.on_gpu = strcmp(word, "gpu") == 0};
    if (stage->on_gpu || strcmp(word, "cpu") == 0) {
        return KVC_OK;
    }
    if (strncmp(word, "cpu:", 4) == 0 && isdigit((unsigned char)word[4])) {
        unsigned long cores = strtoul(word + 4, &end, 10);
        if (*end == '\0' && cores > 0 && cores <= 1024) {
            stage->cores = (uint32_t)cores;
            return KVC_OK;
        }
    }
    return refuse_word(word, "a stage begins with cpu, cpu:N with N from 1 to 1024 cores, or gpu", diag);
}

static enum kvc_status read_task(const char *word, uint32_t *seen, struct kvc_dido_stage *stage,
                                 struct kvc_diag *diag)
{
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if (strcmp(word, kvc_dido_task_names[task]) != 0) {
            continue;
        }
        if ((*seen & kvc_dido_bit((enum kvc_dido_task)task)) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.pipeline: found %s twice, allowed: every task once", word);
        }
        *seen |= kvc_dido_bit((enum kvc_dido_task)task);
        stage->tasks |= kvc_dido_bit((enum kvc_dido_task)task);
        return KVC_OK;
    }
    return refuse_word(word, "RV, PP, MM, search, insert, delete, KC, RD, WR, SD, or > and the next stage",
                       diag);
}

static enum kvc_status check_stages(const struct kvc_dido_pipeline *pipeline, uint32_t seen,
                                    struct kvc_diag *diag)
{
    uint32_t on_gpu = 0;
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        if ((seen & kvc_dido_bit((enum kvc_dido_task)task)) == 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.pipeline: found no %s, allowed: every task once",
                                 kvc_dido_task_names[task]);
        }
    }
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        on_gpu += stage->on_gpu;
        if (stage->tasks == 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.pipeline: found no task in stage %u, allowed: at least one", s + 1);
        }
        if (stage->on_gpu && (stage->tasks & (kvc_dido_bit(KVC_DIDO_RV) | kvc_dido_bit(KVC_DIDO_SD))) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.pipeline: found %s on the gpu, allowed: cpu",
                                 kvc_dido_stage_has(stage, KVC_DIDO_RV) ? "RV" : "SD");
        }
    }
    return on_gpu <= 1 ? KVC_OK
                       : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                       "system.pipeline: found %u stages on the gpu, allowed: one", on_gpu);
}

static enum kvc_status check_order(const struct kvc_dido_pipeline *pipeline, struct kvc_diag *diag)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        uint32_t first = kvc_dido_stage_of(pipeline, orders[i].first);
        uint32_t then = kvc_dido_stage_of(pipeline, orders[i].then);
        if (then < first) {
            const char *first_name = kvc_dido_task_names[orders[i].first];
            const char *then_name = kvc_dido_task_names[orders[i].then];
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.pipeline: found %s in stage %u and %s in stage %u, allowed: %s in "
                                 "the same stage as %s or a later one",
                                 then_name, then + 1, first_name, first + 1, then_name, first_name);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_dido_pipeline_parse(const char *text, struct kvc_dido_pipeline *pipeline,
                                        struct kvc_diag *diag)
{
    char word[KVC_TEXT_MAX]; /* No word of an option is longer, so none is cut off. */
    uint32_t seen = 0;
    bool begins = true;
    enum kvc_status status = KVC_OK;
    *pipeline = (struct kvc_dido_pipeline){0};
    while (status == KVC_OK && next_word(&text, word, sizeof(word))) {
        if (begins && pipeline->stages == KVC_DIDO_STAGES_MAX) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.pipeline: found more than %d stages, allowed: up to %d",
                                 KVC_DIDO_STAGES_MAX, KVC_DIDO_STAGES_MAX);
        }
        if (begins) {
            status = read_processor(word, &pipeline->stage[pipeline->stages++], diag);
            begins = false;
        } else if (strcmp(word, ">") == 0) {
            begins = true;
        } else {
            status = read_task(word, &seen, &pipeline->stage[pipeline->stages - 1], diag);
        }
    }
    if (status == KVC_OK && begins) {
        return refuse_word(pipeline->stages > 0 ? ">" : "", "a stage, such as cpu RV PP MM", diag);
    }
    status = status == KVC_OK ? check_stages(pipeline, seen, diag) : status;
    return status == KVC_OK ? check_order(pipeline, diag) : status;
}

/* ---- cores ---- */

enum kvc_status kvc_dido_pipeline_check_cores(const struct kvc_dido_pipeline *pipeline, uint32_t cores,
                                              struct kvc_diag *diag)
{
    uint32_t stages = 0, stated = 0, sum = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        stages += !stage->on_gpu;
        stated += stage->cores > 0;
        sum += stage->cores;
    }
    if (stated > 0 && stated < stages) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.pipeline: found cores for %u of %u stages on the cpu, allowed: for all "
                             "of them or for none",
                             stated, stages);
    }
    if (sum > cores || stages > cores) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.pipeline: found %u cores for %u stages, node.cpu has %u",
                             sum > 0 ? sum : stages, stages, cores);
    }
    return KVC_OK;
}

/* Gives cores to the stages from `next` on. */
static void visit_rest(struct kvc_dido_pipeline *pipeline, uint32_t next, uint32_t left, uint32_t stages_left,
                       void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline), void *data)
{
    while (next < pipeline->stages && pipeline->stage[next].on_gpu) {
        next++;
    }
    if (next == pipeline->stages) {
        visit(data, pipeline);
        return;
    }
    uint32_t most = left - (stages_left - 1), least = stages_left == 1 ? most : 1;
    for (uint32_t cores = least; cores <= most; cores++) {
        pipeline->stage[next].cores = cores;
        visit_rest(pipeline, next + 1, left - cores, stages_left - 1, visit, data);
    }
}

void kvc_dido_pipeline_visit_cores(const struct kvc_dido_pipeline *pipeline, uint32_t cores,
                                   void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline),
                                   void *data)
{
    struct kvc_dido_pipeline with_cores = *pipeline;
    uint32_t stages = 0, stated = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        stages += !pipeline->stage[s].on_gpu;
        stated += pipeline->stage[s].cores;
    }
    if (stated > 0) {
        visit(data, pipeline);
    } else if (stages <= cores) {
        visit_rest(&with_cores, 0, cores, stages, visit, data);
    }
}

/* ---- all pipelines ---- */

/* Returns the pipeline whose GPU does chain[first] to chain[end - 1]. */
static struct kvc_dido_pipeline divided(uint32_t first, uint32_t end)
{
    struct kvc_dido_pipeline pipeline = {.stages = first < end ? 3 : 1};
    for (uint32_t i = 0; i < CHAIN; i++) {
        uint32_t stage = first == end || i < first ? 0 : i < end ? 1 : 2;
        pipeline.stage[stage].tasks |= kvc_dido_bit(chain[i]);
    }
    pipeline.stage[1].on_gpu = first < end;
    return pipeline;
}

/* Visits a pipeline with insert and delete at every stage from MM's on, stages of the CPU first. */
static void visit_index(const struct kvc_dido_pipeline *chained, uint32_t cores,
                        void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline), void *data)
{
    static const uint32_t order[] = {0, 2, 1};
    uint32_t from = kvc_dido_stage_of(chained, KVC_DIDO_MM);
    for (int i = 0; i < 9; i++) {
        uint32_t insert = order[i / 3], erase = order[i % 3];
        if (insert >= from && erase >= from && insert < chained->stages && erase < chained->stages) {
            struct kvc_dido_pipeline pipeline = *chained;
            pipeline.stage[insert].tasks |= kvc_dido_bit(KVC_DIDO_INSERT);
            pipeline.stage[erase].tasks |= kvc_dido_bit(KVC_DIDO_ERASE);
            kvc_dido_pipeline_visit_cores(&pipeline, cores, visit, data);
        }
    }
}

void kvc_dido_pipeline_visit_all(uint32_t cores,
                                 void (*visit)(void *data, const struct kvc_dido_pipeline *pipeline),
                                 void *data)
{
    for (uint32_t length = 0; length < CHAIN - 1; length++) {
        /* The pipeline without tasks on the GPU counts once. */
        for (uint32_t first = 1; length == 0 ? first == 1 : first + length < CHAIN; first++) {
            struct kvc_dido_pipeline chained = divided(first, first + length);
            visit_index(&chained, cores, visit, data);
        }
    }
}

/* ---- writing ---- */

void kvc_dido_pipeline_print(const struct kvc_dido_pipeline *pipeline, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        const struct kvc_dido_stage *stage = &pipeline->stage[s];
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", s > 0 ? " > " : "",
                                 stage->on_gpu ? "gpu" : "cpu");
        if (stage->cores > 0) {
            used += (size_t)snprintf(text + used, bytes - used, ":%u", stage->cores);
        }
        for (int task = 0; task < KVC_DIDO_TASKS; task++) {
            if (kvc_dido_stage_has(stage, (enum kvc_dido_task)task)) {
                used += (size_t)snprintf(text + used, bytes - used, " %s", kvc_dido_task_names[task]);
            }
        }
    }
}
