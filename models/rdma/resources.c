#include "models/rdma/resources.h"

#include <string.h>

#include "models/rdma/config.h"

uint32_t kvc_rdma_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    static const struct kvc_model_stage all[] = {
        [KVC_RDMA_AT_RECEIVE] = {"receive", "nic", .servers = 1},
        [KVC_RDMA_AT_MESSAGE] = {"message", "nic", .servers = 1},
        [KVC_RDMA_AT_CORE] = {"core", "cpu", .servers = 1},
        [KVC_RDMA_AT_KEY] = {"key", "nic", .servers = 1},
        [KVC_RDMA_AT_SEND] = {"send", "nic", .servers = 1},
    };
    (void)scenario;
    memcpy(stage, all, sizeof(all));
    return KVC_RDMA_STAGES;
}

static void speed_ports(struct kvc_scenario *scenario, double factor)
{
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    struct kvc_rdma_options *options = scenario->options;
    options->message_mops *= factor;
    options->atomic_mops *= factor;
    options->read_ns /= factor;
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    struct kvc_rdma_options *options = scenario->options;
    options->core_mops *= factor;
}

const struct kvc_model_resource kvc_rdma_resources[] = {
    {.name = "ports",
     .device = "nic",
     .stages = 1u << KVC_RDMA_AT_RECEIVE | 1u << KVC_RDMA_AT_SEND,
     .speed_up = speed_ports},
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_RDMA_AT_MESSAGE | 1u << KVC_RDMA_AT_KEY,
     .speed_up = speed_nic},
    {.name = "cpu", .device = "cpu", .stages = 1u << KVC_RDMA_AT_CORE, .speed_up = speed_cpu},
    {.name = NULL},
};
