#include "models/memcachedgpu/real/measure.h"

#include <stdlib.h>

#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/real/threads.h"
#include "sim/probes/pin.h"

/* Checks the options of the store. */
static enum kvc_status check_store(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (config->feed != KVC_MEMCACHEDGPU_MEMORY) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.feed: found \"network\"; a measurement allows \"memory\", packets that lie in memory");
    }
    if (config->index != KVC_MEMCACHEDGPU_SETS || config->class_count != 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index, system.tables: a measurement allows \"sets\" and \"one\"");
    }
    if (options->expiry_ns > 0 || options->damaged_frac > 0 ||
        options->misses != KVC_MEMCACHEDGPU_MISSES_LEAVE || options->set_connections > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "a measurement allows neither expiry nor damaged packets nor SETs: expiry = \"0s\", "
            "damaged = 0, misses = \"leave\", set_connections = 0");
    }
    if (config->streams > KVC_MEMCACHEDGPU_REAL_STREAMS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.streams: found %u; a measurement allows at most %d", config->streams,
                             KVC_MEMCACHEDGPU_REAL_STREAMS_MAX);
    }
    if (config->post_threads > KVC_MEMCACHEDGPU_REAL_POSTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.post_threads: found %u; a measurement allows at most %d",
                             config->post_threads, KVC_MEMCACHEDGPU_REAL_POSTS_MAX);
    }
    return KVC_OK;
}

/* Checks the load. */
static enum kvc_status check_load(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (workload->arrival != KVC_ARRIVAL_SATURATE || workload->get_frac < 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: a measurement allows arrival = \"saturate\" and get = 1");
    }
    return KVC_OK;
}

static enum kvc_status check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    uint32_t needed = 1 + config->post_threads, cores = kvc_pin_cores();
    if (config->shards != 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found %u servers; a measurement allows one: node.sockets = 1, cluster.nodes = 1",
            config->shards);
    }
    enum kvc_status status = check_store(config, diag);
    if (status == KVC_OK) {
        status = check_load(scenario, diag);
    }
    if (status == KVC_OK && needed > cores) {
        status = kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "the scenario's threads need %u cores, this machine has %u: reduce "
                               "system.post_threads",
                               needed, cores);
    }
    return status;
}

#ifndef KVC_HAVE_CUDA

static enum kvc_status open_store(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  void **opened, struct kvc_diag *diag)
{
    (void)scenario, (void)progress, (void)opened;
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "this program was built without CUDA; MemcachedGPU is measured on a GPU");
}

static void close_store(void *opened)
{
    (void)opened; /* No store is ever opened. */
}

const struct kvc_measurable kvc_memcachedgpu_measurable = {
    .check = check, .open = open_store, .close = close_store};

#else

static enum kvc_status open_store(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  void **opened, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_memcachedgpu_options *options = config->options;
    const struct kvc_memcachedgpu_real_params params = {
        .batch = config->batch,
        .streams = config->streams,
        .post_threads = config->post_threads,
        .entries = config->classes[0].entries,
        .ways = (uint32_t)options->ways,
        .key_room = config->classes[0].key_bytes_max,
        .background_blocks = (uint32_t)options->background_blocks,
        .background_threads = (uint32_t)options->background_threads,
        .background_kernels = (uint32_t)options->background_kernels,
        .background_ns = options->background_ns,
        .background_start_ns = options->background_start_ns,
    };
    struct kvc_memcachedgpu_real_node *node = *opened = aligned_alloc(64, sizeof(*node));
    if (node == NULL) {
        kvc_out_of_memory("a node");
    }
    return kvc_memcachedgpu_real_node_open(node, scenario, &params, progress, diag);
}

static void close_store(void *opened)
{
    if (opened != NULL) {
        kvc_memcachedgpu_real_node_close(opened);
        free(opened);
    }
}

static void set_clock(void *opened, double started_s)
{
    kvc_memcachedgpu_real_node_set_clock(opened, started_s);
}

const struct kvc_measurable kvc_memcachedgpu_measurable = {.check = check,
                                                           .open = open_store,
                                                           .close = close_store,
                                                           .join = kvc_memcachedgpu_real_threads_join,
                                                           .set_clock = set_clock,
                                                           .finish = kvc_memcachedgpu_real_threads_finish};

#endif
