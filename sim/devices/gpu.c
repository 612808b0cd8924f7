#include "sim/devices/gpu.h"

#include <math.h>

static const struct kvc_option clock_rows[] = {
    KVC_REAL_ROW(kvc_gpu_clock, "core", core_hz, KVC_UNIT_HZ, 1e7, 1e10, NULL, "core clock of the pair"),
    KVC_REAL_ROW(kvc_gpu_clock, "memory", memory_hz, KVC_UNIT_HZ, 1e7, 1e11, NULL,
                 "memory clock of the pair"),
    KVC_REAL_ROW(
        kvc_gpu_clock, "search_per_op", search.ns_per_op, KVC_UNIT_NS, 0, 1e6, "0ns",
        "time per job in a search launch, k of T_S = k*x + b; a longer time lowers the throughput; 0: "
        "no fit"),
    KVC_REAL_ROW(kvc_gpu_clock, "search_base", search.base_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
                 "fixed time of a search launch, b of T_S; a longer time needs longer cycles"),
    KVC_REAL_ROW(kvc_gpu_clock, "insert_per_op", insert.ns_per_op, KVC_UNIT_NS, 0, 1e6, "0ns",
                 "time per job in a launch of inserts and deletes, k of T_I; a longer time lowers the "
                 "throughput"),
    KVC_REAL_ROW(
        kvc_gpu_clock, "insert_base", insert.base_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "fixed time of a launch of inserts and deletes, b of T_I; a longer time needs longer cycles"),
    KVC_REAL_ROW(
        kvc_gpu_clock, "idle", idle_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the idle board at these clocks; left out: sums of power are at least what the others take",
        .optional = true),
    KVC_REAL_ROW(
        kvc_gpu_clock, "busy", busy_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the board while kernels run; left out: sums of power are at least what the others take",
        .optional = true),
};

static const struct kvc_option_table clock_options =
    KVC_OPTION_TABLE(kvc_gpu_clock, clock_rows, "clocks", .max_list = KVC_GPU_CLOCKS_MAX);

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_gpu, "name", name, "", "name of the card"),
    KVC_COUNT_ROW(kvc_gpu, "sms", sms, 1, 4096, NULL,
                  "streaming multiprocessors; more of them hold more jobs at once"),
    KVC_COUNT_ROW(
        kvc_gpu, "threads_per_sm", threads_per_sm, 32, 65536, "2048",
        "threads that a multiprocessor holds at once, by its compute capability; more of them hold more "
        "jobs"),
    KVC_COUNT_ROW(
        kvc_gpu, "blocks_per_sm", blocks_per_sm, 1, 1024, "32",
        "thread blocks that a multiprocessor holds at once, by its compute capability; more of them let "
        "more small blocks run at once"),
    KVC_REAL_ROW(
        kvc_gpu, "shared", shared_bytes, KVC_UNIT_BYTES, 0, 1e9, "0B",
        "shared memory of a multiprocessor, by the compute capability; less of it holds fewer blocks; "
        "0: no limit"),
    KVC_COUNT_ROW(
        kvc_gpu, "wave", wave_threads, 1, 1024, "32",
        "threads of a warp or wavefront, which execute each instruction together; more of them share an "
        "instruction"),
    KVC_REAL_ROW(
        kvc_gpu, "wave_issue", wave_issue, KVC_UNIT_NONE, 0, 64, "0",
        "most wave instructions that a multiprocessor issues in a cycle; more of them shorten kernels "
        "bound by compute; 0: unknown"),
    KVC_REAL_ROW(
        kvc_gpu, "wave_gap", wave_gap_cycles, KVC_UNIT_NONE, 1, 64, "1",
        "least number of cycles between two instructions of one wave; more of them lengthen kernels with "
        "few waves"),
    KVC_COUNT_ROW(
        kvc_gpu, "walkers", walkers, 0, 65536, "0",
        "translations that miss the TLB and are resolved at the same time; more of them allow more random "
        "accesses; 0: translations never miss"),
    KVC_REAL_ROW(
        kvc_gpu, "walk", walk_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
        "time of a translation that misses the TLB, which delays the access; a longer time slows random "
        "accesses"),
    KVC_REAL_ROW(kvc_gpu, "walk_free", walk_free_bytes, KVC_UNIT_BYTES, 0, 1e13, "0B",
                 "memory that the TLB covers; random accesses beyond it miss"),
    KVC_BOOL_ROW(
        kvc_gpu, "shares_memory", shares_memory, "false",
        "whether the GPU uses the host's memory, as on a chip with both; nothing is copied then, and both "
        "share the memory channels"),
    KVC_REAL_ROW(kvc_gpu, "memory", memory_bytes, KVC_UNIT_BYTES, 1e6, 1e13, NULL,
                 "device memory; it must hold the index, so more memory allows a larger one"),
    KVC_REAL_ROW(kvc_gpu, "pinned", pinned_bytes, KVC_UNIT_BYTES, 0, 1e13, "0B",
                 "device memory that other devices, such as a NIC, can write to directly; 0: all of it"),
    KVC_REAL_ROW(kvc_gpu, "sectors", sectors_per_s, KVC_UNIT_NONE, 0, 1e13, "0",
                 "random 32-byte sectors per second; a higher rate shortens large launches; 0: derived from "
                 "channels, and without them unknown, so that all clocks need fits"),
    KVC_COUNT_ROW(kvc_gpu, "channels", channels, 0, 65536, "0",
                  "channels of the device memory that open rows of their own, pseudo channels of HBM counted "
                  "each; without sectors, more of them serve more random sectors; 0: unknown"),
    KVC_REAL_ROW(
        kvc_gpu, "l2", l2_bytes, KVC_UNIT_BYTES, 0, 1e9, "0B",
        "last cache in front of the device memory; half of it keeps an index, or its popular part, which a "
        "larger one serves faster; 0: unknown"),
    KVC_REAL_ROW(kvc_gpu, "l2_sectors", l2_sectors_per_s, KVC_UNIT_NONE, 0, 1e14, "0",
                 "random 32-byte sectors per second that hit the last cache; a higher rate shortens large "
                 "launches; 0: derived from l2"),
    KVC_REAL_ROW(kvc_gpu, "hot_read", hot_read_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
                 "time of a warp's reads of the one place that most jobs read; a longer time slows searches "
                 "for skewed keys; 0: as on the H200 if l2 is stated"),
    KVC_REAL_ROW(kvc_gpu, "hot_write", hot_write_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
                 "time of a warp's writes to the one place that most jobs write; a longer time slows inserts "
                 "of skewed keys; 0: as on the H200 if l2 is stated"),
    KVC_REAL_ROW(kvc_gpu, "access", access_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
                 "time of one dependent access to device memory; a longer time slows small launches"),
    KVC_REAL_ROW(
        kvc_gpu, "launch", launch_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time to launch a kernel and see its completion, on the host; a longer time slows small launches"),
    KVC_REAL_ROW(kvc_gpu, "launch_queued", launch_queued_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
                 "time that a launch adds if it is enqueued right after another one; a longer time slows "
                 "stages of several kernels; 0: as launch"),
    KVC_REAL_ROW(
        kvc_gpu, "price", price_usd, KVC_UNIT_NONE, 0, 1e6, "0",
        "price of the card in US dollars; a higher one lowers the throughput per dollar; 0: unknown"),
    KVC_LIST_ROW(kvc_gpu, "clocks", clocks, clock_count, &clock_options,
                 "clock pairs that can be set, fastest first, each with its fitted cost lines"),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_gpu, rows, "gpu");

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_gpu *gpu = device;
    for (uint32_t i = 0; i < gpu->clock_count; i++) {
        const struct kvc_gpu_clock *clock = &gpu->clocks[i];
        if (clock->busy_watts < clock->idle_watts) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "gpu.clocks: at %.0fMHz busy is %g W, allowed: no less than idle, %g W",
                                 clock->core_hz / 1e6, clock->busy_watts, clock->idle_watts);
        }
    }
    return KVC_OK;
}

/* A GPU without memory of its own is a part of the processor's chip. */
static double price_usd(const void *device)
{
    const struct kvc_gpu *gpu = device;
    if (gpu->shares_memory && !(gpu->price_usd > 0)) {
        return 0;
    }
    return gpu->price_usd > 0 ? gpu->price_usd : NAN;
}

const struct kvc_device_kind kvc_gpu_kind = {
    .name = "gpu",
    .help = "GPU: device memory, rate of random accesses, clock pairs with measured fits and power",
    .options = &options,
    .check = check,
    .price_usd = price_usd,
};

/* The card from which others are derived (scenarios/hardware/h200.lua). */
static const struct kvc_gpu h200 = {.sectors_per_s = 39.5e9,
                                    .channels = 192,
                                    .l2_bytes = 60 * 0x1p20,
                                    .l2_sectors_per_s = 158e9,
                                    .hot_read_ns = 1.2,
                                    .hot_write_ns = 4.6};

/* The table in which the rate of random sectors is measured. */
static const double table_bytes = 0x1p31;

/* Returns the share of the random sectors of that table which miss the L2 cache. */
static double table_misses(const struct kvc_gpu *gpu)
{
    return 1 - kvc_gpu_l2_reach_bytes(gpu) / table_bytes;
}

static double carried_sectors_per_s(const struct kvc_gpu *from, const struct kvc_gpu *to)
{
    return from->sectors_per_s * table_misses(from) / (double)from->channels * (double)to->channels /
           table_misses(to);
}

static double carried_l2_sectors_per_s(const struct kvc_gpu *from, const struct kvc_gpu *to)
{
    return from->l2_sectors_per_s / from->l2_bytes * to->l2_bytes;
}

void kvc_gpu_carry(const struct kvc_gpu *from, struct kvc_gpu *to)
{
    to->sectors_per_s = carried_sectors_per_s(from, to);
    to->l2_sectors_per_s = carried_l2_sectors_per_s(from, to);
    to->hot_read_ns = from->hot_read_ns;
    to->hot_write_ns = from->hot_write_ns;
    to->access_ns = from->access_ns;
    to->launch_ns = from->launch_ns;
    to->launch_queued_ns = from->launch_queued_ns;
}

double kvc_gpu_sectors_per_s(const struct kvc_gpu *gpu)
{
    return gpu->sectors_per_s > 0 ? gpu->sectors_per_s : carried_sectors_per_s(&h200, gpu);
}

static double l2_sectors_per_s(const struct kvc_gpu *gpu)
{
    return gpu->l2_sectors_per_s > 0 ? gpu->l2_sectors_per_s : carried_l2_sectors_per_s(&h200, gpu);
}

static double stated_or(double stated, double carried)
{
    return stated > 0 ? stated : carried;
}

/* Returns the time in which memory and cache serve a launch [ns]. A job looks at a place that it has fetched,
 * so the time of the cache adds to that of the memory. */
static double memory_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_work *work)
{
    double table_per_s = kvc_gpu_sectors_per_s(gpu);
    if (gpu->l2_bytes <= 0) {
        return work->sectors / table_per_s * 1e9;
    }
    double fetched_ns = work->accesses * (1 - work->l2_frac) / (table_per_s * table_misses(gpu)) * 1e9;
    double hot_ns = work->hot_reads * stated_or(gpu->hot_read_ns, h200.hot_read_ns) +
                    work->hot_writes * stated_or(gpu->hot_write_ns, h200.hot_write_ns);
    return fmax(fetched_ns + work->l2_sectors / l2_sectors_per_s(gpu) * 1e9, hot_ns);
}

/* Returns the time of a flow shop of `streams` equal jobs through copy-in engine, SMs and copy-out engine.
 * The first job passes all three, and each further one leaves the slowest stage later by its time there.
 * This is exact for equal jobs.
 */
static double mechanistic_ns(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                             const struct kvc_gpu_work *work)
{
    double streams = work->streams;
    double in_ns = kvc_pcie_h2d_ns(pcie, work->in_bytes / streams);
    double out_ns = kvc_pcie_d2h_ns(pcie, work->out_bytes / streams);
    double waves =
        ceil(work->jobs / streams * work->threads_per_job / ((double)gpu->sms * (double)gpu->threads_per_sm));
    double kernel_ns = fmax(memory_ns(gpu, work) / streams, waves * work->depth * gpu->access_ns);
    double slowest_ns = fmax(kernel_ns, fmax(in_ns, out_ns));
    double latency_ns =
        gpu->launch_ns + (in_ns > 0 ? pcie->latency_ns : 0) + (out_ns > 0 ? pcie->latency_ns : 0);
    return latency_ns + in_ns + kernel_ns + out_ns + (streams - 1) * slowest_ns;
}

double kvc_gpu_launch_ns(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                         const struct kvc_gpu_fit *fit, const struct kvc_gpu_work *work)
{
    if (work->jobs <= 0) {
        return 0;
    }
    return fit != NULL ? fit->ns_per_op * work->jobs + fit->base_ns : mechanistic_ns(gpu, pcie, work);
}

static struct kvc_gpu_kernel mechanistic_kernel(const struct kvc_gpu *gpu, const struct kvc_gpu_work *work,
                                                double frac)
{
    double waves =
        ceil(work->jobs * frac * work->threads_per_job / ((double)gpu->sms * (double)gpu->threads_per_sm));
    double amount_ns = memory_ns(gpu, work) * frac;
    return (struct kvc_gpu_kernel){.latency_ns = gpu->launch_ns,
                                   .amount_ns = amount_ns,
                                   .alone_ns = fmax(amount_ns, waves * work->depth * gpu->access_ns)};
}

struct kvc_gpu_kernel kvc_gpu_kernel_of(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                                        const struct kvc_gpu_fit *fit, const struct kvc_gpu_work *work,
                                        double frac)
{
    if (fit == NULL) {
        return mechanistic_kernel(gpu, work, frac);
    }
    double copies = (work->in_bytes > 0) + (work->out_bytes > 0);
    double copying_ns =
        kvc_pcie_h2d_ns(pcie, work->in_bytes * frac) + kvc_pcie_d2h_ns(pcie, work->out_bytes * frac);
    double amount_ns = frac * fmax(fit->ns_per_op * work->jobs - copying_ns, 0);
    return (struct kvc_gpu_kernel){.latency_ns = fmax(fit->base_ns - copies * pcie->latency_ns, 0),
                                   .amount_ns = amount_ns,
                                   .alone_ns = amount_ns};
}

void kvc_gpu_speed_up(struct kvc_gpu *gpu, double factor)
{
    gpu->sectors_per_s = kvc_gpu_sectors_per_s(gpu) * factor;
    gpu->l2_sectors_per_s = l2_sectors_per_s(gpu) * factor;
    gpu->hot_read_ns = stated_or(gpu->hot_read_ns, h200.hot_read_ns) / factor;
    gpu->hot_write_ns = stated_or(gpu->hot_write_ns, h200.hot_write_ns) / factor;
    gpu->access_ns /= factor;
    gpu->launch_ns /= factor;
    gpu->launch_queued_ns /= factor;
    gpu->wave_issue *= factor;
    gpu->wave_gap_cycles /= factor;
    gpu->walk_ns /= factor;
}

double kvc_gpu_launch_speed_up(double launch_ns, double copying_ns, double kernel_factor, double copy_factor)
{
    double copied_ns = fmin(copying_ns, launch_ns);
    return (launch_ns - copied_ns) / kernel_factor + copied_ns / copy_factor;
}

uint32_t kvc_gpu_clock_of(const struct kvc_gpu *gpu, double core_hz)
{
    static const double same_hz = 5e5;
    uint32_t clock = 0;
    while (core_hz > 0 && clock < gpu->clock_count && fabs(gpu->clocks[clock].core_hz - core_hz) >= same_hz) {
        clock++;
    }
    return clock;
}

enum kvc_status kvc_gpu_check_clock(const struct kvc_gpu *gpu, double core_hz, struct kvc_diag *diag)
{
    uint32_t clock = kvc_gpu_clock_of(gpu, core_hz);
    if (gpu->clock_count == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "gpu \"%s\" has no clocks", gpu->name);
    }
    if (clock == gpu->clock_count) {
        char allowed[256] = "";
        for (uint32_t i = 0; i < gpu->clock_count; i++) {
            size_t used = strlen(allowed);
            snprintf(allowed + used, sizeof(allowed) - used, "%s%.0fMHz", i > 0 ? ", " : "",
                     gpu->clocks[i].core_hz / 1e6);
        }
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.gpu_core: found %.0fMHz, %s has %s",
                             core_hz / 1e6, gpu->name, allowed);
    }
    if (gpu->clocks[clock].search.ns_per_op <= 0 && kvc_gpu_sectors_per_s(gpu) <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "gpu \"%s\" has neither a fit for %.0fMHz nor a rate of random sectors",
                             gpu->name, gpu->clocks[clock].core_hz / 1e6);
    }
    return KVC_OK;
}

/* Returns the share of random accesses whose translation misses. */
static double missed_frac(const struct kvc_gpu *gpu, double bytes)
{
    return gpu->walkers > 0 && bytes > gpu->walk_free_bytes ? 1 - gpu->walk_free_bytes / bytes : 0;
}

double kvc_gpu_waves_held(const struct kvc_gpu *gpu)
{
    return (double)gpu->sms * floor((double)gpu->threads_per_sm / (double)gpu->wave_threads);
}

static double waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves, bool is_alone)
{
    double cycle_ns = 1e9 / gpu->clocks[0].core_hz, sms = (double)gpu->sms;
    double count = ceil(waves->threads / (double)gpu->wave_threads);
    double held = kvc_gpu_waves_held(gpu);
    double walks = waves->random * missed_frac(gpu, waves->bytes);
    double issue_ns = count * waves->instructions / (sms * gpu->wave_issue) * cycle_ns;
    double rounds = is_alone ? ceil(count / held) : count / held;
    double wait_ns = rounds * (waves->depth * (gpu->access_ns + waves->further_ns) + walks * gpu->walk_ns +
                               waves->instructions * gpu->wave_gap_cycles * cycle_ns);
    double walk_ns = walks > 0 ? waves->threads * walks * gpu->walk_ns / (double)gpu->walkers : 0;
    return fmax(fmax(issue_ns, wait_ns), walk_ns);
}

double kvc_gpu_waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves)
{
    return waves_ns(gpu, waves, true);
}

double kvc_gpu_waves_amount_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves)
{
    return waves_ns(gpu, waves, false);
}
