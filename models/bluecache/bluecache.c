#include "models/bluecache/bluecache.h"

#include "models/bluecache/config.h"
#include "models/bluecache/machine.h"
#include "models/bluecache/predict.h"
#include "models/bluecache/resources.h"
#include "models/bluecache/run.h"
#include "models/bluecache/store.h"

static const struct kvc_model_device devices[] = {
    {&kvc_pcie_kind, "pcie1-x8-vc707"},
    {&kvc_fpga_kind, "virtex7-vc707"},
    {&kvc_dram_kind, "ddr3-1600-vc707"},
    {&kvc_flash_kind, "bluecache-flash"},
    {&kvc_fabric_kind, "aurora-4x10g"},
    {&kvc_database_kind, "mysql-bg"},
    {NULL, NULL},
};

const struct kvc_model kvc_bluecache_model = {
    .name = "bluecache",
    .help =
        "cards with an FPGA, DRAM and flash: an index in DRAM, a log on flash, and links between the cards",
    .paper = "Xu et al., PVLDB 10(4), 2016",
    .options = &kvc_bluecache_option_table,
    .devices = devices,
    .has_links_between_nodes = true,
    .config_bytes = sizeof(struct kvc_bluecache_config),
    .resolve = kvc_bluecache_resolve,
    .check = kvc_bluecache_check,
    .memory_bytes = kvc_bluecache_memory_bytes,
    .stages = kvc_bluecache_stages,
    .resources = kvc_bluecache_resources,
    .predict = kvc_bluecache_predict,
    .prepare = kvc_bluecache_shards_create,
    .run = kvc_bluecache_run,
};
