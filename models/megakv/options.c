#include "models/megakv/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/costs.h"
#include "sim/devices/cpu.h"
#include "sim/devices/gpu.h"
#include "sim/devices/pcie.h"

static const char *const apis[] = {"get", "getk", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const admissions[] = {"cycle", "all", NULL};
static const char *const index_places[] = {"gpu", "thread", NULL};
static const char *const thread_layouts[] = {"own", "shared", NULL};

static const struct kvc_option rows[] = {
    {.name = "cycle",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, cycle_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e9,
     .by_default = "160us",
     .help = "scheduling cycle C: searches are launched every C; longer raises throughput and latency"},
    {.name = "delay",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, delay),
     .min = 1,
     .max = 64,
     .by_default = "2",
     .help = "n: inserts and deletes are launched every n cycles; 1 launches them with each search"},
    {.name = "api",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, api),
     .by_default = "getk",
     .choices = apis,
     .help = "get: the server compares keys; getk: it returns the key and the client compares"},
    {.name = "feed",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, feed),
     .by_default = "network",
     .choices = feeds,
     .help = "network: through the NIC; memory: requests lie in local memory"},
    {.name = "admission",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, admission),
     .by_default = "cycle",
     .choices = admissions,
     .help = "cycle: receivers take at most what the GPU finishes in time; all: too much work stretches the "
             "cycle"},
    {.name = "index_on",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, index_on),
     .by_default = "gpu",
     .choices = index_places,
     .help =
         "gpu: launches queue on the device; thread: the scheduler's thread does the index's work, node.gpu "
         "says how fast"},
    {.name = "threads",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, threads),
     .by_default = "own",
     .choices = thread_layouts,
     .help = "own: a hardware thread for each receiver and sender; shared: all receivers on the scheduler's "
             "core, "
             "senders in turns on the others"},
    {.name = "streams",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, streams),
     .min = 1,
     .max = 512,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "pipelines (receiver and sender) per socket, one CUDA stream each; auto: all cores but the "
             "scheduler's"},
    {.name = "buffers",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, buffers),
     .min = 2,
     .max = 16,
     .by_default = "3",
     .help = "batch buffers per pipeline; fewer make the scheduler wait for senders"},
    {.name = "index",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, index_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 64,
     .max = 34359738368.0,
     .by_default = "2GiB",
     .help = "cuckoo table per GPU, a power of two, 8 bytes per element"},
    {.name = "slab",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, slab_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = KVC_MEGAKV_SLAB_BYTES,
     .max = 137438953472.0,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "item memory per socket; auto: all keys and a tenth more; less makes CLOCK evict"},
    {.name = "max_displacements",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, max_displacements),
     .min = 0,
     .max = 1000,
     .by_default = "100",
     .help = "cuckoo moves per insert before an element is dropped"},
    {.name = "gpu_core",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, gpu_core_hz),
     .unit = KVC_UNIT_HZ,
     .min = 1e7,
     .max = 1e10,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "core clock that names one of the GPU's clock pairs; auto: the fastest"},
};

const struct kvc_option_table kvc_megakv_option_table = {.name = "system",
                                                         .rows = rows,
                                                         .count = sizeof(rows) / sizeof(*rows),
                                                         .size = sizeof(struct kvc_megakv_options)};

enum { SHARED_STREAMS_MAX = 64 };

static uint64_t streams_max(const struct kvc_scenario *scenario)
{
    const struct kvc_cpu *cpu = kvc_cpu_of(&scenario->node);
    if (((const struct kvc_megakv_options *)scenario->system)->threads == KVC_MEGAKV_SHARED_THREADS) {
        return cpu->cores > 1 ? SHARED_STREAMS_MAX : 0;
    }
    return (cpu->cores - 1) * cpu->threads_per_core / 2;
}

/* One pipeline for each sender's core, where they share. */
static uint64_t streams_auto(const struct kvc_scenario *scenario)
{
    uint64_t most = streams_max(scenario);
    bool shared = ((const struct kvc_megakv_options *)scenario->system)->threads == KVC_MEGAKV_SHARED_THREADS;
    uint64_t senders = kvc_cpu_of(&scenario->node)->cores - 1;
    return shared && most > senders ? senders : most;
}

static double slab_bytes_auto(const struct kvc_scenario *scenario)
{
    double shards = kvc_scenario_shards(scenario);
    double item_bytes = kvc_megakv_item_bytes_mean(&scenario->workload);
    return fmax(ceil(1.1 * (double)scenario->workload.keys / shards * item_bytes),
                16.0 * KVC_MEGAKV_SLAB_BYTES);
}

struct kvc_megakv_options kvc_megakv_resolve(const struct kvc_scenario *scenario)
{
    struct kvc_megakv_options system = *(const struct kvc_megakv_options *)scenario->system;
    if (system.streams == 0) {
        system.streams = streams_auto(scenario);
    }
    if (system.slab_bytes == 0) {
        system.slab_bytes = slab_bytes_auto(scenario);
    }
    return system;
}

double kvc_megakv_full_bytes(const struct kvc_scenario *scenario)
{
    struct kvc_megakv_options system = kvc_megakv_resolve(scenario);
    return kvc_scenario_shards(scenario) * (system.index_bytes + system.slab_bytes);
}

uint64_t kvc_megakv_sample_rate(const struct kvc_scenario *scenario)
{
    const struct kvc_run *run = &scenario->run;
    if (run->functional == KVC_FUNCTIONAL_FULL) {
        return 1;
    }
    if (run->functional == KVC_FUNCTIONAL_OFF) {
        return 0;
    }
    if (run->sample_rate > 0) {
        return run->sample_rate;
    }
    uint64_t rate = 1;
    while (kvc_megakv_full_bytes(scenario) / (double)rate > run->sample_bytes) {
        rate *= 2;
    }
    return rate;
}

uint32_t kvc_megakv_clock(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_options *system = scenario->system;
    const struct kvc_gpu *gpu = kvc_gpu_of(&scenario->node);
    for (uint32_t i = 0; i < gpu->clock_count && system->gpu_core_hz > 0; i++) {
        if (fabs(gpu->clocks[i].core_hz - system->gpu_core_hz) < 5e5) {
            return i;
        }
    }
    return 0;
}

static enum kvc_status check_clock(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_options *system = scenario->system;
    const struct kvc_gpu *gpu = kvc_gpu_of(&scenario->node);
    char allowed[256] = "";
    if (gpu->clock_count == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "gpu \"%s\" has no clocks", gpu->name);
    }
    for (uint32_t i = 0; i < gpu->clock_count; i++) {
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof(allowed) - used, "%s%.0fMHz", i > 0 ? ", " : "",
                 gpu->clocks[i].core_hz / 1e6);
    }
    uint32_t clock = kvc_megakv_clock(scenario);
    if (system->gpu_core_hz > 0 && fabs(gpu->clocks[clock].core_hz - system->gpu_core_hz) >= 5e5) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.gpu_core: found %.0fMHz, %s has %s",
                             system->gpu_core_hz / 1e6, gpu->name, allowed);
    }
    if (gpu->clocks[clock].search.ns_per_op <= 0 && gpu->sectors_per_s <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "gpu \"%s\" has neither a fit for %.0fMHz nor a rate of random sectors",
                             gpu->name, gpu->clocks[clock].core_hz / 1e6);
    }
    return KVC_OK;
}

enum kvc_status kvc_megakv_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_options *system = scenario->system;
    const struct kvc_gpu *gpu = kvc_gpu_of(&scenario->node);
    uint64_t most = streams_max(scenario);
    uint64_t index = (uint64_t)system->index_bytes;
    const struct kvc_pcie *pcie = kvc_pcie_of(&scenario->node);
    if (!kvc_pcie_has_copies(pcie)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which megakv needs",
            pcie->name);
    }
    if (most == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.cpu: found %llu cores, Mega-KV needs one for the scheduler and one or two "
                             "for a pipeline (or 2 with "
                             "system.threads = \"shared\")",
                             (unsigned long long)kvc_cpu_of(&scenario->node)->cores);
    }
    if (system->streams > most) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.streams: found %llu, the cpu has room for 1 .. %llu pipelines beside the scheduler",
            (unsigned long long)system->streams, (unsigned long long)most);
    }
    if ((index & (index - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index: found %llu bytes, allowed is a power of two",
                             (unsigned long long)index);
    }
    if (system->index_bytes > gpu->memory_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.index: found %.3g GiB, gpu \"%s\" has %.3g GiB",
                             system->index_bytes / 0x1p30, gpu->name, gpu->memory_bytes / 0x1p30);
    }
    if (kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(&scenario->workload),
                                   kvc_workload_value_bytes_max(&scenario->workload)) == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found %u bytes, the slab store holds up to %d",
                             kvc_workload_value_bytes_max(&scenario->workload), KVC_MEGAKV_SLAB_VALUE_MAX);
    }
    if (kvc_megakv_sample_rate(scenario) > 1 && index / kvc_megakv_sample_rate(scenario) < 4096) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.sample_rate: found %llu, which leaves less than 4 KiB of the index of system.index",
            (unsigned long long)kvc_megakv_sample_rate(scenario));
    }
    return check_clock(scenario, diag);
}
