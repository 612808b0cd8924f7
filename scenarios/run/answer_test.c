#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/output/folder.h"
#include "scenarios/output/json.h"
#include "scenarios/run/answer.h"
#include "scenarios/run/store_fixture.h"

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/kvcast-folder-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

static const char *in_root(const char *name)
{
    static char path[4][160];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s/%s", root, name);
    return path[next];
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    cr_assert_gt(fread(found, 1, sizeof(found) - 1, file), 0);
    fclose(file);
    cr_assert_eq(strncmp(found, text, strlen(text)), 0, "%s begins with %.40s", path, found);
}

static int files_in(const char *folder)
{
    char command[256];
    snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r");
    int count = -1;
    cr_assert_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static enum kvc_status run_into(const char *folder, enum kvc_fake_accident accident, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 2, .out = folder};
    FILE *nowhere = fopen("/dev/null", "w");
    kvc_fake_of(loaded)->accident = accident;
    enum kvc_status status = kvc_answer(&task, nowhere, diag);
    fclose(nowhere);
    kvc_loaded_free(loaded);
    return status;
}

TestSuite(folder, .init = make_root, .fini = remove_root);

Test(folder, holds_everything_and_nothing_partial)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(run_into(in_root("a/b"), KVC_FAKE_NONE, &diag), KVC_OK, "%s", diag.message);
    assert_holds(in_root("a/b/result.json"), "{\n  \"schema\": \"kvcast.result/1\",\n");
    assert_holds(in_root("a/b/cdf.csv"), "latency_us,cumulative_frac\n");
    assert_holds(in_root("a/b/windows.csv"), "time_us,throughput_mops,latency_mean_us\n0,");
    assert_holds(in_root("a/b/timeline.json"), "{");
    cr_assert_eq(access(in_root("a/b/latency.hgrm"), F_OK), 0);
    cr_assert_eq(files_in(in_root("a/b")), 5, "the fake store has no engine and so no platform.xml");
}

Test(folder, a_failed_run_leaves_the_old_results_alone)
{
    struct kvc_diag diag = {0};
    put(in_root("result.json"), "old");
    put(in_root("latency.hgrm"), "old");
    cr_assert_eq(run_into(root, KVC_FAKE_CRASH, &diag), KVC_ERR_RUNTIME);
    assert_holds(in_root("result.json"), "old");
    assert_holds(in_root("latency.hgrm"), "old");
    cr_assert_eq(files_in(root), 2, "no partial file is left");
}

Test(folder, that_is_a_file_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    put(in_root("file"), "x");
    cr_assert_eq(run_into(in_root("file"), KVC_FAKE_CRASH, &diag), KVC_ERR_SCENARIO,
                 "the crash is never reached");
    cr_assert_str_eq(diag.file, in_root("file"));
    cr_assert_str_eq(diag.message, "is not a folder");
}

Test(folder, that_cannot_be_created_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(run_into("/proc/nowhere/out", KVC_FAKE_CRASH, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "/proc/nowhere/out");
    cr_assert_eq(strncmp(diag.message, "cannot be written: ", 19), 0, "%s", diag.message);
}

Test(folder, where_a_file_cannot_be_opened_is_refused_and_left_clean)
{
    struct kvc_folder folder;
    struct kvc_diag diag = {0};
    cr_assert_eq(mkdir(in_root("windows.csv"), 0777), 0);
    cr_assert_eq(kvc_folder_open(&folder, root, true, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, in_root("windows.csv"));
    cr_assert_eq(files_in(root), 1);
}

Test(folder, of_another_process_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    int ready[2], status;
    char byte = 0;
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct kvc_folder_lock lock = {0};
        byte = kvc_folder_lock_take(&lock, root, NULL) == KVC_OK;
        _exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
    }
    cr_assert(read(ready[0], &byte, 1) == 1 && byte == 1);
    cr_assert_eq(run_into(root, KVC_FAKE_CRASH, &diag), KVC_ERR_RUNTIME, "the crash is never reached");
    cr_assert_eq(strncmp(diag.message, "is locked: process ", 19), 0, "%s", diag.message);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(run_into(root, KVC_FAKE_NONE, &diag), KVC_OK, "%s", diag.message);
}

/* Runs into the folder while no file may be larger than `bytes`, which stands for a full disk. Returns the
 * status; the table goes to `shown`. */
static enum kvc_status run_into_full(rlim_t bytes, char *shown, size_t size, struct kvc_diag *diag)
{
    struct rlimit limit;
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 2, .out = root};
    FILE *out = fmemopen(shown, size, "w");
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, limit.rlim_max}), 0);
    enum kvc_status status = kvc_answer(&task, out, diag);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fclose(out);
    kvc_loaded_free(loaded);
    return status;
}

Test(folder, that_is_full_keeps_the_old_files_and_the_answer_is_shown)
{
    static char shown[1 << 14];
    struct kvc_diag diag = {0};
    put(in_root("cdf.csv"), "old");
    put(in_root("result.json"), "old");
    cr_assert_eq(run_into_full(1000, shown, sizeof(shown), &diag), KVC_ERR_RUNTIME);
    cr_expect(strstr(diag.file, root) != NULL && strstr(diag.message, strerror(EFBIG)) != NULL, "%s: %s",
              diag.file, diag.message);
    cr_expect_not_null(strstr(shown, "throughput"));
    assert_holds(in_root("cdf.csv"), "old");
    assert_holds(in_root("result.json"), "old");
    cr_expect_eq(files_in(root), 2);
}

Test(folder, of_a_prediction_holds_the_result_only)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    struct kvc_diag diag = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    const struct kvc_answer_options task = {
        .loaded = loaded, .path = "fake.lua", .by = KVC_ANSWER_BY_PREDICTION, .out = root};
    cr_assert_eq(kvc_answer(&task, nowhere, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(files_in(root), 1);
    assert_holds(in_root("result.json"), "{");
    fclose(nowhere);
    kvc_loaded_free(loaded);
}

static json_t *answer(struct kvc_loaded *loaded, uint32_t jobs, bool predict)
{
    char *text = NULL;
    size_t bytes;
    struct kvc_diag diag = {0};
    FILE *out = open_memstream(&text, &bytes);
    const struct kvc_answer_options task = {.loaded = loaded,
                                            .path = "fake.lua",
                                            .jobs = jobs,
                                            .json = "-",
                                            .by = predict ? KVC_ANSWER_BY_PREDICTION : KVC_ANSWER_BY_RUN};
    cr_assert_eq(kvc_answer(&task, out, &diag), KVC_OK, "%s", diag.message);
    fclose(out);
    cr_assert_eq(text[bytes - 1], '\n');
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    cr_assert_not_null(document, "%s at line %d of %s", error.text, error.line, text);
    free(text);
    return document;
}

/* Removes the keys that begin with wall_ or memory_ or end in _per_wall_s, as a user would. */
static void strip_wall_clock(json_t *document)
{
    const char *key;
    json_t *value;
    void *next;
    json_t *simulation = json_object_get(document, "simulation");
    json_object_foreach_safe(simulation, next, key, value)
    {
        const char *end = strstr(key, "_per_wall_s");
        if (strncmp(key, "wall_", 5) == 0 || strncmp(key, "memory_", 7) == 0 ||
            (end != NULL && end[strlen("_per_wall_s")] == '\0')) {
            json_object_del(simulation, key);
        }
    }
}

Test(json, is_byte_identical_for_any_number_of_jobs)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(4);
    json_t *one = answer(loaded, 1, false), *two = answer(loaded, 2, false);
    cr_assert_neq(json_equal(one, two), 1,
                  "the clock must have left its mark for this test to mean anything");
    strip_wall_clock(one);
    strip_wall_clock(two);
    char *text_one = json_dumps(one, 0), *text_two = json_dumps(two, 0);
    cr_assert_str_eq(text_one, text_two);
    free(text_one);
    free(text_two);
    json_decref(one);
    json_decref(two);
    kvc_loaded_free(loaded);
}

Test(json, has_the_documented_keys_in_order)
{
    static const char *const keys[] = {
        "schema",  "scenario",   "system",          "seed",       "version",    "command",    "command_line",
        "machine", "intervals",  "throughput_mops", "latency_us", "load",       "requests",   "stages",
        "devices", "bottleneck", "energy",          "price",      "accuracy",   "kernel",     "kernel_ci95",
        "model",   "model_ci95", "windows",         "notes",      "simulation", "parameters", "provenance"};
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    json_t *document = answer(loaded, 1, false), *value;
    const char *key;
    size_t at = 0;
    json_object_foreach(document, key, value)
    {
        cr_assert_lt(at, sizeof(keys) / sizeof(*keys));
        cr_assert_str_eq(key, keys[at++]);
    }
    cr_assert_eq(at, sizeof(keys) / sizeof(*keys));
    cr_assert_str_eq(json_string_value(json_object_get(document, "schema")), "kvcast.result/1");
    cr_assert(json_is_null(json_object_get(document, "energy")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, energy_follows_from_power)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    kvc_fake_of(loaded)->watts = 250;
    json_t *document = answer(loaded, 1, false), *energy = json_object_get(document, "energy");
    double mops = json_number_value(json_object_get(json_object_get(document, "throughput_mops"), "mean"));
    double simulated_s =
        json_number_value(json_object_get(json_object_get(document, "simulation"), "simulated_s"));
    cr_expect_float_eq(json_number_value(json_object_get(energy, "watts_mean")), 250, 1e-9);
    cr_expect_float_eq(json_number_value(json_object_get(energy, "kops_per_watt")), mops * 1e3 / 250, 1e-6);
    cr_expect_float_eq(json_number_value(json_object_get(energy, "joules")), 250 * simulated_s, 1e-9);
    json_decref(document);
    kvc_loaded_free(loaded);
}

/* Asserts that a key with ci95 stands for every other number of the object, and that it is a number. */
static void assert_intervals(const json_t *object, const char *const *pairs)
{
    for (; *pairs != NULL; pairs += 2) {
        cr_expect(json_is_number(json_object_get(object, pairs[0])), "%s", pairs[0]);
        const json_t *half_width = json_object_get(object, pairs[1]);
        cr_expect(json_is_number(half_width) && json_number_value(half_width) >= 0, "%s", pairs[1]);
    }
}

Test(json, every_value_has_its_interval_beside_it)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    kvc_fake_of(loaded)->watts = 250;
    json_t *document = answer(loaded, 1, false), *entry;
    const json_t *intervals = json_object_get(document, "intervals"),
                 *energy = json_object_get(document, "energy");
    size_t index;
    cr_expect_str_eq(json_string_value(json_object_get(intervals, "from")), "replicas");
    cr_expect_eq(json_integer_value(json_object_get(intervals, "count")), 3);
    cr_expect(json_is_null(json_object_get(intervals, "batch_s")));
    assert_intervals(json_object_get(document, "throughput_mops"), (const char *[]){"mean", "ci95", NULL});
    assert_intervals(json_object_get(document, "latency_us"),
                     (const char *[]){"mean", "ci95", "min", "min_ci95", "max", "max_ci95", NULL});
    json_array_foreach(json_object_get(json_object_get(document, "latency_us"), "percentiles"), index, entry)
        assert_intervals(entry, (const char *[]){"us", "ci95", NULL});
    assert_intervals(json_object_get(document, "requests"),
                     (const char *[]){"offered_mops", "offered_ci95_mops", "lost_frac", "lost_ci95_frac",
                                      "hit_frac", "hit_ci95_frac", NULL});
    json_array_foreach(json_object_get(document, "stages"), index, entry)
        assert_intervals(entry, (const char *[]){"utilization_frac", "utilization_ci95_frac", "mean_us",
                                                 "mean_ci95_us", NULL});
    json_array_foreach(json_object_get(document, "devices"), index, entry)
        assert_intervals(entry, (const char *[]){"utilization_frac", "utilization_ci95_frac", NULL});
    const char *const powers[] = {"joules", "joules_ci95", "watts_mean", "watts_mean_ci95", NULL};
    assert_intervals(energy, powers);
    assert_intervals(energy, (const char *[]){"kops_per_watt", "kops_per_watt_ci95", NULL});
    json_array_foreach(json_object_get(energy, "devices"), index, entry) assert_intervals(entry, powers);
    cr_expect(json_is_number(json_object_get(json_object_get(document, "kernel_ci95"), "fake_frac")));
    cr_expect(json_is_number(json_object_get(json_object_get(document, "model_ci95"), "fake_us")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, without_replicas_and_batches_intervals_are_null)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, false);
    const json_t *latency = json_object_get(document, "latency_us");
    cr_expect(json_is_null(json_object_get(json_object_get(document, "intervals"), "from")));
    cr_expect(json_is_null(json_object_get(latency, "ci95")));
    cr_expect(
        json_is_null(json_object_get(json_array_get(json_object_get(latency, "percentiles"), 3), "ci95")));
    cr_expect(json_is_null(json_object_get(json_object_get(document, "model_ci95"), "fake_us")));
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, latency_is_the_histograms)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    json_t *document = answer(loaded, 1, false), *entry;
    json_t *latency = json_object_get(document, "latency_us");
    double least = json_number_value(json_object_get(latency, "min")), before = least, p95 = NAN;
    double largest = json_number_value(json_object_get(latency, "max"));
    size_t index;
    json_array_foreach(json_object_get(latency, "percentiles"), index, entry)
    {
        double us = json_number_value(json_object_get(entry, "us"));
        cr_assert_geq(us, before);
        cr_assert_leq(us, largest * (1 + 1.0 / 1024));
        before = us;
        if (json_number_value(json_object_get(entry, "p")) == 0.95) {
            p95 = us;
        }
    }
    cr_assert_eq(index, KVC_PERCENTILES);
    double fraction_below = NAN;
    json_array_foreach(json_object_get(latency, "cdf"), index,
                       entry) if (json_number_value(json_array_get(entry, 0)) <= p95)
    {
        fraction_below = json_number_value(json_array_get(entry, 1));
    }
    cr_assert_float_eq(fraction_below, 0.95, 0.01);
    cr_assert_eq(
        json_number_value(json_array_get(json_array_get(json_object_get(latency, "cdf"), index - 1), 1)), 1);
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, unknown_numbers_are_null_and_odd_text_survives)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    kvc_fake_of(loaded)->wild_numbers = true;
    strcpy(loaded->scenario.name, "bad \xff name");
    json_t *document = answer(loaded, 1, false);
    cr_assert(json_is_null(json_object_get(json_object_get(document, "model"), "fake_us")));
    cr_assert(json_is_null(json_object_get(json_object_get(document, "kernel"), "fake_frac")));
    cr_assert(json_is_null(json_object_get(json_object_get(document, "throughput_mops"), "ci95")));
    cr_assert_str_eq(json_string_value(json_object_get(document, "scenario")), "bad ? name");
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(document, "notes"), 0)),
                     "quotes \" and a \\ and \x01");
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, parameters_keep_their_type_and_hardware_its_source)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, true);
    const json_t *parameters = json_object_get(document, "parameters");
    cr_assert_float_eq(json_number_value(json_object_get(parameters, "system.share")), 0.95, 1e-15);
    cr_assert_str_eq(json_string_value(json_object_get(parameters, "system.cycle")), "160us");
    cr_assert_str_eq(
        json_string_value(json_object_get(json_object_get(document, "provenance"), "node.cpu.clock")),
        "data sheet");
    cr_assert_str_eq(json_string_value(json_object_get(document, "command")), "predict");
    cr_assert_str_eq(json_string_value(json_object_get(document, "command_line")), "kvcast predict fake.lua");
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, a_prediction_has_the_mean_and_four_percentiles)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    json_t *document = answer(loaded, 1, true);
    const json_t *latency = json_object_get(document, "latency_us");
    cr_assert_eq(json_number_value(json_object_get(latency, "mean")), 10);
    cr_assert_eq(json_array_size(json_object_get(latency, "percentiles")), 4);
    cr_assert_eq(json_array_size(json_object_get(latency, "cdf")), 0);
    cr_assert(json_is_null(json_object_get(latency, "max")));
    static const double percentiles[][2] = {{0.5, 9}, {0.95, 20}, {0.99, 30}, {0.999, 40}};
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++) {
        const json_t *found = json_array_get(json_object_get(latency, "percentiles"), i);
        cr_expect_eq(json_number_value(json_object_get(found, "p")), percentiles[i][0]);
        cr_expect_eq(json_number_value(json_object_get(found, "us")), percentiles[i][1]);
    }
    json_decref(document);
    kvc_loaded_free(loaded);
}

Test(json, a_full_disk_is_told)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(1);
    struct kvc_diag diag = {0};
    FILE *full = fopen("/dev/full", "w");
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 1, .json = "-"};
    cr_assert_eq(kvc_answer(&task, full, &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "cannot write the result"), "%s", diag.message);
    fclose(full);
    kvc_loaded_free(loaded);
}

static char *powered_table(bool predict, bool color, double watts)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    kvc_fake_of(loaded)->watts = watts;
    struct kvc_diag diag = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const struct kvc_answer_options task = {.loaded = loaded,
                                            .path = "fake.lua",
                                            .jobs = 1,
                                            .by = predict ? KVC_ANSWER_BY_PREDICTION : KVC_ANSWER_BY_RUN,
                                            .color = color};
    cr_assert_eq(kvc_answer(&task, out, &diag), KVC_OK, "%s", diag.message);
    fclose(out);
    kvc_loaded_free(loaded);
    return text;
}

static char *table(bool predict, bool color)
{
    return powered_table(predict, color, 0);
}

static void assert_says(const char *text, const char *part)
{
    cr_assert_not_null(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

Test(table, sums_a_run_up)
{
    char *text = table(false, false);
    assert_says(text, "throughput    10");
    assert_says(text, " Mops   (+-: 95 % interval over 3 replicas)\n");
    static const char *const with_interval[] = {"throughput    1", "mean ", "p50 ", "p95 ", "p99 ",
                                                "p99.9 ",          "max "};
    for (size_t i = 0; i < sizeof(with_interval) / sizeof(*with_interval); i++) {
        const char *value = strstr(text, with_interval[i]) + strlen(with_interval[i]);
        cr_expect_eq(strncmp(value + strspn(value, ".0123456789"), " +- ", 4), 0, "%s", with_interval[i]);
    }
    assert_says(text, "fake_us                           3 +- 0\n");
    assert_says(text, "p99.9");
    assert_says(text, "6000 completed, 0 dropped, hit ratio 100.00 +- 0 %");
    assert_says(text, "work          cpu           95.0 % +- 0               6000       1.500 +- 0\n");
    assert_says(text, "bottleneck    work (cpu) is busy 95.0 %");
    assert_says(text, "SimGrid 0 %");
    cr_assert_null(strchr(text, '\033'));
    free(text);
}

Test(table, of_a_prediction_shows_what_it_knows)
{
    char *text = table(true, false);
    assert_says(text, "fake on 1 node, closed form");
    assert_says(text, "throughput    100 Mops\n");
    assert_says(text, "mean 10   p50 9   p95 20   p99 30   p99.9 40 us\n");
    cr_assert_null(strstr(text, "+-"));
    cr_assert_null(strstr(text, "requests"));
    free(text);
}

Test(table, sums_power_and_energy_up_by_kind)
{
    char *text = powered_table(false, false, 200);
    assert_says(text, "power         200.0 +- 0 W, 0.6000 J, ");
    assert_says(text, "\n              gpu 150.0 W, 0.4500 J; cpu 50.00 W, 0.1500 J\n");
    free(text);
    text = table(false, false);
    assert_says(text, "\npower         unknown: this answer has none\n");
    free(text);
}

Test(table, is_coloured_on_demand)
{
    char *text = table(false, true);
    assert_says(text, "\033[1m");
    free(text);
}
