#include "scenarios/run/sampled_fixture.h"

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

/* How a value of a sampled run differs from that of the full run. */
struct difference {
    char name[KVC_VALUE_NAME_MAX];
    double is, should, allowed;
    double half_width; /* That of the 95 % interval of is - should; NaN if it is unknown. */
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

void kvc_test_sampled(const char *fields, const char *run, const uint64_t *rates)
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

void kvc_test_sampled_bursts(const char *fields, const char *run, uint64_t rate)
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
