#include "models/megakv/resources.h"

#include <math.h>
#include <string.h>

#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "sim/devices/network.h"

/* ---- stages ---- */

static bool on_gpu(const struct kvc_scenario *scenario)
{
    return kvc_megakv_config_of(scenario)->index_on == KVC_MEGAKV_INDEX_ON_GPU;
}

static bool on_network(const struct kvc_scenario *scenario)
{
    return kvc_megakv_config_of(scenario)->feed == KVC_MEGAKV_NETWORK;
}

uint32_t kvc_megakv_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    bool shared = config->threads == KVC_MEGAKV_SHARED_THREADS;
    double sockets = config->shards, threads = sockets * config->streams;
    double ports = on_network(scenario) ? sockets * (double)config->nic->ports : 0;
    double inserters = config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM ? sockets : 0;
    double senders = shared ? fmin((double)config->cpu->cores - 1, threads) : threads;
    const struct kvc_model_stage list[] = {
        [KVC_MEGAKV_RX] = {"rx", "nic", ports},
        [KVC_MEGAKV_RECEIVE] = {"receive", "cpu", shared ? sockets : threads},
        [KVC_MEGAKV_SEARCH] = {"index", on_gpu(scenario) ? "gpu" : "cpu",
                               (on_gpu(scenario) ? threads : sockets) + inserters,
                               .busy = 1u << KVC_MEGAKV_SEARCH | 1u << KVC_MEGAKV_INSERT},
        [KVC_MEGAKV_SEND] = {"send", "cpu", senders},
        [KVC_MEGAKV_TX] = {"tx", "nic", on_network(scenario) ? sockets : 0},
        [KVC_MEGAKV_DATABASE] = {"database", "database", config->database != NULL ? sockets : 0},
    };
    memcpy(stage, list, sizeof(list));
    return KVC_MEGAKV_STAGES;
}

/* ---- launches ---- */

/* Returns the copying part of a launch [ns]: the time that one of its streams, with `jobs` jobs, copies
 * alone, hidden by no kernel of the launch. */
static double copying_ns(const struct kvc_pcie *pcie, enum kvc_shards_kernel kernel, double jobs,
                         double copies_too)
{
    struct kvc_gpu_work work = kvc_shards_gpu_work(kernel, jobs, 1, NULL);
    double copies = (work.in_bytes > 0) + (work.out_bytes > 0);
    return kvc_pcie_h2d_ns(pcie, work.in_bytes) + kvc_pcie_d2h_ns(pcie, work.out_bytes) +
           copies_too * copies * pcie->latency_ns;
}

static void speed_fit(struct kvc_gpu_fit *fit, const struct kvc_megakv_config *config,
                      enum kvc_shards_kernel kernel, double kernel_factor, double copy_factor)
{
    double job_ns = copying_ns(config->pcie, kernel, 1.0 / config->streams, 0);
    double none_ns = copying_ns(config->pcie, kernel, 1, 1) - copying_ns(config->pcie, kernel, 1, 0);
    fit->ns_per_op = kvc_gpu_launch_speed_up(fit->ns_per_op, job_ns, kernel_factor, copy_factor);
    fit->base_ns = kvc_gpu_launch_speed_up(fit->base_ns, none_ns, kernel_factor, copy_factor);
}

/* Makes the measured launches of a GPU faster. A search is measured by the jobs of one stream, an insert by
 * the jobs of all streams. */
static void speed_launches(struct kvc_megakv_cost_curve *curve, const struct kvc_pcie *pcie,
                           enum kvc_shards_kernel kernel, double kernel_factor, double copy_factor)
{
    for (uint32_t i = 0; i < curve->count; i++) {
        struct kvc_megakv_cost_point *point = &curve->point[i];
        double jobs = kernel == KVC_SHARDS_SEARCH ? point->size : point->size / (double)point->threads;
        point->ns =
            kvc_gpu_launch_speed_up(point->ns, copying_ns(pcie, kernel, jobs, 1), kernel_factor, copy_factor);
    }
}

/* Makes all kernels and copies of launches faster. The configuration still has the devices of the original.
 */
static void speed_index(struct kvc_scenario *scenario, double kernel_factor, double copy_factor)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_gpu *gpu = kvc_node_device(&scenario->node, &kvc_gpu_kind);
    struct kvc_megakv_cost_profile *costs = kvc_node_device(&scenario->node, &kvc_megakv_cost_profile_kind);
    for (uint32_t i = 0; i < gpu->clock_count; i++) {
        speed_fit(&gpu->clocks[i].search, config, KVC_SHARDS_SEARCH, kernel_factor, copy_factor);
        speed_fit(&gpu->clocks[i].insert, config, KVC_SHARDS_INSERT, kernel_factor, copy_factor);
    }
    if (costs != NULL) {
        struct kvc_megakv_cost_curve *const searches[] = {&costs->search, &costs->search_miss,
                                                          &costs->search_half_missed},
                                            *const writes[] = {&costs->insert,
                                                               &costs->replace,
                                                               &costs->insert_half_replaced,
                                                               &costs->erase,
                                                               &costs->erase_miss,
                                                               &costs->erase_half_missed};
        for (size_t i = 0; i < sizeof(searches) / sizeof(*searches); i++) {
            speed_launches(searches[i], config->pcie, KVC_SHARDS_SEARCH, kernel_factor, copy_factor);
        }
        for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
            speed_launches(writes[i], config->pcie, KVC_SHARDS_INSERT, kernel_factor, copy_factor);
        }
    }
}

/* ---- resources ---- */

/* Returns the part of a measured cost that is instructions: the cost of the same work in the smallest
 * measured footprint, which the caches hold. What a larger footprint adds are waits for memory. */
static double instructions_ns(const struct kvc_megakv_cost_curve *curve,
                              const struct kvc_megakv_cost_point *point)
{
    const struct kvc_megakv_cost_point *smallest = point;
    for (uint32_t i = 0; i < curve->count; i++) {
        const struct kvc_megakv_cost_point *other = &curve->point[i];
        bool same_work = other->size == point->size && other->key_bytes == point->key_bytes &&
                         other->load_frac == point->load_frac && other->threads == point->threads;
        if (same_work && other->footprint_bytes < smallest->footprint_bytes) {
            smallest = other;
        }
    }
    return fmin(smallest->ns, point->ns);
}

static void speed_curve(struct kvc_megakv_cost_curve *curve, double core_factor, double memory_factor)
{
    const struct kvc_megakv_cost_curve before = *curve;
    for (uint32_t i = 0; i < curve->count; i++) {
        double instructions = instructions_ns(&before, &before.point[i]);
        curve->point[i].ns = instructions / core_factor + (before.point[i].ns - instructions) / memory_factor;
    }
}

/* Makes the instructions and the waits for memory in the measured times of threads faster. */
static void speed_threads(struct kvc_scenario *scenario, double core_factor, double memory_factor)
{
    struct kvc_megakv_cost_profile *costs = kvc_node_device(&scenario->node, &kvc_megakv_cost_profile_kind);
    if (costs == NULL) {
        return;
    }
    struct kvc_megakv_cost_curve *const threads[] = {&costs->receive,      &costs->write,
                                                     &costs->evict,        &costs->evict_half_marked,
                                                     &costs->pass,         &costs->mix,
                                                     &costs->drain,        &costs->read,
                                                     &costs->read_checked, &costs->read_half_marked,
                                                     &costs->read_marked,  &costs->read_half_missed,
                                                     &costs->read_slowest, &costs->read_batch,
                                                     &costs->compare};
    struct kvc_megakv_cost_curve *const index[] = {
        &costs->search, &costs->search_miss, &costs->search_half_missed,
        &costs->insert, &costs->replace,     &costs->insert_half_replaced,
        &costs->erase,  &costs->erase_miss,  &costs->erase_half_missed};
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        speed_curve(threads[i], core_factor, memory_factor);
    }
    for (size_t i = 0; i < sizeof(index) / sizeof(*index) && !on_gpu(scenario); i++) {
        speed_curve(index[i], core_factor, memory_factor);
    }
}

static void speed_cpu(struct kvc_scenario *scenario, double factor)
{
    kvc_cpu_speed_up(kvc_node_device(&scenario->node, &kvc_cpu_kind), factor);
    speed_threads(scenario, factor, 1);
}

static void speed_dram(struct kvc_scenario *scenario, double factor)
{
    kvc_dram_speed_up(kvc_node_device(&scenario->node, &kvc_dram_kind), factor);
    speed_threads(scenario, 1, factor);
}

static void speed_gpu(struct kvc_scenario *scenario, double factor)
{
    kvc_gpu_speed_up(kvc_node_device(&scenario->node, &kvc_gpu_kind), factor);
    speed_index(scenario, factor, 1);
}

static void speed_pcie(struct kvc_scenario *scenario, double factor)
{
    struct kvc_cpu *cpu = kvc_node_device(&scenario->node, &kvc_cpu_kind);
    kvc_pcie_speed_up(kvc_node_device(&scenario->node, &kvc_pcie_kind), factor);
    cpu->root_bytes_per_s *= factor;
    speed_index(scenario, 1, factor);
}

static void speed_nic(struct kvc_scenario *scenario, double factor)
{
    kvc_nic_speed_up(kvc_node_device(&scenario->node, &kvc_nic_kind), factor);
}

static bool has_network(const struct kvc_scenario *scenario)
{
    return on_network(scenario) && kvc_network_of(&scenario->node) != NULL;
}

static void speed_network(struct kvc_scenario *scenario, double factor)
{
    kvc_network_speed_up(kvc_node_device(&scenario->node, &kvc_network_kind), factor);
}

static void speed_database(struct kvc_scenario *scenario, double factor)
{
    kvc_database_speed_up(kvc_node_device(&scenario->node, &kvc_database_kind), factor);
}

const struct kvc_model_resource kvc_megakv_resources[] = {
    {.name = "cpu",
     .device = "cpu",
     .stages = 1u << KVC_MEGAKV_RECEIVE | 1u << KVC_MEGAKV_SEND | 1u << KVC_MEGAKV_SEARCH,
     .speed_up = speed_cpu},
    {.name = "dram",
     .device = "dram",
     .stages = 1u << KVC_MEGAKV_RECEIVE | 1u << KVC_MEGAKV_SEND,
     .speed_up = speed_dram},
    {.name = "gpu",
     .device = "gpu",
     .stages = 1u << KVC_MEGAKV_SEARCH,
     .used = on_gpu,
     .speed_up = speed_gpu},
    {.name = "pcie",
     .device = "pcie",
     .stages = 1u << KVC_MEGAKV_SEARCH,
     .used = on_gpu,
     .speed_up = speed_pcie},
    {.name = "nic",
     .device = "nic",
     .stages = 1u << KVC_MEGAKV_RX | 1u << KVC_MEGAKV_TX,
     .speed_up = speed_nic},
    {.name = "database",
     .device = "database",
     .stages = 1u << KVC_MEGAKV_DATABASE,
     .speed_up = speed_database},
    {.name = "network", .device = "network", .used = has_network, .speed_up = speed_network},
    {.name = NULL},
};
