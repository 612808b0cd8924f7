#include "models/megakv/real/measure.h"

#include <math.h>
#include <stdlib.h>

#include "models/megakv/config.h"
#include "models/megakv/real/report.h"
#include "models/megakv/real/threads.h"
#include "sim/base/seeds.h"
#include "sim/probes/noise.h"
#include "sim/probes/pin.h"

#define FEED_BYTES_MAX (UINT64_C(512) << 20)
#define FEEDS_BYTES_MAX (UINT64_C(1) << 30)

enum kvc_status kvc_megakv_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    if (config->shards != 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found %u sockets in the cluster; a measurement allows one: node.sockets = 1, cluster.nodes = 1",
            config->shards);
    }
    if (config->database != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.database: found a database; a measurement allows none");
    }
    if (config->feed != KVC_MEGAKV_MEMORY) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.feed: found \"network\"; a measurement allows \"memory\", packets that lie in memory");
    }
    if (config->sample_rate != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.functional: found a sample of the keys; a measurement allows \"full\"");
    }
    if (config->streams > KVC_MEGAKV_REAL_PIPELINES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.streams: found %u; a measurement allows at most %d", config->streams,
                             KVC_MEGAKV_REAL_PIPELINES_MAX);
    }
    uint32_t needed = kvc_megakv_real_threads_cores(scenario), cores = kvc_pin_cores();
    if (needed > cores) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "the scenario's threads need %u cores, this machine has %u: reduce system.streams, or use "
            "system.threads = \"shared\" with node.cpu.cores = %u",
            needed, cores, cores);
    }
    return KVC_OK;
}

static enum kvc_status check_values(const struct kvc_megakv_real_node *node, struct kvc_diag *diag)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        wrong += node->pipeline[i]->answerer.wrong;
    }
    if (atomic_load(&node->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while it searched");
    }
    return wrong == 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                      "%llu values that were read do not belong to their keys",
                                      (unsigned long long)wrong);
}

/* Returns the bytes of packets for each pipeline: so many that the same keys do not return soon enough for
 * caches and CLOCK to favour them. */
static uint64_t feed_bytes(const struct kvc_scenario *scenario)
{
    uint64_t share = FEEDS_BYTES_MAX / kvc_megakv_config_of(scenario)->streams;
    return share < FEED_BYTES_MAX ? share : FEED_BYTES_MAX;
}

/* Opens the node of the scenario over a new, preloaded store. All memory of the store is there before the
 * run, as servers do it: otherwise, every first write to a new slab would wait for the system to clear a
 * page. */
static enum kvc_status open_node(struct kvc_megakv_real_node *node, struct kvc_cuckoo_store **store,
                                 const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                 struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool on_gpu = config->index_on == KVC_MEGAKV_INDEX_ON_GPU;
    enum kvc_status status =
        kvc_megakv_store_create(scenario, kvc_seed_of_replica(scenario->run.seed, 0), progress, store, diag);
    if (status == KVC_OK) {
        kvc_megakv_slab_touch((*store)->shards[0].slab);
    }
    if (status == KVC_OK && on_gpu) {
        status = kvc_megakv_real_device_move_index(scenario, &(*store)->shards[0], diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_real_node_open(node, scenario, &(*store)->shards[0], on_gpu, feed_bytes(scenario),
                                           diag);
    }
    return status;
}

/* What is watched beside the node. */
struct watched {
    struct kvc_megakv_real_windows windows;
    struct kvc_watched_noise noise;
};

static enum kvc_status run_node(struct kvc_megakv_real_node *node, const struct kvc_scenario *scenario,
                                const struct kvc_progress *progress, struct watched *watched,
                                struct kvc_diag *diag)
{
    const struct kvc_run *run = &scenario->run;
    double from_ns = kvc_run_real_warmup_ns(run);
    struct kvc_noise noise;
    enum kvc_status status = kvc_cores_measure(&watched->noise.cores, diag);
    if (status == KVC_OK) {
        status = kvc_megakv_real_windows_open(&watched->windows, node->count, run->duration_ns, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    kvc_megakv_real_node_start(node, from_ns, from_ns + kvc_watched_room_ns(&watched->windows.watched));
    kvc_noise_begin(&noise);
    status = kvc_megakv_real_threads_run(node, scenario, progress, &watched->windows, diag);
    watched->noise.others_frac = kvc_noise_frac(&noise);
    return status == KVC_OK ? check_values(node, diag) : status;
}

enum kvc_status kvc_megakv_measure(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag)
{
    struct kvc_cuckoo_store *store = NULL;
    enum kvc_status status = kvc_megakv_measure_check(scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_megakv_real_node *node = calloc(1, sizeof(*node));
    struct watched *watched = calloc(1, sizeof(*watched));
    if (node == NULL || watched == NULL) {
        kvc_out_of_memory("a node");
    }
    status = open_node(node, &store, scenario, progress, diag);
    if (status == KVC_OK) {
        status = run_node(node, scenario, progress, watched, diag);
    }
    if (status == KVC_OK) {
        kvc_megakv_real_report(node, &watched->windows, result);
        kvc_watched_report_noise(&watched->windows.watched, &watched->noise, result);
        result->preload_wall_s = store->preload_wall_s;
    }
    kvc_megakv_real_windows_close(&watched->windows);
    free(watched);
    kvc_megakv_real_node_close(node);
    free(node);
    kvc_cuckoo_store_free(store);
    return status;
}
