/* Kills a sweep of 200 points at 50 random moments and compares its end with an undisturbed one. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum { POINTS = 200, KILLS = 50 };

static char folder[64];

static void run_shell(const char *format, const char *name)
{
    char command[512];
    snprintf(command, sizeof(command), format, folder, name);
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Starts the sweep into the folder's subfolder `name`, as the leader of a process group of its own. */
static pid_t start(const char *name)
{
    char scenario[128], out[128], log[128];
    snprintf(scenario, sizeof(scenario), "%s/sweep.lua", folder);
    snprintf(out, sizeof(out), "%s/%s", folder, name);
    snprintf(log, sizeof(log), "%s/log", folder);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (freopen(log, "w", stdout) == NULL || dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
            _exit(127);
        }
        execl(KVCAST, KVCAST, "sweep", scenario, "--quiet", "--out", out, (char *)NULL);
        _exit(127);
    }
    cr_assert_gt(child, 0);
    setpgid(child, child);
    return child;
}

static void expect_end(pid_t child)
{
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d, see %s/log", status, folder);
}

/* Lets a sweep live for a while. Returns whether it was killed before its end. */
static bool kill_after(pid_t child, double seconds, bool whole_group)
{
    int status;
    usleep((useconds_t)(seconds * 1e6));
    kill(whole_group ? -child : child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "status %d, see %s/log", status, folder);
    return WIFSIGNALED(status);
}

static int query(const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    char path[128];
    snprintf(path, sizeof(path), "%s/calm/sweep.sqlite", folder);
    cr_assert_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
    snprintf(path, sizeof(path), "ATTACH '%s/killed/sweep.sqlite' AS killed", folder);
    cr_assert_eq(sqlite3_exec(sqlite, path, NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(sqlite));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    int found = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(sqlite);
    return found;
}

/* Whatever depends on the wall clock stands under `simulation`. */
static void expect_same(void)
{
    cr_expect_eq(query("SELECT count(*) FROM killed.points"), POINTS);
    cr_expect_eq(query("SELECT count(DISTINCT point) FROM killed.points"), POINTS);
    cr_expect_eq(query("SELECT count(*) FROM (SELECT * FROM main.points EXCEPT SELECT * FROM killed.points)"),
                 0);
    cr_expect_eq(
        query("SELECT count(*) FROM (SELECT * FROM main.metrics EXCEPT SELECT * FROM killed.metrics)"), 0);
    cr_expect_eq(query("SELECT count(*) FROM killed.documents JOIN main.documents USING (point) WHERE"
                       " json_remove(killed.documents.document, '$.simulation') ="
                       " json_remove(main.documents.document, '$.simulation')"),
                 POINTS);
    run_shell("cmp -s %1$s/calm/sweep.csv %1$s/killed/sweep.csv", "");
}

Test(sweep_kill, ends_like_an_undisturbed_sweep, .timeout = 300)
{
    static const char scenario[] =
        "return { system = { kind = 'rdma' },\n"
        "  workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.1 } },\n"
        "  run = { warmup = '10us', duration = '200us', bottleneck = 'utilization' },\n"
        "  sweep = { ['run.seed'] = { from = 1, to = 50, steps = 50, whole = true },\n"
        "    ['workload.arrival.poisson_mops'] = { 0.1, 0.2, 0.4, 0.8 } } }\n";
    struct kvc_rng rng;
    uint32_t kills = 0, rounds = 0;
    strcpy(folder, "/tmp/kvcast-kill-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    char path[128];
    snprintf(path, sizeof(path), "%s/sweep.lua", folder);
    FILE *file = fopen(path, "w");
    fputs(scenario, file);
    cr_assert_eq(fclose(file), 0);
    double start_s = kvc_clock_wall_s();
    expect_end(start("calm"));
    double whole_s = kvc_clock_wall_s() - start_s;
    kvc_rng_init(&rng, 1, "kills", 0);
    while (kills < KILLS) { /* A sweep that ends too early is followed by another one. */
        bool ended = false;
        run_shell("rm -rf %s/killed", "");
        while (!ended && kills < KILLS) {
            ended =
                !kill_after(start("killed"), kvc_rng_unit(&rng) * whole_s / 8, kvc_rng_below(&rng, 2) == 0);
            kills += !ended;
        }
        if (!ended) {
            expect_end(start("killed"));
        }
        rounds++;
        expect_same();
    }
    printf("%u kills in %u sweeps of %d points, %.1f s each when undisturbed\n", kills, rounds, POINTS,
           whole_s);
    run_shell("rm -rf %s", "");
}
