#include "models/composed/costs.h"

#include <math.h>

#include "models/shards/launch.h"
#include "sim/devices/gpu_blocks.h"

enum { LINE_BYTES = 64, SECTOR_BYTES = 32 };

void kvc_composed_counts_add(struct kvc_composed_counts *sum, const struct kvc_composed_counts *counts,
                             double times)
{
    sum->requests += times * counts->requests;
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        sum->ops[op] += times * counts->ops[op];
        sum->op_bytes[op] += times * counts->op_bytes[op];
    }
    sum->hits += times * counts->hits;
    sum->filled += times * counts->filled;
    sum->filled_bytes += times * counts->filled_bytes;
    sum->hots += times * counts->hots;
    sum->request_bytes += times * counts->request_bytes;
    sum->response_bytes += times * counts->response_bytes;
}

/* How often the work of a stage counts for a batch. */
static double times_of(const struct kvc_composed_stage *stage, const struct kvc_composed_counts *counts,
                       int per)
{
    double times = 0;
    if (per == KVC_COMPOSED_PER_BATCH) {
        return 1;
    }
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        bool counted = (stage->options->of >> op & 1) != 0;
        times += counted ? (per == KVC_COMPOSED_PER_BYTE ? counts->op_bytes[op] : counts->ops[op]) : 0;
    }
    return times;
}

/* Returns the time of a job by the curve of its stage [ns]. */
static double curve_ns(const struct kvc_composed_stage_options *options, double requests)
{
    const struct kvc_composed_point *from = options->curve, *last = from + options->curve_count - 1;
    if (options->curve_count == 0 || requests <= from->requests) {
        return options->curve_count > 0 ? from->ns : 0;
    }
    while (from + 1 < last && from[1].requests < requests) {
        from++;
    }
    double slope_ns = (from[1].ns - from->ns) / (from[1].requests - from->requests);
    return fmax(from->ns + slope_ns * (requests - from->requests), 0);
}

/* The work of a stage for a batch: the sum of what it states. */
static struct kvc_composed_work work_of(const struct kvc_composed_stage *stage,
                                        const struct kvc_composed_counts *counts)
{
    struct kvc_composed_work sum = {
        .ns = curve_ns(stage->options, times_of(stage, counts, KVC_COMPOSED_PER_REQUEST))};
    uint32_t works = stage->works & ((1u << KVC_COMPOSED_PER_BLOCK) - 1);
    for (int per = 0; works >> per != 0; per++) {
        const struct kvc_composed_work *work = &stage->per[per];
        double times = times_of(stage, counts, per);
        sum.cycles += times * work->cycles;
        sum.ns += times * work->ns;
        sum.instructions += times * work->instructions;
        sum.lines += times * work->lines;
        sum.bytes += times * work->bytes;
    }
    return sum;
}

/* ---- cores ---- */

/* What a stage does to a memory of cores. */
struct touched {
    double random;         /* Lines at random places, for which a core waits. */
    double following;      /* Lines that follow them. */
    double streamed_bytes; /* Bytes read or written in order, which a core waits for. */
    double passing_bytes;  /* Bytes that nobody waits for. */
};

/* Returns the lines of packets that a core waits for: the first two of each, after which it fetches ahead. */
static double packet_lines(const struct kvc_composed_config *config, const struct kvc_composed_counts *counts)
{
    double packets = ceil(counts->requests / config->frame_requests);
    double header_bytes = config->nic != NULL ? (double)config->nic->packet_header_bytes : 0;
    double bytes = packets > 0 ? header_bytes + counts->request_bytes / packets : 0;
    return packets * fmin(ceil(bytes / LINE_BYTES), 2);
}

/* Sets what a stage does to the memory of its cores (near) and to that behind CXL (far). */
static void touch(const struct kvc_composed_config *config, const struct kvc_composed_stage *stage,
                  const struct kvc_composed_counts *counts, const struct kvc_composed_work *work,
                  struct touched *near, struct touched *far)
{
    bool index_far, values_far;
    kvc_composed_find_far(config, stage, &index_far, &values_far);
    struct touched *index = index_far ? far : near, *values = values_far ? far : near;
    *near = *far = (struct touched){0};
    near->random = work->lines;
    near->streamed_bytes = work->bytes;
    index->random += counts->search_lines + counts->insert_lines + counts->erase_lines - counts->next_lines;
    index->following += counts->next_lines;
    if ((stage->does & KVC_COMPOSED_PARSE) != 0) {
        near->passing_bytes += counts->request_bytes;
    }
    /* From the request to an item that follows the one before it, whose line a store reads before it writes
     * it; and from an item, whose first line has the key, to the response. */
    near->streamed_bytes += counts->copied_bytes;
    values->streamed_bytes += counts->written_bytes;
    values->passing_bytes += counts->written_bytes;
    values->random += counts->items + counts->compared;
    values->following += counts->item_lines - counts->items;
}

/* Returns for how long cores wait for lines of packets and for what they touch, some lines of which they wait
 * for at a time [ns], and sets how long it occupies channels. */
static double stall_of(const struct kvc_composed_cores *cores, const struct touched *touched, double packets,
                       double overlap, double *channel_ns)
{
    const struct kvc_dram *dram = cores->dram;
    double missed = 1 - cores->llc_frac;
    double in_order = touched->following * missed * (double)dram->line_bytes + touched->streamed_bytes +
                      touched->passing_bytes;
    *channel_ns = touched->random * missed * cores->channel_line_ns + in_order * cores->channel_byte_ns;
    return touched->random * cores->line_ns / overlap + packets * kvc_cpu_llc_hit_ns(cores->cpu) +
           touched->following * dram->next_line_ns + kvc_dram_stream_ns(dram, touched->streamed_bytes);
}

static struct kvc_composed_cost core_cost(const struct kvc_composed_config *config,
                                          const struct kvc_composed_stage *stage,
                                          const struct kvc_composed_counts *counts,
                                          const struct kvc_composed_pace *pace)
{
    bool on_card = stage->place == KVC_COMPOSED_CARD_CPU;
    const struct kvc_composed_cores *cores = on_card ? &config->card_cores : &config->host_cores;
    const struct kvc_cpu *cpu = cores->cpu;
    struct kvc_composed_work work = work_of(stage, counts);
    struct touched near, far;
    touch(config, stage, counts, &work, &near, &far);
    double compute_ns = work.cycles / cpu->clock_hz * 1e9 + work.ns;
    if (work.instructions > 0) {
        compute_ns += work.instructions * kvc_cpu_instruction_ns(cpu);
    }
    double at_once = fmax(fmin(config->pool[stage->pool].cores, counts->requests), 1);
    /* Lines of different requests overlap; those of one request wait for each other. */
    double of_core = counts->requests / at_once;
    double together = stage->options->overlap < of_core ? stage->options->overlap : of_core;
    double overlap = together > 1 ? together : 1, packets = 0, channel_ns, far_ns = 0, cxl_ns = 0;
    if ((stage->does & KVC_COMPOSED_PARSE) != 0) {
        packets = packet_lines(config, counts);
    }
    double stall_ns = stall_of(cores, &near, packets, overlap, &channel_ns);
    if (config->cxl.dram != NULL) {
        stall_ns += stall_of(&config->cxl, &far, 0, overlap, &far_ns);
        cxl_ns = far_ns / config->cxl.channels;
    }
    compute_ns /= on_card ? 1 : pace->core_speed; /* The clock of the card's cores cannot be set. */
    double core_ns = compute_ns + stall_ns;
    return (struct kvc_composed_cost){.busy_ns = core_ns / at_once,
                                      .core_ns = core_ns,
                                      .issue_ns = on_card || config->thread_cores >= 1 ? 0 : compute_ns,
                                      .channel_ns = on_card ? 0 : channel_ns,
                                      .cxl_ns = cxl_ns,
                                      .card_ns = on_card ? channel_ns : 0};
}

/* ---- GPU ---- */

/* Adds the kernel for `jobs` operations of a kind that touch `lines` lines of the index. It is one of the
 * kernels that all streams of the stage run at a time, which hide each other's copies. */
static void add_kernel(const struct kvc_composed_config *config, const struct kvc_composed_stage *stage,
                       uint32_t clock, enum kvc_shards_kernel kind, double jobs, double lines,
                       struct kvc_gpu_kernel *sum)
{
    const struct kvc_gpu *gpu = config->gpu;
    double streams = (double)config->pool[stage->pool].servers * config->pipelines;
    if (jobs <= 0) {
        return;
    }
    /* Counts keep the mean of the lines to a thousandth. */
    const struct kvc_index_stats stats = {.searches = 1000,
                                          .search_lines = (uint64_t)lround(1000 * lines / jobs),
                                          .inserts = 1000,
                                          .insert_lines = (uint64_t)lround(1000 * lines / jobs)};
    struct kvc_gpu_work work = kvc_shards_gpu_work(kind, jobs * streams, (uint32_t)streams, &stats);
    kvc_shards_gpu_caches(kind, config->l2_frac, config->hot_frac, &work);
    const struct kvc_gpu_fit *fit =
        gpu->clock_count > 0 && config->pcie != NULL ? kvc_shards_gpu_fit(&gpu->clocks[clock], kind) : NULL;
    struct kvc_gpu_kernel kernel = kvc_gpu_kernel_of(gpu, config->pcie, fit, &work, 1 / streams);
    sum->latency_ns = fmax(sum->latency_ns, kernel.latency_ns);
    sum->amount_ns += kernel.amount_ns;
    sum->alone_ns += kernel.alone_ns;
}

/* By how much longer instructions take than at the fastest clock. */
static double slower_frac(const struct kvc_gpu *gpu, uint32_t clock)
{
    return gpu->clocks[0].core_hz / gpu->clocks[clock].core_hz;
}

/* Lines of packets that a kernel parses: whole sectors, of which each has a thread. */
static double parsed_lines(const struct kvc_composed_config *config, const struct kvc_composed_stage *stage,
                           const struct kvc_composed_counts *counts)
{
    double packets = ceil(counts->requests / config->frame_requests);
    double header_bytes = config->nic != NULL ? (double)config->nic->packet_header_bytes : 0;
    bool parses = (stage->does & KVC_COMPOSED_PARSE) != 0 && packets > 0;
    return parses ? packets * ceil((header_bytes + counts->request_bytes / packets) / SECTOR_BYTES) *
                        SECTOR_BYTES / LINE_BYTES
                  : 0;
}

static double index_lines(const struct kvc_composed_counts *counts)
{
    return counts->search_lines + counts->insert_lines + counts->erase_lines;
}

/* A kernel whose blocks each serve some requests. */
static struct kvc_gpu_kernel block_kernel(const struct kvc_composed_config *config,
                                          const struct kvc_composed_stage *stage,
                                          const struct kvc_composed_counts *counts, uint32_t clock)
{
    const struct kvc_composed_work work = work_of(stage, counts), *each = &stage->per[KVC_COMPOSED_PER_BLOCK];
    const struct kvc_composed_stage_options *options = stage->options;
    const struct kvc_gpu_block_work blocks = {.jobs = counts->requests,
                                              .block_jobs = (uint32_t)options->block,
                                              .threads = (uint32_t)(options->block * options->threads),
                                              .shared_bytes = options->block_memory_bytes,
                                              .job_cycles = work.cycles / fmax(counts->requests, 1),
                                              .block_cycles = each->cycles,
                                              .accesses = each->lines,
                                              .sectors =
                                                  (double)LINE_BYTES / SECTOR_BYTES *
                                                  (parsed_lines(config, stage, counts) + index_lines(counts) +
                                                   counts->item_lines + counts->compared + work.lines)};
    struct kvc_gpu_grid grid = kvc_gpu_grid_of(config->gpu, &config->gpu->clocks[clock], &blocks);
    grid.alone_ns += each->ns;
    struct kvc_gpu_kernel kernel = kvc_gpu_grid_kernel(config->gpu, &grid);
    kernel.amount_ns += work.ns;
    kernel.alone_ns += work.ns;
    return kernel;
}

/* A kernel of a GPU that uses host memory: each request has a thread, whose lines wait for one another. */
static struct kvc_composed_cost shared_cost(const struct kvc_composed_config *config,
                                            const struct kvc_composed_stage *stage,
                                            const struct kvc_composed_counts *counts,
                                            const struct kvc_composed_pace *pace)
{
    const struct kvc_gpu *gpu = config->gpu;
    const struct kvc_dram *dram = config->dram;
    const struct kvc_composed_work work = work_of(stage, counts);
    /* Those whose operation has no work of the stage's own have threads for the index, too. */
    double operations = fmax(counts->searches, counts->inserts + counts->erases);
    double threads = fmax(fmax(times_of(stage, counts, KVC_COMPOSED_PER_REQUEST), operations), 1);
    bool parses = (stage->does & KVC_COMPOSED_PARSE) != 0;
    double random = index_lines(counts) - counts->next_lines + counts->items + counts->compared + work.lines,
           following = counts->item_lines - counts->items + counts->next_lines;
    const struct kvc_gpu_waves waves = {.threads = threads,
                                        .instructions = (work.instructions + work.cycles) / threads,
                                        .depth = (random + following) / threads,
                                        .random = random / threads,
                                        .bytes = config->index_bytes + config->value_bytes};
    const struct kvc_dram_load load = {.random_reads = random,
                                       .random_writes = counts->insert_lines + counts->erase_lines,
                                       .streamed_bytes = following * dram->line_bytes + work.bytes +
                                                         counts->copied_bytes + counts->written_bytes +
                                                         (parses ? counts->request_bytes : 0)};
    double channel_ns = kvc_dram_channel_ns(dram, &load);
    double memory_ns = channel_ns / kvc_dram_channels(dram);
    double slower = slower_frac(gpu, pace->gpu_clock);
    struct kvc_gpu_kernel kernel = {
        .latency_ns = gpu->launch_ns,
        .amount_ns = fmax(kvc_gpu_waves_amount_ns(gpu, &waves) * slower, memory_ns) + work.ns,
        .alone_ns = fmax(kvc_gpu_waves_ns(gpu, &waves) * slower, memory_ns) + work.ns};
    return (struct kvc_composed_cost){
        .busy_ns = kernel.latency_ns + kernel.alone_ns, .channel_ns = channel_ns, .kernel = kernel};
}

static struct kvc_composed_cost gpu_cost(const struct kvc_composed_config *config,
                                         const struct kvc_composed_stage *stage,
                                         const struct kvc_composed_counts *counts,
                                         const struct kvc_composed_pace *pace)
{
    const struct kvc_gpu *gpu = config->gpu;
    uint32_t clock = pace->gpu_clock, writes = KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE;
    bool only_writes = (stage->does & writes) != 0 && (stage->does & ~writes) == 0;
    if (only_writes && counts->inserts + counts->erases <= 0) { /* No kernel is launched for nothing. */
        return (struct kvc_composed_cost){0};
    }
    if (gpu->shares_memory) {
        return shared_cost(config, stage, counts, pace);
    }
    if (stage->options->block > 0) {
        struct kvc_gpu_kernel blocks = block_kernel(config, stage, counts, clock);
        return (struct kvc_composed_cost){.busy_ns = blocks.latency_ns + blocks.alone_ns, .kernel = blocks};
    }
    struct kvc_composed_work work = work_of(stage, counts);
    struct kvc_gpu_kernel kernel = {.latency_ns = gpu->launch_ns};
    add_kernel(config, stage, clock, KVC_SHARDS_SEARCH, counts->searches, counts->search_lines, &kernel);
    add_kernel(config, stage, clock, KVC_SHARDS_INSERT, counts->inserts + counts->erases,
               counts->insert_lines + counts->erase_lines, &kernel);
    double accesses =
        work.lines + counts->item_lines + counts->compared + parsed_lines(config, stage, counts);
    if (accesses > 0) {
        double amount_ns = 2 * accesses / kvc_gpu_sectors_per_s(gpu) * 1e9;
        kernel.amount_ns += amount_ns;
        kernel.alone_ns += fmax(amount_ns, accesses / fmax(counts->requests, 1) * gpu->access_ns);
    }
    double instructions = work.instructions + work.cycles;
    if (instructions > 0) {
        const struct kvc_gpu_waves waves = {.threads = counts->requests,
                                            .instructions = instructions / fmax(counts->requests, 1)};
        kernel.amount_ns += kvc_gpu_waves_amount_ns(gpu, &waves) * slower_frac(gpu, clock);
        kernel.alone_ns += kvc_gpu_waves_ns(gpu, &waves) * slower_frac(gpu, clock);
    }
    kernel.amount_ns += work.ns;
    kernel.alone_ns += work.ns;
    return (struct kvc_composed_cost){.busy_ns = kernel.latency_ns + kernel.alone_ns, .kernel = kernel};
}

/* ---- links and pipelines ---- */

static double bytes_of(const struct kvc_composed_stage *stage, const struct kvc_composed_counts *counts)
{
    return work_of(stage, counts).bytes;
}

/* Returns the time from the start of a request to its end: requests follow each other through the pipeline,
 * so that what each of them takes counts once. */
static double pipeline_ns(const struct kvc_fpga *fpga, const struct kvc_composed_stage *stage,
                          const struct kvc_composed_counts *counts)
{
    const struct kvc_composed_work all = work_of(stage, counts), once = stage->per[KVC_COMPOSED_PER_BATCH];
    double cycles = once.cycles + (all.cycles - once.cycles) / fmax(counts->requests, 1);
    double ns = once.ns + (all.ns - once.ns) / fmax(counts->requests, 1);
    return cycles * kvc_fpga_cycle_ns(fpga) + ns;
}

/* ---- an FPGA and the memories that it uses ---- */

/* The accesses of a job, each of one or more lines in a row. */
struct accesses {
    double reads, read_lines, writes, written_lines;
};

static struct accesses accesses_of(const struct kvc_composed_config *config,
                                   const struct kvc_composed_counts *counts,
                                   const struct kvc_composed_work *work)
{
    double lines = work->lines + counts->search_lines + counts->insert_lines + counts->erase_lines;
    double changed = counts->inserts + counts->erases; /* The last line that each of them reads. */
    double written = counts->written_bytes / fmax(config->means.touched_bytes, 1);
    return (struct accesses){.reads = lines - counts->next_lines + counts->items + counts->compared,
                             .read_lines = lines + counts->item_lines + counts->compared,
                             .writes = changed + written,
                             .written_lines =
                                 changed + counts->written_next_lines + counts->written_bytes / LINE_BYTES};
}

/* Returns how many accesses the slowest request of a job makes one after the other, if all make the mean or,
 * some of them, one more than its whole part. */
static double deepest_of(double accesses, double requests)
{
    double mean = accesses / fmax(requests, 1), whole = floor(mean);
    return whole - expm1(fmax(requests, 1) * log1p(-fmin(mean - whole, 1 - 1e-12)));
}

/* Adds what the accesses to the card's own memory take. Lines of different requests overlap. */
static void add_card_memory(const struct kvc_fpga *fpga, const struct accesses *accesses, double requests,
                            struct kvc_composed_cost *cost)
{
    double line_ns = kvc_fpga_dram_ns(fpga, LINE_BYTES);
    cost->card_ns += (accesses->read_lines + accesses->written_lines) * line_ns;
    cost->latency_ns += deepest_of(accesses->reads, requests) * (fpga->dram_ns + line_ns);
}

/* Adds what the accesses to host memory take, over PCIe or in the card's memory that caches lines. Of a
 * cached line, a write reads the line's place first; a line that gives way goes back to the host if it was
 * changed. */
static void add_host_memory(const struct kvc_composed_config *config, const struct accesses *accesses,
                            double requests, struct kvc_composed_cost *cost)
{
    const struct kvc_fpga *fpga = config->fpga;
    const struct kvc_pcie *pcie = config->pcie;
    double cached = config->options->cached_frac, past = 1 - cached;
    double misses = accesses->read_lines * cached * (1 - config->cached_hit_frac);
    double evicted = misses * config->put_frac;
    const struct kvc_pcie_traffic traffic = {
        .reads = accesses->reads * past + misses,
        .writes = accesses->writes * past + evicted,
        .read_bytes = (accesses->read_lines * past + misses) * LINE_BYTES,
        .written_bytes = (accesses->written_lines * past + evicted) * LINE_BYTES};
    double bytes = traffic.read_bytes + traffic.written_bytes;
    const struct kvc_dram_load load = {.random_reads = traffic.reads,
                                       .random_writes = traffic.writes,
                                       .streamed_bytes =
                                           fmax(bytes - (traffic.reads + traffic.writes) * LINE_BYTES, 0)};
    cost->dma_ns += kvc_pcie_traffic_ns(pcie, &traffic);
    cost->channel_ns += kvc_dram_channel_ns(config->dram, &load);
    /* The latency of host memory is uniform, so that the longest of many reads takes up to twice the mean. */
    double line_ns = cached > 0 ? kvc_fpga_dram_ns(fpga, LINE_BYTES) : 0, reads = traffic.reads;
    double looks_ns = cached > 0 ? fpga->dram_ns + line_ns : 0, any = -expm1(-reads);
    double longest = pcie->memory_ns * fmax((reads - 1) / (reads + 1), 0);
    double host_ns = kvc_pcie_read_ns(pcie, LINE_BYTES) + longest;
    cost->card_ns += (cached * (accesses->read_lines + 2 * accesses->written_lines) + misses) * line_ns;
    cost->latency_ns += deepest_of(accesses->reads, requests) * (any * host_ns + looks_ns);
}

static struct kvc_composed_cost fpga_cost(const struct kvc_composed_config *config, uint32_t number,
                                          const struct kvc_composed_counts *counts)
{
    const struct kvc_composed_stage *stage = &config->stage[number];
    const struct kvc_composed_work work = work_of(stage, counts);
    const struct accesses accesses = accesses_of(config, counts, &work);
    double interval = (double)stage->options->interval;
    struct kvc_composed_cost cost = {.busy_ns = counts->requests * interval * kvc_fpga_cycle_ns(config->fpga),
                                     .latency_ns = pipeline_ns(config->fpga, stage, counts)};
    if (accesses.reads + accesses.writes <= 0) {
        return cost;
    }
    if (kvc_composed_memory_of(config, number) == KVC_COMPOSED_IN_HOST) {
        add_host_memory(config, &accesses, counts->requests, &cost);
    } else {
        add_card_memory(config->fpga, &accesses, counts->requests, &cost);
    }
    return cost;
}

/* ---- storage, in closed form ---- */

/* Returns the mean time of the longest of `count` operations, of which `servers` run at a time: each takes
 * time_ns on average, exponentially distributed, or exactly. */
static double all_ns(double count, double servers, double time_ns, bool exponential)
{
    double at_once = fmin(fmax(count, 1), servers), later = fmax(count - servers, 0) / servers;
    static const double euler = 0.57722;
    if (!exponential) {
        return time_ns * (1 + ceil(later));
    }
    /* The mean of the largest of n such times is that of one times the sum of 1 / i for i up to n. */
    return time_ns * (later + log(at_once) + euler + 1 / (2 * at_once) - 1 / (12 * at_once * at_once));
}

static struct kvc_composed_cost database_cost(const struct kvc_composed_config *config,
                                              const struct kvc_composed_counts *counts)
{
    const struct kvc_database *database = config->database;
    double servers = (double)database->queries, reads = counts->ops[KVC_OP_GET];
    double writes = counts->requests - reads;
    struct kvc_database_load query = kvc_database_load_of(database, false, config->keys);
    struct kvc_database_load update = kvc_database_load_of(database, true, config->keys);
    double time_ns = (reads * query.time_ns + writes * update.time_ns) / fmax(counts->requests, 1e-300);
    bool exponential = database->times == KVC_DATABASE_EXPONENTIAL;
    struct kvc_composed_cost cost = {.busy_ns = servers * (reads * query.busy_ns + writes * update.busy_ns)};
    /* A job is there for as long as its slowest operation, while each occupies a part of the device. */
    cost.latency_ns =
        all_ns(counts->requests, servers, time_ns, exponential) + database->latency_ns - cost.busy_ns;
    return cost;
}

struct kvc_composed_pace kvc_composed_pace_of(const struct kvc_composed_config *config)
{
    return (struct kvc_composed_pace){config->core_speed, config->gpu_clock};
}

double kvc_composed_fetched_bytes(const struct kvc_composed_config *config, double bytes)
{
    double page_bytes = config->flash->page_bytes;
    return bytes > page_bytes ? page_bytes : kvc_flash_fetched_bytes(config->flash, bytes);
}

struct kvc_flash_load kvc_composed_flash_load(const struct kvc_composed_config *config, uint32_t number,
                                              const struct kvc_composed_counts *counts)
{
    const struct kvc_flash *flash = config->flash;
    uint32_t does = config->stage[number].does;
    double bytes = config->means.item_bytes, pages = ceil(bytes / flash->page_bytes);
    struct kvc_flash_load load = {.read_bytes = kvc_composed_fetched_bytes(config, bytes)};
    if ((does & KVC_COMPOSED_READ) != 0) {
        load.reads = counts->items * pages;
    }
    if ((does & KVC_COMPOSED_WRITE) != 0) {
        load.programs = (counts->ops[KVC_OP_SET] + counts->filled) * bytes / flash->page_bytes;
        load.erases = kvc_flash_translates(flash) ? 0 : load.programs / (double)flash->pages_per_block;
    }
    return load;
}

double kvc_composed_waits_frac(const struct kvc_composed_config *config, uint32_t number,
                               const struct kvc_composed_counts *counts)
{
    const struct kvc_composed_stage *stage = &config->stage[number];
    if (stage->place != KVC_COMPOSED_FLASH) {
        return 1;
    }
    bool reads = (stage->does & KVC_COMPOSED_READ) != 0;
    double each = reads ? fmin(counts->items / fmax(counts->requests, 1e-300), 1) : 0;
    return each < 1 ? -expm1(fmax(counts->requests, 1) * log1p(-each)) : 1;
}

double kvc_composed_program_ns(const struct kvc_flash *flash)
{
    double cells_ns = kvc_flash_translates(flash) /* The drive takes it into a buffer of its own. */
                          ? kvc_flash_interface_ns(flash, flash->page_bytes)
                          : flash->program_ns + kvc_flash_transfer_ns(flash, flash->page_bytes);
    return cells_ns + flash->access_ns;
}

double kvc_composed_flash_busy_ns(const struct kvc_composed_config *config, const struct kvc_flash_load *load)
{
    const struct kvc_flash *flash = config->flash;
    const struct kvc_flash_busy busy = kvc_flash_busy_of(flash, load);
    double tags = (double)kvc_flash_tags(flash);
    double busy_ns = fmax(kvc_flash_shared_ns(&busy), config->hottest_chip * busy.chips_ns);
    double buffered = ceil(config->buffer_bytes / flash->page_bytes);
    busy_ns = fmax(busy_ns, load->programs * kvc_composed_program_ns(flash) / buffered);
    if (flash->poll_ns > 0 && load->reads > 0) { /* Controllers visit their chips in turn. */
        const struct kvc_flash_load writes = {.programs = load->programs, .erases = load->erases};
        const struct kvc_flash_busy written = kvc_flash_busy_of(flash, &writes);
        double turns_ns = load->reads / kvc_flash_turns_reads_per_s(flash, load->read_bytes, tags) * 1e9;
        busy_ns = fmax(busy_ns, turns_ns + kvc_flash_shared_ns(&written));
    }
    return fmax(busy_ns, load->reads * kvc_flash_read_ns(flash, load->read_bytes) / tags);
}

/* Programs keep nobody waiting until the write buffer is full. closed_form/reads.h has how long reads of a
 * job wait for each other. */
static struct kvc_composed_cost flash_cost(const struct kvc_composed_config *config, uint32_t number,
                                           const struct kvc_composed_counts *counts)
{
    const struct kvc_flash *flash = config->flash;
    struct kvc_flash_load load = kvc_composed_flash_load(config, number, counts);
    struct kvc_composed_cost cost = {.busy_ns = kvc_composed_flash_busy_ns(config, &load)};
    double read_ns = load.reads > 0 ? kvc_flash_read_ns(flash, load.read_bytes) : 0;
    cost.latency_ns = kvc_composed_waits_frac(config, number, counts) * read_ns - cost.busy_ns;
    const struct kvc_dram_load memory = {.streamed_bytes = load.reads * load.read_bytes +
                                                           2 * load.programs * flash->page_bytes};
    cost.channel_ns = kvc_dram_channel_ns(config->dram, &memory);
    return cost;
}

struct kvc_composed_cost kvc_composed_cost_of(const struct kvc_composed_config *config, uint32_t number,
                                              const struct kvc_composed_counts *counts,
                                              const struct kvc_composed_pace *pace)
{
    const struct kvc_composed_stage *stage = &config->stage[number];
    struct kvc_composed_cost cost = {0};
    bool port = stage->place == KVC_COMPOSED_NIC_RX || stage->place == KVC_COMPOSED_NIC_TX;
    switch (stage->place) {
    case KVC_COMPOSED_CPU:
    case KVC_COMPOSED_CARD_CPU:
        return core_cost(config, stage, counts, pace);
    case KVC_COMPOSED_GPU:
        return gpu_cost(config, stage, counts, pace);
    case KVC_COMPOSED_FPGA:
        return fpga_cost(config, number, counts);
    case KVC_COMPOSED_NODE: { /* The answer is short; the time at the other node is a part of the way. */
        const struct kvc_composed_work work = work_of(stage, counts);
        cost.bytes = work.bytes;
        cost.busy_ns = kvc_nic_wire_ns(config->nic, cost.bytes, 1);
        cost.latency_ns = 2 * config->hop_ns + work.ns;
        break;
    }
    case KVC_COMPOSED_FLASH:
        return flash_cost(config, number, counts);
    case KVC_COMPOSED_DATABASE:
        return database_cost(config, counts);
    case KVC_COMPOSED_NIC_RX:
    case KVC_COMPOSED_NIC_TX:
        cost.bytes = bytes_of(stage, counts) +
                     (stage->place == KVC_COMPOSED_NIC_RX ? counts->request_bytes : counts->response_bytes);
        cost.busy_ns =
            kvc_nic_frames_ns(config->nic, cost.bytes, counts->requests / config->frame_answers,
                              stage->place == KVC_COMPOSED_NIC_RX ? config->rx_parts : config->tx_parts);
        if (stage->options->memory == KVC_COMPOSED_IN_GPU) { /* Packets go on over the link at once. */
            cost.busy_ns = fmax(cost.busy_ns, kvc_pcie_h2d_ns(config->pcie, cost.bytes));
            return cost;
        }
        break;
    case KVC_COMPOSED_PCIE_DOWN:
    case KVC_COMPOSED_PCIE_UP:
        cost.bytes = bytes_of(stage, counts);
        cost.busy_ns = stage->place == KVC_COMPOSED_PCIE_DOWN ? kvc_pcie_h2d_ns(config->pcie, cost.bytes)
                                                              : kvc_pcie_d2h_ns(config->pcie, cost.bytes);
        cost.latency_ns = cost.bytes > 0 ? config->pcie->latency_ns : 0;
        break;
    default:
        break;
    }
    if (port && kvc_composed_port_on_card(config, number)) { /* An FPGA buffers frames on its chip. */
        cost.card_ns = cost.bytes * config->card_cores.channel_byte_ns;
        return cost;
    }
    cost.root_ns = config->cpu->root_bytes_per_s > 0 ? cost.bytes / config->cpu->root_bytes_per_s * 1e9 : 0;
    cost.channel_ns = cost.bytes * config->host_cores.channel_byte_ns;
    return cost;
}
