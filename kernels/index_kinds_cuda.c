/* The registry of all GPU indexes: a new index is added here. Outside the folders of the stores, only this
 * file and index_kinds.c name them, on purpose. */
#include "kernels/index_kinds.h"

#include "kernels/megakv/cuckoo_cuda.h"
#include "kernels/memcachedgpu/set_assoc_cuda.h"
#include "kernels/memcachedgpu/tables_cuda.h"

const struct kvc_index_kind *const kvc_cuda_index_kinds[] = {
    &kvc_megakv_cuckoo_cuda_kind, &kvc_megakv_cuckoo_interleaved_cuda_kind,
    &kvc_set_assoc_cuda_kind,     &kvc_hopscotch_cuda_kind,
    &kvc_chained_cuda_kind,       NULL,
};
