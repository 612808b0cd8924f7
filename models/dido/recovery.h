/* How long a store's throughput takes to recover after a change of the load, read off the windows of a run.
 *
 * The throughput of the last third of a phase is the one that the store recovers to. It has recovered at the
 * end of the last window before that third with less than 95 % of it. A change that no window notices counts
 * as recovered at once. Batches that end at once make the throughput of single windows rough, so the time is
 * an upper limit. */
#ifndef KVC_MODELS_DIDO_RECOVERY_H
#define KVC_MODELS_DIDO_RECOVERY_H

#include "sim/metrics/result.h"
#include "sim/workload/workload.h"

enum { KVC_DIDO_WINDOWS_OF_PHASE = 10 /* Windows of the shortest phase. */ };

/* Returns the mean over the phases that are within the measured time as a whole, which began at from_ns [us].
 * NaN: there is none, or the windows are not those that began with the run. */
double kvc_dido_recovery_us(const struct kvc_workload *workload, double from_ns,
                            const struct kvc_result *result);

#endif
