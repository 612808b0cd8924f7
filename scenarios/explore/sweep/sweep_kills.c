/* Kills a sweep of 200 points at 50 random moments, resumes it each time, and compares its end with an
 * undisturbed one. Usage: sweep_kills KVCAST. Prints a line for each kill, as scenarios/torture/torture.sh
 * reads it. */
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/torture/moment.h"
#include "scenarios/torture/subject.h"

enum { POINTS = 200, KILLS = 50, WHY_BYTES = 400 };

static const double LIMIT_S = 240,
                    GRACE_S = 5; /* Limit of a sweep; time for children to notice their parent's end. */

static char folder[PATH_MAX], kvcast[PATH_MAX];

static void shell(const char *command)
{
    if (system(command) != 0) {
        fprintf(stderr, "failed in %s: %s\n", folder, command);
        exit(1);
    }
}

/* Starts the sweep into a subfolder. */
static pid_t start(const char *name)
{
    char *const command[] = {kvcast, "sweep", "sweep.lua", "--quiet", "--out", (char *)name, NULL};
    return kvc_subject_start(NULL, "log", command);
}

/* Writes into `why` what is wrong with a sweep that should end by itself. Returns how long it took [s]. */
static double let_end(pid_t subject, char *why)
{
    struct kvc_subject_end end;
    kvc_subject_wait(subject, LIMIT_S, &end);
    if (end.timed_out || !WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0) {
        snprintf(why, WHY_BYTES, "the resumed sweep ends with wait status %#x", end.status);
    }
    return end.seconds;
}

/* Runs a query over both databases, which returns one number. */
static int query(const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    int found = -1;
    if (sqlite3_open("calm/sweep.sqlite", &sqlite) == SQLITE_OK &&
        sqlite3_exec(sqlite, "ATTACH 'killed/sweep.sqlite' AS killed", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK) {
        found = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
        sqlite3_finalize(statement);
    }
    sqlite3_close(sqlite);
    return found;
}

/* Writes into `why` how the killed sweep differs from the undisturbed one. Whatever depends on the wall clock
 * stands under `simulation`. */
static void compare(char *why)
{
    static const struct {
        const char *sql;
        int expected;
    } queries[] = {
        {"SELECT count(*) FROM killed.points", POINTS},
        {"SELECT count(DISTINCT point) FROM killed.points", POINTS},
        {"SELECT count(*) FROM (SELECT * FROM main.points EXCEPT SELECT * FROM killed.points)", 0},
        {"SELECT count(*) FROM (SELECT * FROM main.metrics EXCEPT SELECT * FROM killed.metrics)", 0},
        {"SELECT count(*) FROM killed.documents JOIN main.documents USING (point) WHERE"
         " json_remove(killed.documents.document, '$.simulation') ="
         " json_remove(main.documents.document, '$.simulation')",
         POINTS},
    };
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        int found = query(queries[i].sql);
        if (found != queries[i].expected) {
            snprintf(why, WHY_BYTES, "%s: found %d, expected %d", queries[i].sql, found, queries[i].expected);
        }
    }
    if (system("diff -r calm killed --exclude='sweep.sqlite*' >/dev/null") != 0) {
        snprintf(why, WHY_BYTES, "sweep.csv differs, or other files are left");
    }
}

/* Kills the sweep at a random moment, and writes when into `done_s`. Returns whether it was killed before its
 * end. */
static bool kill_once(const struct kvc_life *whole, struct kvc_rng *rng, double *done_s, char *why)
{
    struct kvc_moment moment = {.seconds = kvc_rng_unit(rng) * whole->seconds / 8};
    struct kvc_subject_end end;
    struct kvc_life seen;
    bool whole_group = kvc_rng_below(rng, 2) == 0;
    int watch = kvc_moment_watch(".");
    pid_t subject = start("killed");
    kvc_moment_wait(watch, subject, &moment, &seen);
    kill(whole_group ? -subject : subject, SIGKILL);
    kvc_subject_wait(subject, LIMIT_S, &end);
    close(watch);
    if (kvc_subject_left_children(subject, GRACE_S)) {
        snprintf(why, WHY_BYTES, "a child lives on");
    }
    if (!WIFSIGNALED(end.status) && WEXITSTATUS(end.status) != 0) {
        snprintf(why, WHY_BYTES, "a resumed sweep ends with status %d", WEXITSTATUS(end.status));
    }
    *done_s = seen.seconds;
    return WIFSIGNALED(end.status);
}

/* Starts a sweep, kills and resumes it until it ends or has been killed `most` times, and prints how each
 * kill went. Returns the kills. */
static int torture_one(const struct kvc_life *whole, int number, int most, struct kvc_rng *rng)
{
    double done_s[KILLS];
    char why[WHY_BYTES] = "";
    int kills = 0;
    shell("rm -rf killed");
    while (kills < most && kill_once(whole, rng, &done_s[kills], why)) {
        kills++;
    }
    let_end(start("killed"), why);
    compare(why);
    for (int i = 0; i < kills; i++) {
        printf("kill -9 of a sweep | kill %d after %.3f s | %s%s\n", number + i, done_s[i],
               why[0] != '\0' ? "FAILED " : "survived", why);
    }
    fflush(stdout);
    return kills;
}

static void enter(const char *program)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/kvcast-kill-XXXXXX", parent != NULL ? parent : "/tmp");
    if (realpath(program, kvcast) == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(program);
        exit(1);
    }
    shell("cat >sweep.lua <<'END'\n"
          "return { system = { kind = 'rdma' },\n"
          "  workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.1 } },\n"
          "  run = { warmup = '10us', duration = '200us', bottleneck = 'utilization' },\n"
          "  sweep = { ['run.seed'] = { from = 1, to = 50, steps = 50, whole = true },\n"
          "    ['workload.arrival.poisson_mops'] = { 0.1, 0.2, 0.4, 0.8 } } }\n"
          "END");
}

int main(int argc, char **argv)
{
    struct kvc_life whole = {0};
    struct kvc_rng rng;
    char why[WHY_BYTES] = "";
    if (argc != 2) {
        fputs("usage: sweep_kills KVCAST\n", stderr);
        return 2;
    }
    enter(argv[1]);
    whole.seconds = let_end(start("calm"), why);
    if (why[0] != '\0') {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    kvc_rng_init(&rng, 1, "kills", 0);
    for (int kills = 0; kills < KILLS;) { /* A sweep that ends too early is followed by another one. */
        kills += torture_one(&whole, kills + 1, KILLS - kills, &rng);
    }
    char command[PATH_MAX + 16];
    snprintf(command, sizeof(command), "cd / && rm -rf %s", folder);
    shell(command);
    return 0;
}
