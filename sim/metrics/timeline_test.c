#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/metrics/timeline.h"

static char folder[] = "/tmp/kvcast-timeline-XXXXXX";
static char path[64], partial[80];

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/trace.json", folder);
    snprintf(partial, sizeof(partial), "%s.partial", path);
}

static void remove_folder(void)
{
    remove(path);
    rmdir(path);
    remove(partial);
    cr_expect_eq(rmdir(folder), 0, "a file is left behind");
}

TestSuite(timeline, .init = make_folder, .fini = remove_folder);

static void write_some(uint64_t max_events)
{
    struct kvc_timeline *timeline = kvc_timeline_open(path, max_events, NULL);
    cr_assert_not_null(timeline);
    kvc_timeline_row(timeline, 1, 2, "node \"0\" \\ socket 1", "g\npu");
    kvc_timeline_event(timeline, 1, 2, "search", 160000.25, 76.5, 4000000000ull);
    kvc_timeline_event(timeline, 1, 2, "insert", 3.6e12, 0, 0);
    kvc_timeline_event(timeline, 1, 3, "send", 0, 1e6, 7);
    cr_expect_eq(access(path, F_OK), -1, "the final name appears too early");
    cr_expect_eq(kvc_timeline_close(timeline, NULL), KVC_OK);
    cr_expect_eq(access(partial, F_OK), -1);
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
    struct kvc_timeline *timeline = kvc_timeline_open(path, 10, NULL);
    cr_assert_not_null(timeline);
    cr_assert_eq(kvc_timeline_close(timeline, NULL), KVC_OK);
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
    cr_assert_eq(remove(path), 0);
    write_some(100);
    cr_assert_eq(read_back(second, sizeof(second)), bytes);
    cr_expect_arr_eq(first, second, bytes);
}

Test(timeline, names_a_path_that_cannot_be_written)
{
    struct kvc_diag diag = {0};
    char missing[128];
    snprintf(missing, sizeof(missing), "%s/none/trace.json", folder);
    cr_expect_null(kvc_timeline_open(missing, 10, &diag));
    cr_expect_eq(diag.status, KVC_ERR_RUNTIME);
    cr_expect_not_null(strstr(diag.file, "none/trace.json"));
    cr_expect_not_null(strstr(diag.message, "No such file"), "%s", diag.message);
}

Test(timeline, reports_a_failed_rename)
{
    struct kvc_diag diag = {0};
    struct kvc_timeline *timeline = kvc_timeline_open(path, 10, &diag);
    cr_assert_not_null(timeline);
    cr_assert_eq(mkdir(path, 0700), 0); /* A folder takes the final name. */
    cr_expect_eq(kvc_timeline_close(timeline, &diag), KVC_ERR_RUNTIME);
    cr_expect_str_eq(diag.file, path);
    cr_expect_eq(access(partial, F_OK), -1);
}

Test(timeline, reports_a_full_disk)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(symlink("/dev/full", partial), 0);
    struct kvc_timeline *timeline = kvc_timeline_open(path, 10, &diag);
    cr_assert_not_null(timeline);
    kvc_timeline_event(timeline, 1, 1, "search", 0, 1, 1);
    cr_expect_eq(kvc_timeline_close(timeline, &diag), KVC_ERR_RUNTIME);
    cr_expect_not_null(strstr(diag.message, "No space left"), "%s", diag.message);
    cr_expect_eq(access(path, F_OK), -1);
}

Test(timeline, is_optional)
{
    kvc_timeline_row(NULL, 1, 1, "a", "b");
    kvc_timeline_event(NULL, 1, 1, "search", 0, 1, 1);
    cr_expect_eq(kvc_timeline_close(NULL, NULL), KVC_OK);
}
