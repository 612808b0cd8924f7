#include "sim/workload/trace/twin_writer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "sim/workload/batch.h"
#include "sim/workload/trace/trace.h"

static char *new_file(FILE **file)
{
    char *path = strdup("/tmp/kvc_twin_XXXXXX");
    *file = fdopen(mkstemp(path), "w");
    return path;
}

/* Writes a trace whose hot keys drift, with a scan in its middle, at two rates, and 10 % SETs and some
 * DELETEs. */
static char *write_trace(void)
{
    static const char *const ops[] = {"get", "get", "get", "get", "get", "get", "get", "get", "set", "get"};
    FILE *file;
    char *path = new_file(&file);
    struct kvc_rng rng;
    double time_us = 0;
    kvc_rng_init(&rng, 3, "twin", 0);
    for (int i = 0; i < 60000; i++) {
        double unit = kvc_rng_unit(&rng);
        bool scans = i >= 24000 && i < 30000;
        uint64_t key =
            scans ? 1000000 + (uint64_t)i : (uint64_t)(3000 * unit * unit * unit) + (uint64_t)i / 20;
        time_us += kvc_rng_exponential(&rng, i < 30000 ? 1 : 3);
        fprintf(file, "%.3f,%s,k%llu,12,%llu\n", time_us, i % 50 == 7 ? "delete" : ops[i % 10],
                (unsigned long long)key, (unsigned long long)(100 + key * 37 % 500));
    }
    fclose(file);
    return path;
}

static struct kvc_trace_profile *profile_of(const char *path)
{
    struct kvc_trace_profile *profile = calloc(1, sizeof(*profile));
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_trace_profile_read(path, profile, NULL, NULL, &diag), KVC_OK, "%s", diag.message);
    return profile;
}

Test(trace_twin, has_the_misses_the_mix_the_sizes_and_the_rates_of_the_trace)
{
    FILE *file;
    char *path = write_trace(), *twin_path = new_file(&file);
    struct kvc_trace_profile *trace = profile_of(path);
    cr_assert_eq(kvc_twin_write(path, trace, file, NULL, NULL), KVC_OK);
    fclose(file);
    struct kvc_trace_profile *twin = profile_of(twin_path);
    const struct kvc_trace_facts *is = &twin->facts, *wanted = &trace->facts;
    cr_expect_str_eq(is->format, "twin");
    cr_expect_eq(is->requests, wanted->requests);
    cr_expect(is->has_writes && is->is_timed);
    cr_expect_float_eq(is->end_ns, wanted->end_ns, 0.001 * wanted->end_ns);
    cr_expect_float_eq(is->get_frac, wanted->get_frac, 0.004); /* Three standard deviations. */
    cr_expect_float_eq(is->delete_frac, wanted->delete_frac, 0.002);
    cr_expect_float_eq(is->value_bytes, wanted->value_bytes, 0.02 * wanted->value_bytes);
    cr_expect_eq(is->key_bytes, 12);
    for (double share = 0.004; share <= 1; share *= 2) {
        double bytes = share * trace->footprint_bytes;
        double hits = kvc_trace_hit_frac(trace, &trace->bytes, bytes),
               hits_too = kvc_trace_hit_frac(twin, &twin->bytes, bytes);
        cr_expect_float_eq(hits_too, hits, 0.01, "%.4f of the bytes: %.4f hits, twin %.4f", share, hits,
                           hits_too);
    }
    unlink(path);
    unlink(twin_path);
    free(path);
    free(twin_path);
    free(trace);
    free(twin);
}

/* Reads the operations and keys of a twin as text. */
static const char *rows_of(const char *lines)
{
    static char text[256];
    FILE *file;
    char *path = new_file(&file);
    struct kvc_diag diag = {0};
    struct kvc_trace_row row;
    size_t used = 0;
    fputs(lines, file);
    fclose(file);
    struct kvc_trace *trace = kvc_trace_open(path, &diag);
    enum kvc_trace_next next;
    text[0] = '\0';
    while ((next = kvc_trace_read(trace, &row, &diag)) == KVC_TRACE_ROW) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%u%.*s ", row.op, row.key_bytes, row.key);
    }
    if (next == KVC_TRACE_ERROR) {
        snprintf(text, sizeof(text), "%d: %.200s", diag.line, diag.message);
    }
    kvc_trace_close(trace);
    unlink(path);
    free(path);
    return text;
}

/* Three keys are written, and the oldest of them is read. It then belongs to another group, whose only key is
 * read and deleted. The next DELETE, for which that group has no key, takes one with fewer uses. The only key
 * that is left of those is read, although it is not at place 2, and the last request finds none and makes
 * one. */
Test(trace_twin, requests_the_keys_at_the_places_of_the_groups)
{
    const char *text = rows_of("kvcast.twin/1,1,1\nwindow,3,0,1\nsize,2,5,1\nnew,set,7\n# comment\n"
                               "window,1,1,2\nsize,2,5,1\nreuse,get,1,1,3,3,1\n"
                               "window,1,2,3\nsize,2,5,1\nreuse,get,1,2,1,1,1\n"
                               "window,2,3,4\nsize,2,5,1\nreuse,delete,1,3,1,1,2\n"
                               "window,2,4,5\nsize,2,5,1\nreuse,get,1,1,2,2,1\n");
    cr_expect_str_eq(text, "1a# 1b# 1c# 0a# 0a# 2a# 2c# 0b# 0d# ", "%s", text);
}

Test(trace_twin, malformed_files_are_refused_with_their_line)
{
    static const char *const wrong[][2] = {
        {"kvcast.twin/1,1\n", "1: "},
        {"kvcast.twin/1,1,2\n", "kvcast.twin/1,TIMED,WRITES"},
        {"kvcast.twin/1,1,1\n", "2: "},
        {"kvcast.twin/1,1,1\nsize,1,1,1\n", "2: "},
        {"kvcast.twin/1,1,1\nwindow,1,2,1\n", "times in order"},
        {"kvcast.twin/1,1,1\nwindow,5e9,0,1\n", "at most 4e9 requests"},
        {"kvcast.twin/1,1,1\nwindow,1,0,1\nsize,0,1,1\n", "a key of 1 to 255 bytes"},
        {"kvcast.twin/1,1,1\nwindow,1,0,1\nsize,1,1,1\nreuse,get,0,1,0,1,1\n", "places from 1 on"},
        {"kvcast.twin/1,1,1\nwindow,1,0,1\nsize,1,1,1\nreuse,read,0,1,1,1,1\n", "4: "},
        {"kvcast.twin/1,1,1\nwindow,1,0,1\nsize,1,1,1\nwindow,1,1,2\n", "a line new or reuse"},
        {"kvcast.twin/1,1,1\nwindow,1,0,1\nsize,1,1,1\nnew,get,nan\n", "4: "},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const char *text = rows_of(wrong[i][0]);
        cr_expect_not_null(strstr(text, wrong[i][1]), "case %zu: %s", i, text);
    }
}
