/* The commands that answer one scenario: they load it, find the answer, show it and write it to files. */
#include "scenarios/cli/command_answer.h"

#include <math.h>
#include <stdio.h>

#include "scenarios/cli/command_scenario.h"
#include "scenarios/cli/progress_bar.h"
#include "scenarios/output/table.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/ranks/ranks.h"
#include "scenarios/run/limits.h"

const struct kvc_flag kvc_answer_flags[] = {
    [KVC_ANSWER_FLAG_SENSITIVITY] =
        {"--sensitivity", NULL, NULL,
         "also find what faster hardware would gain, and how uncertain the answer is"},
    {0},
};

static enum kvc_status answer(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                              enum kvc_answer_by by, struct kvc_diag *diag)
{
    struct kvc_progress_bar bar;
    const struct kvc_answer_options task = {
        .loaded = loaded,
        .path = arguments->positional[0],
        .set = &arguments->set,
        .by = by,
        .jobs = arguments->jobs,
        .out = kvc_ranks_is_first() ? arguments->out : NULL,
        .json = kvc_ranks_is_first() ? arguments->json : NULL,
        .sensitivity =
            by != KVC_ANSWER_BY_MEASUREMENT && arguments->flag[KVC_ANSWER_FLAG_SENSITIVITY] != NULL,
        .color = kvc_table_color(stdout),
        .progress = kvc_progress_bar_open(&bar, arguments->quiet),
    };
    enum kvc_status status = kvc_answer(&task, stdout, diag);
    kvc_progress_bar_close(&bar);
    return status;
}

int kvc_command_answer(int argc, char **argv, const struct kvc_usage *usage, enum kvc_answer_by by)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, usage, &arguments, &exit_status)) {
        return exit_status;
    }
    if (arguments.is_long) {
        kvc_time_limit_set(INFINITY);
    }
    enum kvc_status status = kvc_command_load(KVC_OK, &arguments, &loaded, &diag);
    if (status == KVC_OK) {
        status = answer(&arguments, loaded, by, &diag);
    }
    if (status == KVC_OK && arguments.out != NULL && kvc_ranks_is_first() && by != KVC_ANSWER_BY_PREDICTION) {
        status = kvc_command_draw(kvc_answer_draw, arguments.out, &diag);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
