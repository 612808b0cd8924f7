/* kvcast compare: results side by side. */
#include <limits.h>
#include <stdlib.h>

#include "plots/document.h"
#include "plots/plot.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/compared/compare.h"
#include "scenarios/run/answer.h"
#include "sim/base/array.h"

/* What is compared. */
struct comparing {
    const struct kvc_arguments *arguments;
    bool checks; /* Only check what can be checked before anything is run. */
    uint32_t count;
    struct kvc_compared result[KVC_COMPARED_MAX];
    json_t *document[KVC_COMPARED_MAX];
    char name[KVC_COMPARED_MAX][256];
    char source[KVC_COMPARED_MAX][PATH_MAX]; /* Where the picture finds the result. */
};

/* Runs a loaded scenario and returns its document. Also writes the files into `folder`, unless that is empty.
 */
static enum kvc_status run_loaded(const struct comparing *comparing, const struct kvc_loaded *loaded,
                                  const char *path, const struct kvc_overrides *set, const char *folder,
                                  json_t **document, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a result");
    }
    const struct kvc_answer_options task = {
        .loaded = loaded,
        .path = path,
        .set = set,
        .by = KVC_ANSWER_BY_RUN,
        .jobs = comparing->arguments->jobs,
        .out = folder[0] != '\0' ? folder : NULL,
        .json = "-",
        .keeps = !comparing->arguments->is_forced,
        .progress = kvc_progress_bar_open(&bar, comparing->arguments->quiet),
    };
    enum kvc_status status = kvc_answer(&task, out, diag);
    kvc_progress_bar_close(&bar);
    fclose(out);
    *document = status == KVC_OK ? json_loads(text, 0, NULL) : NULL;
    if (status == KVC_OK && *document == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a result");
    }
    free(text);
    return status;
}

/* Loads a scenario with changes, and runs it unless it is only checked. */
static enum kvc_status run_scenario(const struct comparing *comparing, const char *path,
                                    const struct kvc_overrides *set, const char *folder, json_t **document,
                                    struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_scenario_load(path, set, &loaded, diag);
    if (status == KVC_OK && !comparing->checks) {
        status = run_loaded(comparing, loaded, path, set, folder, document, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status load_result(const char *path, json_t **document, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    enum kvc_status status = kvc_document_find(path, KVC_DOCUMENT_RESULT, file, diag);
    if (status == KVC_OK) {
        status = kvc_document_load(file, KVC_DOCUMENT_RESULT, document, diag);
    }
    return status == KVC_OK ? kvc_document_check_result(file, *document, diag) : status;
}

/* Adds a result, or a scenario that is run with `set`. */
static enum kvc_status add(struct comparing *comparing, const char *path, const struct kvc_overrides *set,
                           const char *name, struct kvc_diag *diag)
{
    uint32_t at = comparing->count++;
    const char *out = comparing->arguments->out;
    char *source = comparing->source[at];
    snprintf(comparing->name[at], sizeof(comparing->name[at]), "%s", name);
    enum kvc_status status;
    if (kvc_command_is_scenario(path)) {
        snprintf(source, PATH_MAX, "%.3000s%s%c", out != NULL ? out : "", out != NULL ? "/" : "",
                 'A' + (int)at);
        status =
            run_scenario(comparing, path, set, out != NULL ? source : "", &comparing->document[at], diag);
    } else {
        snprintf(source, PATH_MAX, "%.3000s", path);
        status = load_result(path, &comparing->document[at], diag);
    }
    comparing->result[at] = (struct kvc_compared){comparing->name[at], comparing->document[at]};
    return status;
}

/* Adds one scenario unchanged, and with each change alone. */
static enum kvc_status add_variants(struct comparing *comparing, struct kvc_diag *diag)
{
    const char *path = comparing->arguments->positional[0];
    const struct kvc_overrides none = {.count = 0}, *set = &comparing->arguments->set;
    enum kvc_status status = add(comparing, path, &none, path, diag);
    for (uint32_t i = 0; i < set->count && status == KVC_OK; i++) {
        struct kvc_overrides one = {.count = 0};
        char name[256];
        snprintf(name, sizeof(name), "%.100s=%.150s", set->entry[i].path, set->entry[i].value);
        status = kvc_overrides_add(&one, set->entry[i].path, set->entry[i].value, diag);
        if (status == KVC_OK) {
            status = add(comparing, path, &one, name, diag);
        }
        kvc_overrides_clear(&one);
    }
    return status;
}

static enum kvc_status add_all(struct comparing *comparing, struct kvc_diag *diag)
{
    const struct kvc_arguments *arguments = comparing->arguments;
    uint32_t count = (uint32_t)arguments->positional_count, sets = arguments->set.count;
    bool is_one = count == 1 && kvc_command_is_scenario(arguments->positional[0]);
    uint32_t results = is_one ? 1 + sets : count;
    if (results < 2 || results > KVC_COMPARED_MAX) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "compare: found %u result%s, allowed: 2 to %d results or scenarios, or one scenario "
            "with 1 to %d changes (--set)",
            results, results == 1 ? "" : "s", KVC_COMPARED_MAX, KVC_COMPARED_MAX - 1);
    }
    if (is_one) {
        return add_variants(comparing, diag);
    }
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        const char *path = arguments->positional[i];
        if (sets > 0 && !kvc_command_is_scenario(path)) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "compare: found --set beside \"%.100s\", which is a result; allowed: --set for "
                "scenarios, which are run",
                path);
        }
        status = add(comparing, path, &arguments->set, path, diag);
    }
    return status;
}

static void forget(struct comparing *comparing)
{
    for (uint32_t i = 0; i < comparing->count; i++) {
        json_decref(comparing->document[i]);
        comparing->document[i] = NULL;
    }
    comparing->count = 0;
}

/* Compares what the arguments name, and writes the answer. */
static enum kvc_status compare(struct comparing *comparing, struct kvc_diag *diag)
{
    const struct kvc_arguments *arguments = comparing->arguments;
    struct kvc_answer_files files;
    comparing->checks = true;
    enum kvc_status status = add_all(comparing, diag);
    forget(comparing);
    comparing->checks = false;
    if (status != KVC_OK) {
        return status;
    }
    status = kvc_answer_files_open(&files, arguments->out, "compare", arguments->json, diag);
    if (status == KVC_OK) {
        status = add_all(comparing, diag);
    }
    if (status == KVC_OK) {
        json_t *comparison = kvc_compare(comparing->result, comparing->count);
        const struct kvc_document_forms forms = {comparison, "comparison", kvc_compare_write_csv,
                                                 kvc_compare_write_table};
        status = kvc_command_write(&files, &forms, diag);
        json_decref(comparison);
    }
    kvc_answer_files_discard(&files);
    return status;
}

/* Draws the distributions of all results into the folder; those of predictions are unknown. */
static enum kvc_status draw(const struct comparing *comparing, struct kvc_diag *diag)
{
    const char *inputs[KVC_COMPARED_MAX];
    for (uint32_t i = 0; i < comparing->count; i++) {
        inputs[i] = comparing->source[i];
    }
    return kvc_command_drawn(kvc_answer_files_draw(comparing->arguments->out, "latency_cdf", KVC_PLOT_CDF,
                                                   inputs, (int)comparing->count, diag),
                             diag);
}

static const struct kvc_usage usage = {
    .command = "compare",
    .positional = "RESULT|SCENARIO.lua...",
    .positional_min = 1,
    .positional_max = KVC_COMPARED_MAX,
    .help =
        "Puts up to 8 results side by side: metrics with their intervals, how far each differs from that of the\n"
        "first result and whether that is more than chance, and the parameters that differ. RESULT is a folder\n"
        "that --out wrote, or its result.json. Scenarios are run first, each with every --set. A single scenario is\n"
        "run unchanged and once with each --set, and these variants are compared. --out writes compare.json, compare.csv, latency_cdf.svg, .pdf and .png, and the\n"
        "results of scenarios in folders A, B and so on.",
    .takes = KVC_TAKES_SET | KVC_TAKES_JOBS | KVC_TAKES_JSON | KVC_TAKES_OUT | KVC_TAKES_QUIET |
             KVC_TAKES_LONG | KVC_TAKES_FORCE,
};

int kvc_command_compare(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_command_begin(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    struct comparing *comparing = kvc_array_of(1, sizeof(*comparing));
    comparing->arguments = &arguments;
    enum kvc_status status = compare(comparing, &diag);
    if (status == KVC_OK && arguments.out != NULL) {
        status = draw(comparing, &diag);
    }
    forget(comparing);
    free(comparing);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
