/* The registry of all CPU indexes: a new index is added here. Outside the folders of the stores, only this
 * file and index_kinds_cuda.c name them, on purpose. */
#include "kernels/index_kinds.h"

#include "kernels/baselines/farm.h"
#include "kernels/baselines/memc3.h"
#include "kernels/bluecache/index.h"
#include "kernels/kvdirect/table.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/memcachedgpu/chained.h"
#include "kernels/memcachedgpu/hopscotch.h"
#include "kernels/memcachedgpu/set_assoc.h"
#include "kernels/mica/mica.h"

const struct kvc_index_kind *const kvc_index_kinds[] = {
    &kvc_megakv_cuckoo_kind,
    &kvc_bluecache_kind,
    &kvc_megakv_cuckoo_interleaved_kind,
    &kvc_set_assoc_kind,
    &kvc_kvdirect_table_kind,
    &kvc_mica_kind,
    &kvc_hopscotch_kind,
    &kvc_chained_kind,
    &kvc_memc3_kind,
    &kvc_farm_kind,
    NULL,
};
