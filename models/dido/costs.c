#include "models/dido/costs.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "models/shards/cache.h"
#include "models/shards/sizes.h"
#include "sim/devices/gpu.h"

enum { KINDS = KVC_OP_COUNT, SLOT_BYTES = 8, TAG_BYTES = 4, BUCKETS = 2 /* Places of a key. */ };

struct kvc_dido_mix kvc_dido_mix_of(const struct kvc_dido_config *config, const struct kvc_workload *workload)
{
    double key_bytes = kvc_workload_key_bytes_requested(workload);
    double value_bytes = kvc_workload_value_bytes_requested(workload);
    double item_bytes =
        kvc_megakv_slab_item_bytes((uint32_t)lround(key_bytes), (uint32_t)lround(value_bytes));
    double slots = kvc_shards_slots(config->index_bytes) - config->other_items;
    double capacity = fmin(config->slab_bytes / item_bytes, slots);
    bool evicts = workload->set_frac > 0;
    double hit_frac = kvc_shards_hit_frac(workload, slots, config->slab_bytes / item_bytes);
    double stored = fmin((double)workload->keys * workload->preload_frac, capacity) + config->other_items;
    struct kvc_dido_index_lines lines = kvc_dido_index_lines_at(stored * SLOT_BYTES / config->index_bytes);
    return (struct kvc_dido_mix){
        .get_frac = workload->get_frac,
        .set_frac = workload->set_frac,
        .hit_frac = hit_frac,
        .search_lines = hit_frac * lines.search + (1 - hit_frac) * BUCKETS,
        .insert_lines = hit_frac * lines.search + (1 - hit_frac) * lines.insert,
        .erase_lines = lines.erase,
        .insert_frac = workload->set_frac,
        .erase_frac = workload->delete_frac + (evicts ? workload->set_frac : 0),
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
    };
}

/* ---- one task ---- */

double kvc_dido_share_of(const struct kvc_dido_mix *mix, enum kvc_dido_task task, enum kvc_op op)
{
    const double share[KINDS] = {mix->get_frac, mix->set_frac, 1 - mix->get_frac - mix->set_frac};
    switch (task) {
    case KVC_DIDO_MM:
        return op == KVC_OP_SET ? share[op] : 0;
    case KVC_DIDO_SEARCH:
    case KVC_DIDO_KC:
        return op == KVC_OP_GET ? share[op] : 0;
    case KVC_DIDO_RD:
        return op == KVC_OP_GET ? share[op] * mix->hit_frac : 0;
    case KVC_DIDO_INSERT:
        return op == KVC_OP_SET ? mix->insert_frac : 0;
    case KVC_DIDO_ERASE:
        return op == KVC_OP_DELETE ? mix->erase_frac : 0;
    default:
        return share[op];
    }
}

double kvc_dido_task_share(const struct kvc_dido_mix *mix, enum kvc_dido_task task)
{
    double sum = 0;
    for (int op = 0; op < KINDS; op++) {
        sum += kvc_dido_share_of(mix, task, (enum kvc_op)op);
    }
    return sum;
}

/* Returns the work of a query of an operation in a task. If RD is in the stage of WR, it copies the value
 * into the response, and WR executes no more than for a header. The lines of the response are WR's in any
 * case. */
static struct kvc_dido_work work_of(const struct kvc_dido_mix *mix, uint32_t tasks, enum kvc_dido_task task,
                                    enum kvc_op op, bool on_gpu)
{
    uint32_t key_bytes = (uint32_t)lround(mix->key_bytes), value_bytes = (uint32_t)lround(mix->value_bytes);
    bool copied = task == KVC_DIDO_WR && (tasks & kvc_dido_bit(KVC_DIDO_RD)) != 0;
    struct kvc_dido_work work = kvc_dido_work_of(task, op, key_bytes, value_bytes, on_gpu);
    work.instructions =
        copied ? kvc_dido_work_of(task, op, key_bytes, 0, on_gpu).instructions : work.instructions;
    const double counted = task == KVC_DIDO_SEARCH   ? mix->search_lines
                           : task == KVC_DIDO_INSERT ? mix->insert_lines
                           : task == KVC_DIDO_ERASE  ? mix->erase_lines
                                                     : 0;
    work.random_lines = counted > 0 ? counted : work.random_lines;
    return work;
}

/* Returns whether an earlier task of the stage has fetched the first line of the item. */
static bool is_fetched(uint32_t tasks, enum kvc_dido_task task)
{
    return task == KVC_DIDO_RD && (tasks & kvc_dido_bit(KVC_DIDO_KC)) != 0;
}

/* Returns the share of a task's lines that the CPU's last-level cache holds. Frames pass through it once. */
static double cached_frac(const struct kvc_dido_config *config, enum kvc_dido_task task)
{
    return kvc_dido_is_index(task)                                             ? config->bucket_cached_frac
           : task == KVC_DIDO_MM || task == KVC_DIDO_KC || task == KVC_DIDO_RD ? config->item_cached_frac
                                                                               : 0;
}

/* Returns the bytes of a value that RD writes to a buffer, or WR reads from it. */
static double buffered_bytes(const struct kvc_dido_pipeline *pipeline, const struct kvc_dido_mix *mix,
                             enum kvc_dido_task task, enum kvc_op op)
{
    bool apart = kvc_dido_stage_of(pipeline, KVC_DIDO_RD) != kvc_dido_stage_of(pipeline, KVC_DIDO_WR);
    bool moves = op == KVC_OP_GET && (task == KVC_DIDO_RD || task == KVC_DIDO_WR);
    double hits = task == KVC_DIDO_WR ? mix->hit_frac : 1;
    return apart && moves ? hits * mix->value_bytes : 0;
}

/* Bytes of a query in its frame that RV and SD copy between the operating system and the process, to and
 * from. */
static double framed_bytes(const struct kvc_dido_config *config, enum kvc_dido_task task)
{
    bool copies = config->feed == KVC_DIDO_NETWORK;
    return copies && task == KVC_DIDO_RV   ? 2 * config->request_bytes
           : copies && task == KVC_DIDO_SD ? 2 * config->response_bytes
                                           : 0;
}

/* ---- CPU ---- */

static double frame_ns(const struct kvc_dido_config *config, enum kvc_dido_task task)
{
    double cycle_ns = config->options->cycles_ratio * 1e9 / config->cpu->clock_hz;
    if (config->feed == KVC_DIDO_MEMORY || (task != KVC_DIDO_RV && task != KVC_DIDO_SD)) {
        return 0;
    }
    double responses = kvc_nic_messages_per_frame(config->nic, config->response_bytes);
    return task == KVC_DIDO_RV ? config->options->receive_cycles * cycle_ns / config->frame_mean
                               : config->options->send_cycles * cycle_ns / responses;
}

/* Returns the time of the network port for messages of some size in full frames, per message [ns]. */
static double wire_ns(const struct kvc_dido_config *config, double messages, double message_bytes)
{
    bool frames = config->feed == KVC_DIDO_NETWORK;
    return frames ? kvc_nic_wire_bytes(config->nic, messages * message_bytes) / messages * 1e9 /
                        kvc_nic_port(config->nic).bytes_per_s
                  : 0;
}

/* Adds a task on a core. Returns the core's time for a query of the batch [ns]. */
static double add_on_core(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline,
                          uint32_t tasks, enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                          struct kvc_dram_load *load)
{
    const struct kvc_cpu *cpu = config->cpu;
    double frac = cached_frac(config, task);
    double instruction_ns = kvc_cpu_instruction_ns(cpu), sum_ns = 0;
    double line_bytes = config->dram->line_bytes, random_ns = kvc_dram_object_ns(config->dram, 1);
    double random_stall_ns = fmax(random_ns - cpu->lookahead_ns, 0);
    double cached_stall_ns = fmax(kvc_cpu_llc_hit_ns(cpu) - cpu->lookahead_ns, 0);
    for (int op = 0; op < KINDS; op++) {
        double queries = kvc_dido_share_of(mix, task, (enum kvc_op)op);
        if (queries <= 0) {
            continue;
        }
        struct kvc_dido_work work = work_of(mix, tasks, task, (enum kvc_op)op, false);
        double cached = is_fetched(tasks, task) ? 1 : frac;
        double stream_bytes =
            buffered_bytes(pipeline, mix, task, (enum kvc_op)op) + framed_bytes(config, task);
        sum_ns += queries * (work.instructions * instruction_ns +
                             work.random_lines * ((1 - cached) * random_stall_ns + cached * cached_stall_ns) +
                             kvc_dram_stream_ns(config->dram, work.next_lines * line_bytes + stream_bytes));
        double missed = work.random_lines * (1 - cached);
        bool writes = task == KVC_DIDO_MM || task == KVC_DIDO_INSERT || task == KVC_DIDO_ERASE;
        struct kvc_dram_load part = {.random_reads = missed,
                                     .random_writes = writes ? missed : 0,
                                     .streamed_bytes =
                                         work.next_lines * (1 - frac) * line_bytes + stream_bytes};
        kvc_dram_load_add(load, &part, queries);
    }
    return sum_ns + frame_ns(config, task);
}

/* ---- GPU ---- */

/* Load of kernels on the memory, and on the link to it if there is one. */
struct moved {
    struct kvc_dram_load lines;
    struct kvc_dido_link_load packets;
};

static void add_moved(struct moved *sum, const struct moved *moved, double count)
{
    kvc_dram_load_add(&sum->lines, &moved->lines, count);
    kvc_dido_link_load_add(&sum->packets, &moved->packets, count);
}

/* Returns the share of the waves that have a thread with such a query. */
static double waves_with(const struct kvc_gpu *gpu, double frac)
{
    return 1 - pow(1 - fmin(frac, 1), (double)gpu->wave_threads);
}

/* Adds a task of a kernel in which each thread has a query. */
static void add_to_kernel(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline,
                          uint32_t tasks, enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                          struct kvc_gpu_waves *waves, struct moved *moved)
{
    double line_bytes = config->dram->line_bytes;
    for (int op = 0; op < KINDS; op++) {
        double queries = kvc_dido_share_of(mix, task, (enum kvc_op)op);
        if (queries <= 0) {
            continue;
        }
        struct kvc_dido_work work = work_of(mix, tasks, task, (enum kvc_op)op, true);
        double active = waves_with(config->gpu, queries);
        double buffered = buffered_bytes(pipeline, mix, task, (enum kvc_op)op);
        work.random_lines = is_fetched(tasks, task) ? 0 : work.random_lines;
        waves->instructions += active * work.instructions;
        waves->depth += active * (work.random_lines + work.next_lines);
        waves->random += queries * work.random_lines;
        struct moved part = {.lines = {.random_reads = work.random_lines,
                                       .random_writes = task == KVC_DIDO_MM ? work.random_lines : 0,
                                       .streamed_bytes = work.next_lines * line_bytes + buffered},
                             .packets = kvc_dido_link_load_of(config, tasks, task, mix, &work, buffered)};
        add_moved(moved, &part, queries);
    }
}

/* Returns the time of a kernel on an idle machine: the longest of the times of its waves, of the memory's
 * channels for its lines, and of the link for its packets [ns]. */
static double kernel_ns(const struct kvc_dido_config *config, const struct kvc_gpu_waves *waves,
                        const struct moved *moved)
{
    struct kvc_dido_link_time link = kvc_dido_link_time_of(config->pcie, &moved->packets);
    double memory_ns = kvc_dram_channel_ns(config->dram, &moved->lines) / kvc_dram_channels(config->dram);
    return fmax(fmax(kvc_gpu_waves_ns(config->gpu, waves), memory_ns), fmax(link.down_ns, link.up_ns));
}

/* Returns the time of the kernel of insert or delete for `queries` queries of an operation [ns]. */
static double index_kernel_ns(const struct kvc_dido_config *config, enum kvc_dido_task task, enum kvc_op op,
                              const struct kvc_dido_mix *mix, double jobs, struct moved *moved)
{
    struct kvc_dido_work work = work_of(mix, kvc_dido_bit(task), task, op, true);
    struct kvc_gpu_waves waves = {.threads = jobs,
                                  .instructions = work.instructions,
                                  .depth = work.random_lines + work.next_lines,
                                  .random = work.random_lines,
                                  .bytes = kvc_dido_data_bytes(config),
                                  .further_ns = config->link_ns};
    struct moved job = {.lines = {.random_reads = work.random_lines, .random_writes = work.random_lines},
                        .packets = kvc_dido_link_load_of(config, kvc_dido_bit(task), task, mix, &work, 0)};
    struct moved all = {0};
    add_moved(&all, &job, jobs);
    add_moved(moved, &all, 1);
    return kernel_ns(config, &waves, &all);
}

/* Returns the time of PP's kernel, in which each thread parses a frame: where a request begins follows from
 * the one before it [ns]. */
static double parse_kernel_ns(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline,
                              const struct kvc_dido_mix *mix, double queries, struct moved *moved)
{
    struct kvc_gpu_waves request = {0};
    struct moved per_query = {0}, all = {0};
    add_to_kernel(config, pipeline, kvc_dido_bit(KVC_DIDO_PP), KVC_DIDO_PP, mix, &request, &per_query);
    double requests = fmin(config->frame_mean, queries); /* Requests of a frame. */
    struct kvc_gpu_waves waves = {.threads = ceil(queries / requests),
                                  .instructions = requests * request.instructions,
                                  .depth = requests * request.depth,
                                  .bytes = kvc_dido_data_bytes(config),
                                  .further_ns = config->link_ns};
    add_moved(&all, &per_query, queries);
    add_moved(moved, &all, 1);
    return kernel_ns(config, &waves, &all);
}

/* Returns the time of the next launch of a stage. Launches are enqueued together. */
static double launch_of(const struct kvc_gpu *gpu, bool *launched)
{
    bool behind = *launched && gpu->launch_queued_ns > 0;
    *launched = true;
    return behind ? gpu->launch_queued_ns : gpu->launch_ns;
}

static void add_gpu(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline,
                    uint32_t tasks, const struct kvc_dido_mix *mix, double queries,
                    struct kvc_dido_cost *cost, struct kvc_dram_load *load)
{
    struct kvc_gpu_waves waves = {
        .threads = queries, .bytes = kvc_dido_data_bytes(config), .further_ns = config->link_ns};
    struct moved all = {0};
    struct moved own = {0}; /* Moved by the kernel in which each thread has a query. */
    double before_ns = 0;
    bool launched = false, opened = false;
    for (int i = 0; i < KVC_DIDO_TASKS; i++) {
        enum kvc_dido_task task = (enum kvc_dido_task)i;
        if ((tasks & kvc_dido_bit(task)) == 0) {
            continue;
        }
        if (task == KVC_DIDO_PP || task == KVC_DIDO_INSERT || task == KVC_DIDO_ERASE) {
            enum kvc_op op = task == KVC_DIDO_INSERT ? KVC_OP_SET : KVC_OP_DELETE;
            double jobs = task == KVC_DIDO_PP ? queries : queries * kvc_dido_share_of(mix, task, op);
            double ns = jobs <= 0             ? 0
                        : task == KVC_DIDO_PP ? parse_kernel_ns(config, pipeline, mix, jobs, &all)
                                              : index_kernel_ns(config, task, op, mix, jobs, &all);
            double launch_ns = jobs > 0 ? launch_of(config->gpu, &launched) : 0;
            cost->kernel_ns += ns;
            cost->launch_ns += launch_ns;
            cost->task_ns[task] = ns + launch_ns;
            continue;
        }
        struct moved per_query = {0};
        add_to_kernel(config, pipeline, tasks, task, mix, &waves, &per_query);
        add_moved(&own, &per_query, queries);
        double ns = kernel_ns(config, &waves, &own);
        double launch_ns = opened ? 0 : launch_of(config->gpu, &launched);
        cost->task_ns[task] = ns - before_ns + launch_ns;
        cost->launch_ns += launch_ns;
        before_ns = ns;
        opened = true;
    }
    cost->kernel_ns += before_ns;
    add_moved(&all, &own, 1);
    struct kvc_dido_link_time link = kvc_dido_link_time_of(config->pcie, &all.packets);
    cost->down_ns = link.down_ns;
    cost->up_ns = link.up_ns;
    kvc_dram_load_add(load, &all.lines, 1);
}

/* ---- a stage ---- */

struct kvc_dido_cost kvc_dido_cost_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline, uint32_t tasks, bool on_gpu,
                                      const struct kvc_dido_mix *mix, double queries)
{
    struct kvc_dido_cost cost = {0};
    struct kvc_dram_load load = {0};
    if (on_gpu) {
        add_gpu(config, pipeline, tasks, mix, queries, &cost, &load);
    } else {
        for (int i = 0; i < KVC_DIDO_TASKS; i++) {
            enum kvc_dido_task task = (enum kvc_dido_task)i;
            struct kvc_dram_load per_query = {0};
            if ((tasks & kvc_dido_bit(task)) != 0) {
                cost.task_ns[task] = queries * add_on_core(config, pipeline, tasks, task, mix, &per_query);
                cost.core_ns += cost.task_ns[task];
                kvc_dram_load_add(&load, &per_query, queries);
            }
        }
    }
    if (!on_gpu && (tasks & kvc_dido_bit(KVC_DIDO_RV)) != 0) {
        cost.down_ns = queries * wire_ns(config, config->frame_mean, config->request_bytes);
    }
    if (!on_gpu && (tasks & kvc_dido_bit(KVC_DIDO_SD)) != 0) {
        double responses = kvc_nic_messages_per_frame(config->nic, config->response_bytes);
        cost.up_ns = queries * wire_ns(config, responses, config->response_bytes);
    }
    cost.channel_ns = kvc_dram_channel_ns(config->dram, &load);
    return cost;
}

double kvc_dido_taking_ns(const struct kvc_dido_config *config, bool on_gpu, double queries)
{
    const struct kvc_dido_options *options = config->options;
    double sets = ceil(queries / (double)options->steal_set);
    double lines = ceil(sets * TAG_BYTES / config->dram->line_bytes);
    return on_gpu ? sets * (options->steal_ns + config->link_ns) / kvc_gpu_waves_held(config->gpu)
                  : sets * kvc_cpu_llc_hit_ns(config->cpu) + lines * options->steal_ns;
}

uint32_t kvc_dido_stealable(const struct kvc_dido_stage *stage)
{
    const uint32_t only_cpu = kvc_dido_bit(KVC_DIDO_RV) | kvc_dido_bit(KVC_DIDO_SD);
    uint32_t tasks = 0;
    for (int i = 0; i < KVC_DIDO_TASKS; i++) {
        uint32_t task = kvc_dido_bit((enum kvc_dido_task)i);
        if (!stage->on_gpu && (task & only_cpu & stage->tasks) != 0) {
            break;
        }
        tasks |= stage->tasks & task;
    }
    return tasks;
}

enum { HASH_BYTES = 8, LOCATION_BYTES = 4 };

/* ---- the link of a task ---- */

static void read_in_order(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, double bytes)
{
    load->reads += bytes / (double)pcie->payload_max_bytes;
    load->read_bytes += bytes;
}

static void write_in_order(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, double bytes)
{
    load->writes += bytes / (double)pcie->payload_max_bytes;
    load->written_bytes += bytes;
}

/* Adds the hashes and locations that a task reads and writes. insert and delete have kernels of their own. */
static void add_arrays(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, uint32_t tasks,
                       enum kvc_dido_task task)
{
    bool hashed = (tasks & kvc_dido_bit(KVC_DIDO_PP)) != 0;
    bool searched = (tasks & kvc_dido_bit(KVC_DIDO_SEARCH)) != 0;
    bool compared = (tasks & kvc_dido_bit(KVC_DIDO_KC)) != 0;
    switch (task) {
    case KVC_DIDO_PP:
        write_in_order(load, pcie, HASH_BYTES);
        break;
    case KVC_DIDO_MM:
        write_in_order(load, pcie, LOCATION_BYTES);
        break;
    case KVC_DIDO_SEARCH:
        read_in_order(load, pcie, hashed ? 0 : HASH_BYTES);
        write_in_order(load, pcie, LOCATION_BYTES);
        break;
    case KVC_DIDO_INSERT:
    case KVC_DIDO_ERASE:
        read_in_order(load, pcie, HASH_BYTES + LOCATION_BYTES);
        break;
    case KVC_DIDO_KC:
        read_in_order(load, pcie, searched ? 0 : LOCATION_BYTES);
        break;
    case KVC_DIDO_RD:
        read_in_order(load, pcie, searched || compared ? 0 : LOCATION_BYTES);
        break;
    default:
        break;
    }
}

/* Returns the bytes of a request that a task reads from its frame, besides the lines of index and items. */
static double read_frame_bytes(enum kvc_dido_task task, const struct kvc_dido_mix *mix)
{
    return task == KVC_DIDO_MM ? mix->key_bytes + mix->value_bytes : task == KVC_DIDO_KC ? mix->key_bytes : 0;
}

struct kvc_dido_link_load kvc_dido_link_load_of(const struct kvc_dido_config *config, uint32_t tasks,
                                                enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                                                const struct kvc_dido_work *work, double buffered_bytes)
{
    const struct kvc_pcie *pcie = config->pcie;
    struct kvc_dido_link_load load = {0};
    if (pcie == NULL) {
        return load;
    }
    double line_bytes = config->dram->line_bytes, packets = kvc_pcie_packets(pcie, (uint32_t)line_bytes);
    double framed = read_frame_bytes(task, mix);
    double next_lines = fmax(work->next_lines - framed / line_bytes, 0);
    double lines = work->random_lines + next_lines;
    const struct kvc_dido_link_load read_line = {.reads = packets, .read_bytes = line_bytes},
                                    written_line = {.writes = packets, .written_bytes = line_bytes},
                                    slot = {.writes = 1, .written_bytes = SLOT_BYTES};
    add_arrays(&load, pcie, tasks, task);
    read_in_order(&load, pcie, framed);
    switch (task) {
    case KVC_DIDO_PP:
        read_in_order(&load, pcie, work->next_lines * line_bytes);
        break;
    case KVC_DIDO_MM: /* The first line says which item CLOCK evicts. */
        kvc_dido_link_load_add(&load, &read_line, work->random_lines);
        kvc_dido_link_load_add(&load, &written_line, lines);
        break;
    case KVC_DIDO_INSERT:
    case KVC_DIDO_ERASE:
        kvc_dido_link_load_add(&load, &read_line, lines);
        kvc_dido_link_load_add(&load, &slot, work->random_lines);
        break;
    case KVC_DIDO_SEARCH:
    case KVC_DIDO_KC:
        kvc_dido_link_load_add(&load, &read_line, lines);
        break;
    case KVC_DIDO_RD: /* The value goes to the buffer, or to the response, which is WR's. */
        kvc_dido_link_load_add(&load, &read_line, lines);
        write_in_order(&load, pcie, (tasks & kvc_dido_bit(KVC_DIDO_WR)) != 0 ? 0 : mix->value_bytes);
        break;
    case KVC_DIDO_WR:
        read_in_order(&load, pcie, buffered_bytes);
        write_in_order(&load, pcie, work->next_lines * line_bytes);
        break;
    default:
        break;
    }
    return load;
}

struct kvc_dido_link_time kvc_dido_link_time_of(const struct kvc_pcie *pcie,
                                                const struct kvc_dido_link_load *load)
{
    if (pcie == NULL) {
        return (struct kvc_dido_link_time){0};
    }
    double links = (double)pcie->endpoints, header = (double)pcie->header_bytes;
    double byte_ns = 1e9 / (links * kvc_pcie_link_bytes_per_s(pcie)), root_ns = 1e9 / pcie->root_bytes_per_s;
    double read_credits = load->read_bytes / KVC_PCIE_CREDIT_BYTES;
    double write_credits = load->written_bytes / KVC_PCIE_CREDIT_BYTES;
    double tags_ns = load->reads / (links * kvc_pcie_flight_reads_per_s(pcie)) * 1e9;
    double room_ns =
        read_credits / (links * (double)pcie->completion_credits) * (pcie->read_ns + pcie->memory_ns);
    double posted_ns =
        fmax(load->writes / (double)pcie->write_credits, write_credits / (double)pcie->write_data_credits) *
        pcie->credit_ns / links;
    double dma_ns = kvc_pcie_dma_ns(pcie, load->reads, load->writes, load->written_bytes) / links;
    return (struct kvc_dido_link_time){
        .down_ns = fmax(fmax((load->read_bytes + load->reads * header) * byte_ns, load->read_bytes * root_ns),
                        fmax(tags_ns, room_ns)),
        .up_ns = fmax(fmax((load->written_bytes + (load->reads + load->writes) * header) * byte_ns,
                           load->written_bytes * root_ns),
                      fmax(posted_ns, dma_ns))};
}
