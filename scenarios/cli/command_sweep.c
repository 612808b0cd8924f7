/* kvcast sweep: answers every point of a scenario's sweep table. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/explore/sweep/sweep.h"

enum { FLAG_PREDICT, FLAG_RESTART, FLAG_CSV };

static const struct kvc_flag flags[] = {
    [FLAG_PREDICT] = {"--predict", NULL, NULL,
                      "evaluate the closed form of every point instead of simulating it"},
    [FLAG_RESTART] = {"--restart", NULL, NULL, "replace the database that is in DIR, whatever it holds"},
    [FLAG_CSV] = {"--csv", NULL, "FILE", "write the table to this file, too"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "sweep",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Answers every point of the scenario's sweep table, on all processors, and keeps the answers in the\n"
        "SQLite database DIR/sweep.sqlite as they complete. At the end, or when it is interrupted,\n"
        "DIR/sweep.csv has a row for each finished point. The same command then goes on with the others; a folder\n"
        "with another sweep is refused.\n"
        "--out is required. docs/exploring.md describes the points that a sweep can have.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

static enum kvc_status sweep(const struct kvc_arguments *arguments, struct kvc_sweep_done *done,
                             struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_sweep_options task = {
        .path = arguments->positional[0],
        .set = &arguments->set,
        .load = kvc_scenario_load,
        .load_point = kvc_scenario_load_point,
        .folder = arguments->out,
        .predict = arguments->flag[FLAG_PREDICT] != NULL,
        .restart = arguments->flag[FLAG_RESTART] != NULL,
        .jobs = arguments->jobs,
        .csv = arguments->flag[FLAG_CSV],
        .json = arguments->json,
        .out = stdout,
        .progress = kvc_progress_bar_open(&bar, arguments->quiet),
    };
    enum kvc_status status = kvc_sweep_run(&task, done, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

/* Warns that damaged points were run again, even after a failure. */
static void tell_damage(const struct kvc_arguments *arguments, const struct kvc_sweep_done *done)
{
    const struct kvc_database_damage *damage = &done->damage;
    struct kvc_diag warning = {0};
    char file[sizeof(warning.file)];
    if (damage->points == 0) {
        return;
    }
    snprintf(file, sizeof(file), "%.200s/sweep.sqlite", arguments->out);
    kvc_diag_fail_at(&warning, KVC_ERR_SCENARIO, file, 0, "%u %s damaged and therefore run again; %s",
                     damage->points, damage->points == 1 ? "point was" : "points were", damage->first);
    kvc_print_warning(&warning);
}

/* Prints the summary, unless the document goes to stdout. */
static void print_summary(const struct kvc_arguments *arguments, const struct kvc_sweep_done *done)
{
    if (arguments->json != NULL && strcmp(arguments->json, "-") == 0) {
        return;
    }
    printf("%u points (%u kept from before): %s/sweep.csv\n", done->points, done->kept, arguments->out);
    kvc_best_write(&done->best, done->best_values, stdout);
    if (done->best.judged) {
        printf("slo: %u of %u points meet it\n", done->best.candidates, done->points);
    }
    kvc_accuracy_write_line(&done->kind, "", "", stdout);
}

/* Returns whether a table would be written over the database. */
static bool is_database(const struct kvc_arguments *arguments, const char *file)
{
    char database[PATH_MAX];
    struct stat found, other;
    if (file == NULL || snprintf(database, sizeof(database), "%s/sweep.sqlite", arguments->out) >= PATH_MAX) {
        return false;
    }
    return strcmp(file, database) == 0 || (stat(file, &found) == 0 && stat(database, &other) == 0 &&
                                           found.st_dev == other.st_dev && found.st_ino == other.st_ino);
}

int kvc_command_sweep(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_sweep_done done;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = KVC_OK;
    if (arguments.out == NULL) {
        status = kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                               "sweep: --out DIR is missing; it names the folder for the results");
    } else if (is_database(&arguments, arguments.json) || is_database(&arguments, arguments.flag[FLAG_CSV])) {
        status =
            kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                          "sweep: found the database of the sweep as a file to write, allowed: another file");
    } else {
        status = sweep(&arguments, &done, &diag);
        tell_damage(&arguments, &done);
    }
    if (status == KVC_OK) {
        print_summary(&arguments, &done);
    }
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
