#include "models/rdma/resources.h"

#include "models/rdma/config.h"

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
    {.name = "ports", .device = "nic", .stages = {"receive", "send"}, .speed_up = speed_ports},
    {.name = "nic", .device = "nic", .stages = {"message", "key"}, .speed_up = speed_nic},
    {.name = "cpu", .device = "cpu", .stages = {"core"}, .speed_up = speed_cpu},
    {.name = NULL},
};
