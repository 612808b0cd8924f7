/* The options of a run, whatever drives it. */
#ifndef KVC_SCENARIOS_RUN_OPTIONS_H
#define KVC_SCENARIOS_RUN_OPTIONS_H

#include <stdint.h>

#include "sim/base/files/partial_file.h"
#include "sim/base/progress.h"

struct kvc_run_options {
    uint32_t jobs;                       /* Children at a time; 0: as many as processors and memory allow. */
    double available_bytes;              /* Memory that the run may use; 0: all that is free [bytes]. */
    struct kvc_partial_file *timeline;   /* File for the timeline of replica 0 (of its node 0), or NULL. */
    struct kvc_partial_file *platform;   /* File for the SimGrid platform of replica 0 (likewise), or NULL. */
    const struct kvc_progress *progress; /* May be NULL. */
};

#endif
