#include "models/memcachedgpu/real/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcachedgpu/real/testbench.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/run/preload.h"
#include "sim/workload/source/source.h"

enum {
    IMAGES_BYTES_MAX = 512 << 20,
    PACKETS_MAX = 1 << 21,
    FRAMES = 4096,          /* Transmit buffers of a GNoM-post thread. */
    ITEM_HEADER_BYTES = 48, /* Header of an item in a slab (memcached 1.4, struct item without extensions). */
    LINE_BYTES = 64,
    CLOCKED_BATCHES = 8, /* One batch in this many writes its clocks. */
    TRIAL_ROUNDS = 20,
};

/* Part of each vector of the background task that a block works on [bytes]. */
static const uint64_t background_part_bytes = 1 << 18;

static const double for_ever_ns = 1e18;

/* ---- the table ---- */

/* Collects the SETs of the preloaded keys in arrays, which are stored when they are full. */
struct loader {
    struct kvc_memcachedgpu_real_node *node;
    struct kvc_memcachedgpu_testbench_sets sets;
    uint32_t count, now;
    bool failed;
};

static void store_keys(struct loader *loader)
{
    struct kvc_memcachedgpu_testbench_sets *sets = &loader->sets;
    if (loader->count > 0) {
        loader->failed |= !kvc_memcachedgpu_testbench_sets_begin(sets, loader->node->index, loader->count,
                                                                 loader->now, NULL) ||
                          !kvc_cuda_stream_wait(NULL);
    }
    loader->now += loader->count;
    loader->count = 0;
}

static void load_keys(void *data, const struct kvc_preload_visit *visit)
{
    struct loader *loader = data;
    for (uint32_t i = 0; i < visit->count; i++) {
        uint32_t row = visit->row[i];
        kvc_memcachedgpu_testbench_sets_put_sized(&loader->sets, loader->count++, visit->batch->key_id[row],
                                                  visit->batch->key_bytes[row],
                                                  visit->batch->value_bytes[row]);
        if (loader->count == loader->sets.room) {
            store_keys(loader);
        }
    }
}

static enum kvc_status fill_table(struct kvc_memcachedgpu_real_node *node,
                                  const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  struct kvc_diag *diag)
{
    const struct kvc_sampling everything = {.rate = 1};
    const struct kvc_source_params source =
        kvc_scenario_source(scenario, 1, kvc_seed_of_replica(scenario->run.seed, 0));
    struct loader loader = {.node = node, .now = 1};
    if (!kvc_memcachedgpu_testbench_sets_open(&loader.sets, KVC_MEMCACHEDGPU_TESTBENCH_BATCH_MAX,
                                              kvc_workload_key_bytes_max(&scenario->workload))) {
        kvc_memcachedgpu_testbench_sets_close(&loader.sets);
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for SETs");
    }
    struct kvc_preload *walker = kvc_preload_create(&source, &everything, diag);
    enum kvc_status status = walker != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK) {
        double from_s = kvc_clock_wall_s();
        kvc_preload_walk(walker, KVC_PRELOAD_POPULAR_LAST, progress, "preload", load_keys, &loader);
        store_keys(&loader);
        node->preload_wall_s = kvc_clock_wall_s() - from_s;
        node->now = loader.now;
    }
    kvc_preload_free(walker);
    kvc_memcachedgpu_testbench_sets_close(&loader.sets);
    if (loader.failed) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU failed while its table was filled");
    }
    return status;
}

static enum kvc_status open_table(struct kvc_memcachedgpu_real_node *node,
                                  const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                  struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_real_params *params = &node->params;
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_set_assoc_params table = {.sets =
                                             (uint32_t)((params->entries + params->ways - 1) / params->ways),
                                         .ways = params->ways,
                                         .key_bytes_max = params->key_room};
    uint64_t stride =
        ITEM_HEADER_BYTES + kvc_workload_key_bytes_max(workload) + kvc_workload_value_bytes_max(workload);
    stride = (stride + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    node->index = kvc_set_assoc_cuda_create(&table);
    if (node->index == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "no GPU was found, or it has no memory for a table of %llu entries",
                             (unsigned long long)params->entries);
    }
    if (!kvc_memcachedgpu_real_slabs_open(&node->slabs, workload->keys, stride)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %.4g MiB of slabs",
                             (double)workload->keys * (double)stride / 0x1p20);
    }
    return fill_table(node, scenario, progress, diag);
}

/* ---- packets ---- */

/* Fills the images with the requests of the scenario's clients. */
static enum kvc_status fill_images(struct kvc_memcachedgpu_real_node *node, struct kvc_source *source,
                                   struct kvc_batch *batch, struct kvc_diag *diag)
{
    uint64_t packets = node->image_count * node->params.batch, done = 0;
    uint8_t key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    while (done < packets) {
        batch->count = 0;
        if (kvc_source_drain(source, 0, for_ever_ns, batch) == 0) {
            enum kvc_status status = kvc_source_error(source, diag);
            return status != KVC_OK
                       ? status
                       : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the load ends after %llu requests",
                                       (unsigned long long)done);
        }
        for (uint32_t i = 0; i < batch->count && done < packets; i++, done++) {
            uint8_t *image = node->images + done / node->params.batch * node->layout.image_bytes;
            kvc_memcachedgpu_text_key(key, batch->key_id[i], batch->key_bytes[i]);
            kvc_memcachedgpu_real_put(&node->layout, image, (uint32_t)(done % node->params.batch), key,
                                      batch->key_bytes[i]);
        }
    }
    return KVC_OK;
}

static enum kvc_status open_images(struct kvc_memcachedgpu_real_node *node,
                                   const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_source_params params =
        kvc_scenario_source(scenario, 1, kvc_seed_of_replica(scenario->run.seed, 0));
    node->layout = kvc_memcachedgpu_real_layout_of(node->params.batch, kvc_workload_key_bytes_max(workload));
    uint64_t most = IMAGES_BYTES_MAX / node->layout.image_bytes, wanted = PACKETS_MAX / node->params.batch;
    node->image_count = wanted < most ? wanted : most;
    uint64_t bytes = node->image_count * node->layout.image_bytes;
    node->images = kvc_cuda_alloc_pinned(bytes);
    struct kvc_source *source = kvc_source_create(&params, diag);
    struct kvc_batch *batch = kvc_batch_create(1, kvc_workload_key_stride(workload));
    enum kvc_status status = source != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && node->images == NULL) {
        status =
            kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %.4g MiB of packets", (double)bytes / 0x1p20);
    }
    if (status == KVC_OK) {
        memset(node->images, 0, bytes);
        status = fill_images(node, source, batch, diag);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
    return status;
}

/* ---- the background task ---- */

/* Finds the number of rounds for which the task, as one kernel on an idle GPU, takes params.background_ns. */
static enum kvc_status open_background(struct kvc_memcachedgpu_real_node *node, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_real_params *params = &node->params;
    struct kvc_background_params task = {.blocks = params->background_blocks,
                                         .threads = params->background_threads,
                                         .kernels = 1,
                                         .part_bytes = background_part_bytes};
    struct kvc_background *trial = kvc_background_create(&task);
    node->background_stream = kvc_cuda_stream_create();
    node->background_end = kvc_cuda_event_create();
    bool opened = trial != NULL && node->background_stream != NULL && node->background_end != NULL;
    if (opened) {
        kvc_background_begin(trial, 1, node->background_stream);
        kvc_cuda_stream_wait(node->background_stream);
        double from_s = kvc_clock_wall_s();
        kvc_background_begin(trial, TRIAL_ROUNDS, node->background_stream);
        opened = kvc_cuda_stream_wait(node->background_stream);
        double trial_ns = (kvc_clock_wall_s() - from_s) * 1e9;
        node->background_rounds = (uint32_t)fmax(TRIAL_ROUNDS * params->background_ns / trial_ns, 1);
    }
    kvc_background_free(trial);
    task.kernels = params->background_kernels;
    node->background = opened ? kvc_background_create(&task) : NULL;
    return node->background != NULL
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU has no memory for the background task");
}

static void step_background(struct kvc_memcachedgpu_real_node *node, double now_ns)
{
    if (node->background == NULL || !isnan(node->background_ended_ns)) {
        return;
    }
    if (isnan(node->background_begun_ns)) {
        if (now_ns >= node->from_ns + node->params.background_start_ns) {
            kvc_background_begin(node->background, node->background_rounds, node->background_stream);
            kvc_cuda_event_record(node->background_end, node->background_stream);
            node->background_begun_ns = now_ns;
        }
    } else if (kvc_cuda_event_query(node->background_end) == KVC_CUDA_EVENT_REACHED) {
        node->background_ended_ns = now_ns;
    }
}

/* ---- the node ---- */

static uint64_t blocks_of(const struct kvc_memcachedgpu_real_node *node)
{
    return (node->params.batch - 1) / KVC_MEMCACHEDGPU_GET_BLOCK_PACKETS + 1;
}

static enum kvc_status open_threads(struct kvc_memcachedgpu_real_node *node, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_real_params *params = &node->params;
    node->clocks = kvc_cuda_alloc_pinned(params->streams * blocks_of(node) * sizeof(*node->clocks));
    bool opened = node->clocks != NULL;
    for (uint32_t s = 0; opened && s < params->streams; s++) {
        opened = kvc_memcachedgpu_real_lane_open(&node->lane[s], &node->layout);
        node->idle[node->idle_count++] = &node->lane[params->streams - 1 - s];
    }
    for (uint32_t p = 0; opened && p < params->post_threads; p++) {
        struct kvc_memcachedgpu_real_post *post = &node->post[p];
        post->node = node;
        post->oldest_begun_ns = INFINITY;
        post->latency = calloc(1, sizeof(*post->latency));
        opened = post->latency != NULL &&
                 kvc_memcachedgpu_real_answerer_open(&post->answerer, &node->slabs, FRAMES);
        if (opened) {
            kvc_histogram_reset(post->latency);
        }
    }
    return opened ? KVC_OK
                  : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u batches of %u packets",
                                  params->streams, params->batch);
}

enum kvc_status kvc_memcachedgpu_real_node_open(struct kvc_memcachedgpu_real_node *node,
                                                const struct kvc_scenario *scenario,
                                                const struct kvc_memcachedgpu_real_params *params,
                                                const struct kvc_progress *progress, struct kvc_diag *diag)
{
    memset(node, 0, sizeof(*node));
    node->params = *params;
    node->background_begun_ns = node->background_ended_ns = NAN;
    enum kvc_status status = open_table(node, scenario, progress, diag);
    if (status == KVC_OK) {
        status = open_images(node, scenario, diag);
    }
    if (status == KVC_OK) {
        status = open_threads(node, diag);
    }
    if (status == KVC_OK && params->background_blocks > 0) {
        status = open_background(node, diag);
    }
    return status;
}

void kvc_memcachedgpu_real_node_close(struct kvc_memcachedgpu_real_node *node)
{
    for (uint32_t s = 0; s < KVC_MEMCACHEDGPU_REAL_STREAMS_MAX; s++) {
        kvc_memcachedgpu_real_lane_close(&node->lane[s]);
    }
    for (uint32_t p = 0; p < KVC_MEMCACHEDGPU_REAL_POSTS_MAX; p++) {
        kvc_memcachedgpu_real_answerer_close(&node->post[p].answerer);
        free(node->post[p].latency);
    }
    kvc_background_free(node->background);
    kvc_cuda_event_free(node->background_end);
    kvc_cuda_stream_free(node->background_stream);
    kvc_cuda_free_pinned(node->clocks);
    kvc_cuda_free_pinned(node->images);
    kvc_memcachedgpu_real_slabs_close(&node->slabs);
    if (node->index != NULL) {
        kvc_index_free(node->index);
    }
    memset(node, 0, sizeof(*node));
}

void kvc_memcachedgpu_real_node_start(struct kvc_memcachedgpu_real_node *node, double from_ns)
{
    node->from_ns = from_ns;
    kvc_memcachedgpu_real_node_set_clock(node, kvc_clock_wall_s());
}

void kvc_memcachedgpu_real_node_set_clock(struct kvc_memcachedgpu_real_node *node, double started_s)
{
    node->started_s = started_s;
}

double kvc_memcachedgpu_real_node_ns(const struct kvc_memcachedgpu_real_node *node)
{
    return (kvc_clock_wall_s() - node->started_s) * 1e9;
}

/* ---- GNoM-pre ---- */

static struct kvc_memcachedgpu_get_clock *clocks_of(struct kvc_memcachedgpu_real_node *node,
                                                    const struct kvc_memcachedgpu_real_lane *lane)
{
    return node->clocks + (uint64_t)(lane - node->lane) * blocks_of(node);
}

static void take_back_lanes(struct kvc_memcachedgpu_real_node *node)
{
    for (uint32_t p = 0; p < node->params.post_threads; p++) {
        struct kvc_memcachedgpu_real_lane *lane;
        while ((lane = kvc_spsc_ring_pop(&node->post[p].free)) != NULL) {
            node->idle[node->idle_count++] = lane;
        }
    }
}

double kvc_memcachedgpu_real_pre_step(void *data)
{
    struct kvc_memcachedgpu_real_node *node = data;
    if (node->idle_count == 0) {
        take_back_lanes(node);
    }
    if (node->idle_count == 0 || atomic_load_explicit(&node->failed, memory_order_relaxed)) {
        return 0;
    }
    double from_ns = kvc_memcachedgpu_real_node_ns(node);
    step_background(node, from_ns);
    struct kvc_memcachedgpu_real_lane *lane = node->idle[--node->idle_count];
    uint64_t number = node->begun++;
    struct kvc_memcachedgpu_real_job job = {
        .index = node->index,
        .image = node->images + number % node->image_count * node->layout.image_bytes,
        .count = node->params.batch,
        .now = node->now++,
        .copied = true,
        .clocks = number % CLOCKED_BATCHES == 0 ? clocks_of(node, lane) : NULL};
    lane->begun_ns = from_ns;
    if (!kvc_memcachedgpu_real_lane_begin(lane, &job)) {
        atomic_store(&node->failed, true);
    }
    lane->clocked = job.clocks != NULL;
    kvc_spsc_ring_push(&node->post[number % node->params.post_threads].launched, lane);
    double to_ns = kvc_memcachedgpu_real_node_ns(node);
    node->pre.busy_ns += to_ns - from_ns;
    node->pre.batches++;
    return to_ns;
}

/* ---- GNoM-post ---- */

/* Returns the time from the first start of a block to the last end [ns]. */
static double kernel_ns(const struct kvc_memcachedgpu_get_clock *clocks, uint64_t blocks)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        begin_ns = clocks[b].begin_ns < begin_ns ? clocks[b].begin_ns : begin_ns;
        end_ns = clocks[b].end_ns > end_ns ? clocks[b].end_ns : end_ns;
    }
    return (double)(end_ns - begin_ns);
}

static void record(struct kvc_memcachedgpu_real_post *post, const struct kvc_memcachedgpu_real_lane *lane,
                   double done_ns)
{
    double begun_ns[64], ended_ns[64];
    for (uint32_t i = 0; i < 64; i++) {
        begun_ns[i] = lane->begun_ns;
        ended_ns[i] = done_ns;
    }
    for (uint32_t left = lane->count; left > 0;) {
        uint32_t now = left < 64 ? left : 64;
        kvc_histogram_record(post->latency, begun_ns, ended_ns, now);
        left -= now;
    }
    post->in_flight_ns += done_ns - lane->begun_ns;
    post->oldest_begun_ns = fmin(post->oldest_begun_ns, lane->begun_ns);
}

double kvc_memcachedgpu_real_post_step(void *data)
{
    struct kvc_memcachedgpu_real_post *post = data;
    struct kvc_memcachedgpu_real_node *node = post->node;
    if (post->waited == NULL) {
        post->waited = kvc_spsc_ring_pop(&post->launched);
    }
    struct kvc_memcachedgpu_real_lane *lane = post->waited;
    if (lane == NULL) {
        return 0;
    }
    enum kvc_cuda_event_state state = kvc_cuda_event_query(lane->end);
    if (state != KVC_CUDA_EVENT_REACHED) {
        if (state == KVC_CUDA_EVENT_FAILED) {
            atomic_store(&node->failed, true);
        }
        return 0;
    }
    double from_ns = kvc_memcachedgpu_real_node_ns(node);
    kvc_memcachedgpu_real_answer(&post->answerer, lane->heads, lane->answers, lane->count);
    double to_ns = kvc_memcachedgpu_real_node_ns(node);
    record(post, lane, to_ns);
    if (lane->clocked) {
        post->kernel_ns += kernel_ns(clocks_of(node, lane), blocks_of(node));
        post->kernels++;
    }
    post->waited = NULL;
    kvc_spsc_ring_push(&post->free, lane);
    post->time.busy_ns += to_ns - from_ns;
    post->time.batches++;
    return to_ns;
}

bool kvc_memcachedgpu_real_node_drain(struct kvc_memcachedgpu_real_node *node)
{
    bool done = !atomic_load(&node->failed);
    for (uint32_t s = 0; s < node->params.streams; s++) {
        done = kvc_cuda_stream_wait(node->lane[s].stream) && done;
    }
    if (node->background != NULL) {
        done = kvc_cuda_stream_wait(node->background_stream) && done;
    }
    return done;
}
