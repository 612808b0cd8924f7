/* Measures the speed of a simulation, and the parts of its time.
 *
 * In one process and on one core: the same requests are generated and run through the bare kernels (hash,
 * index search, slab read, slab write, index insert) in batches of the size that the simulation uses, without
 * any timing model, several times; then the scenario is simulated; then the bare runs are repeated. Prints ns
 * per request, the ratio (target: at most 1.25), requests per second (target: at least 15 M/s), and the
 * shares of source, kernels and SimGrid.
 *
 *   megakv_bench [SCENARIO.lua [key=value ...]]       default: scenarios/examples/first.lua */
#include <math.h>
#include <string.h>

#include "models/megakv/megakv.h"
#include "models/megakv/config.h"
#include "scenarios/load/load.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/workload/source/source.h"

enum { ROWS = 1600, RESPONSE_BYTES = 4 << 20, REQUESTS = 2000000, BARE_RUNS = 6, STORE_SEED = 1 };

struct bare {
    struct kvc_batch *batch;
    struct kvc_source *source;
    uint32_t rows[2 * ROWS], location[2 * ROWS], write_location[2 * ROWS];
    uint64_t hash[2 * ROWS], erase_hash[2 * ROWS];
    uint32_t erase_location[2 * ROWS];
    uint8_t result[2 * ROWS];
    struct kvc_megakv_slab_evicted evicted[2 * ROWS];
    uint8_t *response;
    uint32_t position;
    uint64_t hits, gets;
};

/* One batch of one shard, end to end; returns its requests. */
static uint32_t bare_batch(struct bare *bare, struct kvc_shards *store, uint32_t shard_number)
{
    struct kvc_shard *shard = &store->shards[shard_number];
    struct kvc_batch *batch = bare->batch;
    uint32_t gets = 0, sets = 0;
    batch->count = 0;
    while (batch->count < ROWS && kvc_source_drain(bare->source, shard_number, INFINITY, batch) > 0) {
        ;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        bare->hash[gets] = batch->hash[i];
        bare->rows[gets] = i;
        gets += batch->op[i] == KVC_OP_GET;
    }
    kvc_index_search(shard->index, bare->hash, gets, bare->write_location, &shard->index_stats);
    memset(bare->location, 0xff, batch->count * sizeof(*bare->location));
    for (uint32_t i = 0; i < gets; i++) {
        bare->location[bare->rows[i]] = bare->write_location[i];
    }
    struct kvc_megakv_slab_reads reads = {.count = batch->count,
                                          .location = bare->location,
                                          .hash = batch->hash,
                                          .keys = batch->keys,
                                          .key_stride = batch->key_stride,
                                          .key_bytes = batch->key_bytes,
                                          .compare = true,
                                          .out = bare->response,
                                          .out_bytes = RESPONSE_BYTES,
                                          .out_position = &bare->position,
                                          .result = bare->result};
    kvc_megakv_slab_read(shard->slab, &reads, &shard->slab_stats);
    for (uint32_t i = 0; i < batch->count; i++) {
        bare->hits += batch->op[i] == KVC_OP_GET && bare->result[i] == KVC_MEGAKV_SLAB_HIT;
        bare->rows[sets] = i;
        sets += batch->op[i] == KVC_OP_SET;
    }
    bare->gets += gets;
    uint32_t evicted =
        kvc_shards_write(store, shard, batch, bare->rows, sets, bare->write_location, bare->evicted);
    for (uint32_t i = 0; i < evicted; i++) {
        bare->erase_hash[i] = bare->evicted[i].hash;
        bare->erase_location[i] = bare->evicted[i].location;
    }
    kvc_index_erase(shard->index, bare->erase_hash, bare->erase_location, evicted, NULL, &shard->index_stats);
    for (uint32_t i = 0; i < sets; i++) {
        bare->hash[i] = batch->hash[bare->rows[i]];
    }
    kvc_index_insert(shard->index, bare->hash, bare->write_location, sets, NULL, &shard->index_stats);
    return batch->count;
}

/* Generates and runs `requests` requests; returns ns per request. */
static double bare_run(const struct kvc_scenario *scenario, struct kvc_shards *store, uint64_t requests,
                       uint64_t seed)
{
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {
        .workload = &scenario->workload,
        .nodes = (uint32_t)scenario->cluster.nodes,
        .sockets = (uint32_t)scenario->node.sockets,
        .seed = seed,
        .hash_seed = kvc_seed_of_hash(STORE_SEED),
        .frame_requests = kvc_megakv_config_of(scenario)->frame_requests,
    };
    struct bare *bare = calloc(1, sizeof(*bare));
    bare->source = kvc_source_create(&params, &diag);
    bare->batch = kvc_batch_create(2 * ROWS, kvc_workload_key_stride(&scenario->workload));
    bare->response = malloc(RESPONSE_BYTES);
    if (bare->source == NULL || bare->batch == NULL || bare->response == NULL ||
        params.frame_requests > ROWS) {
        KVC_BUG("cannot run bare: %s", diag.message);
    }
    uint64_t done = 0;
    double started_s = kvc_clock_wall_s();
    while (done < requests) {
        for (uint32_t shard = 0; shard < store->shard_count; shard++) {
            done += bare_batch(bare, store, shard);
        }
    }
    double wall_s = kvc_clock_wall_s() - started_s;
    if (bare->hits == 0) {
        KVC_BUG("no request of %llu hit", (unsigned long long)bare->gets);
    }
    kvc_source_free(bare->source);
    kvc_batch_free(bare->batch);
    free(bare->response);
    free(bare);
    return wall_s / (double)done * 1e9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the bare runs before the simulation, half after it: the machine's speed drifts. */
static void bare_runs(const struct kvc_scenario *scenario, struct kvc_shards *store, int first, double *ns)
{
    for (int i = first; i < first + BARE_RUNS / 2; i++) {
        ns[i] = bare_run(scenario, store, REQUESTS, (uint64_t)i);
    }
}

int main(int argc, char **argv)
{
    char example[PATH_MAX];
    kvc_data_path("scenarios/examples/first.lua", example);
    const char *path = argc > 1 ? argv[1] : example;
    struct kvc_diag diag = {0};
    struct kvc_overrides overrides = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_shards *store = NULL;
    struct kvc_result *result = calloc(1, sizeof(*result));
    enum kvc_status status = result != NULL ? KVC_OK : KVC_ERR_RUNTIME;
    for (int i = 2; i < argc && status == KVC_OK; i++) {
        status = kvc_overrides_parse(&overrides, argv[i], &diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load(path, &overrides, &loaded, &diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_store_create(&loaded->scenario, STORE_SEED, NULL, &store, &diag);
    }
    double bare_all_ns[BARE_RUNS];
    if (status == KVC_OK) {
        bare_runs(&loaded->scenario, store, 0, bare_all_ns);
        const struct kvc_run_context context = {
            .scenario = &loaded->scenario, .state = store, .seed = STORE_SEED, .result = result};
        status = kvc_megakv_model.run(&context, &diag);
    }
    if (status != KVC_OK) {
        kvc_diag_print(&diag, stderr);
        fputc('\n', stderr);
        return (int)status;
    }
    bare_runs(&loaded->scenario, store, BARE_RUNS / 2, bare_all_ns);
    qsort(bare_all_ns, BARE_RUNS, sizeof(*bare_all_ns), ascending);
    double bare_ns = (bare_all_ns[BARE_RUNS / 2 - 1] + bare_all_ns[BARE_RUNS / 2]) / 2;
    double requests = (double)result->requests_simulated, run_ns = result->wall_s / requests * 1e9;
    printf("%s: %.1f M requests, gcc %s\n", path, requests / 1e6, __VERSION__);
    printf("  store            %8.2f s to preload, %.2f GiB\n", store->preload_wall_s,
           kvc_megakv_model.memory_bytes(&loaded->scenario) / 0x1p30);
    printf("  bare             %8.1f ns per request (median of %d, %.1f to %.1f)\n", bare_ns, BARE_RUNS,
           bare_all_ns[0], bare_all_ns[BARE_RUNS - 1]);
    printf("  simulation       %8.1f ns per request: %.2f M requests/s on one core (target 15)\n", run_ns,
           1e3 / run_ns);
    printf("    source         %8.1f ns\n", result->source_wall_s / requests * 1e9);
    printf("    kernels        %8.1f ns\n", result->kernel_wall_s / requests * 1e9);
    printf("    SimGrid        %8.1f ns  (%.1f %%, %llu activities)\n",
           result->engine_wall_s / requests * 1e9, 100 * result->engine_wall_s / result->wall_s,
           (unsigned long long)result->activities);
    printf("    timing, rest   %8.1f ns\n",
           (result->wall_s - result->source_wall_s - result->kernel_wall_s - result->engine_wall_s) /
               requests * 1e9);
    printf("  simulation/bare  %8.2f (target at most 1.25)\n", run_ns / bare_ns);
    kvc_shards_free(store);
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&overrides);
    free(result);
    return 0;
}
