#include "scenarios/output/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/json_value.h"

/* Returns the lines of a text as an array. */
static json_t *lines(const char *text)
{
    json_t *array = json_array();
    while (*text != '\0') {
        char line[KVC_PIPELINE_TEXT_MAX];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        json_array_append_new(array, kvc_json_text(line));
        text += length + (text[length] == '\n');
    }
    return array;
}

/* Returns the share of the requests that a stage serves: of a run, as they were counted. */
static double share_of(const struct kvc_report *report, const struct kvc_pipeline_stage *stage)
{
    const struct kvc_result *result = &report->outcome->result;
    if (stage->when[0] == '\0') {
        return 1;
    }
    for (uint32_t i = 0; i < result->stage_count && result->has_histogram && result->completed > 0; i++) {
        if (strcmp(result->stage[i].name, stage->name) == 0) { /* Some may be served, but not answered yet. */
            return fmin((double)result->stage[i].served / (double)result->completed, 1);
        }
    }
    return stage->share_frac;
}

static json_t *stage_json(const struct kvc_report *report, const struct kvc_pipeline *pipeline,
                          const struct kvc_pipeline_stage *stage)
{
    json_t *object = json_object(), *structures = json_array();
    for (uint32_t i = 0; i < pipeline->structures; i++) {
        if ((stage->structures >> i & 1) != 0) {
            json_array_append_new(structures, kvc_json_text(pipeline->structure[i].name));
        }
    }
    json_object_set_new(object, "name", kvc_json_text(stage->name));
    json_object_set_new(object, "place", kvc_json_text(stage->place));
    json_object_set_new(object, "servers", kvc_json_text_or_null(stage->servers));
    json_object_set_new(object, "pool", kvc_json_text_or_null(stage->pool));
    json_object_set_new(object, "of_node", json_boolean(stage->of_node));
    json_object_set_new(object, "work", lines(stage->work));
    json_object_set_new(object, "does", kvc_json_text_or_null(stage->does));
    json_object_set_new(object, "when", kvc_json_text_or_null(stage->when));
    json_object_set_new(object, "others", lines(stage->others));
    json_object_set_new(object, "share_frac", kvc_json_number(share_of(report, stage)));
    json_object_set_new(object, "background", json_boolean(stage->background));
    json_object_set_new(object, "every", kvc_json_count(stage->every));
    json_object_set_new(object, "queue", stage->queue > 0 ? kvc_json_count(stage->queue) : json_null());
    json_object_set_new(object, "drops", json_boolean(stage->drops));
    json_object_set_new(object, "structures", structures);
    return object;
}

static json_t *batch_json(const struct kvc_pipeline *pipeline)
{
    json_t *object = json_object();
    json_object_set_new(object, "before", kvc_json_text(pipeline->stage[pipeline->batched].name));
    json_object_set_new(object, "closes", lines(pipeline->batch));
    json_object_set_new(object, "buffers", kvc_json_count(pipeline->buffers));
    return object;
}

json_t *kvc_json_pipeline(const struct kvc_report *report)
{
    const struct kvc_scenario *scenario = &report->loaded->scenario;
    struct kvc_pipeline pipeline = {0};
    if (scenario->model->pipeline == NULL) {
        return NULL;
    }
    scenario->model->pipeline(scenario, &pipeline);
    json_t *object = json_object(), *stages = json_array(), *structures = json_array();
    for (uint32_t i = 0; i < pipeline.stages; i++) {
        json_array_append_new(stages, stage_json(report, &pipeline, &pipeline.stage[i]));
    }
    for (uint32_t i = 0; i < pipeline.structures; i++) {
        const struct kvc_pipeline_structure *structure = &pipeline.structure[i];
        json_t *added = json_object();
        json_object_set_new(added, "name", kvc_json_text(structure->name));
        json_object_set_new(added, "kernel", kvc_json_text(structure->kernel));
        json_object_set_new(added, "memory", kvc_json_text(structure->memory));
        json_object_set_new(added, "size_bytes", kvc_json_number(structure->bytes));
        json_array_append_new(structures, added);
    }
    json_object_set_new(object, "pipelines", kvc_json_count(pipeline.pipelines));
    json_object_set_new(object, "sockets", kvc_json_count(pipeline.sockets));
    json_object_set_new(object, "batch",
                        pipeline.batched < pipeline.stages ? batch_json(&pipeline) : json_null());
    json_object_set_new(object, "stages", stages);
    json_object_set_new(object, "structures", structures);
    return object;
}
