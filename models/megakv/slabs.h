/* How many slabs each size class of a whole store takes, for a sample of it. */
#ifndef KVC_MODELS_MEGAKV_SLABS_H
#define KVC_MODELS_MEGAKV_SLABS_H

#include "kernels/megakv/slab.h"
#include "sim/workload/workload.h"

/* Gives the classes of a sample the slabs that they take in one of `shards` whole stores while this is
 * filled, the least popular keys first. A class takes whole slabs, even if it fills only a part of them, and
 * a sample contains too few items of large classes to tell how many. Workloads with one size need no such
 * plan. Exits with status 3 if memory is short. */
void kvc_megakv_assign_slabs(struct kvc_megakv_slab *slab, const struct kvc_workload *workload,
                             uint32_t shards);

#endif
