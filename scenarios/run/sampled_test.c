#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

enum { FIRST_REPLICAS = 12, LAST_REPLICAS = 192, VALUES = 64 };

static const double ratio_error = 0.005, rate_error = 0.02;

static const char *const ratios[] = {"hit_frac",          "load_factor_frac",        "cache_hit_frac",
                                     "cache_joined_frac", "served_by_dram_frac",     "merged_frac",
                                     "collided_frac",     "memory_utilization_frac", NULL};
static const char *const rates_of[] = {"throughput_mops",
                                       "lines_per_insert",
                                       "lines_per_read",
                                       "accesses_per_get",
                                       "accesses_per_set",
                                       "dma_reads_per_op",
                                       "dma_writes_per_op",
                                       "dram_lines_per_op",
                                       "evictions",
                                       "items",
                                       NULL};

/* A scenario in Lua: its fields without `run`, and the fields of `run`. */
struct text {
    const char *fields, *run;
};

/* Runs a scenario, with its own number of replicas if `replicas` is 0. */
static struct kvc_outcome *run_text(const struct text *text, uint64_t rate, uint64_t replicas)
{
    char path[] = "/tmp/kvcast-sampled-XXXXXX";
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    const struct kvc_run_options options = {.jobs = 1};
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    fprintf(file, "return { %s, run = { %s, functional = '%s', sample_rate = %llu } }\n", text->fields,
            text->run, rate > 1 ? "sampled" : "full", (unsigned long long)rate);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_OK, "%s", diag.message);
    unlink(path);
    if (replicas > 0) {
        loaded->scenario.run.replicas = replicas;
    }
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    kvc_loaded_free(loaded);
    return outcome;
}

/* Difference of a value between a sampled run and the full run. */
struct difference {
    char name[KVC_VALUE_NAME_MAX];
    double is, should, allowed;
    double half_width; /* Half width of the 95 % interval of is - should; NaN if it is unknown. */
};

static bool is_allowed(const struct difference *difference)
{
    return (isnan(difference->is) && isnan(difference->should)) || difference->is == difference->should ||
           fabs(difference->is - difference->should) <= difference->allowed;
}

static struct difference difference_of(const struct kvc_outcome *sampled, const struct kvc_outcome *full,
                                       const char *name, bool ratio)
{
    struct kvc_interval is = kvc_outcome_interval(sampled, name), should = kvc_outcome_interval(full, name);
    struct difference difference = {.is = is.mean,
                                    .should = should.mean,
                                    .allowed = ratio ? ratio_error : rate_error * should.mean,
                                    .half_width = hypot(is.half_width, should.half_width)};
    snprintf(difference.name, sizeof(difference.name), "%s", name);
    return difference;
}

/* Lists how the values of two runs differ. Returns how many there are. */
static uint32_t compare(const struct kvc_outcome *sampled, const struct kvc_outcome *full,
                        struct difference difference[VALUES])
{
    uint32_t count = 0;
    for (const char *const *name = ratios; *name != NULL; name++) {
        difference[count++] = difference_of(sampled, full, *name, true);
    }
    for (const char *const *name = rates_of; *name != NULL; name++) {
        difference[count++] = difference_of(sampled, full, *name, false);
    }
    for (uint32_t i = 0; i < full->result.stage_count; i++) {
        char name[KVC_VALUE_NAME_MAX];
        kvc_value_name("stages", full->result.stage[i].name, "utilization_frac", name);
        difference[count++] = difference_of(sampled, full, name, false);
    }
    cr_assert_leq(count, VALUES);
    return count;
}

/* Returns whether the interval of a difference lies on one side of what is allowed. */
static bool is_decided(const struct difference *difference)
{
    double size = fabs(difference->is - difference->should);
    return isnan(size) || size + difference->half_width <= difference->allowed ||
           size - difference->half_width > difference->allowed;
}

/* Few replicas do not decide: the place of the hottest key alone moves some values by several percent. Runs
 * both more and more often until the intervals decide about the values in `doubted`. */
static void compare_again(const struct text *text, uint64_t rate, const bool doubted[VALUES])
{
    bool decided = false;
    for (uint64_t replicas = FIRST_REPLICAS; !decided; replicas *= 4) {
        struct kvc_outcome *full = run_text(text, 1, replicas), *sampled = run_text(text, rate, replicas);
        struct difference difference[VALUES];
        uint32_t count = compare(sampled, full, difference);
        decided = true;
        for (uint32_t i = 0; i < count; i++) {
            decided = decided && (!doubted[i] || is_decided(&difference[i]));
        }
        decided = decided || replicas >= LAST_REPLICAS;
        for (uint32_t i = 0; i < count && decided; i++) {
            const struct difference *d = &difference[i];
            cr_expect(!doubted[i] || (is_allowed(d) && d->half_width <= d->allowed),
                      "1/%d: %s %.4g, full %.4g, 95 %% interval of the difference +- %.2g, allowed %.2g, "
                      "%d replicas: %s",
                      (int)rate, d->name, d->is, d->should, d->half_width, d->allowed, (int)replicas,
                      text->fields);
        }
        kvc_outcome_free(sampled);
        kvc_outcome_free(full);
    }
}

/* Runs a scenario in full and at every sampling rate up to the first 0, with the same seeds, and expects the
 * same results: ratios within 0.5 points, rates and the utilizations of stages within 2 %. Where the
 * scenario's own replicas deviate more, up to 192 of them decide, with 95 % intervals.
 * `fields` is Lua: the fields of a scenario without `run`; `run` is Lua, too: the fields of `run`. */
static void expect_same(const char *fields, const char *run, const uint64_t *rates)
{
    const struct text text = {fields, run};
    struct kvc_outcome *full = run_text(&text, 1, 0);
    for (; *rates != 0; rates++) {
        struct kvc_outcome *sampled = run_text(&text, *rates, 0);
        struct difference difference[VALUES];
        bool doubted[VALUES] = {false}, any = false;
        uint32_t count = compare(sampled, full, difference);
        for (uint32_t i = 0; i < count; i++) {
            doubted[i] = !is_allowed(&difference[i]);
            any = any || doubted[i];
        }
        kvc_outcome_free(sampled);
        if (any) {
            compare_again(&text, *rates, doubted);
        }
    }
    kvc_outcome_free(full);
}

/* Compares a store whose flash is written in bursts, at one rate and with the scenario's own replicas:
 * expects the throughput within 3 %, the mean latency within 5 %, and hit ratios within 1 point. */
static void expect_same_bursts(const char *fields, const char *run, uint64_t rate)
{
    static const struct {
        const char *name;
        double allowed, allowed_frac;
    } values[] = {{"throughput_mops", 0, 0.03}, {"latency_mean_us", 0, 0.05}, {"hit_frac", 0.01, 0},
                  {"dram_hit_frac", 0.01, 0},   {"flash_hit_frac", 0.01, 0},  {"load_factor_frac", 0.01, 0}};
    const struct text text = {fields, run};
    struct kvc_outcome *full = run_text(&text, 1, 0), *sampled = run_text(&text, rate, 0);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        double is = kvc_outcome_interval(sampled, values[i].name).mean;
        double should = kvc_outcome_interval(full, values[i].name).mean;
        double allowed = values[i].allowed + values[i].allowed_frac * should;
        cr_expect(fabs(is - should) <= allowed, "1/%d: %s %.4g, full %.4g, allowed +- %.2g", (int)rate,
                  values[i].name, is, should, allowed);
    }
    kvc_outcome_free(sampled);
    kvc_outcome_free(full);
}

/* A sampled run of each store equals a full one. sampled_slow_test.c compares many more. */

/* Parts of scenarios. The stores are small, so that full runs take a second or two. */
#define INDEX(slab)                                                                                          \
    "system = { kind = 'megakv', cycle = '400us', index = '32MiB', slab = '" slab                            \
    "' }, node = { sockets = 1 }, "
#define CARD                                                                                                 \
    "system = { kind = 'kvdirect', memory = '64MiB', dispatch = 0.6, idle_power = '87W' }, "                 \
    "node = { fpga = { base = 'catapult-stratix-v', dram = '4MiB' } }, "
#define FLASH                                                                                                \
    "system = { kind = 'bluecache', index = '4MiB', dram = '16MiB', flash = '64MiB', chunk = 16 }, "         \
    "node = { flash = { base = 'bluecache-flash', chips = 2, pages_per_block = 16 } }, "
#define STEADY "arrival = { fixed_mops = 40 }, fill = 'at_once', flows = 8 }"

Test(sampled, an_index_evicts_alike, .timeout = 120)
{
    const uint64_t rates[] = {16, 0};
    expect_same(INDEX("12MiB") "workload = { keys = 1e6, key = 8, value = 8, get = 0.5, set = 0.5, "
                               "dist = { zipf = 0.99 }, " STEADY,
                "warmup = '40ms', duration = '40ms'", rates);
}

Test(sampled, a_card_caches_alike, .timeout = 120)
{
    const uint64_t rates[] = {64, 0};
    expect_same(CARD "workload = { keys = 2e6, key = 8, value = 2, set = 0.3, "
                     "dist = { zipf = 0.99 }, arrival = 'saturate' }",
                "warmup = '300us', duration = '2ms'", rates);
}

Test(sampled, a_composition_evicts_alike, .timeout = 120)
{
    const uint64_t rates[] = {8, 0};
    expect_same("system = { kind = 'composed', index = { kernel = 'cuckoo', size = '8MiB' }, "
                "values = { kernel = 'slab', size = '16MiB' }, stages = { { name = 'serve', on = 'cpu', "
                "cores = 4, cycles = 100, does = { 'write', 'insert', 'erase', 'search', 'read' } } } }, "
                "workload = { keys = 4e5, key = 8, value = 64, get = 0.7, set = 0.3, dist = { zipf = 0.9 }, "
                "arrival = { fixed_mops = 8 } }",
                "warmup = '2ms', duration = '20ms'", rates);
}

/* DRAM evicts, the log reclaims rows, and the chips limit the throughput. */
Test(sampled, a_log_on_flash_is_read_and_written_alike, .timeout = 120)
{
    expect_same_bursts(FLASH "workload = { keys = 2e5, key = 24, value = 900, get = 0.88, set = 0.1, "
                             "delete = 0.02, dist = { zipf = 0.9 }, arrival = 'saturate' }",
                       "warmup = '100ms', duration = '300ms', replicas = 4, seed = 1", 16);
}

/* Without DRAM, GETs of hot keys hit the write buffer. */
Test(sampled, a_write_buffer_is_hit_alike, .timeout = 120)
{
    const uint64_t rates[] = {64, 0};
    expect_same("system = { kind = 'bluecache', index = '16MiB', dram = '0B', flash = '1GiB' }, "
                "workload = { keys = 1e5, key = 32, value = 992, get = 0.8, set = 0.2, "
                "dist = { zipf = 0.9 }, arrival = 'saturate' }",
                "warmup = '50ms', duration = '200ms'", rates);
}

/* Sampled runs of both stores equal full ones: uniform and Zipf keys, reads and writes, with and without
 * eviction, mixed sizes, and all sampling rates that the number of keys allows. */

/* Parts of scenarios. The stores are small, so that full runs take a second or two. */
#define INDEX(slab)                                                                                          \
    "system = { kind = 'megakv', cycle = '400us', index = '32MiB', slab = '" slab                            \
    "' }, node = { sockets = 1 }, "
#define CARD                                                                                                 \
    "system = { kind = 'kvdirect', memory = '64MiB', dispatch = 0.6, idle_power = '87W' }, "                 \
    "node = { fpga = { base = 'catapult-stratix-v', dram = '4MiB' } }, "
#define STEADY "arrival = { fixed_mops = 40 }, fill = 'at_once', flows = 8 }"

static const uint64_t rates[] = {2, 8, 64, 256, 0};
/* Only sampled requests hit the cache; at higher rates a run has too few of them. */
static const uint64_t cache_rates[] = {2, 8, 64, 0};
static const uint64_t low_rates[] = {2, 8, 0};

#define REPLICAS "replicas = 3, seed = 1, "
#define CACHE(slab, keys, mix, dist)                                                                         \
    INDEX(slab)                                                                                              \
    "workload = { keys = " keys ", " mix ", dist = " dist ", " STEADY
#define OVER(mix, dist) CARD "workload = { " mix ", dist = " dist ", arrival = 'saturate' }"
#define READS "key = 8, value = 8, get = 1, set = 0"
#define HALF "key = 8, value = 8, get = 0.5, set = 0.5"

static const char *const roomy[] = {
    CACHE("256MiB", "2e6", READS, "'uniform'"), CACHE("256MiB", "2e6", READS, "{ zipf = 0.99 }"),
    CACHE("256MiB", "2e6", HALF, "{ zipf = 0.99 }"), CACHE("256MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const caches[] = {CACHE("24MiB", "2e6", HALF, "'uniform'"),
                                     CACHE("24MiB", "2e6", HALF, "{ zipf = 0.99 }"),
                                     CACHE("12MiB", "2e6", HALF, "{ zipf = 1.2 }"), NULL};
static const char *const mixed_sizes[] = {
    CACHE("128MiB", "1e6", "sizes = 'etc', get = 0.9, set = 0.1", "{ zipf = 0.99 }"), NULL};
static const char *const pairs[] = {
    OVER("keys = 2e6, key = 8, value = 2, set = 0", "'uniform'"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0", "{ zipf = 0.99 }"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "'uniform'"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 0.99 }"),
    OVER("keys = 2e6, key = 8, value = 2, set = 0.5", "{ zipf = 1.2 }"),
    OVER("keys = 2e6, key = 8, value = 2, get = 0.5, set = 0.4, delete = 0.1", "{ zipf = 0.99 }"),
    NULL};
static const char *const slabs[] = {OVER("keys = 2.5e5, key = 16, value = 100, set = 0.3", "{ zipf = 0.99 }"),
                                    NULL};

static void compare_all(const char *const *texts, const char *run, const uint64_t *at)
{
    for (; *texts != NULL; texts++) {
        expect_same(*texts, run, at);
    }
}

Test(sampled_slow, an_index_with_room, .timeout = 900)
{
    compare_all(roomy, REPLICAS "warmup = '2ms', duration = '5ms'", rates);
}

Test(sampled_slow, an_index_that_evicts, .timeout = 900)
{
    compare_all(caches, REPLICAS "warmup = '80ms', duration = '80ms'", cache_rates);
}

Test(sampled_slow, an_index_of_mixed_sizes, .timeout = 900)
{
    compare_all(mixed_sizes, REPLICAS "warmup = '40ms', duration = '80ms'", low_rates);
}

Test(sampled_slow, a_card_with_inline_pairs, .timeout = 900)
{
    compare_all(pairs, REPLICAS "warmup = '300us', duration = '2ms'", cache_rates);
}

Test(sampled_slow, a_card_with_slabs, .timeout = 900)
{
    compare_all(slabs, REPLICAS "warmup = '300us', duration = '2ms'", low_rates);
}
