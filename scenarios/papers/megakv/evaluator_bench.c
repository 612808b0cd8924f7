/* Measures forecasts by the closed form per second on one core, and what limits them.
 *
 *     build/release/scenarios/papers/megakv/evaluator_bench [POINTS_MAX [STORE]]
 *
 * A space of four axes of each store is forecast at a tenth of POINTS_MAX (10,000) points and at all of them,
 * as a grid and as random points: "random" draws the number of keys from as many values as the grid has,
 * "and keys" draws it for every point, so that nothing that depends on the popularity of the keys is shared.
 * Points/s include the creation of the evaluator, which parses the values, and the exponent says how this
 * time grows with the number of points. A sample of each space is compared with full loads before it is
 * timed. The time of a part is the time of everything up to it, minus the time of everything up to the part
 * before. Times are processor time, medians of five runs; each whole space is timed in a fresh process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/patches/patches.h"
#include "scenarios/load/load.h"
#include "sim/base/rng.h"

enum { AXES = 4, RUNS = 5, SAMPLE = 20, POINTS_MAX = 10000 };

enum design { GRID, RANDOM, RANDOM_KEYS, DESIGNS };

static const char *const design_names[DESIGNS] = {"grid", "random", "and keys"};

/* A path and its values from `first` to `last`, with the unit that follows the number. */
struct span {
    const char *path, *unit;
    double first, last;
    bool whole;
};

struct subject {
    const char *name, *scenario;
    struct span span[AXES]; /* The last one changes the popularity of the keys. */
};

#define MODEL(path) KVC_SOURCE_DIR "/models/" path

/* clang-format off */
static const struct subject subjects[] = {
    {"megakv", KVC_SOURCE_DIR "/scenarios/examples/first.lua",
     {{"system.cycle", "us", 100, 400, false}, {"cluster.nodes", "", 1, 18, true},
      {"workload.arrival.poisson_mops", "", 20, 200, false}, {"workload.keys", "", 20e6, 60e6, true}}},
    {"memcachedgpu", MODEL("memcachedgpu/golden/run.lua"),
     {{"system.batch_timeout", "us", 50, 400, false}, {"node.nic.latency", "us", 0, 20, false},
      {"workload.arrival.poisson_mops", "", 0.5, 10, false}, {"workload.keys", "", 2e4, 6e4, true}}},
    {"bluecache", MODEL("bluecache/golden/run.lua"),
     {{"node.flash.read", "us", 30, 100, false}, {"node.flash.channel_rate", "MB/s", 100, 400, false},
      {"workload.arrival.poisson_mops", "", 0.05, 0.3, false}, {"workload.keys", "", 5e3, 2e4, true}}},
    {"dido", MODEL("dido/golden/dido.lua"),
     {{"node.nic.latency", "us", 0, 20, false}, {"node.dram.random_line", "ns", 60, 120, false},
      {"node.cpu.lookahead", "ns", 10, 40, false}, {"workload.keys", "", 1e5, 4e5, true}}},
    {"kvdirect", KVC_SOURCE_DIR "/scenarios/examples/kvdirect.lua",
     {{"cluster.nodes", "", 1, 8, true}, {"node.pcie.read_latency", "ns", 600, 1200, false},
      {"node.fpga.clock", "MHz", 150, 300, false}, {"workload.keys", "", 6e6, 12e6, true}}},
    {"rdma", MODEL("rdma/golden/run.lua"),
     {{"system.core_rate", "", 2, 10, false}, {"node.nic.latency", "us", 0, 20, false},
      {"workload.arrival.poisson_mops", "", 1, 8, false}, {"workload.keys", "", 1e4, 1e5, true}}},
    {"memcached", MODEL("memcached/golden/memcached.lua"),
     {{"node.nic.latency", "us", 0, 20, false}, {"node.dram.random_line", "ns", 60, 120, false},
      {"workload.arrival.poisson_mops", "", 0.1, 1, false}, {"workload.keys", "", 1e4, 4e4, true}}},
    {"mica", MODEL("memcached/golden/mica.lua"),
     {{"node.cpu.packet", "ns", 4, 20, false}, {"node.dram.random_line", "ns", 60, 120, false},
      {"node.nic.latency", "us", 0, 20, false}, {"workload.keys", "", 1e4, 1e5, true}}},
    {"fpga_memcached", MODEL("memcached/golden/fpga.lua"),
     {{"node.fpga.clock", "MHz", 100, 300, false}, {"node.nic.latency", "us", 0, 20, false},
      {"workload.arrival.fixed_mops", "", 5, 20, false}, {"workload.keys", "", 1e4, 1e5, true}}},
    {"fatcache", MODEL("memcached/golden/fatcache.lua"),
     {{"node.flash.read", "us", 30, 100, false}, {"node.cpu.clock", "GHz", 2, 4, false},
      {"node.nic.latency", "us", 0, 20, false}, {"workload.keys", "", 2e3, 1e4, true}}},
    {"composed", KVC_SOURCE_DIR "/scenarios/composed/hot_in_gpu.lua",
     {{"node.nic.latency", "us", 0, 20, false}, {"node.dram.random_line", "ns", 60, 120, false},
      {"workload.arrival.poisson_mops", "", 1, 60, false}, {"workload.keys", "", 2e6, 4e6, true}}},
};
/* clang-format on */

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

/* Fills an axis with `count` values, in even steps or at random. */
static void fill_axis(const struct span *span, uint32_t count, struct kvc_rng *rng,
                      struct kvc_sweep_axis *axis)
{
    *axis = (struct kvc_sweep_axis){.count = count, .value = calloc(count, sizeof(*axis->value))};
    snprintf(axis->path, sizeof(axis->path), "%s", span->path);
    for (uint32_t v = 0; v < count; v++) {
        struct kvc_diag diag = {0};
        double at = rng != NULL ? kvc_rng_unit(rng) : v / fmax(count - 1, 1);
        struct kvc_sweep_value *value = &axis->value[v];
        snprintf(value->label, sizeof(value->label), "%.*f%s", span->whole ? 0 : 6,
                 span->first + (span->last - span->first) * at, span->unit);
        if (kvc_overrides_add(&value->set, span->path, value->label, &diag) != KVC_OK) {
            fail(&diag);
        }
    }
}

/* The first `points` points of a grid with as few values on each axis as they need, or as many random ones.
 */
static struct kvc_space space_of(const struct subject *subject, enum design design, uint32_t points)
{
    struct kvc_space space = {.axis_count = AXES,
                              .axis = calloc(AXES, sizeof(*space.axis)),
                              .points = points,
                              .tuple = calloc((size_t)points * AXES, sizeof(*space.tuple))};
    const struct kvc_space grid = {.axis_count = AXES, .axis = space.axis};
    uint32_t count = (uint32_t)ceil(pow(points, 1.0 / AXES) - 1e-9);
    struct kvc_rng rng;
    kvc_rng_init(&rng, 0, "evaluator_bench", 0);
    for (uint32_t a = 0; a < AXES; a++) {
        bool drawn = design == RANDOM_KEYS || (design == RANDOM && a < AXES - 1);
        fill_axis(&subject->span[a], drawn ? points : count, drawn ? &rng : NULL, &space.axis[a]);
    }
    for (uint32_t p = 0; p < points; p++) {
        uint32_t *value = &space.tuple[(size_t)p * AXES];
        if (design == GRID) {
            kvc_space_point(&grid, p, value);
            continue;
        }
        for (uint32_t a = 0; a < AXES; a++) {
            value[a] = space.axis[a].count == points ? p : (uint32_t)kvc_rng_below(&rng, count);
        }
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
    free(space->tuple);
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
        kvc_space_point(space, (uint32_t)((uint64_t)i * (space->points - 1) / (SAMPLE - 1)), value);
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
        kvc_space_point(space, p, value);
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
            kvc_space_point(space, p, value);
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

static double report(const struct subject *subject, enum design design, uint32_t points, double before_s)
{
    struct kvc_space space = space_of(subject, design, points);
    struct timing timing = time_space(subject, &space);
    double apply_s = time_part(subject, &space, APPLY), check_s = time_part(subject, &space, CHECK);
    double all_s = timing.create_s + timing.points_s;
    printf("%-14s %-8s %8u %10.1f %10.3f %10.0f", subject->name, design_names[design], points,
           timing.create_s * 1e3, timing.points_s / points * 1e6, points / all_s);
    printf(" %7.1f %7.1f %9.1f", 100 * apply_s / timing.points_s,
           100 * fmax(check_s - apply_s, 0) / timing.points_s,
           100 * fmax(timing.points_s - check_s, 0) / timing.points_s);
    printf(" %8u", timing.refused);
    if (before_s > 0) {
        printf(" %9.2f", log10(all_s / before_s));
    }
    putchar('\n');
    fflush(stdout);
    free_space(&space);
    return all_s;
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : POINTS_MAX;
    const char *only = argc > 2 ? argv[2] : "";
    printf(
        "store          design     points  create/ms   us/point   points/s  patch/%% check/%% forecast/%%  "
        "refused  exponent\n");
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        for (enum design design = GRID; design < DESIGNS && strstr(subjects[i].name, only) != NULL;
             design++) {
            double before_s = report(&subjects[i], design, most / 10, 0);
            report(&subjects[i], design, most, before_s);
        }
    }
    return 0;
}
