/* A picture of a store's pipeline: its stages in order with device, work, operations and utilization, the
 * batch in front of its stage, branches with their shares, and the structures that stages use.
 *
 * All of it comes from a result document: the member "pipeline" of stores that a scenario composes, or of
 * others the list of their stages alone. */
#ifndef KVC_PLOTS_PIPELINE_H
#define KVC_PLOTS_PIPELINE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/diag.h"

/* Writes the graph of a result for Graphviz's dot: from top to bottom, or, if wide, from left to right. The
 * path is that of the document, or of the folder that `kvcast run --out` wrote. KVC_ERR_SCENARIO if it cannot
 * be read or has no stages. */
enum kvc_status kvc_pipeline_extract(const char *path, bool wide, FILE *out, struct kvc_diag *diag);

#endif
