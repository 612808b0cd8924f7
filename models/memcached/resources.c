#include "models/memcached/resources.h"

#include <string.h>

#include "models/memcached/config.h"

uint32_t kvc_memcached_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    /* With a database, GETs that miss become SETs. */
    bool writes = scenario->workload.get_frac < 1 || config->database != NULL;
    bool locks = config->locks_sets && (config->locks_gets || writes);
    bool controls = flash != NULL && flash->operation_ns > 0;
    bool interface = flash != NULL && flash->interface_bytes_per_s > 0;
    double all = kvc_scenario_shards(scenario), drives = flash != NULL ? all : 0;
    const struct kvc_model_stage list[] = {
        [KVC_MEMCACHED_AT_RECEIVE] = {config->client_core ? "client" : "receive",
                                      config->client_core ? "cpu" : "nic", all},
        [KVC_MEMCACHED_AT_THREADS] = {"threads", config->kind == KVC_MEMCACHED_FPGA ? "fpga" : "cpu", all},
        [KVC_MEMCACHED_AT_LOCK] = {"lock", "cpu", locks ? all : 0},
        [KVC_MEMCACHED_AT_MEMORY] = {"memory", "dram", all},
        [KVC_MEMCACHED_AT_CONTROLLER] = {"controller", "flash", controls ? all : 0},
        [KVC_MEMCACHED_AT_CHANNELS] = {"channels", "flash", drives},
        [KVC_MEMCACHED_AT_CHIPS] = {"chips", "flash", drives},
        [KVC_MEMCACHED_AT_INTERFACE] = {"interface", "flash", interface ? all : 0},
        [KVC_MEMCACHED_AT_SEND] = {"send", "nic", all},
        [KVC_MEMCACHED_AT_DATABASE] = {"database", "database", config->database != NULL ? all : 0},
    };
    memcpy(stage, list, sizeof(list));
    return KVC_MEMCACHED_STAGES;
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

/* The clock stays the same; instead, everything takes fewer cycles. */
static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_memcached_options *options = scenario->options;
    double *const cycles[] = {
        &options->compute_cycles,        &options->set_compute_cycles, &options->stack_receive_cycles,
        &options->stack_send_cycles,     &options->copy_cycles,        &options->schedule_cycles,
        &options->bypass_receive_cycles, &options->bypass_send_cycles, &options->crossing_cycles,
        &options->epoll_cycles,          &options->wake_cycles,
    };
    for (size_t i = 0; i < sizeof(cycles) / sizeof(*cycles); i++) {
        *cycles[i] /= factor;
    }
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_cpu_kind), factor);
    struct kvc_memcached_cost_profile *profile = kvc_memcached_cost_profile_of(&scenario->node);
    if (profile != NULL) {
        kvc_memcached_cost_profile_speed_up(profile, factor);
    }
}

static void speed_dram(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
}

static void speed_database(struct kvc_scenario *scenario, double factor)
{
    kvc_database_speed_up(kvc_node_device(&scenario->node, &kvc_database_kind), factor);
}

#define DATABASE                                                                                             \
    {                                                                                                        \
        .name = "database", .device = "database", .stages = 1u << KVC_MEMCACHED_AT_DATABASE,                 \
        .speed_up = speed_database                                                                           \
    }

static void speed_fpga(struct kvc_scenario *scenario, double factor)
{
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    fpga->clock_hz *= factor;
}

static void speed_fpga_dram(struct kvc_scenario *scenario, double factor)
{
    struct kvc_fpga *fpga = kvc_node_device(&scenario->node, &kvc_fpga_kind);
    fpga->dram_bytes_per_s *= factor;
    fpga->dram_ns /= factor;
}

static void speed_flash(struct kvc_scenario *scenario, double factor)
{
    kvc_flash_speed_up(kvc_node_device(&scenario->node, &kvc_flash_kind), factor);
}

const struct kvc_model_resource kvc_memcached_fatcache_resources[] = {
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_MEMCACHED_AT_RECEIVE | 1u << KVC_MEMCACHED_AT_SEND,
     .speed_up = speed_nic},
    {.name = "cpu", .device = "cpu", .stages = 1u << KVC_MEMCACHED_AT_THREADS, .speed_up = speed_cpu},
    {.name = "dram",
     .device = "dram",
     .stages = 1u << KVC_MEMCACHED_AT_MEMORY | 1u << KVC_MEMCACHED_AT_THREADS,
     .speed_up = speed_dram},
    {.name = "flash",
     .device = "flash",
     .stages = 1u << KVC_MEMCACHED_AT_CONTROLLER | 1u << KVC_MEMCACHED_AT_CHANNELS |
               1u << KVC_MEMCACHED_AT_CHIPS | 1u << KVC_MEMCACHED_AT_INTERFACE |
               1u << KVC_MEMCACHED_AT_THREADS,
     .speed_up = speed_flash},
    DATABASE,
    {.name = NULL},
};

const struct kvc_model_resource kvc_memcached_cpu_resources[] = {
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_MEMCACHED_AT_RECEIVE | 1u << KVC_MEMCACHED_AT_SEND,
     .speed_up = speed_nic},
    {.name = "cpu",
     .device = "cpu",
     .stages = 1u << KVC_MEMCACHED_AT_THREADS | 1u << KVC_MEMCACHED_AT_LOCK,
     .speed_up = speed_cpu},
    {.name = "dram",
     .device = "dram",
     .stages = 1u << KVC_MEMCACHED_AT_MEMORY | 1u << KVC_MEMCACHED_AT_THREADS,
     .speed_up = speed_dram},
    DATABASE,
    {.name = NULL},
};

const struct kvc_model_resource kvc_memcached_fpga_resources[] = {
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_MEMCACHED_AT_RECEIVE | 1u << KVC_MEMCACHED_AT_SEND,
     .speed_up = speed_nic},
    {.name = "clock", .device = "fpga", .stages = 1u << KVC_MEMCACHED_AT_THREADS, .speed_up = speed_fpga},
    {.name = "dram", .device = "dram", .stages = 1u << KVC_MEMCACHED_AT_MEMORY, .speed_up = speed_fpga_dram},
    DATABASE,
    {.name = NULL},
};
