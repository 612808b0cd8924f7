#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/cleanup.h"
#include "scenarios/run/driver.h"
#include "models/registry.h"
#include "scenarios/run/store_fixture.h"
#include "scenarios/run/pool.h"

static struct kvc_outcome *run_fake(struct kvc_loaded *loaded, uint32_t jobs)
{
    struct kvc_run_options options = {.jobs = jobs};
    struct kvc_outcome *outcome;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_OK, "%s", diag.message);
    return outcome;
}

static void fail_fake(enum kvc_fake_accident accident, uint32_t jobs, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(4);
    struct kvc_run_options options = {.jobs = jobs};
    struct kvc_outcome *outcome = (void *)1;
    kvc_fake_of(loaded)->accident = accident;
    cr_assert_neq(kvc_driver_run(&loaded->scenario, &options, &outcome, diag), KVC_OK);
    cr_assert_null(outcome);
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
    cr_assert_eq(errno, ECHILD, "no child is left");
    kvc_loaded_free(loaded);
}

Test(driver, merges_the_replicas_in_order)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(5);
    struct kvc_outcome *one = run_fake(loaded, 1), *three = run_fake(loaded, 3);
    cr_assert_eq(one->replicas, 5);
    cr_assert_eq(one->result.latency.count, 5 * 2000);
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(one->values[i].count, three->values[i].count);
        cr_assert_eq(kvc_outcome_value(one, i, "latency_p99_us"),
                     kvc_outcome_value(three, i, "latency_p99_us"));
    }
    cr_assert_neq(kvc_outcome_value(one, 0, "throughput_mops"), kvc_outcome_value(one, 1, "throughput_mops"));
    one->result.wall_s = three->result.wall_s = one->result.cpu_s = three->result.cpu_s = 0;
    one->result.memory_taken_bytes = three->result.memory_taken_bytes = 0;
    cr_assert_arr_eq(&one->result, &three->result, sizeof(one->result));
    kvc_outcome_free(one);
    kvc_outcome_free(three);
    kvc_loaded_free(loaded);
}

static bool is_known(const struct kvc_outcome *outcome, const char *name)
{
    return !isnan(kvc_outcome_interval(outcome, name).half_width);
}

Test(driver, every_value_has_an_interval_over_the_replicas)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(4);
    kvc_fake_of(loaded)->watts = 100;
    struct kvc_outcome *outcome = run_fake(loaded, 2);
    uint32_t count;
    cr_assert_eq(kvc_outcome_intervals(outcome, &count), KVC_INTERVALS_OF_REPLICAS);
    cr_assert_eq(count, 4);
    for (uint32_t i = 0; i < outcome->values[0].count; i++) {
        double value[4];
        const char *name = outcome->values[0].value[i].name;
        for (uint32_t j = 0; j < 4; j++) {
            value[j] = kvc_outcome_value(outcome, j, name);
        }
        struct kvc_interval expected = kvc_interval_of(value, 4), found = kvc_outcome_interval(outcome, name);
        cr_assert(found.mean == expected.mean || isnan(expected.mean), "%s", name);
        cr_assert(found.half_width == expected.half_width || isnan(expected.mean), "%s", name);
        bool is_unknown = (strncmp(name, "devices.dram.", 13) == 0 && strstr(name, "util") == NULL) ||
                          strncmp(name, "stages.work.wait", 16) == 0;
        cr_assert_eq(isnan(found.mean), is_unknown,
                     "only the power of the memory and waits are unknown, not %s", name);
    }
    cr_assert_float_eq(kvc_outcome_interval(outcome, "throughput_mops").mean, outcome->result.throughput_mops,
                       1e-9);
    cr_assert_gt(kvc_outcome_interval(outcome, "throughput_mops").half_width, 0);
    cr_assert_gt(kvc_outcome_interval(outcome, "latency_p99.9_us").half_width, 0);
    cr_assert_eq(kvc_outcome_interval(outcome, "fake_us").mean, 3, "a metric needs no prefix");
    cr_assert_not(is_known(outcome, "nonsense"));
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

/* Intervals of chance stay what they are; those that an answer shows cover what its model extrapolated. */
Test(driver, answers_beyond_a_calibrated_range_show_wider_intervals)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(4);
    struct kvc_outcome *outcome = run_fake(loaded, 2);
    const char *const names[] = {"throughput_mops", "latency_p99_us", "hit_frac"};
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(kvc_outcome_wide_interval(outcome, names[i]).half_width,
                     kvc_outcome_interval(outcome, names[i]).half_width);
    }
    kvc_metrics_set(&outcome->result.model, kvc_extrapolated_name, 0.5);
    for (int i = 0; i < 3; i++) {
        struct kvc_interval chance = kvc_outcome_interval(outcome, names[i]),
                            wide = kvc_outcome_wide_interval(outcome, names[i]);
        cr_expect_eq(wide.mean, chance.mean);
        cr_expect_float_eq(wide.half_width, chance.half_width + (i < 2 ? 0.5 : 0) * chance.mean, 1e-9);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

Test(driver, one_replica_has_intervals_over_its_batches)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    struct kvc_outcome *outcome = run_fake(loaded, 1);
    uint32_t count;
    cr_assert_eq(kvc_outcome_intervals(outcome, &count), KVC_INTERVALS_UNKNOWN);
    cr_assert_not(is_known(outcome, "throughput_mops"));
    struct kvc_batch_means *means = &outcome->result.batch_means[outcome->result.batch_means_count++];
    *means =
        (struct kvc_batch_means){.name = "throughput_mops", .count = 6, .mean = {98, 102, 101, 98, 99, 102}};
    cr_assert_eq(kvc_outcome_intervals(outcome, &count), KVC_INTERVALS_OF_BATCHES);
    cr_assert_eq(count, 6);
    struct kvc_interval interval = kvc_outcome_interval(outcome, "throughput_mops");
    cr_assert_eq(interval.mean, outcome->result.throughput_mops, "the mean is the run's");
    cr_assert_eq(interval.half_width, kvc_interval_of_batches(means->mean, 6).half_width);
    cr_assert_not(is_known(outcome, "latency_mean_us"));
    outcome->result.moves = true;
    cr_expect_eq(kvc_outcome_intervals(outcome, &count), KVC_INTERVALS_UNKNOWN,
                 "batches of a load that moves differ for more reasons than chance");
    cr_expect_not(is_known(outcome, "throughput_mops"));
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

Test(driver, a_replica_prepares_and_runs_its_own_store_in_a_child)
{
    struct kvc_loaded *several = kvc_fake_loaded(3), *single = kvc_fake_loaded(1);
    struct kvc_outcome *outcome = run_fake(several, 2), *one = run_fake(single, 2);
    cr_assert_eq(kvc_fake_prepared, 0);
    cr_assert_eq(kvc_fake_ran, 0);
    cr_assert_eq(kvc_outcome_value(one, 0, "throughput_mops"),
                 kvc_outcome_value(outcome, 0, "throughput_mops"),
                 "the number of replicas changes none of them");
    kvc_outcome_free(outcome);
    kvc_outcome_free(one);
    kvc_loaded_free(several);
    kvc_loaded_free(single);
}

Test(driver, a_crashed_child_is_a_run_time_failure)
{
    struct kvc_diag diag = {0};
    fail_fake(KVC_FAKE_CRASH, 1, &diag);
    cr_assert_eq(diag.status, KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "replica 1 crashed: signal 6"), "%s", diag.message);
}

Test(driver, a_child_without_an_answer_is_a_run_time_failure)
{
    struct kvc_diag diag = {0};
    fail_fake(KVC_FAKE_EXIT, 3, &diag);
    cr_assert_eq(diag.status, KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "replica 1 ended without an answer: exit status 7"), "%s",
                       diag.message);
}

Test(driver, a_childs_own_error_comes_through_whole)
{
    struct kvc_diag diag = {0};
    fail_fake(KVC_FAKE_REFUSE, 2, &diag);
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.message, "the fake store refuses");
    cr_assert_str_eq(diag.file, "fake.lua");
    cr_assert_eq(diag.line, 12);
}

Test(driver, a_store_that_does_not_fit_never_starts)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    struct kvc_run_options options = {.jobs = 1};
    struct kvc_outcome *outcome;
    struct kvc_diag diag = {0};
    kvc_fake_of(loaded)->memory_bytes = 1e18;
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, &diag), KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "functional = \"sampled\""), "%s", diag.message);
    cr_assert_eq(kvc_fake_prepared, 0);
    kvc_loaded_free(loaded);
}

Test(driver, a_prediction_has_no_replicas)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    struct kvc_outcome *outcome;
    cr_assert_eq(kvc_driver_predict(&loaded->scenario, &outcome, NULL), KVC_OK);
    cr_assert_eq(outcome->replicas, 0);
    uint32_t count;
    cr_assert_eq(kvc_outcome_intervals(outcome, &count), KVC_INTERVALS_UNKNOWN);
    cr_assert_float_eq(kvc_outcome_interval(outcome, "throughput_mops").mean, 100, 1e-12);
    cr_assert_not(is_known(outcome, "throughput_mops"));
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

/* Whether a list such as "megakv, kvdirect" has a name. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        if (at[-1] == ' ' && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

Test(driver, only_stores_with_a_measured_runtime_are_measured)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    struct kvc_run_options options = {.jobs = 1};
    struct kvc_outcome *outcome = (void *)1;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_driver_measure(&loaded->scenario, &options, &outcome, &diag), KVC_ERR_SCENARIO);
    cr_assert_null(outcome);
    cr_assert_not_null(strstr(diag.message, "found \"fake\""), "%s", diag.message);
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        const char *list = strstr(diag.message, "stores that have one: ");
        cr_expect_eq(lists(list, kvc_models[i]->name), kvc_models[i]->measurable != NULL, "%s", diag.message);
    }
    kvc_loaded_free(loaded);
}

static void last_report(void *data, const char *step, double fraction)
{
    (void)step;
    cr_assert(fraction >= 0 && fraction <= 1);
    *(double *)data = fraction;
}

Test(driver, progress_ends_at_one)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    double fraction = -1;
    const struct kvc_progress progress = {.report = last_report, .data = &fraction};
    struct kvc_run_options options = {.jobs = 2, .progress = &progress};
    struct kvc_outcome *outcome;
    cr_assert_eq(kvc_driver_run(&loaded->scenario, &options, &outcome, NULL), KVC_OK);
    cr_assert_eq(fraction, 1);
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
}

static enum kvc_status sleep_long(void *data, uint32_t task, const struct kvc_progress *progress,
                                  void *answer, struct kvc_diag *diag)
{
    (void)progress, (void)answer, (void)diag;
    pid_t self = getpid();
    int *out = data;
    (void)task;
    if (write(*out, &self, sizeof(self)) != sizeof(self)) {
        _exit(1);
    }
    sleep(60);
    return KVC_OK;
}

Test(driver, a_signal_ends_children_and_removes_files)
{
    int ends[2];
    pid_t child;
    char path[] = "/tmp/kvcast-signal-XXXXXX";
    cr_assert_eq(pipe(ends), 0);
    close(mkstemp(path));
    pid_t middle = fork();
    if (middle == 0) {
        const struct kvc_pool_options pool = {
            .tasks = 1, .jobs = 1, .noun = "task", .data = &ends[1], .body = sleep_long};
        kvc_cleanup_file(path);
        kvc_pool_run(&pool, NULL, NULL);
        _exit(1);
    }
    cr_assert_eq(read(ends[0], &child, sizeof(child)), (ssize_t)sizeof(child));
    int status;
    kill(middle, SIGTERM);
    cr_assert_eq(waitpid(middle, &status, 0), middle);
    cr_assert(WIFSIGNALED(status));
    cr_assert_eq(WTERMSIG(status), SIGTERM);
    cr_assert_eq(kill(child, 0), -1, "the grandchild is gone, reaped by its parent");
    cr_assert_eq(access(path, F_OK), -1);
}
