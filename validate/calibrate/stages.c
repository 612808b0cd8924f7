#include "validate/calibrate/stages.h"

#include <math.h>
#include <stdlib.h>

#include "validate/calibrate/bed.h"

enum {
    SETTLING_TURNS = 3,
    ROWS = 4096,                 /* of a batch, where its size does not matter */
    WARM_UP_REQUESTS = 20000000, /* at most, that settle the caches */
    READ_MOST_REQUESTS = 20000000,
    GETS_PER_SET = 4, /* that keep items read */
    JOBS_MIN = 256,
    JOBS_MAX = 65536,
    THREADS_MAX = 3, /* numbers of threads that are tried */
};

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
                      double *ns, uint32_t turns)
{
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
    double footprint_bytes; /* of the items, as it is called in the laws */
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

static void read_many(struct survey *survey, double requests)
{
    struct kvc_bed_turn turn;
    for (double done = 0; done < requests; done += ROWS * survey->threads.most)
        kvc_bed_gets(&survey->bed, survey->threads.most, ROWS, KVC_BED_KEYS, &turn);
}

/* Until caches hold what they will hold. */
static void warm_up(struct survey *survey)
{
    read_many(survey, fmin(2 * (double)survey->bed.keys, WARM_UP_REQUESTS));
}

/* Seven items in eight, of a store that has few enough; returns what part it is. */
static double read_most(struct survey *survey)
{
    double keys = (double)survey->bed.keys, requests = fmin(2 * keys, READ_MOST_REQUESTS);
    read_many(survey, requests);
    return 1 - exp(-requests / keys);
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* A frame of GETs, by its requests. */
static void measure_receive(struct survey *survey, uint32_t threads, uint32_t frame_requests)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn;
    for (int i = -SETTLING_TURNS; i < KVC_STAGE_TURNS; i++) {
        kvc_bed_gets(&survey->bed, threads, ROWS, KVC_BED_NO_SEARCH, &turn);
        ns[i < 0 ? 0 : i] = turn.receive_s * 1e9 / turn.rows * frame_requests;
    }
    add_point(&survey->costs->receive, frame_requests, 0, threads, ns, KVC_STAGE_TURNS);
}

static enum kvc_status measure_reads(struct survey *survey, uint32_t threads, struct kvc_diag *diag)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn;
    uint64_t misses = 0;
    for (int i = -SETTLING_TURNS; i < KVC_STAGE_TURNS; i++) {
        kvc_bed_gets(&survey->bed, threads, ROWS, KVC_BED_KEYS, &turn);
        ns[i < 0 ? 0 : i] = turn.send_s * 1e9 / ROWS;
        misses += turn.misses;
    }
    add_point(&survey->costs->read, kvc_bed_item_bytes(survey->value_bytes), survey->footprint_bytes, threads,
              ns, KVC_STAGE_TURNS);
    return check_misses(misses, (uint64_t)(KVC_STAGE_TURNS + SETTLING_TURNS) * ROWS * threads, diag);
}

static void measure_misses(struct survey *survey, uint32_t threads)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn;
    for (int i = -SETTLING_TURNS; i < KVC_STAGE_TURNS; i++) {
        kvc_bed_gets(&survey->bed, threads, ROWS, KVC_BED_NO_SEARCH, &turn);
        ns[i < 0 ? 0 : i] = turn.send_s * 1e9 / ROWS;
    }
    add_point(&survey->costs->read, 0, survey->footprint_bytes, threads, ns, KVC_STAGE_TURNS);
}

/* What a SET costs beyond a GET. Before each turn `gets` turns of GETs. */
static void time_writes(struct survey *survey, uint32_t threads, uint32_t gets, double ns[KVC_STAGE_TURNS])
{
    struct kvc_bed_turn turn;
    uint32_t frame_requests = kvc_bed_frame_requests(KVC_BED_MIX, survey->value_bytes);
    struct kvc_curve receive = kvc_stage_curve(&survey->costs->receive.law, threads, NULL);
    double frame_ns = kvc_curve_at(&receive, frame_requests);
    for (int i = 0; i < KVC_STAGE_TURNS; i++) {
        for (uint32_t g = 0; g < gets; g++)
            kvc_bed_gets(&survey->bed, threads, ROWS, KVC_BED_KEYS, &turn);
        kvc_bed_mix(&survey->bed, threads, ROWS / 2, &turn);
        ns[i] = fmax((turn.receive_s * 1e9 - turn.rows * frame_ns / frame_requests) / turn.sets, 0);
    }
}

/* Until every packet has been played and every item written, of stores that have few enough: lines that a
 * sender read cost their receiver more. */
static void write_all(struct survey *survey, uint32_t threads)
{
    struct kvc_bed_turn turn;
    const struct kvc_feed *feed = &survey->bed.node[KVC_BED_MIX].pipeline[0]->feed;
    double packets = (double)feed->frames * kvc_bed_frame_requests(KVC_BED_MIX, survey->value_bytes);
    double requests = fmax(packets, fmin((double)survey->bed.keys, WARM_UP_REQUESTS));
    for (double done = 0; done < requests; done += ROWS)
        kvc_bed_mix(&survey->bed, threads, ROWS / 2, &turn);
}

/* First of items that nobody has read, then of items most of which were; the cost of those that were not even
 * then is taken off. */
static void measure_writes(struct survey *survey, uint32_t threads)
{
    double unread_ns[KVC_STAGE_TURNS], read_ns[KVC_STAGE_TURNS];
    double item_bytes = kvc_bed_item_bytes(survey->value_bytes), footprint_bytes = survey->footprint_bytes;
    write_all(survey, threads);
    time_writes(survey, threads, 0, unread_ns);
    double read_frac = read_most(survey);
    time_writes(survey, threads, GETS_PER_SET, read_ns);
    add_point(&survey->costs->write, item_bytes, footprint_bytes, threads, unread_ns, KVC_STAGE_TURNS);
    double unread = survey->costs->write.law.point[survey->costs->write.law.count - 1].ns;
    for (int i = 0; i < KVC_STAGE_TURNS; i++)
        read_ns[i] = fmax(unread + (read_ns[i] - unread) / read_frac, 0);
    add_point(&survey->costs->write_read, item_bytes, footprint_bytes, threads, read_ns, KVC_STAGE_TURNS);
}

/* Launches of one kind. */
static void measure_launches(struct survey *survey, uint32_t threads, enum kvc_bed_search search,
                             struct kvc_measured_law *law)
{
    double ns[KVC_STAGE_TURNS];
    struct kvc_bed_turn turn;
    bool inserts = search == KVC_BED_NO_SEARCH;
    survey->bed.period_s = cycle_s;
    for (uint32_t jobs = JOBS_MIN; jobs <= JOBS_MAX; jobs *= 4) {
        uint32_t rows = (jobs / (inserts ? 2 : 1) + threads - 1) / threads;
        for (int i = -SETTLING_TURNS; i < KVC_STAGE_TURNS; i++) {
            if (inserts)
                kvc_bed_mix(&survey->bed, threads, rows, &turn);
            else
                kvc_bed_gets(&survey->bed, threads, rows, search, &turn);
            /* a few jobs more or less than was wanted */
            ns[i < 0 ? 0 : i] = (inserts ? turn.insert_s : turn.search_s) * 1e9 * jobs / fmax(turn.jobs, 1);
        }
        add_point(law, jobs, survey->bed.index_bytes, threads, ns, KVC_STAGE_TURNS);
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
    bool smallest = value_bytes == values[0];
    enum kvc_status status = open_bed(survey, value_bytes, slab_bytes, 0, diag);
    if (status == KVC_OK)
        warm_up(survey);
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++)
        status = measure_reads(survey, threads->value[t], diag);
    for (uint32_t t = 0; status == KVC_OK && smallest && t < threads->count; t++) {
        measure_misses(survey, threads->value[t]);
        if (t > 0 && !survey->params->on_gpu) /* on a thread the number of pipelines does not matter */
            continue;
        measure_launches(survey, threads->value[t], KVC_BED_KEYS, &survey->costs->search);
        measure_launches(survey, threads->value[t], KVC_BED_ABSENT_KEYS, &survey->costs->search_miss);
    }
    for (uint32_t t = 0; status == KVC_OK && t < threads->count; t++)
        measure_writes(survey, threads->value[t]);
    for (uint32_t t = 0; status == KVC_OK && smallest && t < threads->count; t++)
        if (t == 0 || survey->params->on_gpu)
            measure_launches(survey, threads->value[t], KVC_BED_NO_SEARCH, &survey->costs->insert);
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
    struct kvc_measured_law *const laws[] = {&costs->receive, &costs->write,  &costs->write_read,
                                             &costs->read,    &costs->search, &costs->search_miss,
                                             &costs->insert};
    for (size_t i = 0; status == KVC_OK && i < sizeof laws / sizeof *laws; i++)
        status = fit_law(laws[i], diag);
    return status;
}
