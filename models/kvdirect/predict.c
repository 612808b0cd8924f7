#include "models/kvdirect/predict.h"

#include <math.h>

#include "models/kvdirect/config.h"
#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/resources.h"
#include "sim/workload/line_cache.h"
#include "models/kvdirect/store.h"
#include "models/latency.h"
#include "sim/metrics/bottleneck.h"
#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/popularity_sums.h"
#include "sim/workload/source/fill.h"

enum { MERGE_ITERATIONS = 20 };

/* Clocks that an operation spends outside memory: decoder, station, issue, end. */
static const double pipeline_clocks = 4;

static double slowest_ns(const struct kvc_kvdirect_loads *loads)
{
    double memory_ns = fmax(loads->pcie_ns, loads->dram_ns);
    return fmax(fmax(fmax(loads->clock_ns, loads->access_ns), fmax(memory_ns, loads->lambda_ns)),
                fmax(loads->receive_ns, loads->send_ns));
}

/* The times of a read on an idle NIC [ns]: from the NIC's DRAM, and from the host's memory, in which it takes
 * up to twice the mean extra time. */
struct reads {
    double dram_ns, host_ns, spread_ns;
    double hit_frac, miss_frac; /* Shares of the reads that the DRAM serves, and that it looks up in vain. */
};

static struct reads reads_of(const struct kvc_kvdirect_config *config, double hit_frac)
{
    const struct kvc_fpga *fpga = config->card.fpga;
    double dispatch_frac = config->dispatch_frac;
    return (struct reads){
        .dram_ns = dispatch_frac > 0 ? fpga->dram_ns + kvc_fpga_dram_ns(fpga, KVC_KVDIRECT_LINE_BYTES) : 0,
        .host_ns = kvc_pcie_read_ns(config->card.pcie, KVC_KVDIRECT_LINE_BYTES),
        .spread_ns = 2 * config->card.pcie->memory_ns,
        .hit_frac = dispatch_frac * hit_frac,
        .miss_frac = dispatch_frac * (1 - hit_frac),
    };
}

/* Returns the time that an operation spends in memory on an idle NIC if each of its reads takes read_ns [ns].
 * A read takes its latency and a clock. A write is done once it is on the link. */
static double in_memory_ns(const struct kvc_kvdirect_config *config, double read_ns)
{
    return kvc_kvdirect_reads(&config->mean.accesses) * (read_ns + kvc_fpga_cycle_ns(config->card.fpga)) +
           config->mean.put_frac * 1e9 / kvc_pcie_link_per_s(config->card.pcie, KVC_KVDIRECT_LINE_BYTES);
}

/* Returns the mean time that an operation spends in memory on an idle NIC [ns]. */
static double memory_ns(const struct kvc_kvdirect_config *config, double hit_frac)
{
    const struct reads reads = reads_of(config, hit_frac);
    return in_memory_ns(config, (reads.hit_frac + reads.miss_frac) * reads.dram_ns +
                                    (1 - reads.hit_frac) * reads.host_ns);
}

/* Returns how clients fill their packets for a mean NIC, if all NICs serve per_ns requests/ns. */
static struct kvc_fill fill_of(const struct kvc_scenario *scenario, double per_ns)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    bool gradually = !kvc_workload_sends_together(workload) && kvc_workload_has_rate(workload);
    if (!gradually || per_ns <= 0) {
        return (struct kvc_fill){.requests = config->mean.packet_mean};
    }
    return kvc_fill_of(per_ns / config->shards / kvc_workload_flows(workload), config->mean.packet_requests,
                       workload->fill_timeout_ns);
}

/* Sets the latencies. A request's packet is filled, crosses the wire, and is decoded; it is served, and its
 * response leaves with the packet. The queues are those of the hottest NIC, in which packets are the jobs. */
static void set_latencies(const struct kvc_scenario *scenario, const struct kvc_kvdirect_loads *loads,
                          double per_ns, double share, struct kvc_result *result)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_nic *nic = config->card.nic;
    const struct reads reads = reads_of(config, loads->hit_frac);
    struct kvc_fill fill = fill_of(scenario, per_ns);
    struct kvc_latency_law law = {
        .assumes = "a packet waits for the mean operation, not for its slowest; all reads of an operation "
                   "take equally long"};
    if (scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        law.unknown = "how many requests of saturating clients wait in front of the NIC is not modelled";
    }
    double least_ns = 2 * nic->latency_ns +
                      kvc_nic_wire_ns(nic, fill.requests * config->mean.request_bytes, 1) +
                      kvc_nic_wire_ns(nic, fill.requests * config->mean.response_bytes, 1) +
                      (fill.requests - 1 + pipeline_clocks) * loads->clock_ns + config->pipeline_ns +
                      config->mean.put_frac * config->write_ack_ns;
    double filling_ns = 2 * fill.wait_ns, host_ns = reads.host_ns - reads.spread_ns / 2;
    double spread_ns = filling_ns + kvc_kvdirect_reads(&config->mean.accesses) * reads.spread_ns;
    kvc_latency_add(&law, reads.hit_frac, least_ns + in_memory_ns(config, reads.dram_ns), filling_ns);
    kvc_latency_add(&law, reads.miss_frac, least_ns + in_memory_ns(config, reads.dram_ns + host_ns),
                    spread_ns);
    kvc_latency_add(&law, 1 - reads.hit_frac - reads.miss_frac, least_ns + in_memory_ns(config, host_ns),
                    spread_ns);
    const struct {
        const char *name;
        double busy_ns;
    } queues[] = {{"receive", loads->receive_ns}, {"decode", loads->clock_ns}, {"access", loads->access_ns},
                  {"pcie", loads->pcie_ns},       {"dram", loads->dram_ns},    {"lambda", loads->lambda_ns},
                  {"send", loads->send_ns}};
    for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
        kvc_latency_queue(&law, &scenario->workload,
                          &(struct kvc_latency_queue){.name = queues[i].name,
                                                      .servers = 1,
                                                      .job_ns = fill.requests * queues[i].busy_ns,
                                                      .utilization_frac = per_ns * share * queues[i].busy_ns,
                                                      .share = share,
                                                      .equals_frac = 1,
                                                      .visits = 1});
    }
    kvc_result_set_latencies(result, &law, &scenario->workload);
}

static void add_metrics(const struct kvc_kvdirect_config *config, const struct kvc_kvdirect_loads *loads,
                        double share, double host_per_ns, struct kvc_result *result)
{
    double reads = kvc_kvdirect_reads(&config->mean.accesses);
    const struct {
        const char *name;
        double value;
    } metrics[] = {
        {"index_frac", config->index_frac},
        {"inline_bytes", config->inline_bytes},
        {"dispatch_frac", config->dispatch_frac},
        {"merged_frac", loads->merged_frac},
        {"hottest_nic_share_frac", share},
        {"clock_limit_mops", 1e3 / loads->clock_ns},
        {"access_limit_mops", 1e3 / loads->access_ns},
        {"pcie_limit_mops", 1e3 / loads->pcie_ns},
        {"host_limit_mops", host_per_ns * 1e3},
        {"dram_limit_mops", 1e3 / loads->dram_ns},
        {"lambda_limit_mops", 1e3 / loads->lambda_ns},
        {"receive_limit_mops", 1e3 / loads->receive_ns},
        {"send_limit_mops", 1e3 / loads->send_ns},
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        if (isfinite(metrics[i].value)) {
            kvc_metrics_set(&result->model, metrics[i].name, metrics[i].value);
        }
    }
    kvc_metrics_set(&result->kernel, "accesses_per_get", reads);
    kvc_metrics_set(&result->kernel, "accesses_per_set", reads + kvc_kvdirect_update_writes(config->update));
    kvc_metrics_set(&result->kernel, "cache_hit_frac", loads->hit_frac);
    kvc_metrics_set(&result->kernel, "served_by_dram_frac", loads->hit_frac * config->dispatch_frac);
}

/* `speed` is the rate of the hottest NIC [operations/ns], `memory_frac` the utilization of a node's memory.
 */
static void add_stages(const struct kvc_scenario *scenario, const struct kvc_kvdirect_loads *loads,
                       double speed, double memory_frac, struct kvc_result *result)
{
    const double utilization_frac[KVC_KVDIRECT_STAGES] = {
        [KVC_KVDIRECT_AT_RECEIVE] = speed * loads->receive_ns,
        [KVC_KVDIRECT_AT_DECODE] = speed * loads->clock_ns,
        [KVC_KVDIRECT_AT_ACCESS] = speed * loads->access_ns,
        [KVC_KVDIRECT_AT_PCIE] = speed * loads->pcie_ns,
        [KVC_KVDIRECT_AT_MEMORY] = memory_frac,
        [KVC_KVDIRECT_AT_GATHER] = NAN,
        [KVC_KVDIRECT_AT_DRAM] = speed * loads->dram_ns,
        [KVC_KVDIRECT_AT_LAMBDA] = loads->lambda_ns > 0 ? speed * loads->lambda_ns : NAN,
        [KVC_KVDIRECT_AT_DAEMON] = NAN,
        [KVC_KVDIRECT_AT_SEND] = speed * loads->send_ns,
    };
    kvc_stages_predict(kvc_kvdirect_stages, scenario, utilization_frac, result);
}

enum kvc_status kvc_kvdirect_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    double share = kvc_hottest_shard_frac(&scenario->workload, (uint32_t)scenario->cluster.nodes,
                                          config->nics, (uint32_t)scenario->cluster.virtual_nodes);
    double merged = 0, per_ns = 0, host_per_ns = 0, host_ns = 0;
    double nodes = (double)scenario->cluster.nodes, sockets = (double)scenario->node.sockets;
    double between = config->placement == KVC_KVDIRECT_LOCAL ? INFINITY : config->socket_bytes_per_s;
    struct kvc_kvdirect_loads loads = {0};
    double busy_per_ns = NAN, busy_stay_ns = NAN,
           busy_merged = 0; /* The latest share of operations that merge. */
    const struct kvc_popularity_sums *popularity = kvc_popularity_sums_of(&scenario->workload);
    const struct kvc_card_reuse *reuse = kvc_kvdirect_config_reuse(config, &scenario->workload);
    for (int i = 0; i < MERGE_ITERATIONS; i++) {
        loads = kvc_kvdirect_loads_of(&config->card, &config->mean, reuse, config->dispatch_frac, merged);
        host_per_ns =
            nodes * kvc_kvdirect_host_limit_per_ns(&loads, config->card.pcie, kvc_dram_of(&scenario->node),
                                                   sockets, between, &host_ns);
        per_ns = fmin(fmin(1 / slowest_ns(&loads) / share, host_per_ns),
                      kvc_workload_rate_max_mops(&scenario->workload) * 1e-3);
        double stay_ns = memory_ns(config, loads.hit_frac);
        if (config->engine == KVC_KVDIRECT_OUT_OF_ORDER) {
            if (per_ns != busy_per_ns || stay_ns != busy_stay_ns) {
                busy_per_ns = per_ns;
                busy_stay_ns = stay_ns;
                busy_merged = kvc_popularity_shared_frac(popularity, stay_ns * per_ns);
            }
            merged = (merged + busy_merged) / 2;
        }
    }
    double speed = per_ns * share; /* Operations per ns of the hottest NIC. */
    result->throughput_mops = per_ns * 1e3;
    set_latencies(scenario, &loads, per_ns, share, result);
    result->watts_mean = config->watts;
    kvc_missing_add(result->watts_missing, config->idle_w > 0 ? "" : "cpu, dram");
    kvc_missing_add(result->watts_missing, config->card.fpga->power_w > 0 ? "" : "fpga");
    add_stages(scenario, &loads, speed, per_ns / nodes * host_ns, result);
    kvc_bottleneck_find(result);
    add_metrics(config, &loads, share, host_per_ns, result);
    if (config->update == KVC_KVDIRECT_FILTER && scenario->workload.set_frac > 0) {
        kvc_result_note(
            result,
            "the closed form assumes that a filter passes all elements, because it does not run the filter");
    }
    if (config->gather_cores > 0) {
        kvc_result_note(
            result, "the closed form does not model gathering cores: the NIC accesses memory itself here");
    }
    if (config->engine == KVC_KVDIRECT_STALL) {
        kvc_result_note(
            result,
            "the closed form does not model stalls of the pipeline: this is the rate without dependent operations");
    }
    return KVC_OK;
}
