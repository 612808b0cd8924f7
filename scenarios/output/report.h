/* A report: an outcome with the command and the scenario that led to it. json.h and table.h write it. */
#ifndef KVC_SCENARIOS_OUTPUT_REPORT_H
#define KVC_SCENARIOS_OUTPUT_REPORT_H

#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"
#include "scenarios/output/sensitivity.h"

struct kvc_report {
    const char *command;      /* "run", "predict" or "measure". */
    const char *command_line; /* Repeats the result; without jobs and output files. */
    const struct kvc_loaded *loaded;
    const struct kvc_outcome *outcome;
    const struct kvc_sensitivity *sensitivity; /* NULL: not asked for. */
};

#endif
