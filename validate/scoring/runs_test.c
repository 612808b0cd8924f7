#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "validate/scoring/runs.h"

static char folder[64], plan_path[96], runs_path[96];

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/kvcast-machine-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(plan_path, sizeof(plan_path), "%s/plan.csv", folder);
    snprintf(runs_path, sizeof(runs_path), "%s/runs.csv", folder);
}

static void remove_folder(void)
{
    unlink(plan_path);
    unlink(runs_path);
    rmdir(folder);
}

#define PLAN "id,scenario,load_frac,of,overrides\n"
#define TWO PLAN "a,s.lua,,,x=1;y=2\nb,s.lua,0.7,a,\n"
#define RUNS_HEADER                                                                                          \
    "id,scenario,load_frac,of,overrides,repetitions,quiet_frac,windows,core_speed_steps_per_ns,spread_frac," \
    "stalled_frac,throughput_mops,latency_mean_us,latency_p99_us,t_search_us,jobs_per_search,t_insert_us,"   \
    "jobs_per_insert,search_ns_per_job,insert_ns_per_job,throughput_half_frac,latency_mean_half_frac,"       \
    "latency_p99_half_frac,search_job_half_frac,insert_job_half_frac,bottleneck"
#define RUNS RUNS_HEADER "\n"
#define RUN_A                                                                                                \
    "a,s.lua,,,x=1;y=2,3,0.8,210,2.5,0.02,0.001,100,300,900,60,30000,,,2,,0.01,0.02,0.03,0.04,,send\n"
#define RUN_B "b,s.lua,0.7,a,,3,,,,0.2,0,50,,,,,,,,,,,,,,load\n"

#define RUNS_MEMORY RUNS_HEADER ",memory_line_ns,memory_latency_ns,memory_bytes_per_s\n"
#define RUNS_STALLS                                                                                          \
    RUNS_HEADER ",memory_line_ns,memory_latency_ns,memory_bytes_per_s,raw_latency_p99_us,stalls\n"

struct bad_file {
    const char *text;
    int line;
    const char *message;
};

static void expect_failure(const struct bad_file *bad, const char *path, const struct kvc_diag *diag)
{
    cr_expect_eq(diag->line, bad->line, "line %d of \"%s\"", diag->line, bad->text);
    cr_expect_not_null(strstr(diag->message, bad->message), "%s", diag->message);
    cr_expect_str_eq(diag->file, path);
}

TestSuite(plan, .init = make_folder, .fini = remove_folder);
TestSuite(runs, .init = make_folder, .fini = remove_folder);

Test(plan, every_third_line_is_unseen)
{
    const bool unseen[] = {false, false, true, false, false, true, false};
    for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++) {
        cr_expect_eq(kvc_measuring_plan_unseen(i), unseen[i], "line %zu", i + 1);
    }
}

Test(plan, names_the_bad_line)
{
    static const struct bad_file bad[] = {
        {"", 0, "is empty"},
        {"id,scenario\n", 1, "found header"},
        {PLAN, 0, "the plan has no runs"},
        {PLAN "a,s.lua\n", 2, "found 2 columns, expected 5"},
        {PLAN "a,s.lua,,,x=1,y=2\n", 2, "found 6 columns, expected 5"},
        {PLAN ",s.lua,,,\n", 2, "found an empty id"},
        {PLAN "a,,,,\n", 2, "found an empty scenario"},
        {PLAN "a,s.lua,,,\n\na,s.lua,,,\n", 4, "found run \"a\" twice"},
        {PLAN "a,s.lua,,,\nb,s.lua,0.7,,\n", 3, "of: found \"\", allowed: the id of an earlier run"},
        {PLAN "b,s.lua,0.7,a,\na,s.lua,,,\n", 2, "of: found \"a\", allowed: the id of an earlier run"},
        {PLAN "a,s.lua,,,\nb,s.lua,0.7,a,\nc,s.lua,0.7,b,\n", 4,
         "of: found \"b\", allowed: the id of an earlier"},
        {PLAN "a,s.lua,,,\nb,s.lua,,a,\n", 3, "load_frac: found \"\", allowed: above 0 and up to 2"},
        {PLAN "a,s.lua,,,\nb,s.lua,70,a,\n", 3, "load_frac: found \"70\", allowed: above 0 and up to 2"},
        {PLAN "a,s.lua,,,\nb,s.lua,much,a,\n", 3, "load_frac: found \"much\", allowed: above 0"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct kvc_measuring_plan plan;
        struct kvc_diag diag = {0};
        write_file(plan_path, bad[i].text);
        cr_expect_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_ERR_SCENARIO);
        cr_expect_null(plan.entry);
        expect_failure(&bad[i], plan_path, &diag);
    }
}

Test(runs, are_read_in_the_order_of_the_plan)
{
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, RUNS RUN_B RUN_A);
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(runs[0].repetitions, 3);
    cr_expect_eq(runs[0].spread_frac, 0.02);
    cr_expect_eq(runs[0].stalled_frac, 0.001);
    cr_expect_eq(runs[0].quiet_frac, 0.8);
    cr_expect_eq(runs[0].windows, 210);
    cr_expect_eq(runs[0].core_speed_steps_per_ns, 2.5);
    cr_expect_eq(runs[0].readings.half_frac[KVC_READING_SEARCH_JOB], 0.04);
    cr_expect(isnan(runs[0].readings.half_frac[KVC_READING_JOBS_PER_SEARCH]));
    cr_expect(isnan(runs[0].readings.half_frac[KVC_READING_INSERT_JOB]) && isnan(runs[1].quiet_frac));
    cr_expect_eq(runs[0].readings.value[KVC_READING_THROUGHPUT], 100);
    cr_expect_eq(runs[0].readings.value[KVC_READING_T_SEARCH], 60);
    cr_expect_eq(runs[0].readings.value[KVC_READING_JOBS_PER_SEARCH], 30000);
    cr_expect(isnan(runs[0].readings.value[KVC_READING_T_INSERT]));
    cr_expect_str_eq(runs[0].readings.bottleneck, "send");
    cr_expect_eq(runs[1].readings.value[KVC_READING_THROUGHPUT], 50);
    cr_expect(isnan(runs[1].readings.value[KVC_READING_LATENCY_MEAN]));
    kvc_measuring_plan_free(&plan);
}

Test(runs, survive_a_round_trip)
{
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2], again[2];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, RUNS RUN_A RUN_B);
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_OK, "%s", diag.message);
    FILE *out = fopen(runs_path, "w");
    cr_assert_not_null(out);
    kvc_runs_write_header(out);
    for (size_t i = 0; i < plan.count; i++) {
        kvc_runs_write_line(out, &plan, i, &runs[i]);
    }
    cr_assert_eq(fclose(out), 0);
    cr_assert_eq(kvc_runs_read(runs_path, &plan, again, &diag), KVC_OK, "%s", diag.message);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(again[i].repetitions, runs[i].repetitions);
        cr_expect_eq(again[i].spread_frac, runs[i].spread_frac);
        cr_expect_eq(again[i].stalled_frac, runs[i].stalled_frac);
        cr_expect_str_eq(again[i].readings.bottleneck, runs[i].readings.bottleneck);
        for (int j = 0; j < KVC_READINGS; j++) {
            cr_expect(again[i].readings.half_frac[j] == runs[i].readings.half_frac[j] ||
                      (isnan(again[i].readings.half_frac[j]) && isnan(runs[i].readings.half_frac[j])));
            cr_expect(again[i].readings.value[j] == runs[i].readings.value[j] ||
                      (isnan(again[i].readings.value[j]) && isnan(runs[i].readings.value[j])));
        }
    }
    cr_expect(isnan(again[0].memory.line_ns), "the file was written before the memory was watched");
    kvc_measuring_plan_free(&plan);
}

Test(runs, carry_the_rates_of_the_memory)
{
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, RUNS_MEMORY "b,s.lua,0.7,a,,3,,,,0.2,0,50,,,,,,,,,,,,,,load,,,\n"
                                      "a,s.lua,,,x=1;y=2,3,,,,0.02,0,100,,,,,,,,,,,,,,send,12.5,110,9e+09\n");
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(runs[0].memory.line_ns, 12.5);
    cr_expect_eq(runs[0].memory.latency_ns, 110);
    cr_expect_eq(runs[0].memory.bytes_per_s, 9e9);
    cr_expect(isnan(runs[1].memory.line_ns));
    kvc_measuring_plan_free(&plan);
}

#define STALL_A "node.stalls.1.length=41us;node.stalls.1.every=210ms"

/* The second file is the first one as it is written again. */
Test(runs, have_the_stalls_of_the_machine_if_the_file_does)
{
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, RUNS_STALLS
               "b,s.lua,0.7,a,,3,,,,0.2,0,50,,,,,,,,,,,,,,load,,,,,\n"
               "a,s.lua,,,x=1;y=2,3,,,,0.02,0,100,,,,,,,,,,,,,,send,12.5,110,9e+09,7000," STALL_A "\n");
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK, "%s", diag.message);
    for (int file = 0; file < 2; file++) {
        cr_assert_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_OK, "%s", diag.message);
        cr_expect_eq(runs[0].memory.bytes_per_s, 9e9);
        cr_expect_eq(runs[0].raw_latency_p99_us, 7000);
        cr_expect_str_eq(runs[0].stalls, STALL_A);
        cr_expect(isnan(runs[1].raw_latency_p99_us));
        cr_expect_str_empty(runs[1].stalls);
        FILE *out = fopen(runs_path, "w");
        cr_assert_not_null(out);
        kvc_runs_write_header(out);
        kvc_runs_write_line(out, &plan, 0, &runs[0]);
        kvc_runs_write_line(out, &plan, 1, &runs[1]);
        cr_assert_eq(fclose(out), 0);
    }
    kvc_measuring_plan_free(&plan);
}

Test(runs, combine_to_the_stalls_of_the_median_tail)
{
    static const double p99_us[] = {900, 7000, 300, 2000};
    struct kvc_measured_run repetitions[4] = {0}, combined;
    for (int i = 0; i < 4; i++) {
        repetitions[i].raw_latency_p99_us = p99_us[i];
        snprintf(repetitions[i].stalls, sizeof(repetitions[i].stalls), "%g", p99_us[i]);
    }
    for (uint32_t count = 3; count <= 4; count++) {
        kvc_runs_combine(repetitions, count, &combined);
        cr_expect_eq(combined.raw_latency_p99_us, 900);
        cr_expect_str_eq(combined.stalls, "900");
    }
    repetitions[0].raw_latency_p99_us = NAN;
    kvc_runs_combine(repetitions, 1, &combined);
    cr_expect(isnan(combined.raw_latency_p99_us));
}

Test(runs, name_the_bad_line)
{
    static const struct bad_file bad[] = {
        {"id,scenario,overrides\n", 1, "found header"},
        {RUNS RUN_A "b,s.lua,0.7,a,,3,,,,0.2,0,50,,,,,,,,,,,,,load\n", 3, "found 25 columns, expected 26"},
        {RUNS RUN_A "b,s.lua,0.7,a,,3,,,,0.2,0,50,,,,,,,,,,,,,,load,x\n", 3, "found 27 columns, expected 26"},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.02,0,fast,,,,,,,,,,,,,,send\n", 2,
         "found \"fast\", expected a number"},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.02,0,100,nan,,,,,,,,,,,,,send\n", 2,
         "found \"nan\", expected a number"},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.02,0,100,,,,,,,,,,,,x,,send\n", 2, "found \"x\", expected a number"},
        {RUNS "a,s.lua,,,x=1;y=2,3,all,,,0.02,0,100,,,,,,,,,,,,,,send\n", 2,
         "found \"all\", expected a number"},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.02,0,,,,,,,,,,,,,,,send\n", 2, "throughput_mops: found \"\""},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,-1,0,100,,,,,,,,,,,,,,send\n", 2, "spread_frac: found \"-1\""},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.1,,100,,,,,,,,,,,,,,send\n", 2, "stalled_frac: found \"\""},
        {RUNS "a,s.lua,,,x=1;y=2,0,,,,0.02,0,100,,,,,,,,,,,,,,send\n", 2, "repetitions: found \"0\""},
        {RUNS "a,s.lua,,,x=1;y=2,2.5,,,,0.02,0,100,,,,,,,,,,,,,,send\n", 2, "repetitions: found \"2.5\""},
        {RUNS "a,s.lua,,,x=1;y=2,3,,,,0.02,0,100,,,,,,,,,,,,,,\n", 2, "found an empty bottleneck"},
        {RUNS RUN_A RUN_A, 3, "found run \"a\" twice"},
        {RUNS RUN_A RUN_B "c,s.lua,,,,3,,,,0.2,0,50,,,,,,,,,,,,,,load\n", 4,
         "run \"c\", which is not in the plan"},
        {RUNS "a,s.lua,,,x=1,3,,,,0.02,0,100,,,,,,,,,,,,,,send\n", 2,
         "run \"a\" differs from the plan, which says"},
        {RUNS "b,s.lua,,,,3,,,,0.2,0,50,,,,,,,,,,,,,,load\n", 2,
         "run \"b\" differs from the plan, which says \"s.lua,0.7,a,\""},
        {RUNS "a,t.lua,,,x=1;y=2,3,,,,0.02,0,100,,,,,,,,,,,,,,send\n", 2,
         "run \"a\" differs from the plan, which says"},
    };
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2];
    write_file(plan_path, TWO);
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, NULL), KVC_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct kvc_diag diag = {0};
        write_file(runs_path, bad[i].text);
        cr_expect_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_ERR_SCENARIO);
        expect_failure(&bad[i], runs_path, &diag);
    }
    kvc_measuring_plan_free(&plan);
}

Test(runs, name_the_line_of_the_plan_that_was_not_measured)
{
    const struct bad_file bad = {RUNS RUN_A, 3, "run \"b\" is planned but not in runs.csv"};
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[2];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, bad.text);
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK);
    cr_expect_eq(kvc_runs_read(runs_path, &plan, runs, &diag), KVC_ERR_SCENARIO);
    expect_failure(&bad, plan_path, &diag);
    kvc_measuring_plan_free(&plan);
}

Test(readings, median_of_the_repetitions)
{
    struct kvc_readings repetitions[4], median;
    double spread_frac;
    static const double mops[] = {100, 130, 90, 120};
    static const char *const bottlenecks[] = {"load", "send", "send", "send"};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < KVC_READINGS; j++) {
            repetitions[i].value[j] = repetitions[i].half_frac[j] = NAN;
        }
        repetitions[i].value[KVC_READING_THROUGHPUT] = mops[i];
        strcpy(repetitions[i].bottleneck, bottlenecks[i]);
    }
    repetitions[2].value[KVC_READING_T_INSERT] = 7;
    kvc_readings_median(repetitions, 4, &median, &spread_frac);
    cr_expect_eq(median.value[KVC_READING_THROUGHPUT], 110);
    cr_expect_float_eq(spread_frac, 40.0 / 110, 1e-12);
    cr_expect_eq(median.value[KVC_READING_T_INSERT], 7,
                 "the median covers the repetitions that have a value");
    cr_expect(isnan(median.value[KVC_READING_T_SEARCH]));
    cr_expect_str_eq(median.bottleneck, "send");
    kvc_readings_median(repetitions, 3, &median, &spread_frac);
    cr_expect_eq(median.value[KVC_READING_THROUGHPUT], 100);
}

Test(readings, a_bottleneck_needs_more_than_half_of_the_repetitions)
{
    static const struct {
        const char *named[3], *joined;
    } expected[] = {
        {{"receive+index", "index", "index+send"}, "index"},
        {{"receive+index", "send+index", "receive"}, "receive+index"},
        {{"load", "send", "index"}, "undecided"},
        {{"undecided", "undecided", "send"}, "undecided"},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct kvc_readings repetitions[3] = {0}, median;
        double spread_frac;
        for (int j = 0; j < 3; j++) {
            repetitions[j].value[KVC_READING_THROUGHPUT] = 1;
            strcpy(repetitions[j].bottleneck, expected[i].named[j]);
        }
        kvc_readings_median(repetitions, 3, &median, &spread_frac);
        cr_expect_str_eq(median.bottleneck, expected[i].joined);
    }
}

/* Three repetitions around 100, each of which knows itself to 1 %, or to 30 %. */
Test(readings, the_interval_of_a_median_is_the_wider_one)
{
    struct kvc_readings repetitions[3] = {0}, median;
    double spread_frac;
    for (int i = 0; i < 3; i++) {
        repetitions[i].value[KVC_READING_THROUGHPUT] = 99 + i;
        repetitions[i].half_frac[KVC_READING_THROUGHPUT] = 0.01;
    }
    kvc_readings_median(repetitions, 3, &median, &spread_frac);
    cr_expect_float_eq(median.half_frac[KVC_READING_THROUGHPUT], 4.302653 / sqrt(3) / 100, 1e-6);
    for (int i = 0; i < 3; i++) {
        repetitions[i].half_frac[KVC_READING_THROUGHPUT] = 0.3;
    }
    kvc_readings_median(repetitions, 3, &median, &spread_frac);
    cr_expect_float_eq(median.half_frac[KVC_READING_THROUGHPUT], 0.3 / sqrt(3), 1e-3);
    repetitions[1].half_frac[KVC_READING_THROUGHPUT] = NAN;
    kvc_readings_median(repetitions, 3, &median, &spread_frac);
    cr_expect(isnan(median.half_frac[KVC_READING_THROUGHPUT]), "one of them is not known");
}

Test(runs, repetitions_are_read_in_their_order)
{
    struct kvc_measuring_plan plan;
    struct kvc_measured_run runs[4];
    struct kvc_diag diag = {0};
    write_file(plan_path, TWO);
    write_file(runs_path, RUNS RUN_B RUN_A "b,s.lua,0.7,a,,1,,,,0,0,60,,,,,,,,,,,,,,send\n");
    cr_assert_eq(kvc_measuring_plan_read(plan_path, &plan, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_runs_read_repetitions(runs_path, &plan, 2, runs, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(runs[0].readings.value[KVC_READING_THROUGHPUT], 100);
    cr_expect_eq(runs[1].repetitions, 0, "the second repetition of a is still to come");
    cr_expect_eq(runs[2].readings.value[KVC_READING_THROUGHPUT], 50);
    cr_expect_eq(runs[3].readings.value[KVC_READING_THROUGHPUT], 60);
    const struct bad_file bad = {RUNS RUN_A RUN_A RUN_A, 4, "found run \"a\" more often than --repetitions"};
    write_file(runs_path, bad.text);
    cr_expect_eq(kvc_runs_read_repetitions(runs_path, &plan, 2, runs, &diag), KVC_ERR_SCENARIO);
    expect_failure(&bad, runs_path, &diag);
    kvc_measuring_plan_free(&plan);
}

Test(runs, repetitions_without_quiet_windows_count_only_alone)
{
    struct kvc_measured_run repetitions[3] = {0}, combined;
    const double mops[] = {100, 104, 40};
    for (int i = 0; i < 3; i++) {
        repetitions[i].readings.value[KVC_READING_THROUGHPUT] = mops[i];
        repetitions[i].quiet_frac = i < 2 ? 0.6 : 0;
        repetitions[i].windows = 70;
        repetitions[i].stalled_frac = 0.1 * i;
        repetitions[i].core_speed_steps_per_ns = 2 + i;
        repetitions[i].memory.line_ns = 10 + i;
    }
    kvc_runs_combine(repetitions, 3, &combined);
    cr_expect_eq(combined.readings.value[KVC_READING_THROUGHPUT], 102);
    cr_expect_eq(combined.repetitions, 3);
    cr_expect_float_eq(combined.quiet_frac, 0.4, 1e-12);
    cr_expect_float_eq(combined.core_speed_steps_per_ns, 3, 1e-12);
    cr_expect_float_eq(combined.memory.line_ns, 11, 1e-12);
    cr_expect_eq(combined.windows, 210);
    cr_expect_eq(combined.stalled_frac, 0.2);
    kvc_runs_combine(&repetitions[2], 1, &combined);
    cr_expect_eq(combined.readings.value[KVC_READING_THROUGHPUT], 40);
}
