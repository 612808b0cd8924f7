#include "models/registry.h"

#include <stddef.h>

#include "models/bluecache/bluecache.h"
#include "models/composed/composed.h"
#include "models/dido/dido.h"
#include "models/dido/config.h"
#include "models/kvdirect/kvdirect.h"
#include "models/megakv/cost_profile.h"
#include "models/megakv/megakv.h"
#include "models/megakv/config.h"
#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/memcachedgpu.h"
#include "models/memcached/cost_profile.h"
#include "models/memcached/memcached.h"
#include "models/rdma/rdma.h"
#include "sim/devices/cpu.h"
#include "sim/devices/database.h"
#include "sim/devices/dram.h"
#include "sim/devices/fabric.h"
#include "sim/devices/flash/flash.h"
#include "sim/devices/fpga.h"
#include "sim/devices/gpu.h"
#include "sim/devices/network.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/workload/presets.h"

/* clang-format off */
const struct kvc_model *const kvc_models[] = {
    &kvc_megakv_model,
    &kvc_memcachedgpu_model,
    &kvc_bluecache_model,
    &kvc_dido_model,
    &kvc_kvdirect_model,
    &kvc_rdma_model,
    &kvc_memcached_model,
    &kvc_memcached_mica_model,
    &kvc_memcached_fpga_model,
    &kvc_memcached_fatcache_model,
    &kvc_composed_model,
    NULL,
};

const struct kvc_device_kind *const kvc_device_kinds[] = {
    &kvc_card_cpu_kind,
    &kvc_card_dram_kind,
    &kvc_cpu_kind,
    &kvc_cxl_kind,
    &kvc_database_kind,
    &kvc_dram_kind,
    &kvc_fabric_kind,
    &kvc_flash_kind,
    &kvc_fpga_kind,
    &kvc_gpu_kind,
    &kvc_network_kind,
    &kvc_nic_kind,
    &kvc_pcie_kind,
    &kvc_megakv_cost_profile_kind,
    &kvc_memcachedgpu_cost_profile_kind,
    &kvc_memcached_cost_profile_kind,
    NULL,
};
/* clang-format on */

_Static_assert(sizeof(kvc_device_kinds) / sizeof(*kvc_device_kinds) - 1 <= KVC_DEVICE_KINDS_MAX,
               "the loader's lists of keys hold KVC_DEVICE_KINDS_MAX kinds");

const struct kvc_workload_preset *const kvc_workload_preset_lists[] = {
    kvc_megakv_presets, kvc_dido_presets, kvc_workload_presets, kvc_bg_presets, NULL,
};
