#include "scenarios/run/capacity_answer.h"

#include "scenarios/run/answer_files.h"
#include "scenarios/run/ranks.h"

enum { COMMAND_LINE_MAX = 4096 };

/* Writes the command that repeats the result. Bounds that the user did not give have their defaults. */
static void write_command_line(const struct kvc_capacity_task *task, char *text, size_t size)
{
    const struct kvc_capacity_bounds *bounds = &task->options.bounds;
    size_t length = (size_t)snprintf(text, size, "kvcast capacity %s --loss %g --precision %g", task->path,
                                     bounds->loss_frac, bounds->precision_frac);
    if (bounds->bounds_latency && length < size) {
        snprintf(text + length, size - length, " --latency %s=%.12gus",
                 kvc_capacity_latency_names[bounds->latency], bounds->latency_us);
    }
    kvc_overrides_append(task->set, text, size);
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    return kvc_capacity_write_json(report, out, diag);
}

static void write_csv(const void *report, FILE *out)
{
    kvc_capacity_write_csv(((const struct kvc_capacity_report *)report)->capacity, out);
}

static void write_table(const void *report, bool color, FILE *out)
{
    kvc_capacity_write_table(report, color, out);
}

enum kvc_status kvc_capacity_answer(const struct kvc_capacity_task *task, FILE *out, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    struct kvc_answer_files files;
    struct kvc_capacity capacity = {.count = 0};
    const struct kvc_capacity_report report = {
        .command_line = command_line, .loaded = task->loaded, .capacity = &capacity};
    const struct kvc_answer_forms forms = {&report, write_json, write_csv, write_table, task->color};
    write_command_line(task, command_line, sizeof(command_line));
    enum kvc_status status =
        kvc_ranks_agree(kvc_answer_files_open(&files, task->out, "capacity", task->json, diag), diag);
    if (status == KVC_OK) {
        status = kvc_capacity_find(task->loaded, &task->options, &capacity, diag);
    }
    if (status == KVC_OK) {
        status = kvc_answer_files_write(&files, &forms, out, diag);
    }
    kvc_answer_files_discard(&files);
    kvc_capacity_free(&capacity);
    return status;
}

enum kvc_status kvc_capacity_draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "capacity", KVC_PLOT_CAPACITY, folder, diag);
}
