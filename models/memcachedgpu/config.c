#include "models/memcachedgpu/config.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "kernels/memcachedgpu/packet.h"
#include "models/shards/sizes.h"
#include "sim/base/memo.h"
#include "sim/devices/gpu_blocks.h"
#include "sim/workload/sizes.h"
#include "sim/workload/keys/hashed_sets.h"

/* ---- options ---- */

static const char *const receives[] = {"gpu", "host", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const fills[] = {"nic", "pre", NULL};
static const char *const programs[] = {"measured", "published", NULL};
static const char *const indexes[] = {"sets", "hopscotch", "chained", NULL};
static const char *const tables[] = {"one", "by_key_size", NULL};
static const char *const misses[] = {"leave", "set", NULL};
static const char *const udp[] = {"udp", NULL};
static const char *const tcp[] = {"tcp", NULL};

static const struct kvc_option option_rows[] = {
    KVC_CHOICE_ROW(
        kvc_memcachedgpu_options, "receive", receive, receives, "gpu",
        "gpu: the NIC writes packets into GPU memory (GNoM); host: it writes them into host memory, "
        "and batches are copied to the GPU (NGD)"),
    KVC_CHOICE_ROW(
        kvc_memcachedgpu_options, "feed", feed, feeds, "network",
        "network: packets pass through the NIC; memory: they are read from host memory, and responses "
        "are not sent"),
    KVC_CHOICE_ROW(kvc_memcachedgpu_options, "fill", fill, fills, "nic",
                   "nic: packets arrive where their batch is read, and with receive = \"host\" results are "
                   "copied back (as measured); pre: the pre thread receives packets, copies each into the "
                   "batch and makes three calls, and the kernel writes results to the host (the authors' "
                   "NGD)"),
    KVC_CHOICE_ROW(
        kvc_memcachedgpu_options, "program", program, programs, "measured",
        "measured: blocks of 32 packets, whose results are copied back; published: blocks of 256 packets, "
        "which write results straight to host memory, no description of a batch, and buffers that are free "
        "when the kernel has ended (the authors' program)"),
    KVC_COUNT_ROW(kvc_memcachedgpu_options, "batch", batch, 1, KVC_MEMCACHEDGPU_BATCH_MAX, "512",
                  "packets that one kernel serves; larger batches raise throughput and the time that packets "
                  "wait for others"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "batch_timeout", batch_timeout_ns, KVC_UNIT_NS, 0, 1e15, "0us",
                 "longest time that a batch waits to be full after its first packet; a shorter time lowers "
                 "latency at low load; 0us: no limit"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "streams", streams, 1, KVC_MEMCACHEDGPU_STREAMS_MAX, "32",
        "CUDA streams, each of which has one batch at a time; more streams let more batches overlap"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "post_threads", post_threads, 1, KVC_MEMCACHEDGPU_POST_MAX, "2",
        "threads that fill and send responses (GNoM-post); each polls and so keeps a hardware thread "
        "busy"),
    KVC_COUNT_ROW(kvc_memcachedgpu_options, "receive_ports", receive_ports, 1, 64, "1",
                  "ports of the NIC at which requests arrive; responses leave by all ports in turn"),
    KVC_REAL_ROW(
        kvc_memcachedgpu_options, "receive_memory", receive_bytes, KVC_UNIT_BYTES, 65536, 1e12, "220MiB",
        "memory of all receive buffers, in whole pages of 64 KiB (memcachedgpu.grxb.pinned: the most "
        "that a K20c can pin, 112,640 buffers in the authors' program); more memory absorbs longer "
        "delays without drops"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "receive_buffer", buffer_bytes, 64, 65536, "2048",
        "size of a receive buffer in bytes, which one packet occupies (memcachedgpu.grxb.size); larger "
        "ones leave fewer of them"),
    KVC_CHOICE_ROW(
        kvc_memcachedgpu_options, "index", index, indexes, "sets",
        "sets: set-associative table with an LRU in each set; hopscotch: overlapping neighbourhoods; "
        "chained: memcached's chains and one LRU queue"),
    KVC_CHOICE_ROW(kvc_memcachedgpu_options, "tables", tables, tables, "one",
                   "one: every entry has room for the longest key; by_key_size: five tables with entries for "
                   "keys of 16, 32, 64, 128 and 250 bytes, as large as their share of the keys"),
    KVC_COUNT_ROW(kvc_memcachedgpu_options, "ways", ways, 1, 16, "16",
                  "index = \"sets\": entries of a set, a power of two; more ways evict fewer popular items"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "entries", entries, 16, 4e9, "auto",
        "entries of all tables; more entries hold more items; auto: the fewest in sets, a power of two of "
        "sets, that keep all but one key in a thousand",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "key_room", key_room, 1, KVC_MEMCACHEDGPU_PACKET_KEY_MAX, "250",
        "longest key in bytes that an entry has room for; a shorter one leaves room for more entries"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "slab", slab_bytes, KVC_UNIT_BYTES, KVC_MEGAKV_SLAB_BYTES,
                 137438953472.0, "auto",
                 "host memory of the items; less memory evicts items that the tables still have entries for; "
                 "auto: room for as many items as there are entries or keys, and 10 % more",
                 .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "expiry", expiry_ns, KVC_UNIT_NS, 0, 1e15, "0s",
                 "life of an item after its SET; a later GET removes it and counts as a miss; 0s: for ever"),
    KVC_CHOICE_ROW(kvc_memcachedgpu_options, "misses", misses, misses, "leave",
                   "leave: a miss has no consequence; set: the client sends a SET of the key that it missed"),
    KVC_CHOICE_ROW(kvc_memcachedgpu_options, "get_transport", get_transport, udp, "udp",
                   "transport of GETs: the GPU parses UDP packets only"),
    KVC_CHOICE_ROW(kvc_memcachedgpu_options, "set_transport", set_transport, tcp, "tcp",
                   "transport of SETs and DELETEs, which the CPU serves"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "set_threads", set_threads, 1, 64, "4",
        "threads of memcached that serve SETs and DELETEs, 4 by default in memcached; they update the "
        "table one after the other"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "set_connections", set_connections, 0, KVC_MEMCACHEDGPU_SET_CONNECTIONS_MAX,
        "0",
        "TCP connections that send SETs one after the other, besides the SETs of the workload; more "
        "connections keep more threads busy"),
    KVC_REAL_ROW(
        kvc_memcachedgpu_options, "set_wait", set_wait_ns, KVC_UNIT_NS, 0, 1e9, "0us",
        "time that a SET waits for each batch of GETs that the card has in hand on average, which the "
        "authors call contention and do not explain; a longer one lowers the rate of SETs"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "damaged", damaged_frac, KVC_UNIT_NONE, 0, 1, "0",
                 "share of the packets with a wrong byte, which the parser finds; they are counted and not "
                 "answered"),
    KVC_COUNT_ROW(kvc_memcachedgpu_options, "background_blocks", background_blocks, 0, 1e6, "0",
                  "thread blocks of another task on the same GPU; 0: there is none"),
    KVC_COUNT_ROW(kvc_memcachedgpu_options, "background_threads", background_threads, 32, 1024, "1024",
                  "threads of a block of the other task; more threads leave less room on a multiprocessor"),
    KVC_COUNT_ROW(
        kvc_memcachedgpu_options, "background_kernels", background_kernels, 1, 1e6, "1",
        "launches that the blocks of the other task are divided over; smaller kernels delay packets "
        "less"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "background_time", background_ns, KVC_UNIT_NS, 0, 1e15, "32ms",
                 "time of the other task as one kernel on the idle GPU (memcachedgpu.bgt.256.time)"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "background_copy", background_copy_bytes, KVC_UNIT_BYTES, 0, 1e12,
                 "0B",
                 "size of each of the two vectors that the other task copies to the GPU before its first "
                 "kernel, from memory that is not pinned; all other calls of the driver wait meanwhile"),
    KVC_REAL_ROW(kvc_memcachedgpu_options, "background_start", background_start_ns, KVC_UNIT_NS, 0, 1e15,
                 "0ms", "when the other task starts, counted from the beginning of the measured time"),
};

const struct kvc_option_table kvc_memcachedgpu_option_table =
    KVC_OPTION_TABLE(kvc_memcachedgpu_options, option_rows, "system");

/* ---- cost_profile ---- */

static const struct kvc_option cost_rows[] = {
    KVC_TEXT_ROW(kvc_memcachedgpu_cost_profile, "name", name, "", "origin of the costs"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "clock", clock_hz, KVC_UNIT_HZ, 0, 1e11, NULL,
                 "core clock of the card that was measured"),
    KVC_REAL_ROW(
        kvc_memcachedgpu_cost_profile, "block_cycles", block_cycles, KVC_UNIT_NONE, 0, 1e9, NULL,
        "core cycles of a block of 32 packets with keys of 16 bytes, without its dependent accesses; more "
        "cycles lengthen every kernel"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "key_cycles", key_cycles, KVC_UNIT_NONE, 0, 1e6, NULL,
                 "core cycles for each further byte of the longest key in a block"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "accesses", accesses, KVC_UNIT_NONE, 0, 1e6, NULL,
                 "dependent accesses of a block to device memory, each of which takes the card's `access`"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "block_shared", block_shared_bytes, KVC_UNIT_BYTES, 0, 1e9,
                 NULL, "shared memory of a block, which limits the blocks that a multiprocessor holds"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "packet_cycles", packet_cycles, KVC_UNIT_NONE, 0, 1e9, NULL,
                 "cycles of one multiprocessor for a packet when blocks fill the card; more cycles lower the "
                 "card's throughput"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "set_cycles", set_cycles, KVC_UNIT_NONE, 0, 1e9, NULL,
                 "core cycles of the kernel of one SET, without its dependent accesses; a GET has as many"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "call", call_ns, KVC_UNIT_NS, 0, 1e9, NULL,
                 "time of one CUDA call of a host thread, such as a launch; a longer time lowers the rate of "
                 "batches"),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "call_polled", call_polled_ns, KVC_UNIT_NS, 0, 1e9, NULL,
                 "time of one CUDA call while other threads poll events and contend for the driver's "
                 "locks; left out: as `call`",
                 .optional = true),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "staging", staging_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1, 1e13,
                 NULL,
                 "rate at which the call of a copy moves memory that is not pinned to pinned memory, with "
                 "fill = \"pre\"; a higher rate launches batches faster; left out: as if pinned",
                 .optional = true),
    KVC_REAL_ROW(kvc_memcachedgpu_cost_profile, "host_clock", host_clock_hz, KVC_UNIT_HZ, 0, 1e11, NULL,
                 "clock of the cores that the host's times were measured on"),
    KVC_REAL_ROW(
        kvc_memcachedgpu_cost_profile, "answer", answer_ns, KVC_UNIT_NS, 0, 1e9, NULL,
        "compute of a post thread for a response, without waiting for memory; a longer time lowers the "
        "rate of responses"),
    KVC_REAL_ROW(
        kvc_memcachedgpu_cost_profile, "set", set_ns, KVC_UNIT_NS, 0, 1e9, NULL,
        "compute of a SET in the network stack and memcached, without the update of the GPU's table; "
        "left out: not measured, so that only GETs can be simulated",
        .optional = true),
};

static const struct kvc_option_table cost_table =
    KVC_OPTION_TABLE(kvc_memcachedgpu_cost_profile, cost_rows, "memcachedgpu_costs");

const struct kvc_device_kind kvc_memcachedgpu_cost_profile_kind = {
    .name = "memcachedgpu_costs",
    .help = "costs of MemcachedGPU's kernel in cycles, and of its host threads in time",
    .options = &cost_table,
};

/* ---- configuration ---- */

uint32_t kvc_memcachedgpu_request_bytes(uint32_t key_bytes)
{
    return KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes + 2;
}

static uint32_t digits_of(uint32_t number)
{
    return number < 10 ? 1 : 1 + digits_of(number / 10);
}

uint32_t kvc_memcachedgpu_head_bytes(bool found, uint32_t key_bytes, uint32_t value_bytes)
{
    /* "VALUE KEY 0 BYTES\r\n" or "END\r\n" */
    return found ? KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes + 3 + digits_of(value_bytes) + 2
                 : KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5;
}

uint32_t kvc_memcachedgpu_response_bytes(bool found, uint32_t head_bytes, uint32_t value_bytes)
{
    return head_bytes + (found ? value_bytes + 7 : 0); /* "\r\nEND\r\n" */
}

/* Key sizes of the classes for Facebook's pool ETC (memcachedgpu.ht.etc.share). */
static const uint32_t class_key_bytes[KVC_MEMCACHEDGPU_CLASSES_MAX] = {16, 32, 64, 128, 250};

enum { KEYS_ASKED = 16384 /* Keys sampled to estimate the shares of the classes, to 0.4 % of all keys. */ };

/* Counts the keys of each class among `asked` keys, of which each is `apart` from the one before. */
static void count_keys(const struct kvc_memcachedgpu_config *config, const struct kvc_workload *workload,
                       uint64_t asked, uint64_t apart, double *keys)
{
    static uint64_t id[KEYS_ASKED];
    static uint8_t key_bytes[KEYS_ASKED];
    static uint32_t value_bytes[KEYS_ASKED];
    const struct kvc_memcachedgpu_shape shape = kvc_memcachedgpu_shape_of(config);
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    for (uint64_t i = 0; i < asked; i++) {
        id[i] = i * apart;
    }
    kvc_sizes_fill(sizes, id, asked, key_bytes, value_bytes);
    kvc_sizes_free(sizes);
    for (uint64_t i = 0; i < asked; i++) {
        keys[kvc_memcachedgpu_class_of(&shape, key_bytes[i])]++;
    }
}

/* Divides the entries over the classes by their shares of the keys; each class gets at least one set. */
static void divide_entries(struct kvc_memcachedgpu_config *config, const struct kvc_workload *workload)
{
    static _Thread_local struct kvc_memo memo;
    uint64_t asked = workload->keys < KEYS_ASKED ? workload->keys : KEYS_ASKED;
    uint64_t apart = workload->keys / asked;
    double keys[KVC_MEMCACHEDGPU_CLASSES_MAX + 1] = {0};
    double argument[] = {(double)asked, (double)apart, workload->sizes, (double)workload->key_bytes, 0};
    const uint32_t arguments = sizeof(argument) / sizeof(*argument);
    config->class_count = KVC_MEMCACHEDGPU_CLASSES_MAX;
    for (uint32_t i = 0; i < config->class_count; i++) {
        config->classes[i].key_bytes_max = class_key_bytes[i];
    }
    bool is_traced = workload->arrival == KVC_ARRIVAL_TRACE; /* The arguments do not tell its sizes. */
    if (is_traced || !kvc_memo_find_all(&memo, argument, arguments, keys, config->class_count)) {
        memset(keys, 0, sizeof(keys));
        count_keys(config, workload, asked, apart, keys);
        if (!is_traced) {
            kvc_memo_keep_all(&memo, argument, arguments, keys, config->class_count);
        }
    }
    for (uint32_t i = 0; i < config->class_count; i++) {
        double share = keys[i] / (double)asked;
        config->classes[i].entries =
            (uint64_t)fmax(ceil(share * (double)config->options->entries), KVC_MEMCACHEDGPU_WAYS_MAX);
    }
}

static void set_classes(struct kvc_memcachedgpu_config *config, const struct kvc_workload *workload)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (options->tables == KVC_MEMCACHEDGPU_BY_KEY_SIZE) {
        divide_entries(config, workload);
    } else {
        config->class_count = 1;
        config->classes[0] = (struct kvc_memcachedgpu_class){(uint32_t)options->key_room, options->entries};
    }
    const struct kvc_memcachedgpu_shape shape = kvc_memcachedgpu_shape_of(config);
    for (uint32_t i = 0; i < config->class_count; i++) {
        config->table_bytes += kvc_memcachedgpu_table_bytes(&shape, i);
    }
}

/* Returns the slab memory for as many items as there are entries or keys, whichever are fewer, plus a few
 * slabs. */
static double slab_bytes_auto(const struct kvc_memcachedgpu_config *config,
                              const struct kvc_workload *workload)
{
    double item_bytes = kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                                   kvc_workload_value_bytes_max(workload));
    double items = fmin((double)config->options->entries, (double)workload->keys);
    return fmax(ceil(1.1 * items * item_bytes), 16.0 * KVC_MEGAKV_SLAB_BYTES);
}

/* Returns the entries for the keys of a node. Without sets, a table keeps as many keys or more. */
static uint64_t entries_for(const struct kvc_scenario *scenario)
{
    const struct kvc_memcachedgpu_options *options = scenario->options;
    double keys = (double)scenario->workload.keys / (double)scenario->cluster.nodes,
           ways = (double)options->ways;
    return (uint64_t)fmax(ways * kvc_hashed_sets_for(keys, ways), KVC_MEMCACHEDGPU_WAYS_MAX);
}

uint32_t kvc_memcachedgpu_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    double keys = (double)scenario->workload.keys, ways = (double)config->options->ways;
    double entries = config->shards * (double)config->options->entries;
    bool sets = config->index == KVC_MEMCACHEDGPU_SETS;
    double item_bytes = kvc_shards_means_of(&scenario->workload, NULL, NULL, false).item_bytes;
    room[0] =
        (struct kvc_model_room){.option = "system.entries",
                                .size = (double)config->options->entries,
                                .needed = (double)entries_for(scenario),
                                .keys = sets ? kvc_hashed_sets_held(keys, entries / ways, ways) : entries};
    room[1] = (struct kvc_model_room){.option = "system.slab",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->slab_bytes,
                                      .needed = ceil(1.1 * keys / config->shards * item_bytes),
                                      .keys = config->shards * floor(config->slab_bytes / item_bytes)};
    return 2;
}

enum kvc_status kvc_memcachedgpu_resolve(const struct kvc_scenario *scenario, void *into,
                                         struct kvc_diag *diag)
{
    (void)diag;
    struct kvc_memcachedgpu_config *config = into;
    const struct kvc_memcachedgpu_options *options = scenario->options;
    const struct kvc_node *node = &scenario->node;
    const struct kvc_workload *workload = &scenario->workload;
    double pages = floor(options->receive_bytes / KVC_MEMCACHEDGPU_PAGE_BYTES);
    *config = (struct kvc_memcachedgpu_config){
        .sized = *options,
        .options = &config->sized,
        .cpu = kvc_cpu_of(node),
        .dram = kvc_dram_of(node),
        .gpu = kvc_gpu_of(node),
        .nic = kvc_nic_of(node),
        .pcie = kvc_pcie_of(node),
        .profile = kvc_memcachedgpu_cost_profile_of(node),
        .receive = (enum kvc_memcachedgpu_receive)options->receive,
        .feed = (enum kvc_memcachedgpu_feed)options->feed,
        .index = (enum kvc_memcachedgpu_index)options->index,
        .batch = (uint32_t)options->batch,
        .streams = (uint32_t)options->streams,
        .post_threads = (uint32_t)options->post_threads,
        .shards = (uint32_t)scenario->cluster.nodes,
        .buffers = (uint64_t)(pages * floor(KVC_MEMCACHEDGPU_PAGE_BYTES / (double)options->buffer_bytes)),
        .writes = workload->get_frac < 1 || options->set_connections > 0 ||
                  options->misses == KVC_MEMCACHEDGPU_MISSES_SET || kvc_workload_reacts(workload),
        .block_packets = options->program == KVC_MEMCACHEDGPU_PUBLISHED ? KVC_MEMCACHEDGPU_PUBLISHED_PACKETS
                                                                        : KVC_MEMCACHEDGPU_BLOCK_PACKETS,
    };
    if (options->entries == 0) {
        config->sized.entries = entries_for(scenario);
    }
    set_classes(config, workload);
    config->slab_bytes = options->slab_bytes > 0 ? options->slab_bytes : slab_bytes_auto(config, workload);
    return KVC_OK;
}

static enum kvc_status check_receive(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (kvc_memcachedgpu_pre_fills(config) && config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.receive: found \"gpu\" with fill = \"pre\", allowed: \"host\", because the "
            "pre thread copies packets in host memory");
    }
    if (config->feed == KVC_MEMCACHEDGPU_MEMORY && config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.receive: found \"gpu\" with feed = \"memory\", allowed: \"host\", because "
            "packets in host memory are copied to the GPU");
    }
    if (config->batch > config->buffers) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.batch: found %u packets, allowed: at most %llu, the receive buffers of "
                             "%llu bytes in system.receive_memory",
                             config->batch, (unsigned long long)config->buffers,
                             (unsigned long long)options->buffer_bytes);
    }
    if (config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU && config->gpu->pinned_bytes > 0 &&
        options->receive_bytes > config->gpu->pinned_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.receive_memory: found %.4g MB, allowed: at most %.4g MB, what other "
                             "devices can write to on gpu \"%s\"",
                             options->receive_bytes / 1e6, config->gpu->pinned_bytes / 1e6,
                             config->gpu->name);
    }
    if (config->block_packets * KVC_MEMCACHEDGPU_PACKET_THREADS > config->gpu->threads_per_sm) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.program: found \"published\" with blocks of %u threads, allowed: "
                             "\"measured\", because a multiprocessor of gpu \"%s\" holds %llu threads",
                             config->block_packets * KVC_MEMCACHEDGPU_PACKET_THREADS, config->gpu->name,
                             (unsigned long long)config->gpu->threads_per_sm);
    }
    if (options->receive_ports > config->nic->ports) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.receive_ports: found %llu, allowed: at most %llu, the ports of the nic",
                             (unsigned long long)options->receive_ports,
                             (unsigned long long)config->nic->ports);
    }
    return KVC_OK;
}

static enum kvc_status check_memory(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    double buffers = config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU ? options->receive_bytes : 0;
    if (config->table_bytes + buffers > config->gpu->memory_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.entries: found %llu, whose tables take %.3g GiB beside %.3g GiB of "
                             "receive buffers, allowed: what fits the %.3g GiB of gpu \"%s\"",
                             (unsigned long long)options->entries, config->table_bytes / 0x1p30,
                             buffers / 0x1p30, config->gpu->memory_bytes / 0x1p30, config->gpu->name);
    }
    if ((options->ways & (options->ways - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.ways: found %llu, allowed: 1, 2, 4, 8 or 16",
                             (unsigned long long)options->ways);
    }
    const struct kvc_memcachedgpu_shape shape = kvc_memcachedgpu_shape_of(config);
    for (uint32_t i = 0; i < config->class_count; i++) {
        if (kvc_memcachedgpu_table_bytes(&shape, i) <= 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.entries: found %llu, too many for one table of this kind",
                                 (unsigned long long)options->entries);
        }
    }
    return KVC_OK;
}

static enum kvc_status check_workload(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t room = config->classes[config->class_count - 1].key_bytes_max;
    uint32_t key_bytes = kvc_workload_key_bytes_max(workload);
    if (key_bytes > room) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.key: found keys of %u bytes, allowed: at most %u, the room of an entry "
            "(system.key_room; memcached's limit is %d)",
            key_bytes, room, KVC_MEMCACHEDGPU_PACKET_KEY_MAX);
    }
    if (workload->sizes == KVC_SIZES_FIXED && pow(64, (double)workload->key_bytes) < (double)workload->keys) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.key: found %llu bytes for %llu keys, allowed: more, because a "
                             "character of a text key has 6 bits",
                             (unsigned long long)workload->key_bytes, (unsigned long long)workload->keys);
    }
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found clients, allowed with memcachedgpu: saturate, "
            "poisson_mops, fixed_mops, curve or trace, because GETs over UDP wait for nobody");
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE && workload->get_frac <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.get: found 0 with saturating clients, allowed: above 0, or a rate, "
                             "because the packets of GETs pace the clients");
    }
    uint32_t value_bytes = kvc_workload_value_bytes_max(workload);
    uint32_t head_bytes = kvc_memcachedgpu_head_bytes(true, key_bytes, value_bytes);
    uint32_t response_bytes = kvc_memcachedgpu_response_bytes(true, head_bytes, value_bytes);
    /* With a mix of value sizes, GETs of values that are too large count as bad packets instead. */
    if (workload->sizes == KVC_SIZES_FIXED &&
        response_bytes > KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES + KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found values of %u bytes, allowed: less, because a response of "
                             "%u bytes does not fit one datagram of %d",
                             value_bytes, response_bytes - KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES,
                             KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX);
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame: found %llu, allowed is 1, because a packet has one GET",
                             (unsigned long long)workload->frame_requests);
    }
    if (config->writes && isnan(config->profile->set_ns)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "memcachedgpu_costs.set: missing, but there are SETs: a calibration does not measure "
            "it, take it from another profile");
    }
    if (scenario->run.functional == KVC_FUNCTIONAL_SAMPLED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.functional: found \"sampled\", allowed with memcachedgpu: \"compact\", "
                             "\"full\" or \"off\", because every packet is parsed");
    }
    return KVC_OK;
}

static enum kvc_status check_background(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (options->background_blocks == 0) {
        return KVC_OK;
    }
    if (options->background_threads > config->gpu->threads_per_sm) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.background_threads: found %llu, allowed: at most %llu, what a "
                             "multiprocessor of gpu \"%s\" holds",
                             (unsigned long long)options->background_threads,
                             (unsigned long long)config->gpu->threads_per_sm, config->gpu->name);
    }
    if (options->background_kernels > options->background_blocks) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.background_kernels: found %llu, allowed: at most %llu, the blocks that "
                             "they are divided over",
                             (unsigned long long)options->background_kernels,
                             (unsigned long long)options->background_blocks);
    }
    return KVC_OK;
}

enum kvc_status kvc_memcachedgpu_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    if (!kvc_pcie_has_copies(config->pcie)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which "
                             "memcachedgpu needs",
                             config->pcie->name);
    }
    if (kvc_gpu_sectors_per_s(config->gpu) <= 0 || config->gpu->access_ns <= 0 ||
        config->gpu->clock_count == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.gpu: \"%s\" lacks clocks, sectors or access, which the GET kernel needs",
                             config->gpu->name);
    }
    enum kvc_status status = check_receive(config, diag);
    if (status == KVC_OK) {
        status = check_memory(config, diag);
    }
    if (status == KVC_OK) {
        status = check_workload(scenario, diag);
    }
    return status == KVC_OK ? check_background(config, diag) : status;
}
