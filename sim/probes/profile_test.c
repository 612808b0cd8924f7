#include "sim/probes/profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *written(const struct kvc_profile *profile, void (*write)(const struct kvc_profile *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert_not_null(out);
    write(profile, out);
    fclose(out);
    return text;
}

static void expect_text(const struct kvc_profile *profile, const char *expected)
{
    char *text = written(profile, kvc_profile_write), *body = strstr(text, "  commit = \"1.0\",\n");
    cr_assert_not_null(body, "%s", text);
    body += strlen("  commit = \"1.0\",\n");
    cr_expect_str_eq(body, expected, "%s", body);
    free(text);
}

static struct kvc_profile *new_profile(void)
{
    return kvc_profile_create("2 cores of a box", "2026-11-21", "1.0");
}

Test(profile, head_names_the_machine)
{
    struct kvc_profile *profile = new_profile();
    char *text = written(profile, kvc_profile_write);
    cr_expect_not_null(strstr(text, "  kind = \"machine\",\n  name = \"2 cores of a box\",\n"
                                    "  date = \"2026-11-21\",\n  compiler = \"gcc "),
                       "%s", text);
    free(text);
    kvc_profile_free(profile);
    kvc_profile_free(NULL);
}

/* Devices and fields keep the order in which they were first mentioned. */
Test(profile, values_are_written_device_by_device)
{
    struct kvc_profile *profile = new_profile();
    kvc_profile_name(profile, "cpu", "a processor");
    kvc_profile_reserve(profile, "cpu", "packet");
    kvc_profile_reserve(profile, "cpu", "never_set");
    kvc_profile_value(profile, "dram", "line", 64, "B", "a line of %d bytes", 64);
    kvc_profile_value(profile, "cpu", "cores", 2, "", "counted");
    kvc_profile_value(profile, "cpu", "packet", 1.23456, "ns", "later");
    kvc_profile_value(profile, "cpu", "packet", 7, "ns", "a field keeps its first value");
    expect_text(profile, "  cpu = {\n"
                         "    name = \"a processor\",\n"
                         "    packet = { \"1.235ns\", source = \"measured 2026-11-21: later\" },\n"
                         "    cores = { 2, source = \"measured 2026-11-21: counted\" },\n"
                         "  },\n"
                         "  dram = {\n"
                         "    line = { \"64B\", source = \"measured 2026-11-21: a line of 64 bytes\" },\n"
                         "  },\n"
                         "}\n\n");
    kvc_profile_free(profile);
}

Test(profile, lists_curves_and_comments)
{
    const struct kvc_profile_point point = {.size = 8,
                                            .footprint_bytes = 0x1p21,
                                            .threads = 2,
                                            .ns = 12.5,
                                            .low_ns = 12,
                                            .high_ns = 13,
                                            .repetitions = 25};
    struct kvc_profile *profile = new_profile();
    kvc_profile_value(profile, "gpu.clocks", "core", 1, "GHz", "known");
    kvc_profile_point(profile, "a_store", "read", &point);
    struct kvc_profile_point keyed = point;
    keyed.key_bytes = 16;
    keyed.load_frac = 0.75;
    kvc_profile_point(profile, "a_store", "write", &keyed);
    keyed.size = 9;
    keyed.repetitions = 20;
    kvc_profile_point(profile, "a_store", "write", &keyed);
    kvc_profile_value(profile, "gpu.clocks", "memory", 2, "GHz", "known");
    kvc_profile_comment(profile, "%s line", "one");
    kvc_profile_summarize(profile, "not in the file");
    expect_text(
        profile,
        "  gpu = {\n"
        "    clocks = { {\n"
        "    core = { \"1GHz\", source = \"measured 2026-11-21: known\" },\n"
        "    memory = { \"2GHz\", source = \"measured 2026-11-21: known\" },\n"
        "    } },\n"
        "  },\n"
        "  a_store = {\n"
        "    read = { source = \"measured 2026-11-21: median of 25\",\n"
        "      { size = 8, footprint = \"2MiB\", threads = 2, time = { \"12.5ns\", low = \"12.14ns\", high = \"12.86ns\" }, "
        "source = \", quartiles 12 .. 13 ns\" },\n"
        "    },\n"
        "    write = { source = \"measured 2026-11-21: median of 25\",\n"
        "      { size = 8, key = \"16B\", load = 0.75, footprint = \"2MiB\", threads = 2, "
        "time = { \"12.5ns\", low = \"12.14ns\", high = \"12.86ns\" }, source = \", quartiles 12 .. 13 ns\" },\n"
        "      { size = 9, key = \"16B\", load = 0.75, footprint = \"2MiB\", threads = 2, "
        "time = { \"12.5ns\", low = \"12.09ns\", high = \"12.91ns\" }, "
        "source = \"measured 2026-11-21: median of 20, quartiles 12 .. 13 ns\" },\n"
        "    },\n"
        "  },\n"
        "}\n\n"
        "-- one line\n");
    char *summary = written(profile, kvc_profile_write_summary);
    cr_expect_str_eq(summary, "not in the file\n");
    free(summary);
    kvc_profile_free(profile);
}

/* One calibration of a machine whose speed changes: everything takes `factor` times as long. */
static struct kvc_profile *calibrated(double factor)
{
    struct kvc_profile *profile = new_profile();
    kvc_profile_name(profile, "cpu", "a processor");
    kvc_profile_value(profile, "cpu", "packet", 10 * factor, "ns", "factor %g", factor);
    for (int size = 1; size <= 2; size++) {
        const struct kvc_profile_point point = {.size = size,
                                                .threads = 1,
                                                .ns = 100 * size * factor,
                                                .low_ns = 1,
                                                .high_ns = 2,
                                                .repetitions = 5};
        kvc_profile_point(profile, "costs", "read", &point);
    }
    return profile;
}

Test(profile, medians_of_several_calibrations)
{
    struct kvc_profile *passes[] = {calibrated(3), calibrated(1), calibrated(2)};
    char *text = NULL, *after;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert_not_null(out);
    kvc_profile_write_medians(passes, 3, out);
    fclose(out);
    cr_expect_not_null(strstr(text, "packet = { \"20ns\", source = \"measured 2026-11-21: factor 2\" }"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "time = { \"200ns\""), "%s", text);
    cr_expect_not_null(strstr(text, "time = { \"400ns\""), "the point of size 2: %s", text);
    cr_expect_null(strstr(text, "time = { \"100ns\""), "%s", text);
    cr_expect_not_null(strstr(text, "medians of 3 calibrations"), "%s", text);
    after = written(passes[1], kvc_profile_write);
    cr_expect_not_null(strstr(after, "packet = { \"10ns\""), "a calibration keeps its own values");
    free(after);
    free(text);
    for (int i = 0; i < 3; i++) {
        kvc_profile_free(passes[i]);
    }
}
