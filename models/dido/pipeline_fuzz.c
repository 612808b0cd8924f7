/* Fuzz target that takes any text as a pipeline. One that is accepted has every task once, is written in less
 * than the room that there is for it, and reads back as the same pipeline; every division of cores among its
 * stages gives out all of them. One that is refused has a message. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/dido/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { CORES = 9 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

/* A visitor that checks the sum of the cores, unless the pipeline says itself how many it has. */
static void check_cores(void *data, const struct kvc_dido_pipeline *pipeline)
{
    const struct kvc_dido_pipeline *parsed = data;
    uint32_t given = 0, stated = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        check(pipeline->stage[s].on_gpu == parsed->stage[s].on_gpu);
        check((pipeline->stage[s].cores > 0) == !pipeline->stage[s].on_gpu);
        given += pipeline->stage[s].cores;
        stated += parsed->stage[s].cores;
    }
    check(stated > 0 ? given == stated : given == CORES);
}

static void check_pipeline(struct kvc_dido_pipeline *pipeline)
{
    uint32_t seen = 0;
    for (uint32_t s = 0; s < pipeline->stages; s++) {
        check(pipeline->stage[s].tasks != 0 && (seen & pipeline->stage[s].tasks) == 0);
        seen |= pipeline->stage[s].tasks;
    }
    check(seen == (1u << KVC_DIDO_TASKS) - 1);

    char printed[KVC_DIDO_PIPELINE_TEXT_MAX];
    struct kvc_dido_pipeline again;
    kvc_dido_pipeline_print(pipeline, printed, sizeof(printed));
    check(strlen(printed) < sizeof(printed) - 1);
    check(kvc_dido_pipeline_parse(printed, &again, NULL) == KVC_OK);
    check(memcmp(&again, pipeline, sizeof(again)) == 0);

    if (kvc_dido_pipeline_check_cores(pipeline, CORES, NULL) == KVC_OK) {
        kvc_dido_pipeline_visit_cores(pipeline, CORES, check_cores, pipeline);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct kvc_dido_pipeline pipeline; /* Zero between its members, for memcmp. */
    struct kvc_diag diag = {0};
    char *text = strndup((const char *)data, bytes);
    check(text != NULL);
    if (kvc_dido_pipeline_parse(text, &pipeline, &diag) == KVC_OK) {
        check_pipeline(&pipeline);
    } else {
        check(diag.status == KVC_ERR_SCENARIO && strncmp(diag.message, "system.pipeline: ", 17) == 0);
        check(strpbrk(diag.message, "\n\r\033") == NULL);
    }
    free(text);
    return 0;
}
