/* A progress bar on stderr: step, share, rate and time left. Only on a terminal, and only after a second. */
#ifndef KVC_SCENARIOS_CLI_PROGRESS_BAR_H
#define KVC_SCENARIOS_CLI_PROGRESS_BAR_H

#include <stdbool.h>

#include "models/model.h"

struct kvc_bar {
    struct kvc_progress progress;
    double started_s, drawn_s;    /* wall clock */
    double step_s, step_fraction; /* when and where the current step began */
    char step[48];
    bool color, visible;
};

/* The listener to hand down, or NULL where nobody would see it (no terminal, `quiet`). */
const struct kvc_progress *kvc_bar_open(struct kvc_bar *bar, bool quiet);

/* Wipes the bar. */
void kvc_bar_close(struct kvc_bar *bar);

#endif
