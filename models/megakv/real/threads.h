/* The threads of a real Mega-KV node: one for each core, pinned to it, which runs the tasks of that core in
 * turn. */
#ifndef KVC_MODELS_MEGAKV_REAL_THREADS_H
#define KVC_MODELS_MEGAKV_REAL_THREADS_H

#include "models/megakv/real/windows.h"
#include "sim/base/progress.h"

/* Returns the number of cores that the scenario's threads need. */
uint32_t kvc_megakv_real_threads_cores(const struct kvc_scenario *scenario);

/* Runs the node's tasks on the first cores of the process, laid out as system.threads says, and watches them
 * by window, until enough windows are quiet or there is no room for more. Returns KVC_ERR_RUNTIME if a thread
 * cannot be started or memory is short. */
enum kvc_status kvc_megakv_real_threads_run(struct kvc_megakv_real_node *node,
                                            const struct kvc_scenario *scenario,
                                            const struct kvc_progress *progress,
                                            struct kvc_megakv_real_windows *windows, struct kvc_diag *diag);

#endif
