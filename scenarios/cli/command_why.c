/* kvcast why: what binds, what relieves it, and where requests spend their time. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "plots/document.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/why.h"
#include "scenarios/output/again.h"
#include "scenarios/run/answer.h"
#include "scenarios/run/driver.h"
#include "scenarios/run/gain.h"
#include "scenarios/run/limits.h"
#include "scenarios/run/pool.h"

enum { FLAG_PREDICT };

/* Fewer replicas hardly tell an interval of a latency. */
enum { REPLICAS_LEAST = 3 };

static const struct kvc_flag flags[] = {
    [FLAG_PREDICT] = {"--predict", NULL, NULL, "ask the closed form instead of simulating"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "why",
    .positional = "RESULT|SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Names the bottleneck, and says how throughput, mean latency and p99 latency would change if each resource\n"
        "were 5 % faster. It also says how long all requests and the slowest 1 % spend in each part of the store,\n"
        "unless a database is behind it. RESULT is a folder that --out wrote, or its result.json; the scenario is\n"
        "rebuilt from its parameters. kvcast simulates the scenario with at least 3 replicas, and again for each resource\n"
        "with the same seeds. The closed form answers instead for a result of kvcast predict, and with --predict.\n"
        "--out writes why.json, why.csv, critical.svg, .pdf and .png.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_QUIET | KVC_TAKES_LONG,
    .flags = flags,
};

/* What is asked. */
struct asking {
    const struct kvc_arguments *arguments;
    struct kvc_loaded *loaded;
    json_t *result; /* The result that it is about; NULL: a scenario. */
    bool predicts;
    char note[256];
};

/* Loads the scenario of a result. */
static enum kvc_status load_result(struct asking *asking, struct kvc_diag *diag)
{
    const struct kvc_arguments *arguments = asking->arguments;
    char file[PATH_MAX];
    enum kvc_status status = kvc_document_find(arguments->positional[0], KVC_DOCUMENT_RESULT, file, diag);
    if (status == KVC_OK) {
        status = kvc_document_load(file, KVC_DOCUMENT_RESULT, &asking->result, diag);
    }
    if (status == KVC_OK) {
        status = kvc_document_check_result(file, asking->result, diag);
    }
    if (status == KVC_OK) {
        status = kvc_again_load(file, asking->result, &arguments->set, &asking->loaded, diag);
    }
    const char *command = json_string_value(json_object_get(asking->result, "command"));
    asking->predicts |= command != NULL && strcmp(command, "predict") == 0;
    return status;
}

static enum kvc_status load(struct asking *asking, struct kvc_diag *diag)
{
    const char *path = asking->arguments->positional[0];
    enum kvc_status status = kvc_command_is_scenario(path)
                                 ? kvc_scenario_load(path, &asking->arguments->set, &asking->loaded, diag)
                                 : load_result(asking, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_run *run = &asking->loaded->scenario.run;
    run->replicas = run->replicas < REPLICAS_LEAST ? REPLICAS_LEAST : run->replicas;
    if (!asking->predicts) {
        double jobs = asking->arguments->jobs > 0 ? asking->arguments->jobs : kvc_pool_processors();
        double least_s = kvc_time_least_s(&asking->loaded->scenario) * ceil((double)run->replicas / jobs);
        status = kvc_time_plan(&asking->loaded->scenario, least_s, "the run", diag);
        status = status == KVC_OK ? kvc_memory_check(asking->loaded, path, &asking->arguments->set,
                                                     kvc_memory_available_bytes(), diag)
                                  : status;
    }
    return status;
}

/* Notes if the replicas that the result has come out otherwise now. */
static void compare(struct asking *asking, const struct kvc_outcome *outcome)
{
    const json_t *mops = json_object_get(asking->result, "throughput_mops"), *value;
    const char *command = json_string_value(json_object_get(asking->result, "command"));
    size_t i, differ = 0;
    if (asking->result == NULL || asking->arguments->set.count > 0) {
        return;
    }
    if (command != NULL && strcmp(command, "measure") == 0) {
        snprintf(asking->note, sizeof(asking->note),
                 "the result is a measurement of %.4g Mops; this is the simulation of its scenario",
                 kvc_document_number(mops, "mean"));
        return;
    }
    json_array_foreach(json_object_get(mops, "replicas"), i, value)
    {
        double now = i < outcome->replicas ? kvc_outcome_value(outcome, (uint32_t)i, "throughput_mops") : NAN;
        differ += !(fabs(json_number_value(value) - now) <= 1e-9 * fabs(now));
    }
    if (differ > 0) {
        snprintf(asking->note, sizeof(asking->note),
                 "the result was made by kvcast %.60s, and %zu of its replicas have another throughput now",
                 kvc_document_text(asking->result, "version"), differ);
    }
}

/* Answers the scenario, finds its reliefs, and returns the analysis, or NULL. */
static enum kvc_status analyse(struct asking *asking, json_t **why, struct kvc_diag *diag)
{
    const struct kvc_scenario *scenario = &asking->loaded->scenario;
    struct kvc_progress_bar bar;
    struct kvc_run_options options = {.jobs = asking->arguments->jobs};
    struct kvc_outcome *outcome = NULL;
    struct kvc_relief relief[KVC_GAINS_MAX];
    uint32_t count = 0;
    options.progress = kvc_progress_bar_open(&bar, asking->arguments->quiet);
    enum kvc_status status = asking->predicts ? kvc_driver_predict(scenario, &outcome, diag)
                                              : kvc_driver_run(scenario, &options, &outcome, diag);
    if (status == KVC_OK && !asking->predicts) {
        status = kvc_driver_judge(scenario, outcome, diag);
    }
    if (status == KVC_OK) {
        status =
            kvc_gain_relieve(scenario, asking->predicts ? NULL : &options, outcome, relief, &count, diag);
    }
    kvc_progress_bar_close(&bar);
    if (status == KVC_OK) {
        compare(asking, outcome);
        *why = kvc_why_json(&(struct kvc_why){
            .name = asking->arguments->positional[0],
            .loaded = asking->loaded,
            .outcome = outcome,
            .answer = asking->predicts ? KVC_ACCURACY_CLOSED_FORM : KVC_ACCURACY_SIMULATION,
            .count = count,
            .relief = relief,
            .note = asking->note[0] != '\0' ? asking->note : NULL,
        });
    }
    kvc_outcome_free(outcome);
    return status;
}

static enum kvc_status answer(struct asking *asking, struct kvc_diag *diag)
{
    struct kvc_answer_files files;
    json_t *why = NULL;
    enum kvc_status status = load(asking, diag);
    if (status != KVC_OK) {
        return status;
    }
    status = kvc_answer_files_open(&files, asking->arguments->out, "why", asking->arguments->json, diag);
    if (status == KVC_OK) {
        status = analyse(asking, &why, diag);
    }
    if (status == KVC_OK) {
        const struct kvc_document_forms forms = {why, "analysis", kvc_why_write_csv, kvc_why_write_table};
        status = kvc_command_write(&files, &forms, diag);
    }
    json_decref(why);
    kvc_answer_files_discard(&files);
    return status;
}

static enum kvc_status draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "critical", KVC_PLOT_CRITICAL, &folder, 1, diag);
}

int kvc_command_why(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    struct asking asking = {.arguments = &arguments, .predicts = arguments.flag[FLAG_PREDICT] != NULL};
    enum kvc_status status = answer(&asking, &diag);
    if (status == KVC_OK && arguments.out != NULL) {
        status = kvc_command_draw(draw, arguments.out, &diag);
    }
    json_decref(asking.result);
    kvc_loaded_free(asking.loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
