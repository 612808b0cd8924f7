#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/explore/sweep/sweep.h"
#include "scenarios/run/store_fixture.h"

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

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static char *file_text(const char *name)
{
    FILE *file = fopen(path_of(name), "r");
    cr_assert_not_null(file, "%s", path_of(name));
    char *text = calloc(1, 1 << 20);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static enum kvc_status try_sweep(struct kvc_sweep_options task, struct kvc_sweep_done *done,
                                 struct kvc_diag *diag)
{
    task.path = "fake.lua";
    task.load = task.load_point = kvc_fake_load;
    task.folder = task.folder != NULL ? task.folder : folder;
    return kvc_sweep_run(&task, done, diag);
}

static struct kvc_sweep_done sweep(struct kvc_sweep_options task)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag = {0};
    cr_assert_eq(try_sweep(task, &done, &diag), KVC_OK, "%s", diag.message);
    return done;
}

static void refuses(struct kvc_sweep_options task, enum kvc_status status, const char *part)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag = {0};
    cr_expect_eq(try_sweep(task, &done, &diag), status, "%s", diag.message);
    cr_expect_not_null(strstr(diag.message, part), "%s", diag.message);
}

/* Runs SQL on the database, as another program would. */
static void change(const char *sql)
{
    sqlite3 *sqlite;
    char *message = NULL;
    cr_assert_eq(sqlite3_open(path_of("sweep.sqlite"), &sqlite), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(sqlite, sql, NULL, NULL, &message), SQLITE_OK, "%s", message);
    sqlite3_close(sqlite);
}

TestSuite(sweep, .init = make_folder, .fini = remove_folder);

Test(sweep, has_one_row_per_point_first_axis_slowest)
{
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 2});
    cr_assert_eq(done.points, 6);
    cr_assert_eq(done.kept, 0);
    cr_expect_geq(done.best.leader, 5);
    cr_expect_eq(strncmp(done.best_values, "system.rate = 300, run.seed = ", 30), 0, "%s", done.best_values);
    char *csv = file_text("sweep.csv"), *line = strtok(csv, "\n");
    cr_assert_str_eq(
        line,
        "point,system.rate,run.seed,throughput_mops,throughput_ci95_mops,offered_mops,"
        "offered_ci95_mops,lost_frac,lost_ci95_frac,unserved_frac,hit_frac,hit_ci95_frac,latency_mean_us,"
        "latency_mean_ci95_us,latency_p50_us,latency_p50_ci95_us,latency_p95_us,"
        "latency_p95_ci95_us,latency_p99_us,latency_p99_ci95_us,latency_p999_us,"
        "latency_p999_ci95_us,completed,dropped,bottleneck_utilization_frac,watts_mean,"
        "watts_mean_ci95,kops_per_watt,kops_per_watt_ci95,worst_window_margin_frac,price_usd,nodes,bottleneck,"
        "bottleneck_device,watts_missing,price_missing,work_utilization_frac,fake_frac,fake_us,notes");
    static const char *const starts[] = {"1,100,1,1", "2,100,2,1", "3,200,1,2",
                                         "4,200,2,2", "5,300,1,3", "6,300,2,3"};
    for (int i = 0; i < 6; i++) {
        line = strtok(NULL, "\n");
        cr_assert_not_null(line);
        cr_assert_eq(strncmp(line, starts[i], strlen(starts[i])), 0, "%s", line);
        cr_assert_not_null(strstr(line, ",4000,0,0.95,,,,,"), "%s", line);
        const char *end = ",1,work,cpu,,,0.95,0.25,3,";
        cr_assert_str_eq(line + strlen(line) - strlen(end), end);
    }
    cr_assert_null(strtok(NULL, "\n"));
    free(csv);
}

Test(sweep, is_the_same_for_any_number_of_jobs)
{
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *one = file_text("sweep.csv");
    remove_folder();
    make_folder();
    sweep((struct kvc_sweep_options){.jobs = 3});
    char *three = file_text("sweep.csv");
    cr_assert_str_eq(one, three);
    free(one);
    free(three);
}

Test(sweep, keeps_stored_points_and_repeats_missing_ones)
{
    sweep((struct kvc_sweep_options){.jobs = 2});
    char *before = file_text("sweep.csv");
    change(
        "DELETE FROM points WHERE point IN (3, 5); DELETE FROM metrics WHERE point IN (3, 5);"
        "DELETE FROM documents WHERE point IN (3, 5); UPDATE documents SET document = document || ' ' WHERE point = 2");
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 2});
    cr_assert_eq(done.kept, 4);
    char *after = file_text("sweep.csv");
    cr_assert_str_eq(before, after);
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    sqlite3_open(path_of("sweep.sqlite"), &sqlite);
    sqlite3_prepare_v2(sqlite, "SELECT count(*), sum(document LIKE '% ') FROM documents", -1, &statement,
                       NULL);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    cr_expect_eq(sqlite3_column_int(statement, 0), 6);
    cr_expect_eq(sqlite3_column_int(statement, 1), 1, "point 2 was not run again");
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    free(before);
    free(after);
}

Test(sweep, refuses_a_folder_with_another_sweep_and_says_what_changed)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    sweep((struct kvc_sweep_options){.jobs = 2});
    char *before = file_text("sweep.sqlite");
    cr_assert_eq(kvc_overrides_add(&set, "system.accident", "0", &diag), KVC_OK);
    refuses(
        (struct kvc_sweep_options){.set = &set}, KVC_ERR_SCENARIO,
        "changed: the scenario (system.accident was absent and is 0); choose another folder, or --restart");
    refuses((struct kvc_sweep_options){.predict = true}, KVC_ERR_SCENARIO,
            "changed: --predict (run, now predict)");
    char *after = file_text("sweep.sqlite");
    cr_expect_eq(memcmp(before, after, 1 << 20), 0, "a refused sweep changes nothing");
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set, .restart = true}).kept, 0);
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set}).kept, 6);
    change("UPDATE meta SET value = '0.0.1' WHERE key = 'version'");
    refuses((struct kvc_sweep_options){.set = &set}, KVC_ERR_SCENARIO,
            "changed: the version of kvcast (0.0.1, now ");
    change("PRAGMA user_version = 99");
    refuses((struct kvc_sweep_options){.set = &set}, KVC_ERR_SCENARIO,
            "has the schema 99 of another version");
    change("PRAGMA application_id = 5");
    refuses((struct kvc_sweep_options){.set = &set}, KVC_ERR_SCENARIO, "is a database of another program");
    kvc_overrides_clear(&set);
    free(before);
    free(after);
}

/* A sweep that failed before its first point has nothing to lose, so that its scenario may be corrected. */
Test(sweep, replaces_another_sweep_without_points)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    sweep((struct kvc_sweep_options){.jobs = 2});
    cr_assert_eq(kvc_overrides_add(&set, "system.accident", "0", &diag), KVC_OK);
    change("DELETE FROM points WHERE point > 1");
    refuses((struct kvc_sweep_options){.set = &set}, KVC_ERR_SCENARIO, "holds another sweep");
    change("DELETE FROM points");
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set}).kept, 0);
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set}).kept, 6);
    kvc_overrides_clear(&set);
}

/* Damages points and resumes the sweep, which must find the damage that `part` names at the first of them. */
static void expect_repair(const char *sql, uint32_t points, const char *part, const char *whole)
{
    change(sql);
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 1});
    cr_expect_eq(done.damage.points, points, "%s: %u points", sql, done.damage.points);
    cr_expect_not_null(strstr(done.damage.first, part), "%s: %s", sql, done.damage.first);
    char *csv = file_text("sweep.csv");
    cr_expect_str_eq(csv, whole, "%s", sql);
    free(csv);
}

Test(sweep, runs_damaged_points_again)
{
    static const struct {
        const char *sql;
        uint32_t points;
        const char *part;
    } damages[] = {
        {"UPDATE metrics SET name = '' WHERE point = 2 AND kind = 'stage'", 1,
         "point 2 has a stage or metric without a name"},
        {"UPDATE metrics SET kind = 'stag' WHERE point = 6 AND kind = 'stage'", 1, "of an unknown kind"},
        {"UPDATE metrics SET value = 'fast' WHERE point IN (3, 4)", 2, "a metric that is no number"},
        {"UPDATE points SET throughput_mops = 'fast' WHERE point = 5", 1, "a text where a number belongs"},
        {"UPDATE points SET \"system.rate\" = 100 WHERE point = 3", 1, "has the values of another point"},
        {"UPDATE points SET point = -point WHERE point > 4", 4, "point -6 is none of this sweep"},
        {"DELETE FROM documents WHERE point = 4", 1, "point 4 has no result document"},
        {"UPDATE documents SET document = substr(document, 1, 100)", 6, "a result document that is no JSON"},
        {"UPDATE documents SET document = '{\"schema\": \"a\"}' WHERE point = 1", 1, "no result of kvcast"},
        {"DELETE FROM points WHERE point = 2", 1, "a point has metrics or a document but no row"},
        {"INSERT INTO metrics VALUES ('x', 'stage', 'a', 1, 1)", 1, "but no row"},
    };
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *whole = file_text("sweep.csv");
    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        expect_repair(damages[i].sql, damages[i].points, damages[i].part, whole);
    }
    free(whole);
}

/* A table of another form is refused before any row is read. */
Test(sweep, refuses_other_tables)
{
    static const char *const changes[] = {
        "ALTER TABLE metrics RENAME COLUMN name TO title",
        "DROP TABLE documents",
        "ALTER TABLE points ADD COLUMN mine",
        "DROP TABLE metrics; CREATE TABLE metrics(point INTEGER, kind TEXT, name TEXT, value NUMERIC)",
        "DROP TABLE points; CREATE VIEW points AS SELECT * FROM metrics",
        "DROP TABLE meta",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        sweep((struct kvc_sweep_options){.jobs = 1, .restart = true});
        change(changes[i]);
        refuses((struct kvc_sweep_options){.jobs = 1}, KVC_ERR_SCENARIO, "is not as kvcast makes it");
    }
}

/* Triggers in a foreign file do not run. */
Test(sweep, runs_nothing_of_a_foreign_schema)
{
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *whole = file_text("sweep.csv");
    change("CREATE TRIGGER t AFTER INSERT ON points BEGIN UPDATE points SET throughput_mops = 0; END;"
           "DELETE FROM points WHERE point = 1");
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *csv = file_text("sweep.csv");
    cr_expect_str_eq(csv, whole);
    free(whole);
    free(csv);
}

Test(sweep, refuses_a_damaged_database)
{
    sweep((struct kvc_sweep_options){.jobs = 2});
    struct stat info;
    cr_assert_eq(stat(path_of("sweep.sqlite"), &info), 0);
    cr_assert_eq(truncate(path_of("sweep.sqlite"), info.st_size / 2), 0);
    refuses((struct kvc_sweep_options){.jobs = 2}, KVC_ERR_SCENARIO, "damaged");
    int file = open(path_of("sweep.sqlite"), O_WRONLY | O_TRUNC);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file,
                       "no database, but longer than the 100 bytes of a header "
                       "......................................................................",
                       120),
                 120);
    close(file);
    refuses((struct kvc_sweep_options){.jobs = 2}, KVC_ERR_SCENARIO, "is damaged or no database");
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 2, .restart = true}).kept, 0);
}

Test(sweep, waits_for_no_other_sweep)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int ready[2], done[2];
    char byte = 0;
    cr_assert_eq(pipe(ready) + pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        int file = open(path_of("kvcast.lock"), O_RDWR | O_CREAT, 0666);
        fcntl(file, F_SETLK, &lock);
        write(ready[1], &byte, 1);
        read(done[0], &byte, 1);
        _exit(0);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    refuses((struct kvc_sweep_options){.jobs = 1}, KVC_ERR_RUNTIME,
            "is locked: another process writes to this folder");
    cr_assert_eq(write(done[1], &byte, 1), 1);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 1}).points, 6);
}

Test(sweep, writes_to_no_database_out_of_its_folder)
{
    char elsewhere[] = "/tmp/kvcast-elsewhere-XXXXXX", real[128], link[128];
    close(mkstemp(elsewhere));
    cr_assert_eq(symlink(elsewhere, path_of("sweep.sqlite")), 0);
    refuses((struct kvc_sweep_options){.jobs = 1}, KVC_ERR_SCENARIO, "is a symbolic link");
    cr_assert_eq(unlink(path_of("sweep.sqlite")), 0);
    cr_assert_eq(symlink(elsewhere, path_of("sweep.sqlite-wal")), 0);
    refuses((struct kvc_sweep_options){.jobs = 1}, KVC_ERR_SCENARIO, "is a symbolic link");
    cr_assert_eq(unlink(path_of("sweep.sqlite-wal")), 0);
    struct stat info;
    cr_expect(stat(elsewhere, &info) == 0 && info.st_size == 0);
    cr_assert_eq(unlink(elsewhere), 0);
    /* The folder itself may be a link of the user's. */
    strcpy(real, folder);
    snprintf(link, sizeof(link), "%s.link", real);
    cr_assert_eq(symlink(real, link), 0);
    strcpy(folder, link);
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 1}).points, 6);
    strcpy(folder, real);
    cr_assert_eq(unlink(link), 0);
}

Test(sweep, a_failing_point_keeps_what_is_done_and_no_partial_files)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    char command[256];
    cr_assert_eq(kvc_overrides_add(&set, "system.accident", "1", &diag), KVC_OK);
    refuses((struct kvc_sweep_options){.set = &set, .jobs = 2}, KVC_ERR_RUNTIME, "replica 1 crashed");
    char *csv = file_text("sweep.csv");
    cr_expect_null(strstr(csv, "\n1,"));
    snprintf(command, sizeof(command), "test -z \"$(find %s -name '*.partial')\"", folder);
    cr_assert_eq(system(command), 0);
    kvc_overrides_clear(&set);
    free(csv);
}

/* A limit on the size of files stands for a disk that is full in the middle of the sweep. */
Test(sweep, a_full_disk_keeps_what_is_done)
{
    struct rlimit limit, small;
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *whole = file_text("sweep.csv");
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 140 << 10, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    refuses((struct kvc_sweep_options){.jobs = 1, .restart = true}, KVC_ERR_RUNTIME,
            "what is done so far is kept, start the sweep again when there is room");
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 1});
    cr_expect(done.kept > 0 && done.kept < 6, "%u points were kept", done.kept);
    char *resumed = file_text("sweep.csv");
    cr_expect_str_eq(whole, resumed);
    free(whole);
    free(resumed);
}

Test(sweep, a_database_that_another_program_writes_is_told)
{
    sweep((struct kvc_sweep_options){.jobs = 1});
    change("DELETE FROM points WHERE point = 1; DELETE FROM metrics WHERE point = 1;"
           "DELETE FROM documents WHERE point = 1");
    sqlite3 *sqlite;
    cr_assert_eq(sqlite3_open(path_of("sweep.sqlite"), &sqlite), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    refuses((struct kvc_sweep_options){.jobs = 1}, KVC_ERR_RUNTIME, "is locked by another program");
    cr_assert_eq(sqlite3_exec(sqlite, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(sqlite);
    cr_expect_eq(sweep((struct kvc_sweep_options){.jobs = 1}).kept, 5);
}

Test(sweep, a_folder_that_cannot_be_written_is_told_before_the_work)
{
    refuses((struct kvc_sweep_options){.folder = "/proc/nowhere", .jobs = 1}, KVC_ERR_SCENARIO, "cannot");
    refuses((struct kvc_sweep_options){.csv = "/proc/nowhere/a.csv", .jobs = 1}, KVC_ERR_SCENARIO, "");
}

/* Sweeps of scenario files, for properties that a fake store cannot show. */

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

/* Sweeps a scenario whose load, sweep and other sections are `text`. */
static enum kvc_status try_scenario(const char *text, bool predict, struct kvc_sweep_done *done,
                                    struct kvc_diag *diag)
{
    char path[128], out[128], source[2048];
    snprintf(source, sizeof(source),
             "return { system = { kind = '%s' },\n"
             "  run = { warmup = '10us', duration = '400us', bottleneck = 'utilization' },\n%s }\n",
             strstr(text, "trace") != NULL || strstr(text, "cluster") != NULL ? "megakv" : "rdma",
             text); /* rdma takes no trace and is one server. */
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

static struct kvc_sweep_done sweep_text(const char *text, bool predict)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag;
    cr_assert_eq(try_scenario(text, predict, &done, &diag), KVC_OK, "%s:%d: %s", diag.file, diag.line,
                 diag.message);
    return done;
}

static void refuses_scenario(const char *text, bool predict, int line, const char *part)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag;
    cr_expect_eq(try_scenario(text, predict, &done, &diag), KVC_ERR_SCENARIO, "%s", diag.message);
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
    struct kvc_sweep_done done =
        sweep_text(LOAD "slo = { p99 = '1ms', mops = 0.25 },\n"
                        "sweep = { ['workload.arrival.poisson_mops'] = { 0.1, 0.5 } }",
                   false);
    cr_expect_str_eq(cell(1, "slo_met"), "0");
    cr_expect_str_eq(cell(2, "slo_met"), "1");
    cr_expect_lt(atof(cell(1, "slo_mops_margin_frac")), -0.4);
    cr_expect_gt(atof(cell(2, "slo_p99_margin_frac")), 0.5);
    cr_expect(done.best.judged && done.best.leader == 2 && done.best.candidates == 1);
}

static char *words(const struct kvc_best *best)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    kvc_best_write(best, "VALUES", out);
    fclose(out);
    return text;
}

/* All points serve the same load, so none of them is the best. */
Test(sweep_scenario, names_no_best_point_where_intervals_overlap)
{
    static const char text[] = LOAD "sweep = { ['workload.value'] = { 16, 64, 128 } }";
    struct kvc_sweep_done done = sweep_text(text, true);
    char *line = words(&done.best);
    cr_expect_eq(done.best.tied, 3);
    cr_expect_str_eq(
        line,
        "best: no difference in throughput between points 1, 2 and 3: point 1 has 0.5 Mops by closed form\n");
    free(line);
    remove_folder();
    make_folder();
    done = sweep_text(text, false);
    cr_expect_eq(done.best.tied, 3, "%u", done.best.tied);
    cr_expect(done.best.half_width > 0);
    remove_folder();
    make_folder();
    done = sweep_text(LOAD "sweep = { ['workload.arrival.poisson_mops'] = { 0.5, 1, 5 } }", false);
    cr_expect(done.best.tied == 1 && done.best.leader == 3);
}

/* The objective decides what is best: the lowest latency that it bounds, or what a plan minimises. */
Test(sweep_scenario, the_best_point_is_the_one_that_the_objective_wants)
{
    static const char sweep[] = "sweep = { ['cluster.nodes'] = { 3, 1, 2 }, "
                                "['workload.arrival.poisson_mops'] = { 0.1, 5 } }";
    static const struct {
        const char *objective, *line;
    } cases[] = {
        {"",
         "best: no difference in throughput between points 2, 4 and 6: point 2 has 5 Mops by closed form\n"},
        {"slo = { mops = 1 }, plan = { minimise = 'nodes' },\n",
         "best: point 4 with the lowest number of nodes of 1 nodes by closed form (VALUES)\n"},
        {"slo = { mops = 9 }, plan = { minimise = 'nodes' },\n",
         "best: none, because no point is known to meet the slo\n"},
        {"slo = { price = 1e9 },\n", "best: none, because no point is known to meet the slo\n"},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(text, sizeof(text), "%s%s%s", LOAD, cases[i].objective, sweep);
        struct kvc_sweep_done done = sweep_text(text, true);
        char *line = words(&done.best);
        cr_expect_str_eq(line, cases[i].line, "%s", line);
        free(line);
        remove_folder();
        make_folder();
    }
    struct kvc_sweep_done done = sweep_text(
        LOAD "slo = { p99 = '1ms' },\nsweep = { ['workload.value'] = { 4096, 16 }, replicas = 3 }", false);
    cr_expect_str_eq(done.best.by->label, "p99 latency");
    cr_expect(done.best.tied == 1 && done.best.leader == 2);
    for (unsigned i = 1; i <= 2; i++) {
        cr_expect_leq(done.best.value, atof(cell(i, "latency_p99_us")));
    }
}

/* A throughput that is met by a part of the load is no service. */
Test(sweep_scenario, overload_misses_the_objective_by_the_closed_form_too)
{
    sweep_text(LOAD "slo = { mops = 0.25 },\n"
                    "sweep = { ['workload.arrival.poisson_mops'] = { 0.5, 5000 } }",
               true);
    cr_expect_eq(atof(cell(1, "unserved_frac")), 0);
    cr_expect_str_eq(cell(1, "slo_met"), "1");
    cr_expect_gt(atof(cell(2, "unserved_frac")), 0.5);
    cr_expect_gt(atof(cell(2, "slo_mops_margin_frac")), 1);
    cr_expect_str_eq(cell(2, "slo_met"), "0");
}

Test(sweep_scenario, runs_the_replicas_of_a_point)
{
    sweep_text(LOAD "sweep = { ['workload.value'] = { 64, 128 }, replicas = 3 }", false);
    cr_expect_gt(atof(cell(1, "throughput_ci95_mops")), 0);
    cr_expect_gt(atof(cell(1, "completed")), 100, "three replicas of 200 requests each");
}

Test(sweep_scenario, the_closed_form_answers_the_same_points)
{
    struct kvc_sweep_done done = sweep_text(
        LOAD "sweep = { ['workload.arrival.poisson_mops'] = { from = 0.1, to = 0.4, steps = 4 } }", true);
    cr_expect_eq(done.points, 4);
    cr_expect_str_eq(cell(3, "throughput_mops"), "0.3");
    cr_expect_str_eq(cell(1, "completed"), "no such cell");
    cr_expect_eq(
        sweep_text(LOAD "sweep = { ['workload.arrival.poisson_mops'] = { from = 0.1, to = 0.4, steps = 4 } }",
                   true)
            .kept,
        4, "the same sweep in other words");
}

Test(sweep_scenario, says_what_is_wrong_with_a_point)
{
    refuses_scenario(LOAD "sweep = { ['workload.kye'] = { 8 } }", false, 4, "did you mean \"key\"?");
    refuses_scenario(LOAD "sweep = { points = { { ['workload.key'] = 8 }, { ['workload.key'] = 'long' } } }",
                     false, 4, "point 2 (workload.key = long): ");
    refuses_scenario(LOAD, false, 1, "the scenario has no sweep table");
    refuses_scenario(LOAD "sweep = {}", false, 4, "the scenario has no sweep table");
    refuses_scenario(LOAD "sweep = { ['run.seed'] = { 1 }, where = function(p) return false end }", true, 4,
                     "no point of the sweep meets the constraint");
    refuses_scenario("slo = { p99 = '1ms' },\nsweep = { ['run.seed'] = { 1 } }", false, 3, "without a load");
}

Test(sweep_scenario, knows_the_contents_of_a_trace)
{
    static const char text[] =
        "workload = { keys = 1000, key = 16, value = 64, arrival = { trace = 'trace.csv' } },\n"
        "sweep = { ['run.seed'] = { 1, 2 } }";
    put("trace.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,1,16,64\n2,get,2,16,64\n3,get,3,16,64\n");
    sweep_text(text, true);
    cr_expect_eq(sweep_text(text, true).kept, 2);
    put("trace.csv", "time_us,op,key,key_bytes,value_bytes\n1,get,1,16,64\n2,get,2,16,64\n3,get,4,16,64\n");
    refuses_scenario(text, true, 0, "holds another sweep; changed: a trace");
}
