#include "models/memcached/memcached.h"

#include "models/memcached/config.h"
#include "models/memcached/machine.h"
#include "models/memcached/predict.h"
#include "models/memcached/resources.h"
#include "models/memcached/run.h"
#include "models/memcached/store.h"
#include "sim/devices/network.h"

static void platform(const struct kvc_scenario *scenario, struct kvc_platform *platform)
{
    kvc_memcached_machine_add(scenario, platform, NULL);
}

static const struct kvc_model_device memcached_devices[] = {
    {&kvc_cpu_kind, "core-i7-4770k"}, {&kvc_dram_kind, "ddr3-1600-i7-4770k"},
    {&kvc_nic_kind, "x520-t2"},       {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"}, {NULL, NULL},
};

static const struct kvc_model_device mica_devices[] = {
    {&kvc_cpu_kind, "xeon-e5-2680"},    {&kvc_dram_kind, "ddr3-1600-e5v2"},
    {&kvc_nic_kind, "x520-4x10g-mica"}, {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"},   {NULL, NULL},
};

static const struct kvc_model_device fpga_devices[] = {
    {&kvc_fpga_kind, "virtex6-sx475t"},
    {&kvc_nic_kind, "x520-t2"},
    {&kvc_network_kind, "direct-cable-10g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

static const struct kvc_model_device fatcache_devices[] = {
    {&kvc_cpu_kind, "xeon-x5670"},
    {&kvc_dram_kind, "ddr3-1333-x5670"},
    {&kvc_flash_kind, "samsung-m2-pcie-0.5tb"},
    {&kvc_nic_kind, "intel-82576"},
    {&kvc_network_kind, "direct-cable-1g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

#define SHARED                                                                                               \
    .has_sockets = true, .has_rest_power = true, .stages = kvc_memcached_stages,                             \
    .config_bytes = sizeof(struct kvc_memcached_config), .check = kvc_memcached_check,                       \
    .memory_bytes = kvc_memcached_memory_bytes, .platform = platform, .predict = kvc_memcached_predict,      \
    .prepare = kvc_memcached_store_create, .run = kvc_memcached_run

const struct kvc_model kvc_memcached_model = {
    .name = "memcached",
    .help =
        "baseline: memcached 1.4.15 on the cores of a CPU, over UDP or TCP, with the sockets of Linux or with "
        "PF_RING, also with clients on the same machine",
    .paper = "a baseline of Hetherington et al., SoCC 2015, and of Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_memcached_option_table,
    .devices = memcached_devices,
    .resolve = kvc_memcached_resolve,
    .resources = kvc_memcached_cpu_resources,
    SHARED,
};

const struct kvc_model kvc_memcached_mica_model = {
    .name = "mica",
    .help = "baseline: MICA, whose cores each own a partition of the keys and poll the NIC",
    .paper = "Lim et al., NSDI 2014",
    .options = &kvc_memcached_mica_option_table,
    .devices = mica_devices,
    .resolve = kvc_memcached_mica_resolve,
    .resources = kvc_memcached_cpu_resources,
    SHARED,
};

const struct kvc_model kvc_memcached_fatcache_model = {
    .name = "fatcache",
    .help = "baseline: Fatcache, processes that each block for their reads of an SSD",
    .paper = "a baseline of Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_memcached_fatcache_option_table,
    .devices = fatcache_devices,
    .resolve = kvc_memcached_fatcache_resolve,
    .resources = kvc_memcached_fatcache_resources,
    SHARED,
};

const struct kvc_model kvc_memcached_fpga_model = {
    .name = "fpga_memcached",
    .help = "baseline: memcached as a pipeline on an FPGA, at the line rate of its port",
    .paper = "Blott et al., HotCloud 2013",
    .options = &kvc_memcached_fpga_option_table,
    .devices = fpga_devices,
    .resolve = kvc_memcached_fpga_resolve,
    .resources = kvc_memcached_fpga_resources,
    SHARED,
};
