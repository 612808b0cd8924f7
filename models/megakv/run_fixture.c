#include "models/megakv/run_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/megakv/megakv.h"
#include "sim/base/seeds.h"

static enum kvc_status run(const struct kvc_scenario *scenario, const char *path, struct kvc_result *result)
{
    uint64_t seed = kvc_seed_of_replica(scenario->run.seed, 0);
    struct kvc_shards *store = NULL;
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    struct kvc_timeline *timeline = file != NULL ? kvc_timeline_open(file, 1000000) : NULL;
    enum kvc_status status = kvc_megakv_store_create(scenario, seed, NULL, &store, NULL);
    if (status == KVC_OK) {
        const struct kvc_run_context context = {
            .scenario = scenario, .state = store, .seed = seed, .timeline = timeline, .result = result};
        status = kvc_megakv_model.run(&context, NULL);
    }
    return kvc_timeline_close(timeline) == 0 ? status : KVC_ERR_RUNTIME;
}

void kvc_test_resolve(struct kvc_scenario *scenario, struct kvc_megakv_config *config)
{
    struct kvc_diag diag = {0};
    scenario->model = &kvc_megakv_model;
    cr_assert_eq(kvc_megakv_resolve(scenario, config, &diag), KVC_OK, "%s", diag.message);
    scenario->config = config;
}

struct kvc_result *kvc_test_simulate(const struct kvc_scenario *scenario, const char *timeline)
{
    struct kvc_result *result = calloc(1, sizeof(*result));
    int ends[2];
    cr_assert(result != NULL && pipe(ends) == 0);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        close(ends[0]);
        if (run(scenario, timeline, result) != KVC_OK) {
            _exit(1);
        }
        FILE *out = fdopen(ends[1], "w");
        _exit(fwrite(result, sizeof(*result), 1, out) == 1 && fclose(out) == 0 ? 0 : 1);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    size_t got = fread(result, sizeof(*result), 1, in);
    int status;
    fclose(in);
    cr_assert(waitpid(child, &status, 0) == child && status == 0 && got == 1, "the simulation failed");
    return result;
}

void kvc_test_forget_wall(struct kvc_result *result)
{
    result->wall_s = result->cpu_s = result->source_wall_s = result->kernel_wall_s = result->engine_wall_s =
        result->preload_wall_s = 0;
}

void kvc_test_forget_devices(struct kvc_result *result)
{
    static const char group[] = "devices.";
    memset(result->device, 0, sizeof(result->device));
    for (uint32_t i = 0; i < result->half_width_count; i++) {
        if (strncmp(result->half_width[i].name, group, strlen(group)) == 0) {
            result->half_width[i].half_width = 0;
        }
    }
}

double kvc_test_metric(const struct kvc_result *result, const char *name)
{
    double value = kvc_metrics_get(&result->model, name);
    return isnan(value) ? kvc_metrics_get(&result->kernel, name) : value;
}

const struct kvc_stage_result *kvc_test_stage(const struct kvc_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->stage_count; i++) {
        if (strcmp(result->stage[i].name, name) == 0) {
            return &result->stage[i];
        }
    }
    cr_assert_fail("no stage %s", name);
    return NULL;
}
