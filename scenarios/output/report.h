/* An answer and everything that has to be known to read it: what json.h and table.h write. */
#ifndef KVC_SCENARIOS_OUTPUT_REPORT_H
#define KVC_SCENARIOS_OUTPUT_REPORT_H

#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"

struct kvc_report {
    const char *command;      /* "run", "predict" */
    const char *command_line; /* what gives the same answer again: jobs and output files left out */
    const struct kvc_loaded *loaded;
    const struct kvc_outcome *outcome;
};

#endif
