/** @file
 * The writer of a trace's twin (sim/workload/trace/twin.h). It reads the requests of the trace as its profile
 * sees them (sim/workload/trace/profile.h): of a long trace, those of a sample of the keys. */
#ifndef KVC_SIM_WORKLOAD_TRACE_TWIN_WRITER_H
#define KVC_SIM_WORKLOAD_TRACE_TWIN_WRITER_H

#include <stdio.h>

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/workload/trace/profile.h"

/** Writes the twin of a trace whose profile has been read. The trace is read once more. Returns
 * KVC_ERR_SCENARIO if it cannot be read. `progress` and `diag` may be NULL. */
enum kvc_status kvc_twin_write(const char *path, const struct kvc_trace_profile *profile, FILE *out,
                               const struct kvc_progress *progress, struct kvc_diag *diag);

#endif
