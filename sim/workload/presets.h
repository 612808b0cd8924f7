/** @file
 * Named parts of workloads, such as the data sets of the papers and the operation mixes of YCSB.
 *
 * Key and value sizes megakv-a to megakv-d come from Mega-KV (VLDB J. 26(5), 2017, sec. 8.1), dido-k8 to
 * dido-k128 from DIDO (ICDE 2017, sec. V.A), the Facebook pools from Atikoglu et al. (SIGMETRICS 2012;
 * sim/workload/sizes.h), and the mixes ycsb-a to ycsb-c from YCSB (SoCC 2010). */
#ifndef KVC_SIM_WORKLOAD_PRESETS_H
#define KVC_SIM_WORKLOAD_PRESETS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/workload.h"

/** A named part of a workload. Several presets combine, for example a data set and an operation mix. */
struct kvc_workload_preset {
    const char *name;     /**< "megakv-a", "ycsb-b", "facebook-etc", ... */
    const char *source;   /**< The publication that its numbers come from. */
    bool has_sizes;       /**< The preset sets `sizes` and, if these are fixed, the two sizes below. */
    int sizes;            /**< enum kvc_size_set. */
    uint64_t key_bytes;   /**< Size of every key [bytes]. */
    uint64_t value_bytes; /**< Size of every value [bytes]. */
    bool has_mix;         /**< The preset sets the three shares below. */
    double get_frac;      /**< Share of GET requests, 0 to 1. */
    double set_frac;      /**< Share of SET requests, 0 to 1. */
    double delete_frac;   /**< Share of DELETE requests, 0 to 1. */
};

/** All presets. The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_workload_presets[];

/** Returns the preset `name`, or NULL if there is none. */
const struct kvc_workload_preset *kvc_workload_preset_find(const char *name);

/** Sets the fields that the preset `name` defines and leaves the others alone. An unknown name is an error
 * (KVC_ERR_SCENARIO) whose message suggests the nearest name. */
enum kvc_status kvc_workload_apply_preset(struct kvc_workload *workload, const char *name,
                                          struct kvc_diag *diag);

#endif
