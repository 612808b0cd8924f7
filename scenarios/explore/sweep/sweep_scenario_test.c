/* Sweeps of scenario files: what a fake store cannot show. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/sweep.h"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/kvcast-sweep-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

/* Sweeps a scenario whose load, sweep and other sections are `text`. */
static enum kvc_status try_sweep(const char *text, bool predict, struct kvc_sweep_done *done,
                                 struct kvc_diag *diag)
{
    char path[128], out[128], source[2048];
    snprintf(source, sizeof(source),
             "return { system = { kind = '%s' },\n"
             "  run = { warmup = '10us', duration = '100us', bottleneck = 'utilization' },\n%s }\n",
             strstr(text, "trace") != NULL ? "megakv" : "rdma", text); /* rdma takes no trace. */
    put("s.lua", source);
    snprintf(path, sizeof(path), "%s/s.lua", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    const struct kvc_sweep_options task = {.path = path,
                                           .load = kvc_scenario_load,
                                           .load_point = kvc_scenario_load_point,
                                           .folder = out,
                                           .jobs = 2,
                                           .predict = predict};
    memset(diag, 0, sizeof(*diag));
    return kvc_sweep_run(&task, done, diag);
}

static struct kvc_sweep_done sweep(const char *text, bool predict)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag;
    cr_assert_eq(try_sweep(text, predict, &done, &diag), KVC_OK, "%s:%d: %s", diag.file, diag.line,
                 diag.message);
    return done;
}

static void refuses(const char *text, bool predict, int line, const char *part)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag;
    cr_expect_eq(try_sweep(text, predict, &done, &diag), KVC_ERR_SCENARIO, "%s", diag.message);
    cr_expect(diag.line == line && strstr(diag.message, part) != NULL, "%s:%d: %s", diag.file, diag.line,
              diag.message);
}

/* Returns the cell of a row, counted from 1, in the column of that name. */
static const char *cell(unsigned row, const char *column)
{
    static char found[256];
    char path[128], line[8192], *at, *rest;
    int wanted = -1;
    snprintf(path, sizeof(path), "%s/out/sweep.csv", folder);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    strcpy(found, "no such cell");
    for (unsigned i = 0; i <= row && fgets(line, sizeof(line), file) != NULL; i++) {
        rest = line;
        for (int number = 0; (at = strsep(&rest, ",\n")) != NULL; number++) {
            if (i == 0 && strcmp(at, column) == 0) {
                wanted = number;
            }
            if (i == row && number == wanted) {
                snprintf(found, sizeof(found), "%.255s", at);
            }
        }
    }
    fclose(file);
    return found;
}

#define LOAD "workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.5 } },\n"

TestSuite(sweep_scenario, .init = make_folder, .fini = remove_folder);

Test(sweep_scenario, judges_every_point_by_the_objectives)
{
    struct kvc_sweep_done done = sweep(LOAD "slo = { p99 = '1ms', mops = 0.25 },\n"
                                            "sweep = { ['workload.arrival.poisson_mops'] = { 0.1, 0.5 } }",
                                       false);
    cr_expect_str_eq(cell(1, "slo_met"), "0");
    cr_expect_str_eq(cell(2, "slo_met"), "1");
    cr_expect_lt(atof(cell(1, "slo_mops_margin_frac")), -0.4);
    cr_expect_gt(atof(cell(2, "slo_p99_margin_frac")), 0.5);
    cr_expect(done.best.judged && done.best.point == 2 && done.best.met == 1);
}

Test(sweep_scenario, runs_the_replicas_of_a_point)
{
    sweep(LOAD "sweep = { ['workload.value'] = { 64, 128 }, replicas = 3 }", false);
    cr_expect_gt(atof(cell(1, "throughput_ci95_mops")), 0);
    cr_expect_gt(atof(cell(1, "completed")), 100, "three replicas of 50 requests each");
}

Test(sweep_scenario, the_closed_form_answers_the_same_points)
{
    struct kvc_sweep_done done = sweep(
        LOAD "sweep = { ['workload.arrival.poisson_mops'] = { from = 0.1, to = 0.4, steps = 4 } }", true);
    cr_expect_eq(done.points, 4);
    cr_expect_str_eq(cell(3, "throughput_mops"), "0.3");
    cr_expect_str_eq(cell(1, "completed"), "no such cell");
    cr_expect_eq(sweep(LOAD
                       "sweep = { ['workload.arrival.poisson_mops'] = { from = 0.1, to = 0.4, steps = 4 } }",
                       true)
                     .kept,
                 4, "the same sweep in other words");
}

Test(sweep_scenario, says_what_is_wrong_with_a_point)
{
    refuses(LOAD "sweep = { ['workload.kye'] = { 8 } }", false, 4, "did you mean \"key\"?");
    refuses(LOAD "sweep = { points = { { ['workload.key'] = 8 }, { ['workload.key'] = 'long' } } }", false, 4,
            "point 2 (workload.key = long): ");
    refuses(LOAD, false, 1, "the scenario has no sweep table");
    refuses(LOAD "sweep = {}", false, 4, "the scenario has no sweep table");
    refuses(LOAD "sweep = { ['run.seed'] = { 1 }, where = function(p) return false end }", true, 4,
            "no point of the sweep meets the constraint");
    refuses("slo = { p99 = '1ms' },\nsweep = { ['run.seed'] = { 1 } }", false, 3, "without a load");
}

Test(sweep_scenario, knows_the_contents_of_a_trace)
{
    static const char text[] =
        "workload = { keys = 1000, key = 16, value = 64, arrival = { trace = 'trace.csv' } },\n"
        "sweep = { ['run.seed'] = { 1, 2 } }";
    put("trace.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,1,16,64\n2,get,2,16,64\n3,get,3,16,64\n");
    sweep(text, true);
    cr_expect_eq(sweep(text, true).kept, 2);
    put("trace.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,1,16,64\n2,get,2,16,64\n3,get,4,16,64\n");
    refuses(text, true, 0, "holds another sweep; changed: a trace");
}
