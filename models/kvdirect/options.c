#include "models/kvdirect/options.h"

#include <math.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/equations.h"
#include "models/kvdirect/lambda.h"
#include "models/kvdirect/memory_engine.h"
#include "sim/devices/nic.h"

static const char *const engines[] = {"out_of_order", "stall", NULL};
static const char *const updates[] = {"put", "add", "update", "reduce", "filter", NULL};

static const struct kvc_option rows[] = {
    {.name = "nics",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, nics),
     .min = 1,
     .max = 64,
     .by_default = "1",
     .help = "programmable NICs of a node, each with its own keys and its own part of the memory"},
    {.name = "lanes",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, lanes),
     .min = 1,
     .max = 1024,
     .by_default = "80",
     .help = "PCIe lanes of the node's processors, for all NICs"},
    {.name = "idle_power",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, idle_w),
     .unit = KVC_UNIT_WATTS,
     .min = 0,
     .max = 1e6,
     .by_default = "0W",
     .help = "of a node without its NICs, at the wall; 0: not known, and no power is told"},
    {.name = "memory",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, memory_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 65536,
     .max = 64 * 0x1p36,
     .by_default = "64GiB",
     .help = "host memory of a node for pairs, hash index and slabs; up to 64 GiB for each NIC"},
    {.name = "index",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, index_frac),
     .min = 0.001,
     .max = 1,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help =
         "share of the memory that is hash index; a larger one leaves less for slabs and chained buckets; "
         "auto: the largest that holds all keys"},
    {.name = "inline",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, inline_bytes),
     .min = 0,
     .max = KVC_KVDIRECT_TABLE_INLINE_MAX,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = KVC_KVDIRECT_INLINE_AUTO,
     .help = "pairs of key and value up to so many bytes lie in the hash index itself; auto: what needs the "
             "fewest accesses"},
    {.name = "dispatch",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, dispatch_frac),
     .min = 0,
     .max = 1,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help =
         "l: share of the memory that the NIC's DRAM may cache; auto: where DRAM and PCIe are loaded alike"},
    {.name = "engine",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_kvdirect_options, engine),
     .by_default = "out_of_order",
     .choices = engines,
     .help =
         "out_of_order: dependent operations wait aside and get the value; stall: they stop the pipeline"},
    {.name = "gather_cores",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, gather_cores),
     .min = 0,
     .max = KVC_KVDIRECT_GATHER_CORES_MAX,
     .by_default = "0",
     .help =
         "cores of the host that gather and scatter memory accesses in batches for each NIC; 0: the NIC does "
         "them itself; more need more in_flight, for a batch is 256 accesses"},
    {.name = "update",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_kvdirect_options, update),
     .by_default = "put",
     .choices = updates,
     .help = "what SETs of the workload do. put: replace the value; add: atomic fetch-and-add on 8 bytes; "
             "update, "
             "reduce, filter: the value is a vector, and lambda goes over its elements"},
    {.name = "lambda",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_kvdirect_options, lambda),
     .by_default = "v + d",
     .help = "of vectors: a Lua expression of the element v, the client's d and, in a reduction, s, what it "
             "has so "
             "far: \"s + v\", \"v > d\""},
    {.name = "element",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, element_bytes),
     .min = 1,
     .max = 8,
     .by_default = "8",
     .help = "of vectors: bytes of an element, 1, 2, 4 or 8"},
    {.name = "delta",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, delta),
     .min = 0,
     .max = 0x1p53,
     .by_default = "1",
     .help = "of vectors: the value of d"},
    {.name = "delta_vector",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_kvdirect_options, delta_vector),
     .by_default = "false",
     .help = "of vectors: the client sends a d for each element instead of one for all"},
    {.name = "returns_vector",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_kvdirect_options, returns_vector),
     .by_default = "false",
     .help = "update: the vector as it was is sent back"},
    {.name = "in_flight",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, in_flight),
     .min = 1,
     .max = 65536,
     .by_default = "256",
     .help = "operations of a NIC at once, those that wait for another one included"},
    {.name = "station",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, station),
     .min = 1,
     .max = 1048576,
     .by_default = "1024",
     .help = "hash slots of the reservation station; fewer make more operations seem dependent"},
};

const struct kvc_option_table kvc_kvdirect_option_table = {.name = "system",
                                                           .rows = rows,
                                                           .count = sizeof(rows) / sizeof(*rows),
                                                           .size = sizeof(struct kvc_kvdirect_options)};

enum { BLOCK_BYTES = 512 };

uint32_t kvc_kvdirect_sent_bytes(const struct kvc_kvdirect_options *system, uint32_t value_bytes)
{
    switch ((enum kvc_kvdirect_update)system->update) {
    case KVC_KVDIRECT_PUT:
    case KVC_KVDIRECT_ADD:
        return value_bytes;
    case KVC_KVDIRECT_UPDATE:
    case KVC_KVDIRECT_REDUCE:
    case KVC_KVDIRECT_FILTER:
        return system->delta_vector ? value_bytes : (uint32_t)system->element_bytes;
    }
    KVC_BUG("no update %d", system->update);
}

uint32_t kvc_kvdirect_returned_bytes(const struct kvc_kvdirect_options *system, uint32_t value_bytes)
{
    switch ((enum kvc_kvdirect_update)system->update) {
    case KVC_KVDIRECT_PUT:
        return 0;
    case KVC_KVDIRECT_UPDATE:
        return system->returns_vector ? value_bytes : 0;
    case KVC_KVDIRECT_REDUCE:
        return (uint32_t)system->element_bytes;
    case KVC_KVDIRECT_ADD:
    case KVC_KVDIRECT_FILTER:
        return value_bytes;
    }
    KVC_BUG("no update %d", system->update);
}

double kvc_kvdirect_nic_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    return floor(system->memory_bytes / (double)system->nics / BLOCK_BYTES) * BLOCK_BYTES;
}

uint32_t kvc_kvdirect_shards(const struct kvc_scenario *scenario)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    return (uint32_t)(scenario->cluster.nodes * system->nics);
}

struct kvc_kvdirect_options kvc_kvdirect_resolve(const struct kvc_scenario *scenario)
{
    struct kvc_kvdirect_options system = *(const struct kvc_kvdirect_options *)scenario->system;
    struct kvc_kvdirect_layout layout = kvc_kvdirect_layout_of(scenario);
    system.index_frac = layout.index_frac;
    system.inline_bytes = layout.inline_bytes;
    if (system.dispatch_frac < 0) {
        system.dispatch_frac = kvc_kvdirect_best_dispatch(scenario);
    }
    return system;
}

uint64_t kvc_kvdirect_sample_rate(const struct kvc_scenario *scenario)
{
    const struct kvc_run *run = &scenario->run;
    double all_bytes = kvc_kvdirect_nic_bytes(scenario) * kvc_kvdirect_shards(scenario);
    uint64_t rate = 1;
    if (run->functional != KVC_FUNCTIONAL_SAMPLED) {
        return 1;
    }
    if (run->sample_rate > 0) {
        return run->sample_rate;
    }
    while (all_bytes / (double)rate > run->sample_bytes) {
        rate *= 2;
    }
    return rate;
}

static enum kvc_status check_sizes(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t key_bytes = kvc_workload_key_bytes_max(workload);
    uint32_t value_bytes = kvc_workload_value_bytes_max(workload);
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found a trace, whose pairs may be larger than the %d bytes of "
            "kvdirect's largest slab",
            KVC_KVDIRECT_TABLE_PAIR_MAX);
    }
    if (key_bytes + value_bytes > KVC_KVDIRECT_TABLE_PAIR_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found pairs of up to %u bytes, the largest slab holds %d",
                             key_bytes + value_bytes, KVC_KVDIRECT_TABLE_PAIR_MAX);
    }
    if (system->update == KVC_KVDIRECT_ADD && (workload->sizes != KVC_SIZES_FIXED || value_bytes != 8)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.update = \"add\": found values of %u bytes, allowed: all of 8",
                             value_bytes);
    }
    return KVC_OK;
}

static enum kvc_status check_vectors(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    struct kvc_kvdirect_lambda lambda;
    uint64_t element = system->element_bytes, value = scenario->workload.value_bytes;
    if (!kvc_kvdirect_has_vectors(system)) {
        return KVC_OK;
    }
    if ((element & (element - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.element: found %llu bytes, allowed: 1, 2, 4 or 8",
                             (unsigned long long)element);
    }
    if (scenario->workload.sizes != KVC_SIZES_FIXED || value % element != 0 || value == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found %llu bytes, vectors are whole elements of %llu bytes",
                             (unsigned long long)value, (unsigned long long)element);
    }
    enum kvc_status status = kvc_kvdirect_lambda_compile(system->lambda, "system.lambda", &lambda, diag);
    if (status == KVC_OK && lambda.uses_sum != (system->update == KVC_KVDIRECT_REDUCE)) {
        status =
            kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                          "system.lambda: found \"%.80s\" for system.update = \"%s\"; a reduction needs s, "
                          "nothing else knows it",
                          system->lambda, updates[system->update]);
    }
    return status;
}

static enum kvc_status check_corpus(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_kvdirect_layout layout = kvc_kvdirect_layout_of(scenario);
    const struct kvc_kvdirect_table_params params = {.bytes = (uint64_t)kvc_kvdirect_nic_bytes(scenario),
                                                     .hash_index_frac = layout.index_frac,
                                                     .inline_bytes = layout.inline_bytes};
    double pair_bytes = ceil(kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload));
    double room =
        (double)kvc_kvdirect_table_capacity_of(&params, (uint32_t)pair_bytes) * kvc_kvdirect_shards(scenario);
    double keys = workload->preload_frac * (double)workload->keys;
    if (keys > room) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.index: found %.4g of %.4g GiB as hash index, which leaves room for at most "
            "%.4g pairs of %.0f bytes; workload.keys are %.4g",
            layout.index_frac, system->memory_bytes / 0x1p30, room, pair_bytes, keys);
    }
    return KVC_OK;
}

enum kvc_status kvc_kvdirect_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_kvdirect_options *system = scenario->system;
    const struct kvc_pcie *pcie = kvc_pcie_of(&scenario->node);
    if (!kvc_pcie_has_packets(pcie)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie: \"%s\" does not state packets (endpoints, generation, ...), which "
                             "kvdirect needs",
                             pcie->name);
    }
    uint64_t lanes = system->nics * pcie->endpoints * pcie->lanes;
    if (lanes > system->lanes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.nics: found %llu with %llu links of %llu lanes each, the processors have "
            "%llu lanes",
            (unsigned long long)system->nics, (unsigned long long)pcie->endpoints,
            (unsigned long long)pcie->lanes, (unsigned long long)system->lanes);
    }
    if (kvc_kvdirect_nic_bytes(scenario) > 0x1p36) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.memory: found %.4g GiB for each NIC, its 31-bit pointers reach 64",
                             kvc_kvdirect_nic_bytes(scenario) / 0x1p30);
    }
    if (scenario->run.functional == KVC_FUNCTIONAL_OFF) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found \"off\", kvdirect runs \"full\" or \"sampled\"; kvcast predict "
            "answers without its tables");
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_CLOSED && kvc_nic_of(&scenario->node)->latency_ns < 100) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.nic.latency: found %g ns, clients that wait for responses need 100 ns or more",
            kvc_nic_of(&scenario->node)->latency_ns);
    }
    enum kvc_status status = check_sizes(scenario, diag);
    if (status == KVC_OK) {
        status = check_vectors(scenario, diag);
    }
    return status == KVC_OK ? check_corpus(scenario, diag) : status;
}
