/* Measures forecasts by the closed form per second on one core, and what limits them.
 *
 *     build/release/scenarios/papers/megakv/evaluator_bench [POINTS_MAX]
 *
 * A Mega-KV scenario with four axes is forecast at 10 to POINTS_MAX (100,000) points; the exponent says how
 * the time grows with their number. Beside it stand spaces of other stores at a thousandth of the points. A
 * sample of each space is compared with full loads before it is timed. The time of a part is the time of
 * everything up to it, minus the time of everything up to the part before. Times are processor time, medians
 * of five runs; each whole space is timed in a fresh process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/patches.h"
#include "scenarios/load/load.h"

enum { AXES = 4, RUNS = 5, SAMPLE = 20, POINTS_MAX = 100000 };

/* A path and its values from `first` to `last` in even steps, with the unit that follows the number. */
struct span {
    const char *path, *unit;
    double first, last;
    bool whole;
};

struct subject {
    const char *name, *scenario;
    struct span span[AXES];
};

static const struct subject subjects[] = {
    {"megakv",
     KVC_SOURCE_DIR "/scenarios/examples/first.lua",
     {{"system.cycle", "us", 100, 400, false},
      {"cluster.nodes", "", 1, 18, true},
      {"workload.keys", "", 20e6, 60e6, true},
      {"workload.arrival.poisson_mops", "", 20, 200, false}}},
    {"dido",
     KVC_SOURCE_DIR "/models/dido/golden/dido.lua",
     {{"workload.keys", "", 1e6, 4e6, true},
      {"node.nic.latency", "us", 0, 20, false},
      {"node.dram.random_line", "ns", 60, 120, false},
      {"node.cpu.lookahead", "ns", 10, 40, false}}},
    {"kvdirect",
     KVC_SOURCE_DIR "/scenarios/examples/kvdirect.lua",
     {{"system.nics", "", 1, 10, true},
      {"cluster.nodes", "", 1, 8, true},
      {"node.pcie.read_latency", "ns", 600, 1200, false},
      {"node.fpga.clock", "MHz", 150, 300, false}}},
};

/* Returns the processor time of this process [s], which other processes do not lengthen by taking their
 * turns. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fail(const struct kvc_diag *diag)
{
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
    exit(diag->status);
}

/* Fills an axis with `count` values. */
static void fill_axis(const struct span *span, uint32_t count, struct kvc_sweep_axis *axis)
{
    *axis = (struct kvc_sweep_axis){.count = count, .value = calloc(count, sizeof(*axis->value))};
    snprintf(axis->path, sizeof(axis->path), "%s", span->path);
    for (uint32_t v = 0; v < count; v++) {
        struct kvc_diag diag = {0};
        double number = span->first + (span->last - span->first) * v / fmax(count - 1, 1);
        struct kvc_sweep_value *value = &axis->value[v];
        snprintf(value->label, sizeof(value->label), "%.*f%s", span->whole ? 0 : 3, number, span->unit);
        if (kvc_overrides_add(&value->set, span->path, value->label, &diag) != KVC_OK) {
            fail(&diag);
        }
    }
}

/* The first `points` points of a grid with as few values on each axis as they need. */
static struct kvc_space space_of(const struct subject *subject, uint32_t points)
{
    struct kvc_space space = {
        .axis_count = AXES, .axis = calloc(AXES, sizeof(*space.axis)), .points = points};
    uint32_t count = (uint32_t)ceil(pow(points, 1.0 / AXES) - 1e-9);
    for (uint32_t a = 0; a < AXES; a++) {
        fill_axis(&subject->span[a], count, &space.axis[a]);
    }
    return space;
}

static void free_space(struct kvc_space *space)
{
    for (uint32_t a = 0; a < AXES; a++) {
        for (uint32_t v = 0; v < space->axis[a].count; v++) {
            kvc_overrides_clear(&space->axis[a].value[v].set);
        }
        free(space->axis[a].value);
    }
    free(space->axis);
}

static void tuple_of(const struct kvc_space *space, uint32_t point, uint32_t *value)
{
    for (uint32_t a = AXES; a-- > 0;) {
        value[a] = point % space->axis[a].count;
        point /= space->axis[a].count;
    }
}

struct timing {
    double create_s, points_s;
    uint32_t refused;
};

/* Compares a sample with full loads, forecasts and messages. */
static struct timing verify(const struct subject *subject, const struct kvc_space *space)
{
    struct kvc_evaluator *evaluator;
    struct kvc_diag failed = {0};
    if (kvc_evaluator_create(subject->scenario, NULL, space, &evaluator, &failed) != KVC_OK) {
        fail(&failed);
    }
    if (!kvc_evaluator_is_fast(evaluator)) {
        printf("# %s: the points of this space are loaded one by one\n", subject->name);
        fflush(stdout);
    }
    for (uint32_t i = 0; i < SAMPLE; i++) {
        uint32_t value[AXES];
        struct kvc_diag diag[2] = {{0}};
        struct kvc_forecast fast, full;
        struct kvc_overrides set = {0};
        struct kvc_loaded *loaded;
        tuple_of(space, (uint32_t)((uint64_t)i * (space->points - 1) / (SAMPLE - 1)), value);
        for (uint32_t a = 0; a < AXES; a++) {
            kvc_overrides_join(&set, &space->axis[a].value[value[a]].set, &diag[1]);
        }
        enum kvc_status status = kvc_evaluator_forecast(evaluator, value, &fast, &diag[0]);
        enum kvc_status expected = kvc_scenario_load_point(subject->scenario, &set, &loaded, &diag[1]);
        if (expected == KVC_OK) {
            expected = kvc_scenario_forecast(&loaded->scenario, &full, &diag[1]);
        }
        bool same = status == expected && (status == KVC_OK ? memcmp(&fast, &full, sizeof(fast)) == 0
                                                            : strcmp(diag[0].message, diag[1].message) == 0);
        if (!same) {
            fprintf(stderr, "evaluator_bench: point %u of %s differs from a full load: %s / %s\n", i,
                    subject->name, diag[0].message, diag[1].message);
            exit(1);
        }
        kvc_overrides_clear(&set);
        kvc_loaded_free(loaded);
    }
    kvc_evaluator_free(evaluator);
    return (struct timing){.refused = 0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, RUNS, sizeof(*value), compare);
    return value[RUNS / 2];
}

static void forecast_all(struct kvc_evaluator *evaluator, const struct kvc_space *space, uint32_t *refused)
{
    uint32_t value[AXES];
    *refused = 0;
    for (uint32_t p = 0; p < space->points; p++) {
        struct kvc_diag diag = {0};
        struct kvc_forecast forecast;
        tuple_of(space, p, value);
        *refused += kvc_evaluator_forecast(evaluator, value, &forecast, &diag) != KVC_OK;
    }
}

/* Times the creation of an evaluator and the forecasts of all points. */
static struct timing time_once(const struct subject *subject, const struct kvc_space *space)
{
    struct kvc_diag diag = {0};
    struct kvc_evaluator *evaluator;
    struct timing timing;
    double begin_s = cpu_s();
    if (kvc_evaluator_create(subject->scenario, NULL, space, &evaluator, &diag) != KVC_OK) {
        fail(&diag);
    }
    double created_s = cpu_s();
    forecast_all(evaluator, space, &timing.refused);
    timing.points_s = cpu_s() - created_s;
    timing.create_s = created_s - begin_s;
    kvc_evaluator_free(evaluator);
    return timing;
}

/* Calls a function in a process of its own, so that nothing that an earlier run has computed is there. */
static struct timing in_a_child(struct timing (*function)(const struct subject *, const struct kvc_space *),
                                const struct subject *subject, const struct kvc_space *space)
{
    struct timing timing;
    int ends[2], status;
    if (pipe(ends) != 0) {
        perror("evaluator_bench");
        exit(3);
    }
    pid_t child = fork();
    if (child == 0) {
        timing = function(subject, space);
        _exit(write(ends[1], &timing, sizeof(timing)) == sizeof(timing) ? 0 : 3);
    }
    close(ends[1]);
    bool whole = child > 0 && read(ends[0], &timing, sizeof(timing)) == sizeof(timing);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || !whole) {
        fprintf(stderr, "evaluator_bench: a run failed\n");
        exit(1);
    }
    return timing;
}

static struct timing time_space(const struct subject *subject, const struct kvc_space *space)
{
    struct timing timing;
    double create_s[RUNS], points_s[RUNS];
    in_a_child(verify, subject, space);
    for (int run = 0; run < RUNS; run++) {
        timing = in_a_child(time_once, subject, space);
        create_s[run] = timing.create_s;
        points_s[run] = timing.points_s;
    }
    timing.create_s = median(create_s);
    timing.points_s = median(points_s);
    return timing;
}

enum part { APPLY, CHECK, PARTS };

/* Times everything up to a part, for every point [s]. */
static double time_part(const struct subject *subject, const struct kvc_space *space, enum part part)
{
    double part_s[RUNS];
    struct kvc_load_session *session;
    struct kvc_patches *patches;
    struct kvc_diag diag = {0};
    const struct kvc_overrides none = {0};
    if (kvc_load_session_open(subject->scenario, &session, &diag) != KVC_OK ||
        kvc_patches_create(session, &none, space, &patches, &diag) != KVC_OK) {
        fail(&diag);
    }
    for (int run = 0; run < RUNS; run++) {
        double from_s = cpu_s();
        for (uint32_t p = 0; patches != NULL && p < space->points; p++) {
            uint32_t value[AXES];
            struct kvc_diag refused = {0};
            tuple_of(space, p, value);
            struct kvc_loaded *loaded = kvc_patches_apply(patches, value);
            if (part == CHECK && loaded != NULL) {
                struct kvc_run unsettled = loaded->scenario.run;
                kvc_load_session_check(session, loaded, NULL, &refused);
                loaded->scenario.run.warmup_ns = unsettled.warmup_ns;
                loaded->scenario.run.duration_ns = unsettled.duration_ns;
            }
        }
        part_s[run] = cpu_s() - from_s;
    }
    kvc_patches_free(patches);
    kvc_load_session_close(session);
    return median(part_s);
}

static void report(const struct subject *subject, uint32_t points, double *before_s)
{
    struct kvc_space space = space_of(subject, points);
    struct timing timing = time_space(subject, &space);
    double apply_s = time_part(subject, &space, APPLY), check_s = time_part(subject, &space, CHECK);
    printf("%-9s %8u %12.1f %10.3f %12.0f", subject->name, points, timing.create_s * 1e3,
           timing.points_s / points * 1e6, points / timing.points_s);
    printf(" %7.1f %7.1f %9.1f", 100 * apply_s / timing.points_s,
           100 * fmax(check_s - apply_s, 0) / timing.points_s,
           100 * fmax(timing.points_s - check_s, 0) / timing.points_s);
    printf(" %8u", timing.refused);
    if (*before_s > 0) {
        printf(" %9.2f", log10(timing.points_s / *before_s));
    }
    putchar('\n');
    fflush(stdout);
    *before_s = timing.points_s;
    free_space(&space);
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : POINTS_MAX;
    double before_s = 0;
    printf(
        "store       points    create/ms   us/point     points/s  patch/%% check/%% forecast/%%  refused  exponent\n");
    for (uint32_t points = most < 10 ? most : 10; points <= most; points *= 10) {
        report(&subjects[0], points, &before_s);
    }
    for (size_t i = 1; i < sizeof(subjects) / sizeof(*subjects); i++) {
        before_s = 0;
        report(&subjects[i], most / 1000 > 10 ? most / 1000 : 10, &before_s);
    }
    return 0;
}
