#include "models/megakv/real/stage_measurement.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "models/megakv/costs.h"
#include "models/megakv/real/testbench.h"

enum {
    SETTLING_REPETITIONS = 3,
    ROWS = 4096,                 /* of a batch, where its size does not matter */
    WARM_UP_REQUESTS = 20000000, /* at most, that settle the caches */
    READ_MOST_REQUESTS = 20000000,
    READS_MIN = 64,
    SETS_MIN = 64,
    SEARCHES_MIN = 64, /* of a launch, in each stream */
    INSERTS_MIN = 256, /* of a launch */
    INSERTS_MAX = 65536,
    SEARCHES_BESIDE = 1024, /* inserts, in each stream */
    THREADS_MAX = 2,        /* numbers of threads that are tried */
};

/* Of the places for items, that storing all keys leaves. */
static const double free_frac_max = 0.02;

/* Of a store's items, by the SETs of one measurement. */
static const double evicted_frac = 0.05;

/* Of a store's items, by reads that set reference bits while their share is taken to be the same; and by
 * those that bring the bits, 512 to a line, back to where a store at work has them. */
static const double overlooked_frac = 0.05, warm_frac = 4.0 / 512;

/* Two passes that are further apart than this were disturbed. */
static const double disagreeing_frac = 0.1;

static const double high_load = KVC_MEGAKV_HIGH_LOAD_FRAC / KVC_MEGAKV_USUAL_LOAD_FRAC;

/* Of launches; as Mega-KV's are. */
static const double cycle_s = 300e-6;

/* Of items from one cache line to thirty-two. */
static const uint32_t values[] = {8, 40, 104, 232, 488, 1000, 2024};
enum { VALUES = sizeof(values) / sizeof(*values) };

/* Requests of frames. */
static const uint32_t frames[] = {1, 8, 32};
enum { FRAMES = sizeof(frames) / sizeof(*frames) };

/* One pipeline alone, and as many as the machine has cores for. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
    bool shared_cores;
};

static struct threads threads_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    struct threads threads = {.most =
                                  most < KVC_MEGAKV_REAL_PIPELINES_MAX ? most : KVC_MEGAKV_REAL_PIPELINES_MAX,
                              .shared_cores = own == 0};
    threads.value[threads.count++] = 1;
    if (threads.most > 1) {
        threads.value[threads.count++] = threads.most;
    }
    return threads;
}

/* Where the law has this point; at its end: it has not yet. */
static uint32_t find_point(const struct kvc_megakv_cost_curve *curve, double size, double footprint_bytes,
                           uint32_t threads)
{
    uint32_t at = 0;
    while (at < curve->count &&
           (curve->point[at].size != size || curve->point[at].footprint_bytes != footprint_bytes ||
            curve->point[at].threads != threads)) {
        at++;
    }
    return at;
}

/* The mean of the passes' medians. */
static void add_point(struct kvc_megakv_measured_curve *curve, double size, double footprint_bytes,
                      uint32_t threads, double ns[KVC_MEGAKV_REPETITIONS])
{
    const uint32_t repetitions = KVC_MEGAKV_REPETITIONS;
    uint32_t at = find_point(&curve->curve, size, footprint_bytes, threads);
    gsl_sort(ns, 1, repetitions);
    double median_ns = ns[repetitions / 2], low_ns = ns[repetitions / 4], high_ns = ns[3 * repetitions / 4];
    if (at == curve->curve.count) {
        curve->curve.count++;
    } else {
        double before_ns = curve->curve.point[at].ns;
        curve->disagreeing += fabs(median_ns - before_ns) > disagreeing_frac * fmin(median_ns, before_ns);
        median_ns = (median_ns + before_ns) / 2;
        low_ns = fmin(low_ns, curve->low_ns[at]);
        high_ns = fmax(high_ns, curve->high_ns[at]);
    }
    curve->curve.point[at] = (struct kvc_megakv_cost_point){size, footprint_bytes, threads, median_ns};
    curve->low_ns[at] = low_ns;
    curve->high_ns[at] = high_ns;
}

/* Of the points with the largest footprint and the most threads. `in_streams`: sizes are those of each. */
static enum kvc_status fit_curve(struct kvc_megakv_measured_curve *curve, bool in_streams,
                                 struct kvc_diag *diag)
{
    struct kvc_megakv_cost_range range = kvc_megakv_cost_range_of(&curve->curve);
    double streams = in_streams ? range.threads_high : 1;
    double x[KVC_FIT_POINTS_MAX], ns[KVC_FIT_POINTS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < curve->curve.count && count < KVC_FIT_POINTS_MAX; i++) {
        const struct kvc_megakv_cost_point *point = &curve->curve.point[i];
        if (point->footprint_bytes < range.footprint_high || (double)point->threads < range.threads_high ||
            point->size <= 0 || point->ns <= 0) { /* too short to be told from nothing */
            continue;
        }
        x[count] = point->size * streams;
        ns[count++] = point->ns;
    }
    return kvc_fit_line(x, ns, count, &curve->fit, diag);
}

/* What is measured, where, and into what. */
struct survey {
    const struct kvc_megakv_measurement_options *params;
    struct threads threads;
    struct kvc_thread_pool *pool;
    struct kvc_megakv_measurement *costs;
    struct kvc_megakv_testbench testbench; /* its slab_bytes are the footprint of items in the laws */
    double pass_ns;                        /* of the CLOCK hand, an item */
};

/* A store of its own for each number of pipelines: what it has open (streams of a GPU, packets, buffers) is
 * part of what its stages cost. */
static enum kvc_status open_testbench(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                      uint32_t frame_requests, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_testbench_options params = {
        .value_bytes = value_bytes,
        .slab_bytes = slab_bytes,
        .pipelines = pipelines,
        .on_gpu = survey->params->on_gpu,
        .shared_cores = survey->threads.shared_cores,
        .cores = survey->params->cores,
    };
    return kvc_megakv_testbench_open(&survey->testbench, &params, frame_requests, survey->pool, diag);
}

static const struct kvc_megakv_testbench_work reads = {.gets = ROWS, .search = KVC_MEGAKV_TESTBENCH_KEYS};

static void read_many(struct survey *survey, double requests)
{
    struct kvc_megakv_testbench_round repetition;
    for (double done = 0; done < requests; done += (double)ROWS * survey->testbench.params.pipelines) {
        kvc_megakv_testbench_round(&survey->testbench, &reads, &repetition);
    }
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* A sender's time for one row of its. */
static double read_ns(const struct kvc_megakv_testbench_round *repetition)
{
    return repetition->send_s * 1e9 / repetition->send_rows;
}

/* The turns of a piece of work, behind some that settle. */
static void drain_turns(struct survey *survey, const struct kvc_megakv_testbench_work *work,
                        struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS])
{
    for (int i = -SETTLING_REPETITIONS; i < KVC_MEGAKV_REPETITIONS; i++) {
        kvc_megakv_testbench_round(&survey->testbench, work, &repetition[i < 0 ? 0 : i]);
    }
}

/* A frame of GETs, by its requests. */
static void measure_receive(struct survey *survey, uint32_t frame_requests)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    drain_turns(survey, &reads, repetition);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = repetition[i].receive_gets_s * 1e9 / repetition[i].gets_rows * frame_requests;
    }
    add_point(&survey->costs->receive, frame_requests, 0, survey->testbench.params.pipelines, ns);
}

static double item_bytes(const struct survey *survey)
{
    return kvc_megakv_touched_bytes(KVC_MEGAKV_TESTBENCH_KEY_BYTES, survey->testbench.params.value_bytes);
}

/* The sender that took longest in all turns together. */
static uint32_t slowest_of(const struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS],
                           uint32_t threads)
{
    double slowest_s = 0;
    uint32_t slowest = 0;
    for (uint32_t sender = 0; sender < threads; sender++) {
        double sum_s = 0;
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            sum_s += repetition[i].each_send_s[sender];
        }
        if (sum_s > slowest_s) {
            slowest = sender;
        }
        slowest_s = fmax(slowest_s, sum_s);
    }
    return slowest;
}

static enum kvc_status measure_reads(struct survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS], slowest_ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    uint64_t misses = 0;
    drain_turns(survey, &reads, repetition);
    uint32_t slowest = slowest_of(repetition, threads);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = read_ns(&repetition[i]);
        slowest_ns[i] = repetition[i].each_send_s[slowest] * 1e9 / repetition[i].send_rows;
        misses += repetition[i].misses;
    }
    add_point(&survey->costs->read, item_bytes(survey), survey->testbench.params.slab_bytes, threads, ns);
    add_point(&survey->costs->read_slowest, item_bytes(survey), survey->testbench.params.slab_bytes, threads,
              slowest_ns);
    return check_misses(misses, (uint64_t)KVC_MEGAKV_REPETITIONS * ROWS * threads, diag);
}

/* GETs of which all, or every other one at random, are misses. */
static void measure_misses(struct survey *survey, enum kvc_megakv_testbench_search search,
                           double ns[KVC_MEGAKV_REPETITIONS])
{
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_work work = reads;
    work.search = search;
    drain_turns(survey, &work, repetition);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = read_ns(&repetition[i]);
    }
}

/* In all laws of reads: a miss has no item that could matter. */
static void note_misses(struct survey *survey)
{
    struct kvc_megakv_measurement *costs = survey->costs;
    struct kvc_megakv_measured_curve *const curves[] = {&costs->read,         &costs->read_checked,
                                                        &costs->read_marked,  &costs->read_half_marked,
                                                        &costs->read_slowest, &costs->read_half_missed};
    double ns[KVC_MEGAKV_REPETITIONS];
    measure_misses(survey, KVC_MEGAKV_TESTBENCH_NO_SEARCH, ns);
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        add_point(curves[i], 0, survey->testbench.params.slab_bytes, survey->testbench.params.pipelines, ns);
    }
}

/* Reads in a store of whose reference bits one in `one_in` is clear. Those that the reads set are cleared
 * again, before they are too many to overlook. */
static void measure_marks(struct survey *survey, uint32_t one_in, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS], since = INFINITY, keys = (double)survey->testbench.keys;
    struct kvc_megakv_testbench_round repetition;
    struct kvc_megakv_testbench_work work = reads;
    work.gets =
        (uint32_t)fmin(fmax(overlooked_frac * keys / survey->testbench.params.pipelines, READS_MIN), ROWS);
    double reads_in_turn = (double)work.gets * survey->testbench.params.pipelines;
    int settling = SETTLING_REPETITIONS + (int)(warm_frac * keys / reads_in_turn);
    for (int i = -settling; i < KVC_MEGAKV_REPETITIONS; i++) {
        if (since + reads_in_turn > overlooked_frac * keys) {
            kvc_megakv_slab_forget_reads(survey->testbench.store->shards[0].slab, one_in);
            since = 0;
        }
        kvc_megakv_testbench_round(&survey->testbench, &work, &repetition);
        since += (double)repetition.send_rows * survey->testbench.params.pipelines;
        ns[i < 0 ? 0 : i] = read_ns(&repetition);
    }
    add_point(curve, item_bytes(survey), survey->testbench.params.slab_bytes,
              survey->testbench.params.pipelines, ns);
}

/* Few enough that the store stays what it was, as many as can be timed. */
static uint32_t sets_of(const struct survey *survey)
{
    double some = evicted_frac * (double)survey->testbench.keys /
                  (KVC_MEGAKV_REPETITIONS + SETTLING_REPETITIONS) / survey->testbench.params.pipelines;
    return (uint32_t)fmin(fmax(some, SETS_MIN), ROWS / 2.0);
}

/* Takes the slabs' last free places, so that from then on every SET evicts. Returns what the CLOCK hand took
 * for an item, if it went past most of them in one turn; else 0. */
static double fill_up(struct survey *survey)
{
    struct kvc_megakv_testbench_round repetition;
    const struct kvc_megakv_testbench_work work = {.sets = ROWS / 2};
    double sets = free_frac_max * (double)survey->testbench.keys, pass_ns = 0;
    for (double done = 0; done < sets; done += (double)work.sets * survey->testbench.params.pipelines) {
        kvc_megakv_testbench_round(&survey->testbench, &work, &repetition);
        if (repetition.passed > survey->testbench.keys / 2) {
            pass_ns = repetition.receive_mix_s * 1e9 / (double)repetition.passed;
        }
    }
    return pass_ns;
}

/* SETs in a store at work, whose items have mostly been read. What a GET costs its receiver is taken off, and
 * what the CLOCK hand takes to pass items. */
static void measure_writes(struct survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    uint32_t frame_requests =
        kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, survey->testbench.params.value_bytes);
    struct kvc_curve receive = kvc_megakv_cost_curve_by_size(&survey->costs->receive.curve, threads, NULL);
    double request_ns = kvc_curve_at(&receive, frame_requests) / frame_requests;
    struct kvc_megakv_testbench_work work = reads;
    work.sets = sets_of(survey);
    fill_up(survey);
    read_many(survey, fmin(2 * (double)survey->testbench.keys, READ_MOST_REQUESTS));
    drain_turns(survey, &work, repetition);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        double passed = (double)repetition[i].passed / threads;
        ns[i] = repetition[i].receive_mix_s * 1e9 - repetition[i].mix_rows * request_ns -
                passed * survey->pass_ns;
        ns[i] = fmax(ns[i] / repetition[i].mix_sets, 0);
    }
    add_point(&survey->costs->write, item_bytes(survey), survey->testbench.params.slab_bytes, threads, ns);
}

/* Launches of searches. */
static void measure_searches(struct survey *survey, enum kvc_megakv_testbench_search search,
                             struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    uint32_t streams = survey->params->on_gpu ? survey->testbench.params.pipelines : 1;
    survey->testbench.period_s = cycle_s;
    for (uint32_t jobs = SEARCHES_MIN; jobs <= KVC_MEGAKV_ROWS_MAX; jobs *= 4) {
        const struct kvc_megakv_testbench_work work = {
            .gets = jobs * streams / survey->testbench.params.pipelines, .search = search};
        drain_turns(survey, &work, repetition);
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) { /* whole frames: not exactly what was wanted */
            ns[i] = repetition[i].search_s * 1e9 * jobs * streams / repetition[i].search_jobs;
        }
        add_point(curve, jobs, survey->testbench.index_bytes, survey->testbench.params.pipelines, ns);
    }
    survey->testbench.period_s = 0;
}

/* Launches of inserts and deletes, behind one of searches as they always are, and how the scheduler comes by
 * their jobs; `take` NULL: not noted. */
static void measure_inserts(struct survey *survey, struct kvc_megakv_measured_curve *curve,
                            struct kvc_megakv_measured_curve *drain)
{
    double launch_ns[KVC_MEGAKV_REPETITIONS], drain_ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_testbench_round repetition[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    survey->testbench.period_s = cycle_s;
    for (uint32_t jobs = INSERTS_MIN; jobs <= INSERTS_MAX; jobs *= 4) {
        const struct kvc_megakv_testbench_work work = {.gets = SEARCHES_BESIDE,
                                                       .search = KVC_MEGAKV_TESTBENCH_KEYS,
                                                       .sets = (jobs / 2 + threads - 1) / threads};
        drain_turns(survey, &work, repetition);
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            launch_ns[i] = repetition[i].insert_s * 1e9 * jobs / repetition[i].insert_jobs;
            drain_ns[i] = repetition[i].drain_s * 1e9 * jobs / repetition[i].insert_jobs;
        }
        add_point(curve, jobs, survey->testbench.index_bytes, threads, launch_ns);
        if (drain != NULL) {
            add_point(drain, jobs, survey->testbench.index_bytes, threads, drain_ns);
        }
    }
    survey->testbench.period_s = 0;
}

static enum kvc_status survey_frames(struct survey *survey, uint32_t pipelines, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t f = 0; status == KVC_OK && f <= FRAMES; f++) {
        uint32_t requests = f < FRAMES
                                ? frames[f]
                                : kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_GETS, values[0]);
        status = open_testbench(survey, values[0], survey->params->slab_bytes[0], requests, pipelines, diag);
        if (status == KVC_OK) {
            measure_receive(survey, requests);
        }
        kvc_megakv_testbench_close(&survey->testbench);
    }
    return status;
}

/* The first SET that finds no place free makes CLOCK go round, past items that all count as read since they
 * were stored. */
static enum kvc_status survey_pass(struct survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS],
        slab_bytes = survey->params->slab_bytes[survey->params->footprints - 1];
    enum kvc_status status = open_testbench(survey, values[0], slab_bytes, 0, 1, diag);
    survey->pass_ns = status == KVC_OK ? fill_up(survey) : 0;
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) { /* there is no second first time */
        ns[i] = survey->pass_ns;
    }
    add_point(&survey->costs->pass, 1, slab_bytes, 1, ns);
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

static enum kvc_status survey_items(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                    uint32_t pipelines, struct kvc_diag *diag)
{
    bool smallest = value_bytes == values[0];
    enum kvc_status status = open_testbench(survey, value_bytes, slab_bytes, 0, pipelines, diag);
    if (status == KVC_OK) {
        read_many(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
        status = measure_reads(survey, diag);
    }
    if (status == KVC_OK) {
        double ns[KVC_MEGAKV_REPETITIONS];
        measure_misses(survey, KVC_MEGAKV_TESTBENCH_HALF_ABSENT, ns);
        add_point(&survey->costs->read_half_missed, item_bytes(survey), slab_bytes, pipelines, ns);
    }
    if (status == KVC_OK && smallest) {
        note_misses(survey);
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_KEYS, &survey->costs->search);
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_ABSENT_KEYS, &survey->costs->search_miss);
    }
    if (status == KVC_OK) {
        measure_marks(survey, KVC_MEGAKV_SLAB_SURE_ITEMS, &survey->costs->read_checked);
        measure_marks(survey, 2, &survey->costs->read_half_marked);
        measure_marks(survey, 1, &survey->costs->read_marked);
        measure_writes(survey);
    }
    if (status == KVC_OK && smallest) {
        measure_inserts(survey, &survey->costs->insert, &survey->costs->drain);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

/* Half as many items again make an index of the same size fuller, by as much. */
static enum kvc_status survey_high_load(struct survey *survey, double slab_bytes, struct kvc_diag *diag)
{
    enum kvc_status status =
        open_testbench(survey, values[0], high_load * slab_bytes, 0, survey->threads.most, diag);
    if (status == KVC_OK) {
        read_many(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
        measure_searches(survey, KVC_MEGAKV_TESTBENCH_KEYS, &survey->costs->search_high_load);
        fill_up(survey);
        measure_inserts(survey, &survey->costs->insert_high_load, NULL);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    return status;
}

/* Everything once. */
static enum kvc_status survey_all(struct survey *survey, uint32_t pass, struct kvc_steadiness *steadiness,
                                  const struct kvc_progress *progress, struct kvc_diag *diag)
{
    const struct kvc_megakv_measurement_options *params = survey->params;
    const struct threads *threads = &survey->threads;
    uint32_t testbenches = params->footprints * VALUES * threads->count, done = pass * testbenches;
    enum kvc_status status = KVC_OK;
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++) {
        status = survey_frames(survey, threads->value[t], diag);
    }
    if (status == KVC_OK) {
        status = survey_pass(survey, diag);
    }
    for (uint32_t f = 0; status == KVC_OK && f < params->footprints; f++) {
        for (uint32_t v = 0; status == KVC_OK && v < VALUES * threads->count; v++) {
            kvc_progress_report(progress, "stages", (double)done++ / testbenches / params->passes);
            status = survey_items(survey, values[v / threads->count], params->slab_bytes[f],
                                  threads->value[v % threads->count], diag);
            kvc_steadiness_check(steadiness);
        }
        if (status == KVC_OK) {
            status = survey_high_load(survey, params->slab_bytes[f], diag);
        }
    }
    return status;
}

static void count_points(struct kvc_megakv_measurement *costs)
{
    const struct kvc_megakv_measured_curve *const curves[] = {&costs->receive,
                                                              &costs->write,
                                                              &costs->pass,
                                                              &costs->read,
                                                              &costs->read_checked,
                                                              &costs->read_marked,
                                                              &costs->search,
                                                              &costs->read_half_marked,
                                                              &costs->read_half_missed,
                                                              &costs->read_slowest,
                                                              &costs->drain,
                                                              &costs->search_miss,
                                                              &costs->search_high_load,
                                                              &costs->insert,
                                                              &costs->insert_high_load};
    for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
        costs->points += curves[i]->curve.count;
        costs->disagreeing += curves[i]->disagreeing;
    }
}

/* Those that a profile of cpu, dram and gpu is made of, and that are told. */
static enum kvc_status fit_curves(struct kvc_megakv_measurement *costs, struct kvc_diag *diag)
{
    struct kvc_megakv_measured_curve *const curves[] = {&costs->search, &costs->receive, &costs->write,
                                                        &costs->read, &costs->insert};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; status == KVC_OK && i < sizeof(curves) / sizeof(*curves); i++) {
        status = fit_curve(curves[i], curves[i] == &costs->search, diag);
    }
    return status;
}

enum kvc_status kvc_megakv_measure_stages(const struct kvc_megakv_measurement_options *params,
                                          struct kvc_steadiness *steadiness,
                                          const struct kvc_progress *progress,
                                          struct kvc_megakv_measurement *costs, struct kvc_diag *diag)
{
    static struct survey survey;
    *costs = (struct kvc_megakv_measurement){0};
    survey = (struct survey){.params = params,
                             .threads = threads_of(params->cores),
                             .pool = kvc_thread_pool_create(params->cores),
                             .costs = costs};
    if (survey.pool == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%u threads cannot be started", params->cores);
    }
    enum kvc_status status = KVC_OK;
    for (uint32_t pass = 0; status == KVC_OK && pass < params->passes; pass++) {
        status = survey_all(&survey, pass, steadiness, progress, diag);
    }
    kvc_thread_pool_free(survey.pool);
    count_points(costs);
    return status == KVC_OK ? fit_curves(costs, diag) : status;
}
