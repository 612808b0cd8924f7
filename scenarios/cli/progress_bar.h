/* A progress bar on stderr with step, progress, rate and time left.
 *
 * It appears only on a terminal, and only when the work takes longer than a second. */
#ifndef KVC_SCENARIOS_CLI_PROGRESS_BAR_H
#define KVC_SCENARIOS_CLI_PROGRESS_BAR_H

#include <stdbool.h>

#include "models/model.h"

struct kvc_progress_bar {
    struct kvc_progress progress;
    double started_s, drawn_s;    /* Wall clock [s]. */
    double step_s, step_fraction; /* Wall clock [s] and progress at the start of the step. */
    char step[96];
    bool color, visible;
};

/* Returns the listener to pass on, or NULL when `quiet` is set or stderr is not a terminal. */
const struct kvc_progress *kvc_progress_bar_open(struct kvc_progress_bar *bar, bool quiet);

/* Erases the bar. */
void kvc_progress_bar_close(struct kvc_progress_bar *bar);

#endif
