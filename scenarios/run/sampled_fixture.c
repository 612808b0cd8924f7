#include "scenarios/run/sampled_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"

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

static struct kvc_outcome *run_text(const char *text, const char *run, uint64_t rate)
{
    char path[] = "/tmp/kvcast-sampled-XXXXXX";
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    const struct kvc_run_options options = {.jobs = 1};
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    fprintf(file, "return { %s, run = { %s, functional = '%s', sample_rate = %llu } }\n", text, run,
            rate > 1 ? "sampled" : "full", (unsigned long long)rate);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    unlink(path);
    kvc_loaded_free(loaded);
    return outcome;
}

static double value_of(const struct kvc_outcome *outcome, const char *name)
{
    return kvc_outcome_interval(outcome, name).mean;
}

void kvc_test_sampled(const char *text, const char *run, const uint64_t *rates)
{
    struct kvc_outcome *full = run_text(text, run, 1);
    for (; *rates != 0; rates++) {
        struct kvc_outcome *sampled = run_text(text, run, *rates);
        for (const char *const *name = ratios; *name != NULL; name++) {
            double is = value_of(sampled, *name), should = value_of(full, *name);
            cr_expect((isnan(is) && isnan(should)) || fabs(is - should) < ratio_error,
                      "1/%d: %s %.4f, full %.4f: %s", (int)*rates, *name, is, should, text);
        }
        for (const char *const *name = rates_of; *name != NULL; name++) {
            double is = value_of(sampled, *name), should = value_of(full, *name);
            cr_expect((isnan(is) && isnan(should)) || fabs(is - should) <= rate_error * should,
                      "1/%d: %s %.4g, full %.4g: %s", (int)*rates, *name, is, should, text);
        }
        kvc_outcome_free(sampled);
    }
    kvc_outcome_free(full);
}
