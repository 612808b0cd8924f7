/* Checks that all ranks of a job (scenarios/run/ranks.h) answer the same question: their files may differ if
 * they do not come from one file system. */
#ifndef KVC_SCENARIOS_RUN_RANKS_CHECK_H
#define KVC_SCENARIOS_RUN_RANKS_CHECK_H

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

/* Fails on all ranks unless they loaded the same scenario: the file itself, every resolved value with its
 * source, which includes the hardware, and the trace that it names. All ranks call it. */
enum kvc_status kvc_ranks_check_loaded(const struct kvc_loaded *loaded, struct kvc_diag *diag);

#endif
