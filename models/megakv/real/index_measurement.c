#include "models/megakv/real/index_measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/pages.h"
#include "models/megakv/costs.h"
#include "models/megakv/real/device.h"
#include "models/megakv/real/node.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum {
    JOBS_MAX = KVC_MEGAKV_ROWS_MAX,
    STREAMS_MAX = KVC_MEGAKV_REAL_PIPELINES_MAX,
    SLOT_BYTES = 8,
    LINE_BYTES = 64,
    PASSING_BYTES = 64 << 20, /* Memory whose lines pass through the caches between launches. */
    LOAD_STEPS = 32,          /* A launch changes the load factor by at most one in this many slots. */
    DISPLACEMENTS_MAX = 100,
};

/* Time between two launches on a GPU, as in Mega-KV's scheduler. */
static const double cycle_s = 300e-6;

/* Elements [0, held) are in the index; element i has hash mix(i + 1) and location i. Elements from `fresh` on
 * were never in it; elements from `absent` on are in it in no measurement. */
static const uint32_t fresh = UINT32_C(1) << 30, absent = UINT32_C(3) << 30;

/* Share of a launch's elements that the index has. */
enum found { NONE, A_RANDOM_HALF, ALL };

/* An index, the jobs of a launch, and what is measured. */
struct bench {
    const struct kvc_megakv_index_options *params;
    struct kvc_megakv_watching watching;
    struct kvc_shard shard; /* Only the index of the shard is used. */
    struct kvc_megakv_real_device_queues *queues;
    uint64_t *hash[STREAMS_MAX];
    uint32_t *location[STREAMS_MAX], *erased;
    uint8_t *passing;
    size_t passed; /* Offset of the next passing bytes. */
    uint32_t held, next_fresh;
    uint32_t streams, jobs; /* Streams of the launch, and jobs of each stream. */
    enum found found;
    struct kvc_rng rng;
    double launched_s;
};

static void choose(struct bench *bench, uint32_t stream, uint32_t i, uint32_t element)
{
    bench->hash[stream][i] = kvc_mix64((uint64_t)element + 1);
    bench->location[stream][i] = element;
}

static bool is_found(struct bench *bench)
{
    return bench->found == ALL || (bench->found == A_RANDOM_HALF && kvc_rng_below(&bench->rng, 2) == 0);
}

/* Chooses random elements, held ones or absent ones. */
static void choose_random(struct bench *bench)
{
    for (uint32_t s = 0; s < bench->streams; s++) {
        for (uint32_t i = 0; i < bench->jobs; i++) {
            bool found = is_found(bench);
            choose(bench, s, i,
                   (found ? 0 : absent) + kvc_rng_below(&bench->rng, found ? bench->held : fresh));
        }
    }
}

/* Chooses random held elements, or elements that were never in the index. */
static void choose_to_insert(struct bench *bench)
{
    for (uint32_t i = 0; i < bench->jobs; i++) {
        bool found = is_found(bench);
        choose(bench, 0, i,
               found ? kvc_rng_below(&bench->rng, bench->held)
                     : fresh + bench->next_fresh++ % (absent - fresh));
    }
}

/* Chooses different held elements, with a stride that spreads them over all of the index. Elements that the
 * index must not find get another location. */
static void choose_to_erase(struct bench *bench)
{
    uint32_t stride = bench->held / bench->jobs, first = kvc_rng_below(&bench->rng, stride);
    for (uint32_t i = 0; i < bench->jobs; i++) {
        bool found = is_found(bench);
        choose(bench, 0, i, first + i * stride);
        bench->location[0][i] += found ? 0 : fresh;
    }
}

/* Touches as many lines as the other stages do between two launches, so that they pass through the caches.
 * Waits for the next cycle of a GPU. */
static void pass_time(struct bench *bench)
{
    size_t bytes = (size_t)KVC_MEGAKV_PASSING_BYTES * bench->jobs * bench->streams;
    volatile uint8_t *passing = bench->passing;
    for (size_t done = 0; done < bytes; done += LINE_BYTES) {
        passing[bench->passed] = (uint8_t)(passing[bench->passed] + 1);
        bench->passed = (bench->passed + LINE_BYTES) % PASSING_BYTES;
    }
    while (bench->params->on_gpu && kvc_clock_wall_s() < bench->launched_s + cycle_s) {
        ;
    }
    bench->launched_s = kvc_clock_wall_s();
}

static double since_launch_ns(const struct bench *bench)
{
    return (kvc_clock_wall_s() - bench->launched_s) * 1e9;
}

static void insert(struct bench *bench)
{
    kvc_index_insert(bench->shard.index, bench->hash[0], bench->location[0], bench->jobs, NULL,
                     &bench->shard.index_stats);
}

static void erase(struct bench *bench)
{
    kvc_index_erase(bench->shard.index, bench->hash[0], bench->location[0], bench->jobs, bench->erased,
                    &bench->shard.index_stats);
}

static double search_again(void *data, int repetition)
{
    struct bench *bench = data;
    (void)repetition;
    choose_random(bench);
    pass_time(bench);
    for (uint32_t s = 0; s < bench->streams; s++) {
        kvc_megakv_real_device_search_begin(bench->queues, s, &bench->shard, bench->hash[s], bench->jobs,
                                            bench->location[s]);
    }
    kvc_megakv_real_device_search_end(bench->queues);
    return since_launch_ns(bench);
}

/* Moves the jobs whose locations are below `end`, or all others, to the front, and drops the rest. Returns
 * the earlier number of jobs. */
static uint32_t keep(struct bench *bench, bool below, uint32_t end)
{
    uint32_t jobs = bench->jobs, kept = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        bench->hash[0][kept] = bench->hash[0][i];
        bench->location[0][kept] = bench->location[0][i];
        kept += (bench->location[0][i] < end) == below;
    }
    bench->jobs = kept;
    return jobs;
}

/* The changes of a launch are undone afterwards, so that the index keeps its load. */
static double insert_again(void *data, int repetition)
{
    struct bench *bench = data;
    (void)repetition;
    choose_to_insert(bench);
    pass_time(bench);
    insert(bench);
    double ns = since_launch_ns(bench);
    uint32_t jobs = keep(bench, false, fresh);
    erase(bench);
    bench->jobs = jobs;
    return ns;
}

static double erase_again(void *data, int repetition)
{
    struct bench *bench = data;
    (void)repetition;
    choose_to_erase(bench);
    pass_time(bench);
    erase(bench);
    double ns = since_launch_ns(bench);
    uint32_t jobs = keep(bench, true, fresh);
    insert(bench);
    bench->jobs = jobs;
    return ns;
}

/* Inserts elements until the index has the load factor. */
static void fill(struct bench *bench, double bytes, double load_frac)
{
    uint32_t held = (uint32_t)(load_frac * bytes / SLOT_BYTES);
    bench->streams = 1;
    while (bench->held < held) {
        bench->jobs = held - bench->held < JOBS_MAX ? held - bench->held : JOBS_MAX;
        for (uint32_t i = 0; i < bench->jobs; i++) {
            choose(bench, 0, i, bench->held + i);
        }
        insert(bench);
        bench->held += bench->jobs;
    }
}

/* Indexes up to this size may stay in the caches of a processor in part. */
static const double cached_bytes = 0x1p26;

/* Returns the launches after which a running store would have searched every line of the index, so that its
 * lines are in the caches as far as the other stages leave them there. Without them, small launches would
 * find the lines in memory, and large ones in the caches. */
static int settling_launches(const struct bench *bench)
{
    double bytes = (double)kvc_index_capacity(bench->shard.index) * SLOT_BYTES;
    return bytes <= cached_bytes ? (int)ceil(bytes / LINE_BYTES / bench->jobs / bench->streams) : 0;
}

static void measure_search(struct bench *bench, enum found found, struct kvc_megakv_cost_point *where,
                           struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    bench->found = found;
    where->size = bench->jobs;
    where->threads = bench->streams;
    kvc_megakv_repeat(&bench->watching, search_again, bench, settling_launches(bench), ns);
    kvc_megakv_measured_curve_add(curve, &bench->watching, where, ns);
}

/* Measures a launch that changes the load factor. In a small index, several launches stand for a large one,
 * so that the load does not change. */
static void measure_change(struct bench *bench, kvc_megakv_repetition_fn *fn, enum found found,
                           struct kvc_megakv_cost_point *where, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    uint32_t jobs = bench->jobs, most = (uint32_t)(kvc_index_capacity(bench->shard.index) / LOAD_STEPS);
    where->size = jobs;
    where->threads = bench->streams;
    bench->found = found;
    bench->jobs = jobs < most ? jobs : most;
    kvc_megakv_repeat(&bench->watching, fn, bench, settling_launches(bench), ns);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] *= (double)jobs / bench->jobs;
    }
    bench->jobs = jobs;
    kvc_megakv_measured_curve_add(curve, &bench->watching, where, ns);
}

/* Measures launches of all sizes at one load factor. */
static void measure_load(struct bench *bench, struct kvc_megakv_cost_point *where,
                         struct kvc_megakv_measurement *measurement)
{
    const struct kvc_megakv_index_options *params = bench->params;
    for (int j = 0; j < KVC_MEGAKV_INDEX_LIST_MAX && params->jobs[j] > 0; j++) {
        bench->jobs = params->jobs[j];
        for (int s = 0; s < KVC_MEGAKV_INDEX_LIST_MAX && params->streams[s] > 0; s++) {
            bench->streams = params->streams[s];
            measure_search(bench, ALL, where, &measurement->search);
            measure_search(bench, NONE, where, &measurement->search_miss);
            measure_search(bench, A_RANDOM_HALF, where, &measurement->search_half_missed);
        }
        bench->streams = 1;
        measure_change(bench, insert_again, NONE, where, &measurement->insert);
        measure_change(bench, insert_again, ALL, where, &measurement->replace);
        measure_change(bench, insert_again, A_RANDOM_HALF, where, &measurement->insert_half_replaced);
        measure_change(bench, erase_again, ALL, where, &measurement->erase);
        measure_change(bench, erase_again, NONE, where, &measurement->erase_miss);
        measure_change(bench, erase_again, A_RANDOM_HALF, where, &measurement->erase_half_missed);
    }
}

static enum kvc_status open_bench(struct bench *bench, const struct kvc_megakv_index_options *params,
                                  struct kvc_diag *diag)
{
    bool on_gpu = params->on_gpu, opened;
    uint32_t streams = 0;
    *bench = (struct bench){.params = params, .passing = kvc_pages_alloc(PASSING_BYTES)};
    kvc_rng_init(&bench->rng, 1, "index measurement", 0);
    for (int s = 0; s < KVC_MEGAKV_INDEX_LIST_MAX; s++) {
        streams = params->streams[s] > streams ? params->streams[s] : streams;
    }
    bench->queues = kvc_megakv_real_device_queues_create(on_gpu, streams);
    bench->erased = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t));
    opened = bench->passing != NULL && bench->queues != NULL && bench->erased != NULL;
    for (uint32_t s = 0; s < streams && s < STREAMS_MAX; s++) {
        bench->hash[s] = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint64_t));
        bench->location[s] = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t));
        opened = opened && bench->hash[s] != NULL && bench->location[s] != NULL;
    }
    if (!opened) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the jobs of %u streams", streams);
    }
    memset(bench->passing, 0, PASSING_BYTES);
    return KVC_OK;
}

static void close_bench(struct bench *bench)
{
    bool on_gpu = bench->params->on_gpu;
    for (uint32_t s = 0; s < STREAMS_MAX; s++) {
        kvc_megakv_real_device_array_free(on_gpu, bench->hash[s]);
        kvc_megakv_real_device_array_free(on_gpu, bench->location[s]);
    }
    kvc_megakv_real_device_array_free(on_gpu, bench->erased);
    kvc_megakv_real_device_queues_free(bench->queues);
    kvc_pages_free(bench->passing, PASSING_BYTES);
}

static enum kvc_status measure_size(struct bench *bench, double bytes,
                                    struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    const struct kvc_megakv_index_options *params = bench->params;
    const struct kvc_megakv_cuckoo_params table = {.bytes = (uint64_t)bytes,
                                                   .max_displacements = DISPLACEMENTS_MAX};
    bench->held = bench->next_fresh = 0;
    bench->shard.index = kvc_megakv_real_device_index(params->on_gpu, &table);
    if (bench->shard.index == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for an index of %.4g MiB", bytes / 0x1p20);
    }
    for (int l = 0; l < KVC_MEGAKV_INDEX_LIST_MAX && params->load_frac[l] > 0; l++) {
        struct kvc_megakv_cost_point where = {.load_frac = params->load_frac[l], .footprint_bytes = bytes};
        fill(bench, bytes, params->load_frac[l]);
        measure_load(bench, &where, measurement);
    }
    kvc_index_free(bench->shard.index);
    return KVC_OK;
}

enum kvc_status kvc_megakv_measure_index(const struct kvc_megakv_index_options *params,
                                         struct kvc_steadiness *steadiness,
                                         const struct kvc_progress *progress,
                                         struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct bench *bench = kvc_array_of(1, sizeof(*bench));
    enum kvc_status status = open_bench(bench, params, diag);
    /* The speed of this core says nothing about a GPU. */
    bench->watching = (struct kvc_megakv_watching){.steadiness = steadiness};
    for (int b = 0; status == KVC_OK && b < KVC_MEGAKV_INDEX_LIST_MAX && params->bytes[b] > 0; b++) {
        kvc_progress_report(progress, "index", (double)b / KVC_MEGAKV_INDEX_LIST_MAX);
        status = measure_size(bench, params->bytes[b], measurement, diag);
        kvc_steadiness_check(steadiness);
    }
    close_bench(bench);
    free(bench);
    return status;
}
