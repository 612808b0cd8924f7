#include "sim/probes/machine.h"

#include <gsl/gsl_statistics.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/base/spsc_ring.h"
#include "sim/probes/memory/co_runner.h"
#include "sim/probes/pin.h"
#include "sim/probes/timing.h"

#ifdef KVC_HAVE_CUDA
#include "kernels/cuda.h"
#include "kernels/cuda_probe.h"
#endif

/* ---- GPU ---- */

#ifdef KVC_HAVE_CUDA

enum { CHASE_LANES = 32, CHASE_STEPS = 20000 };

static const uint64_t few_bytes = 64, many_bytes = 64 << 20, table_bytes = UINT64_C(1) << 31,
                      sectors = 1 << 26;

struct probe {
    void *device, *host, *table;
    uint64_t bytes;
    bool to_device, failed;
};

static void launch(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    (void)repetition;
    probe->failed |= !kvc_cuda_probe_launch();
}

static void copy(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    (void)repetition;
    probe->failed |= !kvc_cuda_probe_copy(probe->device, probe->host, probe->bytes, probe->to_device);
}

static void read_sectors(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    probe->failed |= !kvc_cuda_probe_sectors(probe->table, table_bytes, sectors, repetition);
}

static struct kvc_timing time_copy(struct probe *probe, uint64_t bytes, bool to_device)
{
    probe->bytes = bytes;
    probe->to_device = to_device;
    return kvc_timing_measure(NULL, copy, probe);
}

static void chase(struct probe *probe, struct kvc_gpu_facts *facts)
{
    struct kvc_cuda_chase chase = {.ns = 1};
    probe->failed |= !kvc_cuda_zero(probe->table, table_bytes) ||
                     !kvc_cuda_probe_chase(probe->table, table_bytes, CHASE_LANES, CHASE_STEPS, &chase);
    facts->access_ns = chase.ns;
    facts->clock_hz = chase.cycles / chase.ns * 1e9;
}

static void time_all(struct probe *probe, struct kvc_gpu_facts *facts)
{
    facts->launch = kvc_timing_measure(NULL, launch, probe);
    struct kvc_timing there = time_copy(probe, few_bytes, true), back = time_copy(probe, few_bytes, false);
    facts->copy = there.median_s > back.median_s ? there : back;
    facts->h2d_bytes_per_s = (double)many_bytes / time_copy(probe, many_bytes, true).median_s;
    facts->d2h_bytes_per_s = (double)many_bytes / time_copy(probe, many_bytes, false).median_s;
    chase(probe, facts);
    facts->sectors_per_s = (double)sectors / kvc_timing_measure(NULL, read_sectors, probe).median_s;
}

void kvc_gpu_find(struct kvc_gpu_facts *facts)
{
    struct kvc_cuda_device device;
    *facts = (struct kvc_gpu_facts){.present = kvc_cuda_device(&device)};
    if (facts->present) {
        snprintf(facts->name, sizeof(facts->name), "%.127s", device.name);
        facts->multiprocessors = (uint32_t)device.multiprocessors;
        facts->memory_bytes = device.memory_bytes;
    }
}

enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    kvc_gpu_find(facts);
    if (!facts->present) {
        return KVC_OK;
    }
    struct probe probe = {.device = kvc_cuda_alloc(many_bytes),
                          .host = kvc_cuda_alloc_pinned(many_bytes),
                          .table = kvc_cuda_alloc(table_bytes)};
    if (probe.device == NULL || probe.host == NULL || probe.table == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU %s has less than %llu MiB of free memory",
                               facts->name, (unsigned long long)(table_bytes >> 20));
    } else {
        time_all(&probe, facts);
    }
    if (probe.failed) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU %s failed while it was measured", facts->name);
    }
    kvc_cuda_free(probe.device);
    kvc_cuda_free_pinned(probe.host);
    kvc_cuda_free(probe.table);
    return status;
}

#else

void kvc_gpu_find(struct kvc_gpu_facts *facts)
{
    *facts = (struct kvc_gpu_facts){.present = false};
}

enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag)
{
    (void)diag;
    kvc_gpu_find(facts);
    return KVC_OK;
}

#endif

enum { LINE_BYTES = 64, LINE_WORDS = LINE_BYTES / 8, CHAINS_MAX = 32 };

static const uint64_t smallest_bytes = 16 << 10;

/* Cache lines linked into one ring in random order (Sattolo's shuffle). */
struct ring {
    uint64_t *line;
    uint64_t lines;
    uint32_t chains, steps;
    uint64_t keep; /* Depends on what was read, so that the compiler keeps the reads. */
};

static void link_ring(struct ring *ring)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "ring", 0);
    for (uint64_t i = 0; i < ring->lines; i++) {
        ring->line[i * LINE_WORDS] = i;
    }
    for (uint64_t i = ring->lines - 1; i > 0; i--) {
        uint64_t j = kvc_rng_below(&rng, i), word = ring->line[i * LINE_WORDS];
        ring->line[i * LINE_WORDS] = ring->line[j * LINE_WORDS];
        ring->line[j * LINE_WORDS] = word;
    }
}

static void follow(void *data, uint32_t repetition)
{
    struct ring *ring = data;
    uint64_t at[CHAINS_MAX];
    for (uint32_t c = 0; c < ring->chains; c++) {
        at[c] = (kvc_mix64(repetition) + c * (ring->lines / ring->chains)) % ring->lines;
    }
    for (uint32_t step = 0; step < ring->steps / ring->chains; step++) {
        for (uint32_t c = 0; c < ring->chains; c++) {
            at[c] = ring->line[at[c] * LINE_WORDS];
        }
    }
    for (uint32_t c = 0; c < ring->chains; c++) {
        ring->keep += at[c];
    }
}

static void read_all(void *data, uint32_t repetition)
{
    struct ring *ring = data;
    (void)repetition;
    for (uint64_t i = 0; i < ring->lines * LINE_WORDS; i++) {
        ring->keep += ring->line[i];
    }
}

enum kvc_status kvc_memory_latency_measure(uint64_t bytes_max, uint32_t lines,
                                           struct kvc_memory_latency_curve *curve, struct kvc_diag *diag)
{
    struct ring ring = {.line = kvc_pages_alloc(bytes_max), .steps = lines};
    if (ring.line == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a working set of %llu MiB",
                             (unsigned long long)(bytes_max >> 20));
    }
    *curve = (struct kvc_memory_latency_curve){0};
    for (uint64_t bytes = smallest_bytes; bytes <= bytes_max && curve->count < KVC_MEMORY_LATENCY_SIZES_MAX;
         bytes *= 4) {
        struct kvc_memory_latency_point *point = &curve->point[curve->count++];
        point->bytes = bytes;
        ring.lines = bytes / LINE_BYTES;
        link_ring(&ring);
        for (uint32_t i = 0; i < KVC_MEMORY_LATENCY_CHAINS; i++) {
            ring.chains = 1u << i;
            uint32_t steps = ring.steps / ring.chains * ring.chains;
            point->line_ns[i] = kvc_timing_measure(NULL, follow, &ring).median_s / steps * 1e9;
        }
    }
    curve->sequential_bytes_per_s =
        (double)(ring.lines * LINE_BYTES) / kvc_timing_measure(NULL, read_all, &ring).median_s;
    kvc_pages_free(ring.line, bytes_max);
    return KVC_OK;
}

enum { PAGE_READINGS = 31, PAGE_KINDS = 2 };

/* Returns the time of a line of one kind of pages, read in one way, over buffers on both kinds [ns]. The
 * readings take turns, so that a change of the machine meets both; each follows one that brings the lines and
 * the page table into the caches, as far as they hold them. */
static void take_turns(double read(const uint8_t *, uint64_t, uint64_t), uint8_t *const buffer[PAGE_KINDS],
                       uint64_t bytes, double ns[PAGE_KINDS])
{
    double read_ns[PAGE_KINDS][PAGE_READINGS];
    for (uint32_t i = 0; i < PAGE_READINGS; i++) {
        for (int kind = 0; kind < PAGE_KINDS; kind++) {
            read(buffer[kind], bytes, (uint64_t)i << 32);
            read_ns[kind][i] = read(buffer[kind], bytes, (uint64_t)(2 * i + 1) << 31);
        }
    }
    for (int kind = 0; kind < PAGE_KINDS; kind++) {
        ns[kind] = gsl_stats_median(read_ns[kind], 1, PAGE_READINGS);
    }
}

enum kvc_status kvc_page_costs_measure(uint64_t bytes_max, struct kvc_page_costs *costs,
                                       struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    *costs = (struct kvc_page_costs){0};
    for (uint64_t bytes = 1 << 20; bytes <= bytes_max && status == KVC_OK; bytes *= 2) {
        uint8_t *const buffer[PAGE_KINDS] = {kvc_pages_alloc(bytes), kvc_pages_alloc_sparse(bytes)};
        if (buffer[0] == NULL || buffer[1] == NULL) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for two working sets of %llu MiB",
                                   (unsigned long long)(bytes >> 20));
        } else {
            struct kvc_page_cost *cost = &costs->point[costs->count++];
            cost->bytes = bytes;
            kvc_pages_touch(buffer[0], bytes);
            kvc_pages_touch(buffer[1], bytes);
            take_turns(kvc_memory_prefetched_ns, buffer, bytes, cost->line_ns);
            take_turns(kvc_memory_latency_ns, buffer, bytes, cost->latency_ns);
        }
        kvc_pages_free(buffer[0], bytes);
        kvc_pages_free(buffer[1], bytes);
    }
    return status;
}

static const uint64_t contended_bytes = UINT64_C(256) << 20;

/* Reads beside a co-runner of this rate. */
static struct kvc_contention_point read_beside(struct kvc_co_runner *runner, double bytes_per_s,
                                               const uint8_t *buffer)
{
    double line_ns[PAGE_READINGS], latency_ns[PAGE_READINGS];
    kvc_co_runner_set(runner, bytes_per_s);
    double bytes = kvc_co_runner_bytes(runner), started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < PAGE_READINGS; i++) {
        line_ns[i] = kvc_memory_prefetched_ns(buffer, contended_bytes, (uint64_t)i << 32);
        latency_ns[i] = kvc_memory_latency_ns(buffer, contended_bytes, (uint64_t)(2 * i + 1) << 31);
    }
    bytes = kvc_co_runner_bytes(runner) - bytes;
    return (struct kvc_contention_point){.taken_bytes_per_s =
                                             bytes_per_s > 0 ? bytes / (kvc_clock_wall_s() - started_s) : 0,
                                         .line_ns = gsl_stats_median(line_ns, 1, PAGE_READINGS),
                                         .latency_ns = gsl_stats_median(latency_ns, 1, PAGE_READINGS)};
}

enum kvc_status kvc_contention_measure(uint32_t cores, struct kvc_contention *contention,
                                       struct kvc_diag *diag)
{
    struct kvc_co_runner *runner = NULL;
    *contention = (struct kvc_contention){0};
    if (cores < 2) {
        return KVC_OK;
    }
    uint8_t *buffer = kvc_pages_alloc(contended_bytes);
    if (buffer == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a working set of %llu MiB",
                             (unsigned long long)(contended_bytes >> 20));
    }
    kvc_pages_touch(buffer, contended_bytes);
    enum kvc_status status = kvc_co_runner_start(1, cores - 1, &runner, diag);
    if (status == KVC_OK) {
        struct kvc_contention_point most = read_beside(runner, INFINITY, buffer), *point = contention->point;
        for (uint32_t i = 0; i + 1 < KVC_CONTENTION_MAX; i++) {
            point[i] = read_beside(runner, most.taken_bytes_per_s * i / (KVC_CONTENTION_MAX - 1), buffer);
        }
        point[KVC_CONTENTION_MAX - 1] = most;
        contention->count = KVC_CONTENTION_MAX;
        kvc_co_runner_stop(runner);
    }
    kvc_pages_free(buffer, contended_bytes);
    return status;
}

enum { ROUNDS = 2000 };

struct pair {
    struct kvc_spsc_ring there, back;
    uint32_t core;
    char ball, end;
};

/* Returns every item to its sender until the end marker arrives. */
static void *answer(void *data)
{
    struct pair *pair = data;
    kvc_pin_core(pair->core);
    for (;;) {
        void *item = kvc_spsc_ring_pop(&pair->there);
        if (item == &pair->end) {
            return NULL;
        }
        if (item != NULL) {
            kvc_spsc_ring_push(&pair->back, item);
        }
    }
}

static void play(void *data, uint32_t repetition)
{
    struct pair *pair = data;
    (void)repetition;
    for (int i = 0; i < ROUNDS; i++) {
        kvc_spsc_ring_push(&pair->there, &pair->ball);
        while (kvc_spsc_ring_pop(&pair->back) == NULL) {
            ;
        }
    }
}

enum kvc_status kvc_handoffs_measure(uint32_t cores, struct kvc_handoffs *handoffs, struct kvc_diag *diag)
{
    handoffs->cores = cores < KVC_HANDOFF_CORES_MAX ? cores : KVC_HANDOFF_CORES_MAX;
    kvc_pin_core(0);
    for (uint32_t core = 1; core < handoffs->cores; core++) {
        struct pair pair = {.core = core};
        pthread_t thread;
        if (pthread_create(&thread, NULL, answer, &pair) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "a thread for core %u cannot be started", core);
        }
        handoffs->ns[core] = kvc_timing_measure(NULL, play, &pair).median_s / ROUNDS / 2 * 1e9;
        kvc_spsc_ring_push(&pair.there, &pair.end);
        pthread_join(thread, NULL);
    }
    return KVC_OK;
}

/* ---- what the system reports ---- */

/* Copies the value of `key` in /proc/cpuinfo, or `otherwise` if there is none. */
static void cpuinfo(const char *key, const char *otherwise, char *out, size_t size)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "%s", otherwise);
    while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, key, strlen(key)) != 0) {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (in != NULL) {
        fclose(in);
    }
}

/* The list of siblings reads "0-1" or "0,64" if the first core has two hardware threads. */
static uint32_t threads_per_core(void)
{
    char siblings[64] = "";
    FILE *in = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "r");
    if (in != NULL) {
        if (fgets(siblings, sizeof(siblings), in) == NULL) {
            siblings[0] = '\0';
        }
        fclose(in);
    }
    return strpbrk(siblings, ",-") != NULL ? 2 : 1;
}

void kvc_machine_ask(struct kvc_machine_facts *facts)
{
    char clock_mhz[64];
    time_t now = time(NULL);
    struct tm day;
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    *facts = (struct kvc_machine_facts){.threads_per_core = threads_per_core()};
    facts->cores = (kvc_pin_cores() + facts->threads_per_core - 1) / facts->threads_per_core;
    facts->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    facts->near_cache_bytes = cache > 0 ? (uint64_t)cache : 1 << 20;
    cpuinfo("model name", "unknown processor", facts->cpu, sizeof(facts->cpu));
    cpuinfo("cpu MHz", "1000", clock_mhz, sizeof(clock_mhz));
    facts->clock_hz = fmax(strtod(clock_mhz, NULL), 100) * 1e6;
    strftime(facts->date, sizeof(facts->date), "%Y-%m-%d", gmtime_r(&now, &day));
}

enum kvc_status kvc_machine_check_memory(double needed_bytes, struct kvc_diag *diag)
{
    double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (free_bytes >= needed_bytes) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "calibration needs %.0f MiB of memory, %.0f MiB are free; --quick needs less",
                         needed_bytes / 0x1p20, free_bytes / 0x1p20);
}

/* ---- values of the machine file ---- */

/* The first working set that a core's own caches do not hold. */
static const struct kvc_memory_latency_point *beyond_near_cache(const struct kvc_probed_machine *machine)
{
    const struct kvc_memory_latency_curve *memory = &machine->memory;
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->point[i].bytes > machine->facts.near_cache_bytes) {
            return &memory->point[i];
        }
    }
    return &memory->point[memory->count - 1];
}

static void add_cpu(const struct kvc_probed_machine *machine, struct kvc_profile *profile)
{
    const struct kvc_machine_facts *facts = &machine->facts;
    const struct kvc_memory_latency_point *point = beyond_near_cache(machine);
    kvc_profile_name(profile, "cpu", facts->cpu);
    kvc_profile_value(profile, "cpu", "cores", facts->cores, "",
                      "processors that the process may use, hyper-threads counted once");
    kvc_profile_value(profile, "cpu", "threads_per_core", facts->threads_per_core, "",
                      "hardware threads of the first core");
    kvc_profile_value(profile, "cpu", "clock", facts->clock_hz / 1e9, "GHz", "as the system reports it");
    kvc_profile_reserve(profile, "cpu", "core_speed");
    kvc_profile_reserve(profile, "cpu", "packet");
    kvc_profile_value(profile, "cpu", "llc_hit_cycles", point->line_ns[0] * facts->clock_hz / 1e9, "",
                      "dependent lines of %llu KiB, the first size beyond the core's own caches",
                      (unsigned long long)(point->bytes >> 10));
}

static void add_dram(const struct kvc_probed_machine *machine, struct kvc_profile *profile)
{
    kvc_profile_name(profile, "dram", "main memory of this machine");
    kvc_profile_reserve(profile, "dram", "watched_line");
    kvc_profile_reserve(profile, "dram", "random_line");
    kvc_profile_reserve(profile, "dram", "next_line");
    kvc_profile_value(profile, "dram", "line", LINE_BYTES, "B", "cache line of x86-64");
    /* The cores share this bandwidth in a simulation, so the rate of one core would slow all others. */
    kvc_profile_value(profile, "dram", "bandwidth",
                      machine->memory.sequential_bytes_per_s * machine->facts.cores / 1e9, "GB/s",
                      "what one core reads in order, times the cores; not measured together");
}

/* Adds the lines of all working sets, on both kinds of pages. */
static void add_pages(const struct kvc_probed_machine *machine, struct kvc_profile *profile)
{
    for (uint32_t i = 0; i < machine->pages.count; i++) {
        const struct kvc_page_cost *cost = &machine->pages.point[i];
        kvc_profile_element(
            profile, "dram", "pages",
            "random lines of one core, 256 prefetched at a time, and each after the one before; medians",
            "footprint = \"%.10gMiB\", huge = \"%.4gns\", small = \"%.4gns\", "
            "huge_latency = \"%.4gns\", small_latency = \"%.4gns\"",
            (double)cost->bytes / 0x1p20, cost->line_ns[0], cost->line_ns[1], cost->latency_ns[0],
            cost->latency_ns[1]);
    }
}

/* Adds the lines beside a co-runner, as long as it took more at each higher rate. */
static void add_contention(const struct kvc_probed_machine *machine, struct kvc_profile *profile)
{
    const struct kvc_contention *contention = &machine->contention;
    double taken = -1;
    for (uint32_t i = 0; i < contention->count && contention->point[i].taken_bytes_per_s > taken; i++) {
        const struct kvc_contention_point *point = &contention->point[i];
        taken = point->taken_bytes_per_s;
        kvc_profile_element(profile, "dram", "contention",
                            "random lines of one core in 256 MiB, prefetched and each after the one before, "
                            "while the other cores read memory in order; medians",
                            "taken = \"%.4gGB/s\", line = \"%.4gns\", latency = \"%.4gns\"", taken / 1e9,
                            point->line_ns, point->latency_ns);
    }
}

/* The GPU; without one, a thread of the processor in its place. */
static void add_gpu(const struct kvc_probed_machine *machine, struct kvc_profile *profile)
{
    const struct kvc_machine_facts *facts = &machine->facts;
    const struct kvc_gpu_facts *gpu = &machine->gpu;
    double clock_ghz = gpu->present ? 1 : facts->clock_hz / 1e9;
    kvc_profile_name(profile, "gpu", gpu->present ? gpu->name : "one CPU thread instead of a GPU");
    kvc_profile_value(profile, "gpu", "sms", gpu->present ? gpu->multiprocessors : 1, "", "%s",
                      gpu->present ? "as the driver reports it" : "one thread");
    kvc_profile_value(profile, "gpu", "memory",
                      (double)(gpu->present ? gpu->memory_bytes : facts->memory_bytes) / 1e6, "MB", "%s",
                      gpu->present ? "as the driver reports it" : "main memory");
    if (gpu->present) {
        kvc_profile_value(profile, "gpu", "sectors", gpu->sectors_per_s / 1e9, "e9",
                          "random 32-byte sectors of 2 GiB");
        kvc_profile_value(profile, "gpu", "launch", gpu->launch.median_s * 1e6, "us",
                          "an empty kernel, launched and waited for, quartiles %.3g .. %.3g us",
                          gpu->launch.low_s * 1e6, gpu->launch.high_s * 1e6);
        kvc_profile_value(profile, "gpu", "access", gpu->access_ns, "ns",
                          "a dependent access of 32 threads to random sectors of 2 GiB");
        kvc_profile_value(profile, "gpu.clocks", "core", gpu->clock_hz / 1e9, "GHz",
                          "cycles of a chain of such accesses over its time");
    } else {
        kvc_profile_value(profile, "gpu.clocks", "core", clock_ghz, "GHz", "as the system reports it");
    }
    kvc_profile_value(profile, "gpu.clocks", "memory", clock_ghz, "GHz",
                      "a placeholder: the memory clock is not known");
}

static void add_pcie(const struct kvc_gpu_facts *gpu, struct kvc_profile *profile)
{
    char name[160];
    snprintf(name, sizeof(name), "link to the %s", gpu->name);
    kvc_profile_name(profile, "pcie", name);
    kvc_profile_value(profile, "pcie", "h2d", gpu->h2d_bytes_per_s / 1e9, "GB/s",
                      "64 MiB of pinned memory to the device");
    kvc_profile_value(profile, "pcie", "d2h", gpu->d2h_bytes_per_s / 1e9, "GB/s",
                      "64 MiB from the device to pinned memory");
    kvc_profile_value(profile, "pcie", "latency", gpu->copy.median_s * 1e6, "us",
                      "64 bytes in the slower direction, quartiles %.3g .. %.3g us", gpu->copy.low_s * 1e6,
                      gpu->copy.high_s * 1e6);
}

static void summarize(const struct kvc_probed_machine *machine, const char *name, struct kvc_profile *profile)
{
    const struct kvc_memory_latency_curve *memory = &machine->memory;
    const struct kvc_memory_latency_point *largest = &memory->point[memory->count - 1];
    kvc_profile_summarize(profile, "%s", name);
    kvc_profile_summarize(profile,
                          "random line            %9.4g ns alone, %.4g ns with %d in flight, in %llu MiB",
                          largest->line_ns[0], largest->line_ns[KVC_MEMORY_LATENCY_CHAINS - 1],
                          1 << (KVC_MEMORY_LATENCY_CHAINS - 1), (unsigned long long)(largest->bytes >> 20));
    if (machine->pages.count > 0) {
        const struct kvc_page_cost *cost = &machine->pages.point[machine->pages.count - 1];
        kvc_profile_summarize(profile,
                              "small pages            %9.4g ns a random line, %.4g on huge ones, in %llu MiB",
                              cost->line_ns[1], cost->line_ns[0], (unsigned long long)(cost->bytes >> 20));
    }
    kvc_profile_summarize(profile, "sequential             %9.4g GB/s", memory->sequential_bytes_per_s / 1e9);
    kvc_profile_summarize(profile, "GPU                    %s",
                          machine->gpu.present ? machine->gpu.name : "none");
}

struct kvc_profile *kvc_machine_profile(const struct kvc_probed_machine *machine, const char *version)
{
    char name[160];
    snprintf(name, sizeof(name), "%u cores of %s", machine->facts.cores, machine->facts.cpu);
    struct kvc_profile *profile = kvc_profile_create(name, machine->facts.date, version);
    add_cpu(machine, profile);
    add_dram(machine, profile);
    add_pages(machine, profile);
    add_contention(machine, profile);
    add_gpu(machine, profile);
    if (machine->gpu.present) {
        add_pcie(&machine->gpu, profile);
    }
    summarize(machine, name, profile);
    return profile;
}

/* A virtual machine seldom knows that its cores share units, but their speed shows it. */
static const char *why_speed_is_unknown(const struct kvc_probed_machine *machine,
                                        const struct kvc_steadiness *steadiness)
{
    if (machine->facts.threads_per_core > 1 ||
        kvc_cores_slowest_frac(&machine->cores) < kvc_cores_shared_frac) {
        return "cores share their units, so what a thread is seen to do depends on its sibling";
    }
    return isnan(kvc_steadiness_core_speed(steadiness)) ? "it was not measured" : NULL;
}

void kvc_machine_add_core_speed(const struct kvc_probed_machine *machine,
                                const struct kvc_steadiness *steadiness, struct kvc_profile *profile)
{
    const char *why = why_speed_is_unknown(machine, steadiness);
    if (why != NULL) {
        kvc_profile_comment(profile, "cpu.core_speed is not known: %s.", why);
        return;
    }
    kvc_profile_value(profile, "cpu", "core_speed", kvc_steadiness_core_speed(steadiness), "",
                      "steps of arithmetic per ns while all cores work, 90th percentile of %u windows",
                      steadiness->windows);
}

void kvc_machine_add_memory_speed(const struct kvc_steadiness *steadiness, struct kvc_profile *profile)
{
    const struct kvc_memory_rates *rates = &steadiness->reference;
    if (!(rates->line_ns > 0)) {
        kvc_profile_comment(profile, "dram.watched_line is not known: it was not measured.");
        return;
    }
    kvc_profile_value(
        profile, "dram", "watched_line", rates->line_ns, "ns",
        "independent random lines of 512 MiB while all cores read, in the commonest state of %u readings, which "
        "costs of threads refer to; dependent lines take %.4g ns, handoffs %.4g ns, lines in order %.4g GB/s",
        steadiness->memory.count[0], rates->latency_ns, rates->handoff_ns, rates->bytes_per_s / 1e9);
}

/* ---- comment lines of the machine file ---- */

/* A line of text to append to; text that does not fit is cut off. */
struct line {
    char text[16 * KVC_CORES_MAX];
    size_t length;
};

static void append(struct line *line, const char *format, double value)
{
    if (line->length < sizeof(line->text)) {
        line->length +=
            (size_t)snprintf(line->text + line->length, sizeof(line->text) - line->length, format, value);
    }
}

static void comment_handoffs(const struct kvc_handoffs *handoffs, struct kvc_profile *profile)
{
    struct line line = {0};
    for (uint32_t core = 1; core < handoffs->cores; core++) {
        append(&line, " %.0f", handoffs->ns[core]);
    }
    kvc_profile_comment(profile, "Handoffs from the first core to each of the others, through a ring, ns:%s",
                        handoffs->cores < 2 ? " there are no others" : line.text);
}

static void comment_cores(const struct kvc_cores *cores, struct kvc_profile *profile)
{
    struct line line = {0};
    for (uint32_t core = 0; core < cores->count; core++) {
        append(&line, " %.2f", cores->speed_frac[core]);
    }
    kvc_profile_comment(profile, "Speed of each core while all work, relative to the fastest one alone:%s%s",
                        line.text,
                        kvc_cores_slowest_frac(cores) < kvc_cores_shared_frac
                            ? ": SOME CORES SHARE THEIR UNITS with each other or with a neighbour"
                            : "");
}

static void comment_quiet(struct kvc_profile *profile)
{
    kvc_profile_comment(
        profile,
        "%.1f %% of the repetitions were quiet: other work took at most 1 %% of their time. The others "
        "do not count.",
        100 * kvc_lost_quiet_frac());
}

static void comment_memory(const struct kvc_memory_latency_curve *memory, struct kvc_profile *profile)
{
    kvc_profile_comment(profile,
                        "Time per random line, ns, by working set and by the chains followed at once:");
    kvc_profile_comment(profile, "       KiB       1       2       4       8      16      32");
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct kvc_memory_latency_point *point = &memory->point[i];
        struct line line = {0};
        for (int c = 0; c < KVC_MEMORY_LATENCY_CHAINS; c++) {
            append(&line, " %7.2f", point->line_ns[c]);
        }
        kvc_profile_comment(profile, "%10llu%s", (unsigned long long)(point->bytes >> 10), line.text);
    }
}

void kvc_machine_comment(const struct kvc_probed_machine *machine, const struct kvc_steadiness *steadiness,
                         struct kvc_profile *profile)
{
    double spread_frac = kvc_steadiness_spread_frac(steadiness);
    comment_handoffs(&machine->handoffs, profile);
    comment_cores(&machine->cores, profile);
    comment_quiet(profile);
    comment_memory(&machine->memory, profile);
    kvc_profile_comment(
        profile, "The same arithmetic took up to %.1f %% longer at times%s.", 100 * spread_frac,
        spread_frac > kvc_steadiness_busy_frac ? ": THE MACHINE WAS BUSY, calibrate again" : "");
}
