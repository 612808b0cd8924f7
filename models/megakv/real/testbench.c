#include "models/megakv/real/testbench.h"

#include <math.h>
#include <string.h>

#include "models/megakv/real/pipeline.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/base/seeds.h"

enum {
    FRAME_BYTES = 1472,     /* Requests in a basic Ethernet frame. */
    SETS_BYTES = 256 << 20, /* Packets of all feeds together: more than the caches keep. */
    INDEX_BYTES_MIN = 4096,
    GETS_BYTES_MIN = 16 << 20,
    GETS_BYTES_MAX = 64 << 20,
};

/* Slots of the index for each key before its size is rounded up to a power of two, which makes it 0.38 to
 * 0.75 full. */
static const double slots_per_key = 1 / 0.75;

/* Fraction of the slabs that the keys fill: storing them evicts no item, but a few more SETs do. */
static const double full_frac = 0.985;

static const double for_ever_ns = 1e18;

/* Share of SETs, by load. */
static const double set_frac[KVC_MEGAKV_TESTBENCH_LOADS] = {0, 1, 0.5};

uint32_t kvc_megakv_testbench_frame_requests(enum kvc_megakv_testbench_load load, uint32_t key_bytes,
                                             uint32_t value_bytes)
{
    uint32_t bytes = KVC_MEGAKV_PACKET_HEADER_BYTES + key_bytes + (uint32_t)(set_frac[load] * value_bytes);
    return FRAME_BYTES > bytes ? FRAME_BYTES / bytes : 1;
}

static enum kvc_status describe(struct kvc_megakv_testbench *testbench, uint32_t frame_requests,
                                struct kvc_diag *diag)
{
    const struct kvc_megakv_testbench_options *params = &testbench->params;
    uint32_t item_bytes = kvc_megakv_slab_item_bytes(params->key_bytes, params->value_bytes);
    kvc_option_table_set_defaults(&kvc_megakv_option_table, &testbench->options);
    testbench->keys = (uint64_t)fmax(full_frac * params->items_bytes / item_bytes, 1);
    testbench->options.streams = params->pipelines;
    testbench->options.slab_bytes = fmax(params->items_bytes + params->room_bytes, KVC_MEGAKV_SLAB_BYTES);
    testbench->options.index_bytes =
        exp2(ceil(log2(fmax((double)testbench->keys * 8 * slots_per_key, INDEX_BYTES_MIN))));
    enum kvc_status status = KVC_OK;
    for (int load = 0; status == KVC_OK && load < KVC_MEGAKV_TESTBENCH_LOADS; load++) {
        struct kvc_scenario *scenario = &testbench->scenario[load];
        kvc_option_table_set_defaults(&kvc_workload_option_table, &scenario->workload);
        scenario->options = &testbench->options;
        scenario->node.sockets = scenario->cluster.nodes = 1;
        scenario->run = (struct kvc_run){.functional = KVC_FUNCTIONAL_FULL, .seed = 1, .replicas = 1};
        scenario->workload.keys = testbench->keys;
        scenario->workload.key_bytes = params->key_bytes;
        scenario->workload.value_bytes = params->value_bytes;
        scenario->workload.popularity = KVC_POPULARITY_UNIFORM;
        scenario->workload.arrival = KVC_ARRIVAL_SATURATE;
        scenario->workload.preload_frac = 1;
        scenario->workload.get_frac = 1 - set_frac[load];
        scenario->workload.set_frac = set_frac[load];
        scenario->workload.delete_frac = 0;
        scenario->workload.frame_requests =
            frame_requests > 0 ? frame_requests
                               : kvc_megakv_testbench_frame_requests((enum kvc_megakv_testbench_load)load,
                                                                     params->key_bytes, params->value_bytes);
        status = kvc_megakv_resolve(scenario, &testbench->config[load], diag);
        scenario->config = &testbench->config[load];
    }
    return status;
}

/* Returns the bytes of packets for each pipeline: about one GET for every key, within limits, and more SETs
 * than a measurement receives. */
static uint64_t feed_bytes(const struct kvc_megakv_testbench *testbench, enum kvc_megakv_testbench_load load)
{
    double requests_bytes =
        (double)testbench->keys * (KVC_MEGAKV_PACKET_HEADER_BYTES + testbench->params.key_bytes);
    double all_bytes = load != KVC_MEGAKV_TESTBENCH_GETS
                           ? SETS_BYTES
                           : fmin(fmax(requests_bytes, GETS_BYTES_MIN), GETS_BYTES_MAX);
    return (uint64_t)all_bytes / testbench->params.pipelines;
}

enum kvc_status kvc_megakv_testbench_open(struct kvc_megakv_testbench *testbench,
                                          const struct kvc_megakv_testbench_options *params,
                                          uint32_t frame_requests, struct kvc_thread_pool *pool,
                                          struct kvc_diag *diag)
{
    memset(testbench, 0, sizeof(*testbench));
    testbench->params = *params;
    testbench->pool = pool;
    enum kvc_status status = describe(testbench, frame_requests, diag);
    if (status == KVC_OK) {
        const struct kvc_scenario *gets = &testbench->scenario[KVC_MEGAKV_TESTBENCH_GETS];
        status = kvc_megakv_store_create(gets, kvc_seed_of_replica(gets->run.seed, 0), NULL,
                                         &testbench->store, diag);
    }
    for (int load = 0; status == KVC_OK && load <= (int)params->last_load; load++) {
        status = kvc_megakv_real_node_open(&testbench->node[load], &testbench->scenario[load],
                                           &testbench->store->shards[0], false,
                                           feed_bytes(testbench, (enum kvc_megakv_testbench_load)load), diag);
        if (status == KVC_OK) {
            kvc_megakv_real_node_start(&testbench->node[load], 0, for_ever_ns);
        }
    }
    if (status == KVC_OK) { /* The memory of a measured store is also resident before the measurement. */
        kvc_megakv_slab_touch(testbench->store->shards[0].slab);
    }
    /* The other cores sleep, as with a store that does not use them. */
    kvc_thread_pool_wake(pool, params->shared_cores ? params->cores : 1 + 2 * params->pipelines);
    return status;
}

void kvc_megakv_testbench_close(struct kvc_megakv_testbench *testbench)
{
    for (int load = 0; load <= (int)testbench->params.last_load; load++) {
        kvc_megakv_real_node_close(&testbench->node[load]);
    }
    kvc_shards_free(testbench->store);
}

/* ---- the tasks of a round ---- */

static void receive_gets(void *data)
{
    const struct kvc_megakv_testbench_task *task = data;
    while (task->pipeline->filling->rows < task->rows && kvc_megakv_real_receiver_step(task->pipeline)) {
        ;
    }
}

static void receive_sets(void *data)
{
    const struct kvc_megakv_testbench_task *task = data;
    while (task->pipeline->filling->sets < task->rows && kvc_megakv_real_receiver_step(task->pipeline)) {
        ;
    }
}

static void send(void *data)
{
    const struct kvc_megakv_testbench_task *task = data;
    while (kvc_megakv_real_sender_step(task->pipeline)) {
        ;
    }
}

static enum kvc_megakv_testbench_load load_of_sets(const struct kvc_megakv_testbench_work *work)
{
    return work->mixed ? KVC_MEGAKV_TESTBENCH_MIX : KVC_MEGAKV_TESTBENCH_SETS;
}

/* Runs the scheduler's task: launches the requests of the previous round. */
static void schedule(void *data)
{
    struct kvc_megakv_testbench *testbench = ((struct kvc_megakv_testbench_task *)data)->testbench;
    const struct kvc_megakv_testbench_work *held = &testbench->held;
    enum kvc_megakv_testbench_load load = load_of_sets(held);
    struct kvc_megakv_real_node *gets = &testbench->node[KVC_MEGAKV_TESTBENCH_GETS],
                                *sets = &testbench->node[load];
    if (held->gets > 0 && held->search != KVC_MEGAKV_TESTBENCH_NO_SEARCH) {
        kvc_megakv_real_search_buffers(gets, testbench->held_buffers[KVC_MEGAKV_TESTBENCH_GETS]);
        testbench->round->search_jobs = held->gets * testbench->params.pipelines;
    }
    if (held->sets == 0) {
        return;
    }
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        kvc_megakv_real_collect_writes(sets, testbench->held_buffers[load][i]);
    }
    testbench->round->collect_s = kvc_clock_wall_s() - started_s;
    testbench->round->insert_jobs = sets->inserts + sets->erases;
    kvc_megakv_real_insert_waiting(sets);
}

static void add_task(struct kvc_megakv_testbench *testbench, kvc_thread_pool_fn *fn,
                     struct kvc_megakv_real_pipeline *pipeline, uint32_t rows, uint32_t core)
{
    struct kvc_megakv_testbench_task *task = &testbench->task[testbench->tasks];
    *task = (struct kvc_megakv_testbench_task){testbench, pipeline, rows};
    testbench->work[testbench->tasks++] =
        (struct kvc_thread_pool_task){.fn = fn, .data = task, .core = testbench->params.cores > 1 ? core : 0};
}

/* Adds a task for each pipeline on the core of its receiver or sender. Returns the first. */
static const struct kvc_thread_pool_task *add_stage(struct kvc_megakv_testbench *testbench,
                                                    kvc_thread_pool_fn *fn,
                                                    enum kvc_megakv_testbench_load load, uint32_t rows)
{
    const struct kvc_thread_pool_task *first = &testbench->work[testbench->tasks];
    uint32_t others = testbench->params.cores > 1 ? testbench->params.cores - 1 : 1;
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        uint32_t sender = testbench->params.shared_cores ? 1 + i % others : 1 + 2 * i;
        uint32_t receiver = testbench->params.shared_cores ? 0 : sender + 1;
        add_task(testbench, fn, testbench->node[load].pipeline[i], rows, fn == send ? sender : receiver);
    }
    return first;
}

/* Returns the mean time of a stage's tasks [s]. */
static double mean_s(const struct kvc_megakv_testbench *testbench, const struct kvc_thread_pool_task *task)
{
    double sum_s = 0;
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        sum_s += task[i].seconds;
    }
    return sum_s / testbench->params.pipelines;
}

/* Lets the senders compare keys in this round or not. */
static void set_compare(struct kvc_megakv_testbench *testbench, bool compare)
{
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        testbench->node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->answerer.compare = compare;
    }
}

static void at_most(uint32_t *count, uint32_t most)
{
    if (*count > most) {
        *count = most;
    }
}

/* Replaces hashes by others that almost never belong to a key of the store; `half`: only every other one, at
 * random. */
static void make_absent(struct kvc_megakv_real_buffer *buffer, bool half)
{
    for (uint32_t i = 0; i < buffer->gets; i++) {
        if (!half || buffer->hash[i] >> 63 != 0) {
            buffer->hash[i] = kvc_mix64(buffer->hash[i]);
        }
    }
}

/* Passes launched GETs on to the senders, and the buffers of SETs back to the receivers. */
static void hand_on(struct kvc_megakv_testbench *testbench)
{
    enum kvc_megakv_testbench_load load = load_of_sets(&testbench->held);
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        if (testbench->held.gets > 0) {
            kvc_spsc_ring_push(&testbench->node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->ready,
                               testbench->held_buffers[KVC_MEGAKV_TESTBENCH_GETS][i]);
        }
        if (testbench->held.sets > 0) {
            kvc_megakv_real_buffer_clear(testbench->held_buffers[load][i]);
            kvc_spsc_ring_push(&testbench->node[load].pipeline[i]->free, testbench->held_buffers[load][i]);
        }
    }
    testbench->answering = testbench->held;
}

/* Takes over the batch that a pipeline has received. */
static struct kvc_megakv_real_buffer *take_received(struct kvc_megakv_real_pipeline *pipeline)
{
    struct kvc_megakv_real_buffer *buffer = pipeline->filling;
    pipeline->filling = kvc_spsc_ring_pop(&pipeline->free);
    if (pipeline->filling == NULL) {
        KVC_BUG("no free buffer");
    }
    return buffer;
}

/* Keeps the received work for the next round. */
static void hold(struct kvc_megakv_testbench *testbench, const struct kvc_megakv_testbench_work *work,
                 struct kvc_megakv_testbench_round *round)
{
    enum kvc_megakv_testbench_load load = load_of_sets(work);
    testbench->held = *work;
    for (uint32_t i = 0; i < testbench->params.pipelines && work->gets > 0; i++) {
        struct kvc_megakv_real_buffer *buffer =
            take_received(testbench->node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]);
        round->gets_rows = buffer->rows;
        at_most(&buffer->gets, work->gets);
        testbench->held.gets =
            buffer->gets; /* All pipelines have the same number, because their frames have the same sizes. */
        if (work->search == KVC_MEGAKV_TESTBENCH_NO_SEARCH) {
            memset(buffer->location, 0xff, buffer->gets * sizeof(uint32_t)); /* KVC_LOCATION_NONE */
        }
        if (work->search == KVC_MEGAKV_TESTBENCH_ABSENT_KEYS ||
            work->search == KVC_MEGAKV_TESTBENCH_HALF_ABSENT) {
            make_absent(buffer, work->search == KVC_MEGAKV_TESTBENCH_HALF_ABSENT);
        }
        testbench->held_buffers[KVC_MEGAKV_TESTBENCH_GETS][i] = buffer;
    }
    for (uint32_t i = 0; i < testbench->params.pipelines && work->sets > 0; i++) {
        struct kvc_megakv_real_buffer *buffer = take_received(testbench->node[load].pipeline[i]);
        round->sets_rows = buffer->rows;
        round->sets = buffer->sets;
        at_most(&buffer->inserts, work->sets);
        at_most(&buffer->erases, work->sets);
        testbench->held_buffers[load][i] = buffer;
    }
}

/* Adds the senders' misses and the items that the receivers' CLOCK hand has passed so far, times `sign`. */
static void count_so_far(const struct kvc_megakv_testbench *testbench, uint64_t sign,
                         struct kvc_megakv_testbench_round *round)
{
    for (uint32_t i = 0; i < testbench->params.pipelines; i++) {
        round->misses += sign * testbench->node[KVC_MEGAKV_TESTBENCH_GETS].pipeline[i]->answerer.misses;
        for (int load = 0; load <= (int)testbench->params.last_load; load++) {
            round->passed += sign * testbench->node[load].pipeline[i]->receive_stats.clock_steps;
        }
    }
}

void kvc_megakv_testbench_run(struct kvc_megakv_testbench *testbench,
                              const struct kvc_megakv_testbench_work *work,
                              struct kvc_megakv_testbench_round *round)
{
    *round = (struct kvc_megakv_testbench_round){.send_rows = testbench->answering.gets,
                                                 .client_compared = testbench->answering.client_compares};
    count_so_far(testbench, (uint64_t)-1, round);
    testbench->round = round;
    testbench->tasks = 0;
    set_compare(testbench, !testbench->answering.client_compares);
    const struct kvc_thread_pool_task *sending = NULL, *receiving_gets = NULL, *receiving_sets = NULL;
    add_task(testbench, schedule, NULL, 0, 0);
    if (testbench->answering.gets > 0) {
        sending = add_stage(testbench, send, KVC_MEGAKV_TESTBENCH_GETS, testbench->answering.gets);
    }
    if (work->gets > 0) {
        receiving_gets = add_stage(testbench, receive_gets, KVC_MEGAKV_TESTBENCH_GETS, work->gets);
    }
    if (work->sets > 0) {
        receiving_sets = add_stage(testbench, receive_sets, load_of_sets(work), work->sets);
    }
    kvc_thread_pool_run(testbench->pool, testbench->work, testbench->tasks);
    for (uint32_t i = 0; sending != NULL && i < testbench->params.pipelines; i++) {
        round->each_send_s[i] = sending[i].seconds;
    }
    round->send_s = sending != NULL ? mean_s(testbench, sending) : 0;
    round->receive_gets_s = receiving_gets != NULL ? mean_s(testbench, receiving_gets) : 0;
    round->receive_sets_s = receiving_sets != NULL ? mean_s(testbench, receiving_sets) : 0;
    count_so_far(testbench, 1, round);
    hand_on(testbench);
    hold(testbench, work, round);
}
