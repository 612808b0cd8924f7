#include <criterion/criterion.h>
#include <glob.h>
#include <jansson.h>
#include <kvcast.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXAMPLE KVC_SOURCE_DIR "/scenarios/examples/first.lua"

/* Small enough to simulate in a fraction of a second. */
#define SMALL KVC_SOURCE_DIR "/models/memcached/golden/mica.lua"

static const char *const quick[] = {
    "throughput_mops.mean",
    "load.offered_mops",
    "load.unserved_frac",
    "latency_us.mean",
    "latency_us.percentiles[p=0.5].us",
    "latency_us.percentiles[p=0.95].us",
    "latency_us.percentiles[p=0.99].us",
    "latency_us.percentiles[p=0.999].us",
    "energy.watts_mean",
    "energy.kops_per_watt",
    "price.usd",
};

static struct kvcast *opened(const char *path)
{
    struct kvcast *scenario;
    cr_assert_eq(kvcast_open(path, &scenario), 0, "%s", kvcast_error(scenario));
    cr_assert_str_empty(kvcast_error(scenario));
    return scenario;
}

static void set(struct kvcast *scenario, const char *option, const char *value)
{
    cr_assert_eq(kvcast_set(scenario, option, value), 0, "%s", kvcast_error(scenario));
}

static double read_value(struct kvcast *scenario, const char *path)
{
    double value;
    cr_assert_eq(kvcast_get(scenario, path, &value), 0, "%s", kvcast_error(scenario));
    return value;
}

static double predicted(struct kvcast *scenario, const char *path)
{
    cr_assert_eq(kvcast_predict(scenario), 0, "%s", kvcast_error(scenario));
    return read_value(scenario, path);
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-11 * fabs(b);
}

/* Looks a path of a percentile or of two keys up in a document, on another way than the library. */
static double in_document(const json_t *document, const char *path)
{
    char key[64];
    double p;
    const json_t *at = document;
    if (sscanf(path, "latency_us.percentiles[p=%lf].us", &p) == 1) {
        size_t i;
        json_t *entry, *list = json_object_get(json_object_get(document, "latency_us"), "percentiles");
        json_array_foreach(list, i, entry)
        {
            if (json_number_value(json_object_get(entry, "p")) == p) {
                at = json_object_get(entry, "us");
            }
        }
    } else {
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
        at = json_object_get(json_object_get(document, key), strchr(path, '.') + 1);
    }
    return json_is_number(at) ? json_number_value(at) : NAN;
}

Test(kvcast, reads_without_a_document_what_the_document_says)
{
    glob_t found;
    int compared = 0;
    cr_assert_eq(glob(KVC_SOURCE_DIR "/models/*/golden/*.lua", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct kvcast *scenario = opened(found.gl_pathv[i]);
        double value[sizeof(quick) / sizeof(*quick)];
        if (kvcast_predict(scenario) == 0) {
            for (size_t q = 0; q < sizeof(quick) / sizeof(*quick); q++) {
                value[q] = read_value(scenario, quick[q]);
            }
            json_t *document = json_loads(kvcast_json(scenario), 0, NULL);
            cr_assert_not_null(document, "%s: %s", found.gl_pathv[i], kvcast_error(scenario));
            for (size_t q = 0; q < sizeof(quick) / sizeof(*quick); q++) {
                double says = in_document(document, quick[q]);
                cr_expect(same(value[q], says), "%s: %s: %.15g, the document says %.15g", found.gl_pathv[i],
                          quick[q], value[q], says);
                compared += !isnan(says);
            }
            json_decref(document);
        }
        kvcast_free(scenario);
    }
    cr_expect_gt(compared, 50);
    globfree(&found);
}

/* Options of each kind: plain ones of the store and the load, a device, and the clock of one. */
Test(kvcast, predicts_the_same_after_many_changes_as_at_first)
{
    static const char *const gpus[] = {"tesla-k40c", "gtx-780"};
    struct kvcast *moving = opened(EXAMPLE);
    set(moving, "node.gpu", gpus[0]);
    for (int i = 0; i < 60; i++) {
        char cycle[32], mops[32], get[32];
        struct kvcast *fresh = opened(EXAMPLE);
        snprintf(cycle, sizeof(cycle), "%dus", 150 + 37 * i % 200);
        snprintf(mops, sizeof(mops), "%d", 1 + 29 * i % 120);
        snprintf(get, sizeof(get), "0.%d", 1 + i % 9);
        struct kvcast *both[] = {moving, fresh};
        for (int s = 0; s < 2; s++) {
            set(both[s], "node.gpu", gpus[i / 20 % 2]);
            set(both[s], "system.cycle", cycle);
            set(both[s], "workload.arrival.poisson_mops", mops);
            set(both[s], "workload.get", get);
            set(both[s], "workload.set", NULL == strchr(get, '9') ? "0.1" : "0.05");
        }
        int status = kvcast_predict(fresh);
        cr_assert_eq(kvcast_predict(moving), status, "step %d: %s", i, kvcast_error(moving));
        cr_expect_str_eq(kvcast_error(moving), kvcast_error(fresh));
        for (size_t q = 0; status == 0 && q < sizeof(quick) / sizeof(*quick); q++) {
            double now = read_value(moving, quick[q]), anew = read_value(fresh, quick[q]);
            cr_expect(now == anew || (isnan(now) && isnan(anew)), "step %d: %s: %.17g, not %.17g", i,
                      quick[q], now, anew);
        }
        kvcast_free(fresh);
    }
    kvcast_free(moving);
}

Test(kvcast, takes_options_back)
{
    struct kvcast *scenario = opened(EXAMPLE);
    double before = predicted(scenario, "latency_us.mean");
    set(scenario, "system.cycle", "300us");
    cr_expect_neq(predicted(scenario, "latency_us.mean"), before);
    set(scenario, "system.cycle", NULL);
    cr_expect_eq(predicted(scenario, "latency_us.mean"), before);
    cr_expect_eq(kvcast_set(scenario, "system.cycle", NULL), 2, "it was taken back twice");
    kvcast_free(scenario);
}

Test(kvcast, says_what_is_wrong_and_stays_usable)
{
    struct kvcast *scenario;
    double value;
    cr_expect_eq(kvcast_open("/nosuch.lua", &scenario), 2);
    cr_expect(strstr(kvcast_error(scenario), "/nosuch.lua") != NULL, "%s", kvcast_error(scenario));
    cr_expect_eq(kvcast_predict(scenario), 2);
    cr_expect_null(kvcast_json(scenario));
    kvcast_free(scenario);

    scenario = opened(EXAMPLE);
    cr_expect_eq(kvcast_get(scenario, "throughput_mops.mean", &value), 2, "there is no result yet");
    for (int i = 0; i < 20; i++) { /* The values change between patches and loads. */
        set(scenario, "system.cycle", i % 5 == 4 ? "-1us" : i % 2 == 0 ? "200us" : "210us");
        cr_expect_eq(kvcast_predict(scenario), i % 5 == 4 ? 2 : 0, "%d: %s", i, kvcast_error(scenario));
        cr_expect_eq(strstr(kvcast_error(scenario), "system.cycle: found") != NULL, i % 5 == 4, "%s",
                     kvcast_error(scenario));
    }
    cr_expect_eq(kvcast_set(scenario, "..", "1"), 2);
    set(scenario, "system.cycle", "200us");
    cr_expect_gt(predicted(scenario, "throughput_mops.mean"), 0);
    cr_expect_eq(kvcast_get(scenario, "latency_us.maen", &value), 2);
    cr_expect(strstr(kvcast_error(scenario), "mean, ci95") != NULL, "%s", kvcast_error(scenario));
    cr_expect(isnan(value));
    cr_expect_eq(kvcast_get(scenario, "stages[99].busy_s", &value), 2);
    cr_expect_eq(kvcast_get(scenario, "stages[name=rx", &value), 2);
    cr_expect_eq(kvcast_get(scenario, "scenario", &value), 2, "a text");
    cr_expect_eq(read_value(scenario, "stages[name=rx].utilization_frac"),
                 read_value(scenario, "stages[0].utilization_frac"));
    cr_expect(isnan(read_value(scenario, "latency_us.min")), "null");
    kvcast_free(scenario);
}

Test(kvcast, runs_in_a_child)
{
    struct kvcast *scenario = opened(SMALL);
    pid_t gone;
    cr_assert_eq(kvcast_run(scenario), 0, "%s", kvcast_error(scenario));
    cr_expect_gt(read_value(scenario, "throughput_mops.mean"), 0);
    cr_expect_gt(read_value(scenario, "requests.completed"), 0);
    cr_expect(strstr(kvcast_json(scenario), "\"command\": \"run\"") != NULL);
    gone = waitpid(-1, NULL, WNOHANG);
    cr_expect_eq(gone, -1, "the child is left");
    set(scenario, "run.duration", "-1ms");
    cr_expect_eq(kvcast_run(scenario), 2);
    cr_expect(strstr(kvcast_error(scenario), "run.duration") != NULL, "%s", kvcast_error(scenario));
    kvcast_free(scenario);
}

/* Ends the first child of this process as a crash would. */
static void *crash_child(void *unused)
{
    char path[64];
    long child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getpid(), getpid());
    while (child == 0) {
        FILE *in = fopen(path, "r");
        if (in == NULL || fscanf(in, "%ld", &child) != 1) {
            child = 0;
        }
        if (in != NULL) {
            fclose(in);
        }
        usleep(1000);
    }
    kill((pid_t)child, SIGSEGV);
    return unused;
}

Test(kvcast, reports_a_child_that_crashes)
{
    struct kvcast *scenario = opened(EXAMPLE);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, crash_child, NULL), 0);
    cr_expect_eq(kvcast_run(scenario), 3);
    cr_expect(strstr(kvcast_error(scenario), "Segmentation fault") != NULL, "%s", kvcast_error(scenario));
    pthread_join(thread, NULL);
    cr_expect_gt(predicted(scenario, "throughput_mops.mean"), 0);
    kvcast_free(scenario);
}

Test(kvcast, writes_numbers_as_in_c_under_any_locale)
{
    struct kvcast *plain = opened(EXAMPLE);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        cr_skip_test("there is no German locale");
    }
    struct kvcast *german = opened(EXAMPLE);
    set(plain, "workload.arrival.poisson_mops", "20.5");
    set(german, "workload.arrival.poisson_mops", "20.5");
    cr_expect_eq(predicted(german, "load.offered_mops"), 20.5);
    predicted(plain, "load.offered_mops");
    cr_expect_str_eq(kvcast_json(german), kvcast_json(plain));
    cr_expect_eq(strtod("1,5", NULL), 1.5, "the caller's locale is gone");
    kvcast_free(german);
    kvcast_free(plain);
}
