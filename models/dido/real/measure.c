#include "models/dido/real/measure.h"

#include "models/dido/dido.h"
#include "models/dido/real/report.h"
#include "sim/base/seeds.h"
#include "sim/probes/noise.h"
#include "sim/probes/pin.h"
#include "sim/probes/watched.h"

static enum kvc_status check_pipeline(const struct kvc_dido_pipeline *pipeline, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_dido_real_gpu_check(pipeline, diag);
    if (status != KVC_OK) {
        return status;
    }
    uint32_t needed = kvc_dido_real_workers(pipeline), cores = kvc_pin_cores();
    uint32_t most = cores < KVC_DIDO_REAL_WORKERS_MAX ? cores : KVC_DIDO_REAL_WORKERS_MAX;
    return needed <= most
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "system.pipeline: found stages with %u cores, that of the thread of the gpu's "
                               "stage included; this machine allows %u",
                               needed, most);
}

enum kvc_status kvc_dido_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    if (config->network != KVC_DIDO_MEMORY) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.network: found \"kernel\"; a measurement allows \"memory\", requests that lie in memory");
    }
    if (config->options->stealing) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.stealing: found true; a measurement allows false, no stage helps "
                             "another one");
    }
    if (config->sample_rate != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.functional: found a sample of the keys; a measurement allows \"full\"");
    }
    return check_pipeline(&config->pipeline, diag);
}

/* Runs the node on its threads and reports what it did. */
static enum kvc_status run_node(struct kvc_dido_real_node *node, const struct kvc_scenario *scenario,
                                const struct kvc_progress *progress, struct kvc_result *result,
                                struct kvc_diag *diag)
{
    double from_ns = kvc_run_real_warmup_ns(&scenario->run);
    struct kvc_dido_real_windows windows;
    struct kvc_watched_noise measured;
    struct kvc_noise noise;
    enum kvc_status status = kvc_cores_measure(&measured.cores, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_dido_real_windows_open(&windows, node->workers, scenario->run.duration_ns);
    kvc_dido_real_node_start(node);
    kvc_noise_begin(&noise);
    status = kvc_dido_real_windows_run(&windows, node, from_ns, progress, diag);
    measured.others_frac = kvc_noise_frac(&noise);
    if (status == KVC_OK && (atomic_load(&node->failed) || !kvc_dido_real_node_count(node))) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed during the measurement");
    }
    if (status == KVC_OK) {
        kvc_dido_real_report(node, &windows, from_ns, result);
        kvc_watched_report_noise(&windows.watched, &measured, result);
    }
    kvc_dido_real_windows_close(&windows);
    return status;
}

enum kvc_status kvc_dido_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                 struct kvc_result *result, struct kvc_diag *diag)
{
    void *state = NULL;
    enum kvc_status status = kvc_dido_measure_check(scenario, diag);
    if (status == KVC_OK) {
        status = kvc_dido_model.prepare(scenario, kvc_seed_of_replica(scenario->run.seed, 0), &state,
                                        progress, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_megakv_store *store = state;
    kvc_megakv_slab_touch(store->shards[0].slab);
    struct kvc_dido_real_node *node =
        kvc_dido_real_node_create(scenario, &store->shards[0], KVC_DIDO_REAL_FEED_BYTES, diag);
    status = node == NULL ? diag->status : run_node(node, scenario, progress, result, diag);
    result->preload_wall_s = store->preload_wall_s;
    kvc_dido_real_node_free(node);
    kvc_megakv_store_free(store);
    return status;
}
