/* kvcast measure --against: two stores measured in pairs. */
#include <string.h>

#include "models/measured/pair.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/command_answer.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/compared/pair.h"
#include "scenarios/run/driver.h"

/* Loads the other store: a scenario with the user's overrides, or the first one with more changes. */
static enum kvc_status load_other(const struct kvc_arguments *arguments, const char *against,
                                  struct kvc_loaded **other, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    bool is_scenario = kvc_command_is_scenario(against) && strchr(against, '=') == NULL;
    enum kvc_status status = kvc_overrides_join(&set, &arguments->set, diag);
    if (status == KVC_OK && !is_scenario) {
        if (strchr(against, '=') == NULL) {
            status =
                kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                              "measure: --against: found \"%.100s\", allowed: a file that ends in .lua, or "
                              "changes PATH=VALUE that semicolons separate",
                              against);
        } else {
            status = kvc_overrides_parse_list(&set, against, diag);
        }
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load(is_scenario ? against : arguments->positional[0], &set, other, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

static enum kvc_status measure(const struct kvc_arguments *arguments,
                               const struct kvc_loaded *const loaded[2], uint32_t pairs,
                               struct kvc_diag *diag)
{
    const struct kvc_scenario *const scenario[2] = {&loaded[0]->scenario, &loaded[1]->scenario};
    struct kvc_answer_files files;
    struct kvc_progress_bar bar;
    struct kvc_pair_result result;
    enum kvc_status status = kvc_answer_files_open(&files, arguments->out, "pair", arguments->json, diag);
    if (status == KVC_OK) {
        struct kvc_run_options options = {.progress = kvc_progress_bar_open(&bar, arguments->quiet)};
        status = kvc_driver_measure_pair(scenario, pairs, &options, &result, diag);
        kvc_progress_bar_close(&bar);
    }
    if (status == KVC_OK) {
        json_t *document = kvc_pair_json(loaded, &result);
        const struct kvc_document_forms forms = {document, "pair", kvc_pair_write_csv, kvc_pair_write_table};
        status = kvc_command_write(&files, &forms, diag);
        json_decref(document);
    }
    kvc_answer_files_discard(&files);
    return status;
}

enum kvc_status kvc_command_pair(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                                 const char *against, const char *pairs, struct kvc_diag *diag)
{
    uint32_t count = KVC_PAIRS_DEFAULT;
    struct kvc_loaded *other = NULL;
    enum kvc_status status =
        kvc_arguments_whole("measure", "--pairs", pairs, KVC_PAIRS_LEAST, KVC_PAIRS_MAX, &count, diag);
    if (status == KVC_OK && against == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "measure: --pairs counts the turns of --against, which is missing");
    }
    if (status == KVC_OK) {
        status = load_other(arguments, against, &other, diag);
    }
    if (status == KVC_OK && !arguments->quiet) {
        kvc_print_warnings(other);
    }
    if (status == KVC_OK) {
        status = measure(arguments, (const struct kvc_loaded *const[2]){loaded, other}, count, diag);
    }
    kvc_loaded_free(other);
    return status;
}
