#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/metrics/timeline.h"

static char path[] = "/tmp/kvcast-timeline-XXXXXX";
static FILE *file;

static void make_file(void)
{
    file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
}

static void remove_file(void)
{
    fclose(file);
    cr_assert_eq(remove(path), 0);
}

TestSuite(timeline, .init = make_file, .fini = remove_file);

static void write_some(uint64_t max_events)
{
    struct kvc_timeline *timeline = kvc_timeline_open(file, max_events);
    kvc_timeline_row(timeline, 1, 2, "node \"0\" \\ socket 1", "g\npu");
    kvc_timeline_event(timeline, 1, 2, "search", 160000.25, 76.5, 4000000000ull);
    kvc_timeline_event(timeline, 1, 2, "insert", 3.6e12, 0, 0);
    kvc_timeline_event(timeline, 1, 3, "send", 0, 1e6, 7);
    cr_expect_eq(kvc_timeline_close(timeline), 0);
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

Test(timeline, is_a_chrome_trace)
{
    json_error_t error;
    write_some(100);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    json_t *events = json_object_get(root, "traceEvents");
    cr_assert_eq(json_array_size(events), 5);

    json_t *process = json_array_get(events, 0), *thread = json_array_get(events, 1);
    cr_expect_str_eq(json_string_value(json_object_get(process, "ph")), "M");
    cr_expect_str_eq(json_string_value(json_object_get(process, "name")), "process_name");
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(process, "args"), "name")),
                     "node \"0\" \\ socket 1");
    cr_expect_str_eq(json_string_value(json_object_get(thread, "name")), "thread_name");
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(thread, "args"), "name")), "gpu");

    json_t *search = json_array_get(events, 2), *insert = json_array_get(events, 3);
    cr_expect_str_eq(json_string_value(json_object_get(search, "ph")), "X");
    cr_expect_str_eq(json_string_value(json_object_get(search, "name")), "search");
    cr_expect_eq(number_of(search, "pid"), 1);
    cr_expect_eq(number_of(search, "tid"), 2);
    cr_expect_float_eq(number_of(search, "ts"), 160.00025, 1e-4); /* Microseconds. */
    cr_expect_float_eq(number_of(search, "dur"), 0.0765, 1e-4);
    cr_expect_eq(number_of(json_object_get(search, "args"), "requests"), 4e9);
    cr_expect_float_eq(number_of(insert, "ts"), 3.6e9, 1e-3);
    cr_expect_eq(number_of(json_object_get(root, "otherData"), "events_left_out"), 0);
    json_decref(root);
}

Test(timeline, counts_omitted_events)
{
    write_some(1);
    json_t *root = json_load_file(path, 0, NULL);
    cr_assert_not_null(root);
    cr_expect_eq(json_array_size(json_object_get(root, "traceEvents")), 3);
    cr_expect_eq(number_of(json_object_get(root, "otherData"), "events_left_out"), 2);
    json_decref(root);
}

Test(timeline, of_nothing_is_valid)
{
    cr_assert_eq(kvc_timeline_close(kvc_timeline_open(file, 10)), 0);
    json_t *root = json_load_file(path, 0, NULL);
    cr_assert_not_null(root);
    cr_expect_eq(json_array_size(json_object_get(root, "traceEvents")), 0);
    json_decref(root);
}

static size_t read_back(char *text, size_t size)
{
    FILE *in = fopen(path, "r");
    cr_assert_not_null(in);
    size_t bytes = fread(text, 1, size, in);
    fclose(in);
    return bytes;
}

Test(timeline, is_the_same_each_time)
{
    static char first[4096], second[4096];
    write_some(100);
    size_t bytes = read_back(first, sizeof(first));
    rewind(file);
    cr_assert_eq(ftruncate(fileno(file), 0), 0);
    write_some(100);
    cr_assert_eq(read_back(second, sizeof(second)), bytes);
    cr_expect_arr_eq(first, second, bytes);
}

/* A limit on the size of files stands for a full disk. */
Test(timeline, that_does_not_fit_is_emptied_at_once)
{
    struct rlimit limit;
    struct stat found;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct kvc_timeline *timeline = kvc_timeline_open(file, 100000);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, limit.rlim_max}), 0);
    for (int i = 0; i < 1000; i++) {
        kvc_timeline_event(timeline, 1, 1, "search", i, 1, 1);
    }
    cr_expect(fstat(fileno(file), &found) == 0 && found.st_size == 0, "before the end of the run");
    cr_expect_eq(kvc_timeline_close(timeline), EFBIG);
    fflush(file);
    cr_expect(fstat(fileno(file), &found) == 0 && found.st_size == 0);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(timeline, reports_a_write_that_fails_at_the_end)
{
    FILE *full = fopen("/dev/full", "w");
    struct kvc_timeline *timeline = kvc_timeline_open(full, 10);
    kvc_timeline_event(timeline, 1, 1, "search", 0, 1, 1);
    cr_expect_neq(kvc_timeline_close(timeline), 0);
    fclose(full);
}

Test(timeline, is_optional)
{
    kvc_timeline_row(NULL, 1, 1, "a", "b");
    kvc_timeline_event(NULL, 1, 1, "search", 0, 1, 1);
    cr_expect_eq(kvc_timeline_close(NULL), 0);
}
