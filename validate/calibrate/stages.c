#include "validate/calibrate/stages.h"

#include <math.h>
#include <stdlib.h>

#include "validate/calibrate/bed.h"

enum {
    SETTLING_TURNS = 3,
    ROWS = 4096,                 /* of a batch, where its size does not matter */
    WARM_UP_REQUESTS = 20000000, /* at most, that settle the caches */
    READ_MOST_REQUESTS = 20000000,
    SETS_MIN = 64,
    JOBS_MIN = 256,
    JOBS_MAX = 65536,
    THREADS_MAX = 3, /* numbers of threads that are tried */
};

/* Of the places for items, that storing all keys leaves. */
static const double free_frac_max = 0.02;

/* Of a store's items, by the SETs of one measurement. */
static const double evicted_frac = 0.05;

/* Of launches; as Mega-KV's are. */
static const double cycle_s = 300e-6;

/* Of items from one cache line to thirty-two. */
static const uint32_t values[] = {8, 40, 104, 232, 488, 1000, 2024};
enum { VALUES = sizeof values / sizeof *values };

/* Requests of frames. */
static const uint32_t frames[] = {1, 8, 32};
enum { FRAMES = sizeof frames / sizeof *frames };

/* One pipeline alone, as many as the machine has cores for, and half of those. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
    bool shared_cores;
};

static struct threads threads_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    struct threads threads = {.most = most < KVC_PIPELINES_MAX ? most : KVC_PIPELINES_MAX,
                              .shared_cores = own == 0};
    threads.value[threads.count++] = 1;
    if (threads.most > 3)
        threads.value[threads.count++] = (threads.most + 1) / 2;
    if (threads.most > 1)
        threads.value[threads.count++] = threads.most;
    return threads;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_point(struct kvc_measured_law *law, double size, double footprint_bytes, uint32_t threads,
                      double ns[KVC_STAGE_TURNS])
{
    const uint32_t turns = KVC_STAGE_TURNS;
    uint32_t at = law->law.count++;
    qsort(ns, turns, sizeof *ns, ascending);
    law->law.point[at] = (struct kvc_stage_point){size, footprint_bytes, threads, ns[turns / 2]};
    law->low_ns[at] = ns[turns / 4];
    law->high_ns[at] = ns[3 * turns / 4];
}

/* Of the points with the largest footprint and the most threads. */
static enum kvc_status fit_law(struct kvc_measured_law *law, struct kvc_diag *diag)
{
    struct kvc_stage_range range = kvc_stage_range_of(&law->law);
    double x[KVC_FIT_POINTS_MAX], ns[KVC_FIT_POINTS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < law->law.count && count < KVC_FIT_POINTS_MAX; i++) {
        const struct kvc_stage_point *point = &law->law.point[i];
        if (point->footprint_bytes < range.footprint_high || (double)point->threads < range.threads_high ||
            point->size <= 0)
            continue;
        x[count] = point->size;
        ns[count++] = point->ns;
    }
    return kvc_fit_line(x, ns, count, &law->fit, diag);
}

/* What is measured, where, and into what. */
struct survey {
    const struct kvc_stage_params *params;
    struct threads threads;
    struct kvc_team *team;
    struct kvc_stage_costs *costs;
    struct kvc_bed bed;
    uint32_t value_bytes;
    double footprint_bytes;                /* of the items, as it is called in the laws */
    double miss_ns[KVC_PIPELINES_MAX + 1]; /* at a sender, by threads */
};

static enum kvc_status open_bed(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                uint32_t frame_requests, struct kvc_diag *diag)
{
    const struct kvc_bed_params params = {
        .value_bytes = value_bytes,
        .slab_bytes = slab_bytes,
        .pipelines = survey->threads.most,
        .on_gpu = survey->params->on_gpu,
        .shared_cores = survey->threads.shared_cores,
        .cores = survey->params->cores,
    };
    survey->value_bytes = value_bytes;
    survey->footprint_bytes = slab_bytes;
    return kvc_bed_open(&survey->bed, &params, frame_requests, survey->team, diag);
}

static struct kvc_bed_work gets_of(uint32_t threads, uint32_t gets)
{
    return (struct kvc_bed_work){.pipelines = threads, .gets = gets, .search = KVC_BED_KEYS};
}

static void read_many(struct survey *survey, double requests)
{
    const struct kvc_bed_work work = gets_of(survey->threads.most, ROWS);
    struct kvc_bed_turn turn;
    for (double done = 0; done < requests; done += (double)ROWS * work.pipelines)
        kvc_bed_turn(&survey->bed, &work, &turn);
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* The turns of a piece of work: first those that settle, then those that are measured. */
static void take_turns(struct survey *survey, const struct kvc_bed_work *work,
                       struct kvc_bed_turn turn[KVC_STAGE_TURNS])
{
    const struct kvc_bed_work none = {0};
    uint32_t cores = survey->params->cores;
    for (int i = 0; i < 2; i++) /* what other pipelines have under way, while their cores are awake */
        kvc_bed_turn(&survey->bed, &none, &turn[0]);
    kvc_team_wake(survey->team, survey->threads.shared_cores ? cores : 1 + 2 * work->pipelines);
    for (int i = -SETTLING_TURNS; i < KVC_STAGE_TURNS; i++)
        kvc_bed_turn(&survey->bed, work, &turn[i < 0 ? 0 : i]);
    kvc_team_wake(survey->team, cores);
}

/* A frame of GETs, by its requests. */
static void measure_receive(struct survey *survey, uint32_t threads, uint32_t frame_requests)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    const struct kvc_bed_work work = gets_of(threads, ROWS);
    take_turns(survey, &work, turn);
    for (int i = 0; i < KVC_STAGE_TURNS; i++)
        ns[i] = turn[i].receive_gets_s * 1e9 / turn[i].gets_rows * frame_requests;
    add_point(&survey->costs->receive, frame_requests, 0, threads, ns);
}

static double item_bytes(const struct survey *survey)
{
    return kvc_bed_item_bytes(survey->value_bytes);
}

/* The slowest sender's time in all turns over the mean. */
static double slowest_of(const struct kvc_bed_turn turn[KVC_STAGE_TURNS], uint32_t threads)
{
    double all_s = 0, slowest_s = 0;
    for (uint32_t sender = 0; sender < threads; sender++) {
        double sum_s = 0;
        for (int i = 0; i < KVC_STAGE_TURNS; i++)
            sum_s += turn[i].each_send_s[sender];
        all_s += sum_s;
        slowest_s = fmax(slowest_s, sum_s);
    }
    return slowest_s * threads / all_s;
}

static enum kvc_status measure_reads(struct survey *survey, uint32_t threads, struct kvc_diag *diag)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    const struct kvc_bed_work work = gets_of(threads, ROWS);
    uint64_t misses = 0;
    take_turns(survey, &work, turn);
    for (int i = 0; i < KVC_STAGE_TURNS; i++) {
        ns[i] = turn[i].send_s * 1e9 / turn[i].send_rows;
        misses += turn[i].misses;
    }
    add_point(&survey->costs->read, item_bytes(survey), survey->footprint_bytes, threads, ns);
    if (threads == survey->threads.most && survey->value_bytes == values[0])
        survey->costs->slowest_sender = slowest_of(turn, threads); /* of the last, the largest store */
    return check_misses(misses, (uint64_t)KVC_STAGE_TURNS * ROWS * threads, diag);
}

/* Noted in both laws of reads: a miss touches nothing that writes would change. */
static void measure_misses(struct survey *survey, uint32_t threads)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    struct kvc_bed_work work = gets_of(threads, ROWS);
    work.search = KVC_BED_NO_SEARCH;
    take_turns(survey, &work, turn);
    for (int i = 0; i < KVC_STAGE_TURNS; i++)
        ns[i] = turn[i].send_s * 1e9 / turn[i].send_rows;
    add_point(&survey->costs->read, 0, survey->footprint_bytes, threads, ns);
    add_point(&survey->costs->read_mixed, 0, survey->footprint_bytes, threads, ns);
    survey->miss_ns[threads] = ns[KVC_STAGE_TURNS / 2];
}

/* Few enough that the store stays what it was, as many as can be timed. */
static uint32_t sets_of(const struct survey *survey, uint32_t threads)
{
    double some = evicted_frac * (double)survey->bed.keys / (KVC_STAGE_TURNS + SETTLING_TURNS) / threads;
    return (uint32_t)fmin(fmax(some, SETS_MIN), ROWS / 2.0);
}

/* Takes the slabs' last free places, so that from then on every SET evicts; the first makes CLOCK go round.
 */
static void fill_up(struct survey *survey)
{
    struct kvc_bed_turn turn;
    const struct kvc_bed_work work = {.pipelines = survey->threads.most, .sets = ROWS / 2};
    double sets = free_frac_max * (double)survey->bed.keys;
    for (double done = 0; done < sets; done += (double)work.sets * work.pipelines)
        kvc_bed_turn(&survey->bed, &work, &turn);
}

/* SETs and GETs in a store at work, whose items have mostly been read. What a GET costs its receiver and
 * misses cost their senders is taken off. */
static void measure_mix(struct survey *survey, uint32_t threads)
{
    double writes[KVC_STAGE_TURNS], reads[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    uint32_t frame_requests = kvc_bed_frame_requests(KVC_BED_MIX, survey->value_bytes);
    struct kvc_curve receive = kvc_stage_curve(&survey->costs->receive.law, threads, NULL);
    double request_ns = kvc_curve_at(&receive, frame_requests) / frame_requests;
    struct kvc_bed_work work = gets_of(threads, ROWS);
    work.sets = sets_of(survey, threads);
    read_many(survey, fmin(2 * (double)survey->bed.keys, READ_MOST_REQUESTS));
    take_turns(survey, &work, turn);
    for (int i = 0; i < KVC_STAGE_TURNS; i++) {
        double miss_frac = (double)turn[i].misses / ((double)turn[i].send_rows * threads);
        writes[i] = fmax((turn[i].receive_mix_s * 1e9 - turn[i].mix_rows * request_ns) / turn[i].mix_sets, 0);
        reads[i] = turn[i].send_s * 1e9 / turn[i].send_rows;
        reads[i] = fmax((reads[i] - miss_frac * survey->miss_ns[threads]) / (1 - miss_frac), 0);
    }
    add_point(&survey->costs->write, item_bytes(survey), survey->footprint_bytes, threads, writes);
    add_point(&survey->costs->read_mixed, item_bytes(survey), survey->footprint_bytes, threads, reads);
}

/* Launches of searches. */
static void measure_searches(struct survey *survey, uint32_t threads, enum kvc_bed_search search,
                             struct kvc_measured_law *law)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    survey->bed.period_s = cycle_s;
    for (uint32_t jobs = JOBS_MIN; jobs <= JOBS_MAX; jobs *= 4) {
        struct kvc_bed_work work = gets_of(threads, (jobs + threads - 1) / threads);
        work.search = search;
        take_turns(survey, &work, turn);
        for (int i = 0; i < KVC_STAGE_TURNS; i++) /* a few jobs more than was wanted */
            ns[i] = turn[i].search_s * 1e9 * jobs / turn[i].search_jobs;
        add_point(law, jobs, survey->bed.index_bytes, threads, ns);
    }
    survey->bed.period_s = 0;
}

/* Launches of inserts and deletes, and how the scheduler comes by their jobs. */
static void measure_inserts(struct survey *survey, uint32_t threads)
{
    double launch_ns[KVC_STAGE_TURNS], take_ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn[KVC_STAGE_TURNS];
    survey->bed.period_s = cycle_s;
    for (uint32_t jobs = JOBS_MIN; jobs <= JOBS_MAX; jobs *= 4) {
        const struct kvc_bed_work work = {.pipelines = threads, .sets = (jobs / 2 + threads - 1) / threads};
        take_turns(survey, &work, turn);
        for (int i = 0; i < KVC_STAGE_TURNS; i++) {
            launch_ns[i] = turn[i].insert_s * 1e9 * jobs / turn[i].insert_jobs;
            take_ns[i] = turn[i].take_s * 1e9 * jobs / turn[i].insert_jobs;
        }
        add_point(&survey->costs->insert, jobs, survey->bed.index_bytes, threads, launch_ns);
        add_point(&survey->costs->take, jobs, survey->bed.index_bytes, threads, take_ns);
    }
    survey->bed.period_s = 0;
}

static enum kvc_status survey_frames(struct survey *survey, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t f = 0; status == KVC_OK && f <= FRAMES; f++) {
        uint32_t requests = f < FRAMES ? frames[f] : kvc_bed_frame_requests(KVC_BED_GETS, values[0]);
        status = open_bed(survey, values[0], survey->params->slab_bytes[0], requests, diag);
        for (uint32_t t = 0; status == KVC_OK && t < survey->threads.count; t++)
            measure_receive(survey, survey->threads.value[t], requests);
        kvc_bed_close(&survey->bed);
    }
    return status;
}

static enum kvc_status survey_items(struct survey *survey, uint32_t value_bytes, double slab_bytes,
                                    struct kvc_diag *diag)
{
    const struct threads *threads = &survey->threads;
    bool smallest = value_bytes == values[0], on_gpu = survey->params->on_gpu;
    enum kvc_status status = open_bed(survey, value_bytes, slab_bytes, 0, diag);
    if (status == KVC_OK)
        read_many(survey, fmin(2 * (double)survey->bed.keys, WARM_UP_REQUESTS));
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++) {
        status = measure_reads(survey, threads->value[t], diag);
        if (smallest)
            measure_misses(survey, threads->value[t]);
    }
    /* on a thread of the processor launches do not depend on the number of pipelines */
    for (uint32_t t = 0; status == KVC_OK && smallest && t < (on_gpu ? threads->count : 1); t++) {
        measure_searches(survey, threads->value[t], KVC_BED_KEYS, &survey->costs->search);
        measure_searches(survey, threads->value[t], KVC_BED_ABSENT_KEYS, &survey->costs->search_miss);
    }
    if (status == KVC_OK)
        fill_up(survey);
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++)
        measure_mix(survey, threads->value[t]);
    for (uint32_t t = 0; status == KVC_OK && smallest && t < (on_gpu ? threads->count : 1); t++)
        measure_inserts(survey, threads->value[t]);
    kvc_bed_close(&survey->bed);
    return status;
}

static void report(const struct kvc_progress *progress, const char *step, double fraction)
{
    if (progress != NULL)
        progress->report(progress->data, step, fraction);
}

enum kvc_status kvc_stages_measure(const struct kvc_stage_params *params, struct kvc_steadiness *steadiness,
                                   const struct kvc_progress *progress, struct kvc_stage_costs *costs,
                                   struct kvc_diag *diag)
{
    static struct survey survey;
    uint32_t beds = params->footprints * VALUES, done = 0;
    *costs = (struct kvc_stage_costs){0};
    survey = (struct survey){.params = params,
                             .threads = threads_of(params->cores),
                             .team = kvc_team_create(params->cores),
                             .costs = costs};
    if (survey.team == NULL)
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%u threads cannot be started", params->cores);
    report(progress, "frames", 0);
    enum kvc_status status = survey_frames(&survey, diag);
    for (uint32_t f = 0; status == KVC_OK && f < params->footprints; f++) {
        for (uint32_t v = 0; status == KVC_OK && v < VALUES; v++) {
            report(progress, "items", (double)done++ / beds);
            status = survey_items(&survey, values[v], params->slab_bytes[f], diag);
            kvc_steadiness_check(steadiness);
        }
    }
    kvc_team_free(survey.team);
    struct kvc_measured_law *const laws[] = {&costs->receive,     &costs->write, &costs->read,
                                             &costs->read_mixed,  &costs->take,  &costs->search,
                                             &costs->search_miss, &costs->insert};
    for (size_t i = 0; status == KVC_OK && i < sizeof laws / sizeof *laws; i++)
        status = fit_law(laws[i], diag);
    return status;
}
