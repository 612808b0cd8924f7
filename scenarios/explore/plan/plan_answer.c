#include "scenarios/explore/plan/plan_answer.h"

#include "scenarios/explore/plan/plan_report.h"
#include "scenarios/run/answer_files.h"
#include "scenarios/run/ranks.h"

enum { COMMAND_LINE_MAX = 4096 };

static void write_command_line(const struct kvc_plan_options *options, char *text, size_t size)
{
    snprintf(text, size, "kvcast plan %s%s%s", options->path, options->exhaustive ? " --exhaustive" : "",
             options->headroom ? " --headroom" : "");
    kvc_overrides_append(options->set, text, size);
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    return kvc_plan_write_json(report, out, diag);
}

static void write_csv(const void *report, FILE *out)
{
    kvc_plan_write_csv(((const struct kvc_plan_report *)report)->planned, out);
}

static void write_table(const void *report, bool color, FILE *out)
{
    kvc_plan_write_table(report, color, out);
}

enum kvc_status kvc_plan_answer_write(const struct kvc_plan_output *output, FILE *out, bool *is_met,
                                      char *why, size_t why_size, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct kvc_answer_files files;
    struct kvc_planned planned = {.goal_count = 0};
    const struct kvc_plan_report report = {
        .command_line = command_line, .loaded = output->options.loaded, .planned = &planned};
    const struct kvc_answer_forms forms = {&report, write_json, write_csv, write_table, output->color};
    write_command_line(&output->options, command_line, sizeof(command_line));
    enum kvc_status status =
        kvc_ranks_agree(kvc_answer_files_open(&files, output->out, "plan", output->json, diag), diag);
    if (status == KVC_OK) {
        status = kvc_plan_make(&output->options, &planned, diag);
    }
    if (status == KVC_OK) {
        status = kvc_answer_files_write(&files, &forms, out, diag);
    }
    if (status == KVC_OK) {
        *is_met = planned.search.chosen >= 0;
        why[0] = '\0';
        if (!*is_met) {
            kvc_plan_explain(&planned, why, why_size);
        }
    }
    kvc_answer_files_discard(&files);
    kvc_planned_free(&planned);
    return status;
}

enum kvc_status kvc_plan_draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "pareto", KVC_PLOT_PARETO, folder, diag);
}
