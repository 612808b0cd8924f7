/* The structures of a composed store: what they need of the machine and of the workload. */
#ifndef KVC_MODELS_COMPOSED_CHECK_STRUCTURES_H
#define KVC_MODELS_COMPOSED_CHECK_STRUCTURES_H

#include <stddef.h>

#include "models/composed/config.h"

/* Checks values that the index holds, and options of those that it does not. */
enum kvc_status kvc_composed_check_pairs(const struct kvc_composed_config *config,
                                         const struct kvc_workload *workload, struct kvc_diag *diag);

/* Checks the kernels, options and memories of index, values and hot tier. */
enum kvc_status kvc_composed_check_structures(const struct kvc_composed_config *config,
                                              const struct kvc_workload *workload, struct kvc_diag *diag);

/* The warning of struct kvc_model: hardware, stages and options without use, and values that nobody
 * stores. */
const char *kvc_composed_warning(const struct kvc_scenario *scenario, char *text, size_t size);

#endif
