#include "models/kvdirect/config.h"

#include <math.h>
#include <stddef.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/equations.h"
#include "models/kvdirect/memory_engine.h"
#include "sim/workload/line_cache.h"
#include "sim/workload/source/fill.h"

/* ---- options ---- */

static const char *const engines[] = {"out_of_order", "stall", NULL};
static const char *const placements[] = {"local", "interleaved", NULL};
static const char *const updates[] = {"put", "add", "update", "reduce", "filter", NULL};

static const struct kvc_option option_rows[] = {
    KVC_COUNT_ROW(kvc_kvdirect_options, "nics", nics, 1, 64, "1",
                  "programmable NICs per node, each with its own keys and memory; more NICs add throughput "
                  "and power"),
    KVC_COUNT_ROW(kvc_kvdirect_options, "lanes", lanes, 1, 1024, "80",
                  "PCIe lanes of the node's processors; more lanes leave room for more NICs"),
    KVC_CHOICE_ROW(kvc_kvdirect_options, "placement", placement, placements, "local",
                   "local: the memory of a NIC is at its own socket, NIC i at socket i mod node.sockets; "
                   "interleaved: it is spread over all sockets"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "socket_rate", socket_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, "25.7GB/s",
        "data rate from one socket to another, used by interleaved memory; a higher rate helps NICs on "
        "several sockets"),
    KVC_REAL_ROW(kvc_kvdirect_options, "slice", slice_ns, KVC_UNIT_NS, 100, 1e6, "8us",
                 "interval at which NICs synchronise at the devices that they share; shorter slices take "
                 "longer to simulate and hardly change results"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "idle_power", idle_w, KVC_UNIT_WATTS, 0, 1e6, "0W",
        "power of a node without its NICs, measured at the wall; 0: unknown, so only the power of the "
        "cards is reported"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "memory", memory_bytes, KVC_UNIT_BYTES, 65536, 64 * 0x1p36, "auto",
        "host memory of a node for hash index and slabs, up to 64 GiB for each NIC; more memory "
        "holds more keys; auto: the smallest power of two for each NIC of which its pairs take half at most",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(kvc_kvdirect_options, "index", index_frac, KVC_UNIT_NONE, 0.001, 1, "auto",
                 "fraction of the memory that the hash index takes; a larger index has shorter chains but "
                 "leaves less memory for slabs; auto: the largest index that leaves room for all keys",
                 .auto_word = "auto", .auto_value = -1),
    KVC_COUNT_ROW(kvc_kvdirect_options, "inline", inline_bytes, 0, KVC_KVDIRECT_TABLE_INLINE_MAX, "auto",
                  "largest key-value pair that is stored in the hash index itself [bytes]; a larger "
                  "threshold saves slab accesses but lengthens chains; auto: the threshold with the fewest "
                  "accesses",
                  .auto_word = "auto", .auto_value = KVC_KVDIRECT_INLINE_AUTO),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "dispatch", dispatch_frac, KVC_UNIT_NONE, 0, 1, "auto",
        "fraction l of the memory that the NIC's DRAM may cache; a larger one moves load from "
        "PCIe to the DRAM; auto: the fraction at which reads load both equally, as in the paper's equation",
        .auto_word = "auto", .auto_value = -1),
    KVC_CHOICE_ROW(kvc_kvdirect_options, "engine", engine, engines, "out_of_order",
                   "out_of_order: dependent operations wait in the reservation station for the value; stall: "
                   "they stop the pipeline"),
    KVC_COUNT_ROW(kvc_kvdirect_options, "gather_cores", gather_cores, 0, KVC_KVDIRECT_GATHER_CORES_MAX, "0",
                  "host cores that access memory for each NIC in batches of 256; more cores access more, "
                  "but need a larger in_flight; 0: the NIC accesses memory itself"),
    KVC_CHOICE_ROW(kvc_kvdirect_options, "update", update, updates, "put",
                   "put: SETs replace the value; add: they are atomic fetch-and-adds on 8 bytes; update, "
                   "reduce, filter: they run lambda on each element of a vector"),
    KVC_TEXT_ROW(kvc_kvdirect_options, "lambda", lambda, "v + d",
                 "vectors: Lua expression of the element v, the client's d and, in a reduction, the sum s "
                 "so far: \"s + v\", \"v > d\""),
    KVC_COUNT_ROW(kvc_kvdirect_options, "element", element_bytes, 1, 8, "8",
                  "vectors: size of an element, 1, 2, 4 or 8 bytes; with larger elements, a value has fewer "
                  "of them"),
    KVC_COUNT_ROW(kvc_kvdirect_options, "delta", delta, 0, 0x1p53, "1",
                  "vectors: value of d, the client's parameter of lambda"),
    KVC_BOOL_ROW(kvc_kvdirect_options, "delta_vector", delta_vector, "false",
                 "vectors: the client sends a d for each element instead of one for all"),
    KVC_COUNT_ROW(
        kvc_kvdirect_options, "lambda_units", lambda_units, 1, 512, "auto",
        "vectors: copies of lambda on the card, each of which processes one element per clock; more copies "
        "are faster; auto: as many as PCIe can feed",
        .auto_word = "auto", .auto_value = 0),
    KVC_BOOL_ROW(kvc_kvdirect_options, "returns_vector", returns_vector, "false",
                 "update: the response carries the old vector"),
    KVC_REAL_ROW(kvc_kvdirect_options, "split_rate", splits_per_s, KVC_UNIT_NONE, 1e3, 1e12, "900e6",
                 "free slabs per second that a host core moves to the pool of a smaller size; a lower rate "
                 "lets PUTs wait longer for memory"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "merge_rate", merges_per_s, KVC_UNIT_NONE, 1e3, 1e12, "133e6",
        "free slabs per second that a host core merges into larger ones; a lower rate lets PUTs wait "
        "longer for memory"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "pipeline", pipeline_ns, KVC_UNIT_NS, 0, 10e3, "0ns",
        "time of an operation in the card's network and key-value pipelines, besides memory and a clock a "
        "stage; it lengthens latencies alone; not published"),
    KVC_REAL_ROW(
        kvc_kvdirect_options, "write_ack", write_ack_ns, KVC_UNIT_NS, 0, 10e3, "0ns",
        "time from a PUT's write until its acknowledgement, for which the response waits; operations on the "
        "key do not; it lengthens latencies alone; not published"),
    KVC_COUNT_ROW(kvc_kvdirect_options, "in_flight", in_flight, 1, 65536, "256",
                  "operations of a NIC in flight, including waiting ones; more operations hide more memory "
                  "latency"),
    KVC_COUNT_ROW(kvc_kvdirect_options, "station", station, 1, 1048576, "1024",
                  "hash slots of the reservation station; with more slots, fewer operations are falsely "
                  "dependent"),
};

const struct kvc_option_table kvc_kvdirect_option_table =
    KVC_OPTION_TABLE(kvc_kvdirect_options, option_rows, "system");

const char *kvc_kvdirect_update_name(enum kvc_kvdirect_update update)
{
    return updates[update];
}

enum { BLOCK_BYTES = 512 };

/* Memory that the table's 31-bit pointers can address [bytes]. */
static const double nic_bytes_max = 0x1p36;

/* Shorter latencies would make clients overtake the slices in which NICs are simulated [ns]. */
static const double closed_latency_min_ns = 100;

uint32_t kvc_kvdirect_sent_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes)
{
    switch (config->update) {
    case KVC_KVDIRECT_PUT:
    case KVC_KVDIRECT_ADD:
        return value_bytes;
    case KVC_KVDIRECT_UPDATE:
    case KVC_KVDIRECT_REDUCE:
    case KVC_KVDIRECT_FILTER:
        return config->delta_vector ? value_bytes : config->element_bytes;
    }
    KVC_BUG("no update %d", (int)config->update);
}

uint32_t kvc_kvdirect_returned_bytes(const struct kvc_kvdirect_config *config, uint32_t value_bytes)
{
    switch (config->update) {
    case KVC_KVDIRECT_PUT:
        return 0;
    case KVC_KVDIRECT_UPDATE:
        return config->returns_vector ? value_bytes : 0;
    case KVC_KVDIRECT_REDUCE:
        return config->element_bytes;
    case KVC_KVDIRECT_ADD:
    case KVC_KVDIRECT_FILTER:
        return value_bytes;
    }
    KVC_BUG("no update %d", (int)config->update);
}

uint32_t kvc_kvdirect_lambda_busy_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes)
{
    if (!kvc_kvdirect_update_has_vectors(config->update)) {
        return 0;
    }
    uint32_t elements = value_bytes / config->element_bytes;
    return (elements + config->lambda_units - 1) / config->lambda_units;
}

uint32_t kvc_kvdirect_lambda_clocks(const struct kvc_kvdirect_config *config, uint32_t value_bytes)
{
    uint32_t busy = kvc_kvdirect_lambda_busy_clocks(config, value_bytes), depth = config->lambda.operators;
    if (config->update == KVC_KVDIRECT_REDUCE) {
        return value_bytes / config->element_bytes * depth;
    }
    return busy > 0 ? busy - 1 + depth : 0;
}

/* Refuses scenarios that the layout and the equations cannot handle. */
static enum kvc_status check_inputs(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_pcie *pcie = kvc_pcie_of(&scenario->node);
    uint32_t pair_bytes = kvc_workload_key_bytes_max(workload) + kvc_workload_value_bytes_max(workload);
    if (!kvc_pcie_has_packets(pcie)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie: \"%s\" does not state packets (endpoints, generation, ...), which "
                             "kvdirect needs",
                             pcie->name);
    }
    if (pair_bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found pairs of up to %u bytes, allowed: up to %d, the largest slab",
                             pair_bytes, KVC_KVDIRECT_TABLE_PAIR_MAX);
    }
    return KVC_OK;
}

/* Returns the number of copies of the function that keep up with the bandwidth of PCIe (sec. 3.2), or 0 if
 * the store has no elements. */
static uint32_t fed_units(const struct kvc_kvdirect_config *config)
{
    double bytes_per_clock = config->card.pcie->root_bytes_per_s / config->card.fpga->clock_hz;
    return config->element_bytes > 0 ? (uint32_t)ceil(bytes_per_clock / config->element_bytes) : 0;
}

static double pair_bytes_of(const struct kvc_workload *workload)
{
    return ceil(kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload));
}

/* Returns the memory of a node of which the pairs of its keys take half at most, so that the hash index has
 * room beside them [bytes]. A pair takes a slab, a power of two. */
static double memory_bytes_for(const struct kvc_scenario *scenario, double nics)
{
    static const double pairs_frac_most = 0.5, least_bytes = 65536;
    const struct kvc_workload *workload = &scenario->workload;
    double keys = (double)workload->keys / ((double)scenario->cluster.nodes * nics);
    double slab_bytes = exp2(ceil(log2(fmax(pair_bytes_of(workload), 1))));
    double bytes = exp2(ceil(log2(fmax(keys * slab_bytes / pairs_frac_most, least_bytes))));
    return fmin(nics * bytes, nics * 0x1p36);
}

static void set_options(struct kvc_kvdirect_config *config, const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_options *options = scenario->options;
    config->nics = (uint32_t)options->nics;
    config->dispatch_frac = options->dispatch_frac;
    config->engine = (enum kvc_kvdirect_engine)options->engine;
    config->gather_cores = (uint32_t)options->gather_cores;
    config->update = (enum kvc_kvdirect_update)options->update;
    config->element_bytes = (uint32_t)options->element_bytes;
    config->delta = (int64_t)options->delta;
    config->lambda_units = options->lambda_units > 0 ? (uint32_t)options->lambda_units : fed_units(config);
    config->split_ns = 1e9 / options->splits_per_s;
    config->merge_ns = 1e9 / options->merges_per_s;
    config->delta_vector = options->delta_vector;
    config->returns_vector = options->returns_vector;
    config->placement = (enum kvc_kvdirect_placement)options->placement;
    config->slice_ns = options->slice_ns;
    config->socket_bytes_per_s = options->socket_bytes_per_s;
    config->idle_w = options->idle_w;
    config->pipeline_ns = options->pipeline_ns;
    config->write_ack_ns = options->write_ack_ns;
    config->in_flight = (uint32_t)options->in_flight;
    config->station = (uint32_t)options->station;
    double bytes =
        options->memory_bytes > 0 ? options->memory_bytes : memory_bytes_for(scenario, (double)options->nics);
    config->nic_bytes = floor(bytes / (double)options->nics / BLOCK_BYTES) * BLOCK_BYTES;
}

/* "off" counts as the whole store here; check_run() refuses it, because KV-Direct has no run without its
 * tables. */
static uint64_t sample_rate_of(const struct kvc_run *run, double all_bytes)
{
    return run->functional == KVC_FUNCTIONAL_OFF ? 1 : kvc_run_sample_rate(run, all_bytes);
}

/* Sets the index fraction, the inline threshold, and the accesses that an operation then needs. */
static void set_layout(struct kvc_kvdirect_config *config, const struct kvc_kvdirect_options *options,
                       const struct kvc_workload *workload)
{
    double keys = kvc_workload_stored_keys(workload);
    double bytes = config->nic_bytes * config->shards, pair_bytes = pair_bytes_of(workload);
    struct kvc_kvdirect_layout layout = kvc_kvdirect_best_layout(
        keys, bytes, (uint32_t)fmax(pair_bytes, 1), options->index_frac, (uint32_t)options->inline_bytes);
    config->index_frac = layout.index_frac;
    config->inline_bytes = layout.inline_bytes;
    config->buckets = bytes * layout.index_frac / KVC_KVDIRECT_LINE_BYTES;
    config->cache_lines = config->card.fpga->dram_bytes / KVC_KVDIRECT_LINE_BYTES * config->shards;
    config->mean.accesses =
        kvc_kvdirect_accesses_of(keys, config->buckets, layout.inline_bytes, (uint32_t)pair_bytes);
}

/* Sets the bytes of the mean request and response, and how many of them share a packet. */
static void set_messages(struct kvc_kvdirect_config *config, const struct kvc_workload *workload)
{
    struct kvc_kvdirect_operation_mean *mean = &config->mean;
    const struct kvc_nic *nic = config->card.nic;
    double key = kvc_workload_key_bytes_requested(workload),
           value = kvc_workload_value_bytes_requested(workload);
    double sent = kvc_kvdirect_sent_bytes(config, (uint32_t)ceil(value));
    double returned = kvc_kvdirect_returned_bytes(config, (uint32_t)ceil(value));
    mean->put_frac =
        workload->delete_frac + (kvc_kvdirect_update_writes(config->update) ? workload->set_frac : 0);
    mean->lambda_clocks = workload->set_frac * kvc_kvdirect_lambda_busy_clocks(config, (uint32_t)ceil(value));
    mean->request_bytes = (double)nic->request_header_bytes + key + workload->set_frac * sent;
    mean->response_bytes =
        (double)nic->response_header_bytes + key + workload->get_frac * value + workload->set_frac * returned;
    mean->packet_requests = kvc_fill_most(
        workload, workload->frame_requests > 0
                      ? (uint32_t)workload->frame_requests
                      : kvc_nic_messages_per_frame(nic, fmax(mean->request_bytes, mean->response_bytes)));
    mean->packet_mean = kvc_fill_mean(workload, mean->packet_requests);
}

const struct kvc_card_reuse *kvc_kvdirect_config_reuse(const struct kvc_kvdirect_config *config,
                                                       const struct kvc_workload *workload)
{
    const struct kvc_kvdirect_accesses *accesses = &config->mean.accesses;
    const struct kvc_card_lines cached = {config->buckets, accesses->pairs_per_bucket, accesses->slab_lines,
                                          config->cache_lines};
    return kvc_card_reuse_of(workload, &cached);
}

static double best_dispatch(const struct kvc_kvdirect_config *config, const struct kvc_workload *workload)
{
    if (config->card.fpga->dram_bytes <= 0) {
        return 0;
    }
    return kvc_kvdirect_best_dispatch(&config->card, &config->mean,
                                      kvc_kvdirect_config_reuse(config, workload));
}

enum kvc_status kvc_kvdirect_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_kvdirect_config *config = into;
    const struct kvc_kvdirect_options *options = scenario->options;
    const struct kvc_node *node = &scenario->node;
    enum kvc_status status = check_inputs(scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    *config = (struct kvc_kvdirect_config){.card = {kvc_pcie_of(node), kvc_fpga_of(node), kvc_nic_of(node)},
                                           .shards = (uint32_t)(scenario->cluster.nodes * options->nics)};
    set_options(config, scenario);
    status = kvc_kvdirect_lambda_compile("v + d", "add", &config->add, diag);
    if (status == KVC_OK && kvc_kvdirect_update_has_vectors(config->update)) {
        status = kvc_kvdirect_lambda_compile(options->lambda, "system.lambda", &config->lambda, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    config->socket_lanes = (double)options->lanes / (double)node->sockets;
    config->sample_rate = sample_rate_of(&scenario->run, config->nic_bytes * config->shards);
    set_layout(config, options, &scenario->workload);
    set_messages(config, &scenario->workload);
    if (config->dispatch_frac < 0) {
        config->dispatch_frac = best_dispatch(config, &scenario->workload);
    }
    config->watts = (double)scenario->cluster.nodes *
                    (options->idle_w + (double)options->nics * config->card.fpga->power_w);
    return KVC_OK;
}

static enum kvc_status check_cpu_clock(const struct kvc_node *node, struct kvc_diag *diag)
{
    return node->cpu_clock_hz == 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "node.cpu_clock: found %g GHz, allowed with kvdirect: auto, because its CPUs "
                               "have no P-states",
                               node->cpu_clock_hz / 1e9);
}

static enum kvc_status check_card(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_kvdirect_options *options = scenario->options;
    const struct kvc_pcie *pcie = config->card.pcie;
    uint64_t lanes = config->nics * pcie->endpoints * pcie->lanes;
    if (lanes > options->lanes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.nics: found %u NICs with %llu links of %llu lanes each, allowed are %llu "
            "lanes in all (system.lanes)",
            config->nics, (unsigned long long)pcie->endpoints, (unsigned long long)pcie->lanes,
            (unsigned long long)options->lanes);
    }
    uint64_t sockets = scenario->node.sockets;
    if (sockets > KVC_KVDIRECT_SOCKETS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.sockets: found %llu, allowed with kvdirect: up to %d",
                             (unsigned long long)sockets, KVC_KVDIRECT_SOCKETS_MAX);
    }
    uint64_t fullest = (config->nics + sockets - 1) / sockets * pcie->endpoints * pcie->lanes;
    if ((double)fullest > config->socket_lanes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.nics: found %u NICs on %llu sockets, of which one needs %llu lanes, allowed are %.0f "
            "(system.lanes / node.sockets)",
            config->nics, (unsigned long long)sockets, (unsigned long long)fullest, config->socket_lanes);
    }
    if (config->nic_bytes > nic_bytes_max) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.memory: found %.4g GiB for each NIC, allowed are %.0f GiB, the reach of its 31-bit pointers",
            config->nic_bytes / 0x1p30, nic_bytes_max / 0x1p30);
    }
    return KVC_OK;
}

static enum kvc_status check_run(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    enum { PLACES_MIN = 1024 }; /* With fewer, chance moves the hit ratio by more than 0.5 points. */
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_nic *nic = config->card.nic;
    if (scenario->run.functional == KVC_FUNCTIONAL_OFF) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found \"off\", allowed: \"compact\", \"full\" or \"sampled\"; kvcast predict "
            "answers without the tables");
    }
    double places = config->card.fpga->dram_bytes / KVC_KVDIRECT_LINE_BYTES / (double)config->sample_rate;
    if (config->sample_rate > 1 && config->dispatch_frac > 0 && places > 0 && places < PLACES_MIN) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.sample_rate: found %llu, which leaves %.0f lines of a NIC's cache; at least %d must stay",
            (unsigned long long)config->sample_rate, places, PLACES_MIN);
    }
    if (kvc_workload_reacts(&scenario->workload) && nic->latency_ns < closed_latency_min_ns) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.nic.latency: found %g ns, allowed with clients who react to answers are %g ns or more",
            nic->latency_ns, closed_latency_min_ns);
    }
    return KVC_OK;
}

static enum kvc_status check_vectors(const struct kvc_kvdirect_config *config,
                                     const struct kvc_workload *workload,
                                     const struct kvc_kvdirect_options *options, struct kvc_diag *diag)
{
    uint32_t element = config->element_bytes;
    if ((element & (element - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.element: found %u bytes, allowed: 1, 2, 4 or 8",
                             element);
    }
    if (!kvc_workload_has_one_size(workload) || workload->value_bytes % element != 0 ||
        workload->value_bytes == 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.value: found %llu bytes, allowed: a multiple of system.element, %u bytes",
            (unsigned long long)workload->value_bytes, element);
    }
    if (config->lambda.uses_sum != (config->update == KVC_KVDIRECT_REDUCE)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.lambda: found \"%.80s\" for system.update = \"%s\"; a reduction must use s, other updates must not",
            options->lambda, kvc_kvdirect_update_name(config->update));
    }
    return KVC_OK;
}

/* Checks that the update of SETs can work on the workload's values. */
static enum kvc_status check_update(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t value_bytes = kvc_workload_value_bytes_max(workload);
    if (config->update == KVC_KVDIRECT_ADD && (!kvc_workload_has_one_size(workload) || value_bytes != 8)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.update = \"add\": found values of up to %u bytes, allowed: all values of 8 bytes",
            value_bytes);
    }
    return kvc_kvdirect_update_has_vectors(config->update)
               ? check_vectors(config, workload, scenario->options, diag)
               : KVC_OK;
}

/* Checks whether the tables have room for all keys. */
static enum kvc_status check_room(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_kvdirect_table_params params = {.bytes = (uint64_t)config->nic_bytes,
                                                     .hash_index_frac = config->index_frac,
                                                     .inline_bytes = config->inline_bytes};
    double pair_bytes = pair_bytes_of(workload);
    double room = (double)kvc_kvdirect_table_capacity_of(&params, (uint32_t)pair_bytes) * config->shards;
    double keys = kvc_workload_stored_keys(workload);
    if (keys > room) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.index: found %.4g of %.4g GiB as hash index, which leaves room for at most "
            "%.4g pairs of %.0f bytes; workload.keys asks for %.4g, for which system.memory = %.4g GiB fits",
            config->index_frac, config->nic_bytes * config->nics / 0x1p30, room, pair_bytes, keys,
            memory_bytes_for(scenario, config->nics) / 0x1p30);
    }
    return KVC_OK;
}

enum kvc_status kvc_kvdirect_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    enum kvc_status status = check_card(scenario, diag);
    if (status == KVC_OK) {
        status = check_cpu_clock(&scenario->node, diag);
    }
    if (status == KVC_OK) {
        status = check_run(scenario, diag);
    }
    if (status == KVC_OK) {
        status = check_update(scenario, diag);
    }
    return status == KVC_OK ? check_room(scenario, diag) : status;
}
