/* kvcast: the table of sub-commands and the choice of one. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/cli/command.h"
#include "scenarios/cli/manual.h"
#include "scenarios/load/profile_cache.h"
#include "scenarios/run/ranks/ranks.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/base/version.h"

static const struct kvc_command commands[] = {
    {"new", "write a first scenario for a store, its machine and its load", kvc_command_new, KVC_RANKS_FIRST},
    {"run", "simulate a scenario", kvc_command_run, KVC_RANKS_SHARED},
    {"predict", "evaluate the closed form of a scenario", kvc_command_predict, KVC_RANKS_FIRST},
    {"capacity", "find the highest load that a store serves, and the latency over the load",
     kvc_command_capacity, KVC_RANKS_SHARED},
    {"sweep", "run every point of a scenario's sweep table", kvc_command_sweep, KVC_RANKS_SHARED},
    {"plan", "find the cheapest, least-power or smallest configuration that meets an slo", kvc_command_plan,
     KVC_RANKS_SHARED},
    {"day", "say what 24 hours need: energy, cost, and the worst window", kvc_command_day, KVC_RANKS_FIRST},
    {"check", "check a scenario without running it", kvc_command_check, KVC_RANKS_FIRST},
    {"compare", "put results side by side, with the parameters that differ", kvc_command_compare,
     KVC_RANKS_FIRST},
    {"why", "say what binds, what would relieve it, and where requests spend their time", kvc_command_why,
     KVC_RANKS_FIRST},
    {"export", "write answers as a table, CSV or SQLite, with units", kvc_command_export, KVC_RANKS_FIRST},
    {"report", "write an answer as one page of HTML", kvc_command_report, KVC_RANKS_FIRST},
    {"trace", "describe a trace: requests, popularity, reuse, and misses over the size of a cache",
     kvc_command_trace, KVC_RANKS_FIRST},
    {"plot", "draw results", kvc_command_plot, KVC_RANKS_FIRST},
    {"validate", "compare predictions with published and measured values", kvc_command_validate,
     KVC_RANKS_FIRST},
    {"measure", "run the store's real pipeline on this machine", kvc_command_measure, KVC_RANKS_NONE},
    {"calibrate", "measure this machine and write a hardware profile", kvc_command_calibrate, KVC_RANKS_NONE},
    {"list", "list systems, hardware, workload presets and scenarios", kvc_command_list, KVC_RANKS_FIRST},
    {"describe", "describe one of them, or an option: unit, range, default, source", kvc_command_describe,
     KVC_RANKS_FIRST},
    {"doctor", "say what this machine can do, and what is missing", kvc_command_doctor, KVC_RANKS_FIRST},
};

enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static int report_unknown(const char *name)
{
    const char *names[COMMANDS + 1];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
    }
    names[COMMANDS] = NULL;
    const char *nearest = kvc_nearest_name(name, names);
    struct kvc_diag diag = {0};
    kvc_diag_fail(&diag, KVC_ERR_SCENARIO, "kvcast: unknown command \"%s\"%s%s%s; see kvcast --help", name,
                  nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "\"?" : "");
    kvc_diag_print(&diag, stderr);
    fputc('\n', stderr);
    return KVC_ERR_SCENARIO;
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0 || strcmp(text, "help") == 0;
}

/* Prints the program's page in a format; in Markdown, the reference follows it. */
static int print_manual(const char *format)
{
    int status = kvc_manual_print_program(commands, COMMANDS, format);
    return status == KVC_OK && strcmp(format, "markdown") == 0 ? kvc_reference_print(stdout) : status;
}

/* Turns success into a failure if stdout could not be written. A command that failed has printed its message.
 */
static int finish(int status)
{
    errno = 0;
    bool failed = ferror(stdout) != 0;
    failed |= fclose(stdout) != 0;
    if (!failed || status == KVC_ERR_SCENARIO || status == KVC_ERR_RUNTIME) {
        return status;
    }
    fprintf(stderr, "kvcast: stdout cannot be written%s%s\n", errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return KVC_ERR_RUNTIME;
}

/* Allocates for Jansson, which would return NULL when memory is short, so that a document would silently lack
 * a value. */
static void *allocate_json(size_t bytes)
{
    return kvc_array_of(1, bytes);
}

/* Returns whether the folder of KVCAST_DATA exists. Without this check, a typo in it would look like a
 * library without hardware. */
static bool has_data(void)
{
    const char *chosen = getenv("KVCAST_DATA");
    struct stat found;
    if (chosen == NULL || chosen[0] == '\0' || (stat(chosen, &found) == 0 && S_ISDIR(found.st_mode))) {
        return true;
    }
    fprintf(stderr, "kvcast: KVCAST_DATA: found \"%s\", allowed: a folder with the data of kvcast\n", chosen);
    return false;
}

static int run_command(const struct kvc_command *command, int argc, char **argv)
{
    int status;
    return kvc_ranks_run_here(command->ranks, command->name, &status) ? finish(command->function(argc, argv))
                                                                      : status;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        kvc_manual_print_help(commands, COMMANDS, stderr);
        return KVC_ERR_SCENARIO;
    }
    if (is_help(argv[1])) {
        kvc_manual_print_help(commands, COMMANDS, stdout);
        return finish(KVC_OK);
    }
    if (strncmp(argv[1], "--help=", 7) == 0) {
        return finish(print_manual(argv[1] + 7));
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("kvcast %s\n", kvc_version);
        return finish(KVC_OK);
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return has_data() ? run_command(&commands[i], argc - 1, argv + 1) : KVC_ERR_SCENARIO;
        }
    }
    return report_unknown(argv[1]);
}

/* Makes sure that no file gets the descriptor of stdin, stdout or stderr when the caller closed them: what is
 * printed would get into that file. What is opened instead fails like a closed descriptor. */
static void reserve_standard_descriptors(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i) {
            _exit(KVC_ERR_RUNTIME);
        }
    }
}

int main(int argc, char **argv)
{
    reserve_standard_descriptors();
    signal(SIGPIPE, SIG_DFL); /* A pipe into `head` ends without a message, whatever started this program. */
    signal(SIGXFSZ, SIG_IGN); /* A limit of the size of files is reported like a full disk. */
    json_set_alloc_funcs(allocate_json, free);
    enum kvc_status status = kvc_ranks_start();
    int exit_status = kvc_ranks_stop(status == KVC_OK ? run(argc, argv) : (int)status);
    kvc_profile_cache_clear();
    return exit_status;
}
