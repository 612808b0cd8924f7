/** @file
 * The message about a run that would take too long.
 *
 * A run's wall-clock time is taken to grow with its simulated time, that is, warm-up and measured time
 * together. */
#ifndef KVC_SIM_RUN_TOO_LONG_H
#define KVC_SIM_RUN_TOO_LONG_H

#include "sim/base/diag.h"

/** Refuses a run that needs `needed_s` of wall-clock time where `limit_s` are allowed [s]. `what` begins the
 * sentence, such as "the run needs at least".
 *
 * The message names the longer one of run.warmup and run.duration [ns] and the value with which the run would
 * fit. A warm-up below 0 ends by itself. Returns KVC_ERR_SCENARIO, without a place in a file. */
enum kvc_status kvc_run_too_long(double warmup_ns, double duration_ns, const char *what, double needed_s,
                                 double limit_s, struct kvc_diag *diag);

#endif
