#include "models/memcached/config.h"

#include <math.h>
#include <stddef.h>

#include "kernels/memcachedgpu/chained.h"
#include "kernels/mica/mica.h"
#include "models/model.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/devices/network.h"
#include "sim/workload/keys/hashed_sets.h"
#include "sim/workload/keys/reuse.h"

/* ---- options ---- */

static const char *const networks[] = {"kernel", "pf_ring", "tcp", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const locks[] = {"item", "global", NULL};

#define CYCLES_ROW(field, standard, text)                                                                    \
    KVC_REAL_ROW(kvc_memcached_options, #field, field, KVC_UNIT_NONE, 0, 1e9, standard, text)

#define BYPASS_ROWS                                                                                           \
    CYCLES_ROW(                                                                                               \
        bypass_receive_cycles, "60.5",                                                                        \
        "core cycles of receiving a packet in a ring that the thread polls (Rizzo, netmap, ATC 2012: a core " \
        "at 900 MHz receives 14.88 M packets a second with an 82599)"),                                       \
        CYCLES_ROW(                                                                                           \
            bypass_send_cycles, "60.5",                                                                       \
            "core cycles of sending a packet from such a ring (netmap, as for bypass_receive_cycles)")
#define OUTSTANDING_ROW(standard)                                                                            \
    KVC_COUNT_ROW(                                                                                           \
        kvc_memcached_options, "outstanding", outstanding, 1, 1e6, standard,                                 \
        "requests that saturating clients keep in flight to a socket; more requests hide more latency")
#define ENTRIES_ROW(help)                                                                                    \
    KVC_COUNT_ROW(kvc_memcached_options, "entries", entries, 16, 0x1p31, "auto",                             \
                  "items that a socket's table has room for; more entries evict less; auto: " help,          \
                  .auto_word = "auto", .auto_value = 0)
#define KEY_ROOM_ROW                                                                                         \
    KVC_COUNT_ROW(kvc_memcached_options, "key_room", key_room, 1, KVC_MEMCACHED_KEY_MAX, "250",              \
                  "longest key that the table holds [bytes]")

/* Ratios of cycles for the same code on older cores, from their published instructions per clock. Redwood
 * Cove counts as Golden Cove. */
#define HASWELL                                                                                                       \
    "1.484 times as many on a Haswell: IPC of Skylake 1.057 times Haswell's (AnandTech, review of the i7-6700K), of " \
    "Sunny Cove 1.18 times Skylake's (Intel, Architecture Day 2018), of Golden Cove 1.19 times that (2021)"
#define SANDY_BRIDGE                                                                                              \
    "1.729 times as many on a Sandy Bridge: 1.484 on a Haswell, whose IPC is 1.112 times Ivy Bridge's, which is " \
    "1.048 times Sandy Bridge's (AnandTech, review of the i7-4770K and i7-6700K)"

/* Options of connections. */
#define TCP_ROWS                                                                                                \
    KVC_BOOL_ROW(                                                                                               \
        kvc_memcached_options, "loopback", loopback, "false",                                                   \
        "clients run on the node itself: messages do not cross the NIC; the sender's system call puts them "    \
        "into the receiver's socket; not with pf_ring"),                                                        \
        KVC_REAL_ROW(                                                                                           \
            kvc_memcached_options, "tcp", tcp_ratio, KVC_UNIT_NONE, 0, 100, "1.11",                             \
            "kernel's work for a request over TCP, relative to UDP (measured: system time of "                  \
            "memcached 1.6.18 for a GET of 1 KB from 48 clients on the same core, 4.73 and 4.26 us, medians "   \
            "of three; Linux "                                                                                  \
            "6.18 on a virtual machine with an AMD EPYC at 4.2 GHz; its kernel is slower than those that the "  \
            "other costs were measured on, so only the ratio is used)"),                                        \
        CYCLES_ROW(                                                                                             \
            wake_cycles, "4211",                                                                                \
            "core cycles until a sleeping thread runs, with TCP: an idle thread of the server, and "            \
            "every client (Arrakis, table 1: 2.40 us of the scheduler with an idle core, less the 0.17 "        \
            "us of schedule_cycles" NEWER ")"),                                                                 \
        KVC_REAL_ROW(                                                                                           \
            kvc_memcached_options, "core_share", core_share, KVC_UNIT_NONE, 0.5, 1, "1",                        \
            "with loopback: speed of a hardware thread of server or clients relative to one that has its core " \
            "to itself; 1: all have; 0.5: two share a core and gain nothing by it")
#define CYCLES_RATIO_ROW                                                                                           \
    KVC_REAL_ROW(                                                                                                  \
        kvc_memcached_options, "cycles_ratio", cycles_ratio, KVC_UNIT_NONE, 0.01, 100, "1",                        \
        "core cycles of the node's CPU for the same code, relative to the Haswell that all cycles here refer "     \
        "to: 1.165 on a Sandy Bridge (AnandTech, as for compute_cycles); 1.282 on a Nehalem or Westmere, because " \
        "a Sandy Bridge is 10 % faster at the same clock (AnandTech, The Sandy Bridge Preview, 2010)")

/* Cycles of the kernel: Peter et al., Arrakis, OSDI 2014, table 1, an echo over UDP with Linux 3.8 on a Xeon
 * E5-2430 of 2.2 GHz with an X520. They were measured on a Sandy Bridge. */
#define NEWER " at 2.2 GHz on a Sandy Bridge, 1.165 times the cycles of a Haswell"
#define COST_ROWS                                                                                                 \
    CYCLES_ROW(                                                                                                   \
        compute_cycles, "2842",                                                                                   \
        "core cycles of a request in memcached's own code, memory stalls excluded: parsing, hashing, the event "  \
        "loop (measured: user time of a GET over UDP of 512 keys, 540 ns, memcached 1.6.18 with one thread on "   \
        "a Xeon with Redwood Cove at 3.55 GHz, 1915 cycles; " HASWELL ")"),                                       \
        CYCLES_ROW(                                                                                               \
            stack_receive_cycles, "2379",                                                                         \
            "core cycles of the kernel's stack for an incoming packet (Arrakis, table 1: 1.26 us" NEWER           \
            ")"),                                                                                                 \
        CYCLES_ROW(                                                                                               \
            stack_send_cycles, "1983",                                                                            \
            "core cycles of the kernel's stack for an outgoing packet (Arrakis, table 1: 1.05 us" NEWER           \
            ")"),                                                                                                 \
        CYCLES_ROW(                                                                                               \
            copy_cycles, "1284",                                                                                  \
            "core cycles of the copies between kernel and thread (Arrakis, table 1: 0.24 + 0.44 us" NEWER         \
            ")"),                                                                                                 \
        CYCLES_ROW(                                                                                               \
            schedule_cycles, "321",                                                                               \
            "core cycles of the scheduler for a request, with a running thread (Arrakis, table 1: 0.17 us" NEWER  \
            ")"),                                                                                                 \
        CYCLES_ROW(                                                                                               \
            crossing_cycles, "378",                                                                               \
            "core cycles of entering and leaving the kernel once (Arrakis, table 1: 0.10 us each" NEWER           \
            ")"),                                                                                                 \
        KVC_COUNT_ROW(                                                                                            \
            kvc_memcached_options, "system_calls", system_calls, 0, 100, "2",                                     \
            "system calls of a request besides epoll_wait, each with one crossing into the kernel: recvfrom and " \
            "sendmsg (counted: memcached 1.6.18 under load)"),                                                    \
        CYCLES_ROW(                                                                                               \
            epoll_cycles, "2370",                                                                                 \
            "core cycles of the epoll_wait before each request, crossings included (measured: an echo over "      \
            "UDP with it takes 450 ns longer on a Xeon with Redwood Cove at 3.55 GHz, 1597 cycles; " HASWELL      \
            ")")

static const struct kvc_option memcached_rows[] = {
    KVC_COUNT_ROW(kvc_memcached_options, "threads", threads, 1, 1024, "4",
                  "threads that serve requests, each on a core of its own"),
    KVC_CHOICE_ROW(
        kvc_memcached_options, "network", network, networks, "kernel",
        "kernel: the sockets of Linux, one for all threads; pf_ring: threads poll the NIC for GETs, and only "
        "SETs and DELETEs, which come over TCP, take the kernel; tcp: all requests come over TCP, and each "
        "connection belongs to one thread: clients of a closed loop have one each, and threads get them in turn"),
    KVC_CHOICE_ROW(
        kvc_memcached_options, "lock", lock, locks, "item",
        "lock that a GET holds while it searches; item: a lock of a few items, as in memcached since "
        "1.4.10; global: the lock of the whole cache, as in earlier versions; SETs and DELETEs always hold "
        "the global one"),
    ENTRIES_ROW("for all keys and 10 % more"),
    KVC_REAL_ROW(
        kvc_memcached_options, "bump", bump_ns, KVC_UNIT_NS, 1e6, 1e15, "60s",
        "time within which a GET does not move its item to the young end of the queue again (memcached, "
        "items.c: ITEM_UPDATE_INTERVAL); a longer time makes evictions depend more on age; a cache that is "
        "a scaled-down model of a larger one needs a proportionally shorter time"),
    KEY_ROOM_ROW,
    COST_ROWS,
    TCP_ROWS,
    CYCLES_RATIO_ROW,
    BYPASS_ROWS,
    KVC_COUNT_ROW(
        kvc_memcached_options, "backlog", backlog, 1, 1e6, "277",
        "packets that the socket holds for the threads (Linux: net.core.rmem_default of 212992 bytes, of which "
        "a small packet takes 768)"),
    OUTSTANDING_ROW("256"),
};

static const struct kvc_option fatcache_rows[] = {
    KVC_COUNT_ROW(
        kvc_memcached_options, "instances", threads, 1, 1024, "8",
        "processes of Fatcache; each owns a part of the keys and of the SSD, waits for one read at a time, "
        "and has a core of its own, even if the CPU has fewer cores (github.com/twitter/fatcache, "
        "notes/performance.md: 8 on an SSD)"),
    ENTRIES_ROW("for all keys and 10 % more"),
    KEY_ROOM_ROW,
    KVC_REAL_ROW(
        kvc_memcached_options, "slab_memory", slab_memory_bytes, KVC_UNIT_BYTES, 0x1p20, 0x1p40, "64MiB",
        "memory of an instance for its newest slabs, of 1 MiB each; items in them need no read (fatcache "
        "-m)"),
    KVC_REAL_ROW(
        kvc_memcached_options, "disk", disk_bytes, KVC_UNIT_BYTES, 0x1p20, 0x1p50, "auto",
        "part of the SSD for slabs, divided equally among the instances; more keeps more items; auto: room "
        "for all keys and 10 % more",
        .auto_word = "auto", .auto_value = 0),
    COST_ROWS,
    TCP_ROWS,
    CYCLES_RATIO_ROW,
    OUTSTANDING_ROW("256"),
};

static const struct kvc_option mica_rows[] = {
    KVC_CHOICE_ROW(
        kvc_memcached_options, "feed", feed, feeds, "network",
        "network: requests are packets; memory: each core reads its requests from memory, as in the limit "
        "study of the paper; needs client_assisted"),
    KVC_BOOL_ROW(
        kvc_memcached_options, "client_assisted", client_assisted, "true",
        "clients address the core that owns the key; otherwise the NIC spreads packets by their connections, and "
        "the core that receives a packet hands it to the owner"),
    KVC_REAL_ROW(
        kvc_memcached_options, "log", log_bytes, KVC_UNIT_BYTES, 4096, 0x1p38, "auto",
        "circular log of items of a core, a power of two; a longer log keeps more items; auto: the smallest "
        "with room for the core's keys and 10 % more",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_memcached_options, "buckets", buckets, 1, 0x1p30, "auto",
        "buckets of 15 entries in the index of a core; more buckets evict less; auto: the fewest, a power of "
        "two, that keep all but one key in a thousand",
        .auto_word = "auto", .auto_value = 0),
    CYCLES_ROW(
        compute_cycles, "162",
        "core cycles of a GET, memory stalls excluded (measured: this project's MICA, 16-byte keys in bursts "
        "of 32 from its caches, 26.5 ns on a Xeon with Redwood Cove at 3.55 GHz, 94 cycles; " SANDY_BRIDGE
        ")"),
    CYCLES_ROW(
        set_compute_cycles, "175",
        "core cycles of a SET or DELETE, memory stalls excluded (measured as for compute_cycles: 101 cycles; " SANDY_BRIDGE
        ")"),
    BYPASS_ROWS,
    KVC_COUNT_ROW(
        kvc_memcached_options, "burst", burst, 1, 64, "32",
        "most packets that a core receives, serves and sends at a time; more packets overlap more memory stalls "
        "and delay each other"),
    KVC_COUNT_ROW(
        kvc_memcached_options, "fill_buffers", fill_buffers, 1, 1024, "10",
        "lines that a core can wait for at a time (Intel 64 and IA-32 Architectures Optimization Reference "
        "Manual: 10 line fill buffers); more lines overlap more stalls of a burst"),
    KVC_REAL_ROW(
        kvc_memcached_options, "remote_line", remote_line_ns, KVC_UNIT_NS, 0, 1e6, "126ns",
        "time of a line from the other socket, for packets that one core hands to another (kvdirect.t4.lat.remote_a "
        "and remote_b: 129.3 and 122.3 ns on Xeon E5-2650 v2)"),
    OUTSTANDING_ROW("2048"),
};

static const struct kvc_option fpga_rows[] = {
    ENTRIES_ROW("the fewest buckets, a power of two, that keep all but one key in a thousand"),
    KVC_COUNT_ROW(kvc_memcached_options, "ways", ways, 1, 16, "8",
                  "items of a bucket, which are compared at once: 1, 2, 4, 8 or 16; more ways evict less"),
    KEY_ROOM_ROW,
    KVC_COUNT_ROW(
        kvc_memcached_options, "datapath", datapath_bytes, 1, 4096, "8",
        "bytes of one port of 10 Gbit/s that the pipeline takes in a clock (IEEE 802.3ae: 64 bits at "
        "156.25 MHz); more bytes raise the highest throughput"),
    CYCLES_ROW(
        depth_cycles, "625",
        "clocks of a packet in the pipeline, without the clocks of its bytes (memcachedgpu.t6.fpga.lat, 4 "
        "us at 156.25 MHz: an input, so the latency is not a prediction)"),
    KVC_REAL_ROW(kvc_memcached_options, "price", price_usd, KVC_UNIT_NONE, 0, 1e9, "7100",
                 "price of the FPGA [US dollars]; 0: unknown (MemcachedGPU, sec. 5.6: digikey.com)"),
    OUTSTANDING_ROW("256"),
};

#define TABLE(rows_)                                                                                         \
    {                                                                                                        \
        .name = "system", .rows = rows_, .count = sizeof(rows_) / sizeof(*(rows_)),                          \
        .size = sizeof(struct kvc_memcached_options)                                                         \
    }

const struct kvc_option_table kvc_memcached_option_table = TABLE(memcached_rows);
const struct kvc_option_table kvc_memcached_mica_option_table = TABLE(mica_rows);
const struct kvc_option_table kvc_memcached_fpga_option_table = TABLE(fpga_rows);
const struct kvc_option_table kvc_memcached_fatcache_option_table = TABLE(fatcache_rows);

enum {
    LINE_BYTES = 64,
    SLICE_MOST_NS = 25000,
    SLICE_LEAST_NS = 100, /* In shorter slices, a run would mostly be the engine's work between them. */
};

/* Returns the bytes that a request for a key touches: the lines of its bucket and of its item. */
static struct kvc_reuse reuse_of(const struct kvc_scenario *scenario, enum kvc_memcached_kind kind)
{
    const struct kvc_workload *workload = &scenario->workload;
    double item = kvc_workload_key_bytes_mean(workload) + sizeof(struct kvc_chained_entry);
    double bucket = LINE_BYTES;
    if (kind == KVC_MEMCACHED_MICA) {
        item = kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload) +
               KVC_MICA_HEADER_BYTES;
        bucket = 2 * LINE_BYTES;
    }
    double bytes = bucket + ceil(item / LINE_BYTES) * LINE_BYTES;
    double keys = (double)workload->keys / (double)kvc_scenario_shards(scenario);
    return (struct kvc_reuse){.bytes_per_key = bytes, .footprint_bytes = bytes * keys};
}

/* Sets the cost of a table line to a thread. */
static void set_memory(const struct kvc_scenario *scenario, struct kvc_memcached_config *config)
{
    if (config->kind == KVC_MEMCACHED_FPGA) { /* Stalls of the FPGA are part of the pipeline's depth. */
        config->memory_ns = kvc_fpga_dram_ns(config->fpga, LINE_BYTES);
        return;
    }
    const struct kvc_reuse reuse = reuse_of(scenario, config->kind);
    const struct kvc_dram_load line = {.random_reads = 1};
    if (scenario->workload.arrival != KVC_ARRIVAL_TRACE) {
        config->llc_frac = kvc_reuse_share(&scenario->workload, &reuse, config->cpu->llc_bytes);
    }
    config->llc_ns = kvc_cpu_llc_hit_ns(config->cpu);
    config->line_ns =
        config->llc_frac * config->llc_ns + (1 - config->llc_frac) * config->dram->random_line_ns;
    config->memory_ns =
        (1 - config->llc_frac) * kvc_dram_channel_ns(config->dram, &line) / kvc_dram_channels(config->dram);
}

/* Room beyond the keys, because no hash spreads them evenly and SETs need some before they evict. */
static const double spare = 1.1;

static double entries_for(enum kvc_memcached_kind kind, double ways, double keys)
{
    double entries = kind == KVC_MEMCACHED_FPGA ? ways * kvc_hashed_sets_for(keys, ways) : ceil(spare * keys);
    return fmin(fmax(entries, 16), 0x1p31);
}

/* Returns the slabs of an instance of Fatcache for its keys. */
static double slabs_for(const struct kvc_workload *workload, double keys)
{
    uint32_t key = (uint32_t)ceil(kvc_workload_key_bytes_mean(workload));
    uint32_t value = (uint32_t)ceil(kvc_workload_value_bytes_mean(workload));
    double in_slab =
        fmax(floor(KVC_MEMCACHED_SLAB_BYTES / (double)kvc_memcached_slab_item_bytes(key, value)), 1);
    return ceil(spare * keys / in_slab) + 1;
}

static double log_bytes_for(const struct kvc_workload *workload, double keys)
{
    double item_bytes =
        kvc_mica_item_bytes(kvc_workload_key_bytes_mean(workload), kvc_workload_value_bytes_mean(workload));
    double largest = kvc_workload_key_bytes_max(workload) + kvc_workload_value_bytes_max(workload) +
                     KVC_MICA_HEADER_BYTES + 16;
    return fmax(exp2(ceil(log2(fmax(spare * keys * item_bytes, largest)))), 4096);
}

/* Settles the sizes that the scenario leaves open. `threads` are MICA's cores or Fatcache's instances. */
static void set_sizes(const struct kvc_scenario *scenario, struct kvc_memcached_config *config,
                      double threads)
{
    struct kvc_memcached_options *sized = &config->sized;
    const struct kvc_workload *workload = &scenario->workload;
    double keys = (double)scenario->workload.keys / kvc_scenario_shards(scenario), own = keys / threads;
    config->options = sized;
    config->needed = (struct kvc_memcached_needed){
        .entries = entries_for(config->kind, (double)sized->ways, keys),
        .buckets = kvc_hashed_sets_for(own, KVC_MICA_ENTRIES),
        .log_bytes = log_bytes_for(workload, own),
        .disk_bytes = threads * slabs_for(workload, own) * KVC_MEMCACHED_SLAB_BYTES};
    sized->entries = sized->entries > 0 ? sized->entries : (uint64_t)config->needed.entries;
    sized->buckets = sized->buckets > 0 ? sized->buckets : (uint64_t)config->needed.buckets;
    sized->log_bytes = sized->log_bytes > 0 ? sized->log_bytes : config->needed.log_bytes;
    sized->disk_bytes = sized->disk_bytes > 0 ? sized->disk_bytes : config->needed.disk_bytes;
}

/* Fills in the fields that the four servers have in common. */
static void set_common(const struct kvc_scenario *scenario, struct kvc_memcached_config *config,
                       enum kvc_memcached_kind kind)
{
    const struct kvc_memcached_options *options = scenario->options;
    const struct kvc_workload *workload = &scenario->workload;
    double shards = kvc_scenario_shards(scenario);
    *config = (struct kvc_memcached_config){.kind = kind,
                                            .sized = *options,
                                            .nic = kvc_nic_of(&scenario->node),
                                            .cpu = kvc_cpu_of(&scenario->node),
                                            .dram = kvc_dram_of(&scenario->node),
                                            .fpga = kvc_fpga_of(&scenario->node),
                                            .database = kvc_database_of(&scenario->node),
                                            .threads = 1,
                                            .rings = 1,
                                            .burst = 1,
                                            .outstanding = (uint32_t)options->outstanding,
                                            .overlap = 1};
    double bytes = (double)config->nic->request_header_bytes + kvc_workload_key_bytes_requested(workload);
    config->path_ns = kvc_network_path_ns(&scenario->node, kvc_nic_wire_bytes(config->nic, bytes));
    config->room = (uint32_t)config->nic->ring_frames;
    config->key_bytes_max = kvc_workload_key_bytes_max(workload);
    if (kind == KVC_MEMCACHED_FPGA) {
        config->cycle_ns = kvc_fpga_cycle_ns(config->fpga);
        config->price_usd = shards * options->price_usd;
    } else {
        config->cycle_ns = 1e9 / config->cpu->clock_hz;
        config->price_usd = shards * config->cpu->price_usd;
    }
    double threads = kind == KVC_MEMCACHED_MICA ? (double)config->cpu->cores : (double)options->threads;
    set_sizes(scenario, config, fmax(threads, 1));
    set_memory(scenario, config);
}

static enum kvc_status check_key(const struct kvc_scenario *scenario, uint64_t room, struct kvc_diag *diag)
{
    uint32_t longest = kvc_workload_key_bytes_max(&scenario->workload);
    if (longest > room) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.key: found keys of up to %u bytes, allowed are %llu", longest,
                             (unsigned long long)room);
    }
    return KVC_OK;
}

/* Returns the power of two of buckets that memcached's table has once it holds all keys that fit: it grows
 * beyond 1.5 items in a bucket. */
static uint32_t buckets_for(const struct kvc_scenario *scenario, uint64_t entries)
{
    double keys = (double)scenario->workload.keys / (double)kvc_scenario_shards(scenario);
    double items = fmin(keys, (double)entries);
    uint32_t buckets = 1;
    while (buckets < UINT32_C(1) << 31 && 1.5 * buckets < items) {
        buckets *= 2;
    }
    return buckets;
}

double kvc_memcached_kernel_cycles(const struct kvc_memcached_options *options)
{
    return options->schedule_cycles + options->epoll_cycles + options->copy_cycles +
           (double)options->system_calls * options->crossing_cycles + options->stack_send_cycles;
}

double kvc_memcached_tcp_cycles(const struct kvc_memcached_config *config)
{
    return config->options->tcp_ratio *
           (config->options->stack_receive_cycles + kvc_memcached_kernel_cycles(config->options));
}

uint64_t kvc_memcached_requests_most(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        return workload->clients;
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        return config->outstanding;
    }
    return config->tcp ? kvc_workload_connections(workload) : KVC_MEMCACHED_OPEN_REQUESTS;
}

/* Sets the fields of clients on the node itself, after those of their transport. With measured costs, they
 * poll on one core, and the server has the others. A store that fits into the caches is part of the costs. */
static void set_loopback(const struct kvc_scenario *scenario, struct kvc_memcached_config *config)
{
    config->loopback = true;
    config->staged = false;
    if (config->profile == NULL) {
        return;
    }
    config->client_core = true;
    config->path_ns = 0;
    config->wake_ns = kvc_memcached_transport_costs_of(config)->wake_ns;
    double keys = fmin((double)scenario->workload.keys, KVC_MEMCACHED_MANY_KEYS);
    config->doublings = fmax(log2(keys / KVC_MEMCACHED_FEW_KEYS), 0);
    config->cores = config->cpu->cores > 1 ? (uint32_t)config->cpu->cores - 1 : 1;
    config->multiget =
        kvc_workload_has_multigets(&scenario->workload) ? (uint32_t)scenario->workload.multiget : 1;
    config->line_ns = 0;
    config->locks_sets = false; /* memcached 1.6 locks an item, and a queue of its size for a moment. */
}

/* Sets the fields of connections. Clients on other machines have the same cores. Packets for an instance of
 * Fatcache interrupt its own core, even while it waits for its SSD. */
static void set_tcp(struct kvc_memcached_config *config)
{
    const struct kvc_memcached_options *options = config->options;
    config->tcp = true;
    config->loopback = options->loopback;
    config->owned = config->loopback || config->kind == KVC_MEMCACHED_FATCACHE;
    config->cycle_ns /= config->loopback ? options->core_share : 1;
    config->staged = !config->owned;
    config->rings = (uint32_t)fmin(config->threads, (double)config->nic->queues);
    config->wake_ns = config->cycle_ns * options->wake_cycles;
    config->client_ns = config->cycle_ns * kvc_memcached_tcp_cycles(config);
    config->path_ns = (config->loopback ? 0 : config->path_ns) + (config->client_ns + config->wake_ns) / 2;
}

enum kvc_status kvc_memcached_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    set_common(scenario, config, KVC_MEMCACHED_VANILLA);
    config->threads = config->rings = (uint32_t)options->threads;
    config->buckets = buckets_for(scenario, config->options->entries);
    config->cycle_ns *= options->cycles_ratio;
    config->staged = config->shared = options->network == KVC_MEMCACHED_KERNEL;
    config->polls = options->network == KVC_MEMCACHED_PF_RING;
    config->locks_gets = options->lock == KVC_MEMCACHED_LOCK_GLOBAL;
    config->locks_sets = true;
    if (config->staged) {
        config->room = (uint32_t)options->backlog;
    }
    if (options->network == KVC_MEMCACHED_TCP) {
        set_tcp(config);
    } else if (options->loopback && config->polls) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.loopback: found true, allowed is false with system.network = \"pf_ring\"");
    } else if (options->loopback) {
        config->client_ns =
            config->cycle_ns * (options->stack_receive_cycles + kvc_memcached_kernel_cycles(options));
        config->path_ns = config->client_ns / 2;
    }
    if (options->loopback) {
        config->profile = kvc_memcached_cost_profile_of(&scenario->node);
        set_loopback(scenario, config);
    }
    if (options->threads > config->cpu->cores) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.threads: found %llu, allowed are 1 to %llu, the cores of a socket",
                             (unsigned long long)options->threads, (unsigned long long)config->cpu->cores);
    }
    return check_key(scenario, options->key_room, diag);
}

enum kvc_status kvc_memcached_mica_resolve(const struct kvc_scenario *scenario, void *into,
                                           struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    double pair = kvc_workload_key_bytes_max(&scenario->workload);
    pair += kvc_workload_value_bytes_max(&scenario->workload) + KVC_MICA_HEADER_BYTES + 16;
    set_common(scenario, config, KVC_MEMCACHED_MICA);
    double log_bytes = config->options->log_bytes;
    config->threads = config->rings = (uint32_t)config->cpu->cores;
    config->burst = (uint32_t)options->burst;
    config->owned = options->client_assisted;
    config->staged = !config->owned;
    double sockets = (double)scenario->node.sockets;
    config->move_ns = config->llc_ns / sockets + (1 - 1 / sockets) * options->remote_line_ns;
    config->offline = options->feed == KVC_MEMCACHED_FROM_MEMORY;
    config->path_ns = config->offline ? 0 : config->path_ns;
    config->polls = true;
    config->overlap = (double)options->fill_buffers;
    if (config->offline && !config->owned) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.client_assisted: found false, allowed is true with system.feed = \"memory\"");
    }
    if (config->threads > KVC_MICA_PARTITIONS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.cpu: found %u cores, allowed are 1 to %d partitions", config->threads,
                             KVC_MICA_PARTITIONS_MAX);
    }
    if (log2(log_bytes) != floor(log2(log_bytes))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.log: found %.0f bytes, allowed is a power of two", log_bytes);
    }
    if (pair > fmin(KVC_MICA_ITEM_MAX, log_bytes)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found pairs of up to %.0f bytes, allowed are %.0f", pair,
                             fmin(KVC_MICA_ITEM_MAX, log_bytes));
    }
    return KVC_OK;
}

uint32_t kvc_memcached_slab_item_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    return KVC_MEMCACHED_SLAB_ITEM_BYTES + key_bytes + value_bytes;
}

uint32_t kvc_memcached_slab_pages(const struct kvc_memcached_slab_sizes *sizes)
{
    return (KVC_MEMCACHED_SLAB_BYTES + sizes->page_bytes - 1) / sizes->page_bytes;
}

uint64_t kvc_memcached_disk_pages(const struct kvc_memcached_config *config)
{
    return (uint64_t)config->slabs.disk_slabs * config->threads * kvc_memcached_slab_pages(&config->slabs);
}

/* Divides the SSD of a socket equally among the instances. */
static enum kvc_status set_slabs(const struct kvc_scenario *scenario, struct kvc_memcached_config *config,
                                 struct kvc_diag *diag)
{
    const struct kvc_memcached_options *options = config->options;
    double pair = kvc_workload_key_bytes_max(&scenario->workload);
    pair += kvc_workload_value_bytes_max(&scenario->workload) + KVC_MEMCACHED_SLAB_ITEM_BYTES;
    config->slabs = (struct kvc_memcached_slab_sizes){
        .memory_slabs = (uint32_t)(options->slab_memory_bytes / KVC_MEMCACHED_SLAB_BYTES),
        .disk_slabs = (uint32_t)(options->disk_bytes / KVC_MEMCACHED_SLAB_BYTES / config->threads),
        .page_bytes = (uint32_t)config->flash->page_bytes};
    /* A slab takes whole pages. */
    double slab_bytes = (double)kvc_memcached_slab_pages(&config->slabs) * config->flash->page_bytes;
    double most = floor(kvc_flash_bytes(config->flash) / (slab_bytes * config->threads));
    const struct kvc_memcached_options *stated = scenario->options;
    if (stated->disk_bytes <= 0 && config->slabs.disk_slabs > most) { /* Then it evicts. */
        config->slabs.disk_slabs = (uint32_t)most;
        config->sized.disk_bytes = most * config->threads * KVC_MEMCACHED_SLAB_BYTES;
    }
    if (config->slabs.disk_slabs < 1 || config->slabs.disk_slabs > most) {
        double each = config->threads * (double)KVC_MEMCACHED_SLAB_BYTES / 0x1p30;
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.disk: found %.4g GiB, allowed are %.4g to %.4g GiB: a slab of 1 MiB for each "
            "instance, and no more than the SSD has",
            options->disk_bytes / 0x1p30, each, most * each);
    }
    if (pair > KVC_MEMCACHED_SLAB_BYTES) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found items of up to %.0f bytes, allowed are %d, a slab", pair,
                             KVC_MEMCACHED_SLAB_BYTES);
    }
    return kvc_flash_translation_check(config->flash, kvc_memcached_disk_pages(config), diag);
}

enum kvc_status kvc_memcached_fatcache_resolve(const struct kvc_scenario *scenario, void *into,
                                               struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    set_common(scenario, config, KVC_MEMCACHED_FATCACHE);
    config->flash = kvc_flash_of(&scenario->node);
    config->threads = (uint32_t)options->threads;
    config->buckets = buckets_for(scenario, config->options->entries);
    config->cycle_ns *= options->cycles_ratio;
    set_tcp(config);
    config->io_ns = config->cycle_ns * options->crossing_cycles + config->wake_ns;
    enum kvc_status status = check_key(scenario, options->key_room, diag);
    return status == KVC_OK ? set_slabs(scenario, config, diag) : status;
}

enum kvc_status kvc_memcached_fpga_resolve(const struct kvc_scenario *scenario, void *into,
                                           struct kvc_diag *diag)
{
    struct kvc_memcached_config *config = into;
    const struct kvc_memcached_options *options = scenario->options;
    uint64_t ways = options->ways;
    set_common(scenario, config, KVC_MEMCACHED_FPGA);
    config->depth_ns = options->depth_cycles * config->cycle_ns;
    config->polls = true;
    if ((ways & (ways - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.ways: found %llu, allowed are 1, 2, 4, 8 and 16",
                             (unsigned long long)ways);
    }
    return check_key(scenario, options->key_room, diag);
}

/* Returns the shortest time from the end of a thread's work on a request until its client sends the next one
 * [ns]. */
static double turn_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    return config->depth_ns + config->path_ns + scenario->workload.think_ns;
}

bool kvc_memcached_goes_on(const struct kvc_scenario *scenario)
{
    bool follows = scenario->workload.arrival == KVC_ARRIVAL_TRACE ||
                   kvc_workload_fills(&scenario->workload); /* A SET goes to the server that missed. */
    return follows ||
           (scenario->workload.arrival == KVC_ARRIVAL_CLOSED && kvc_scenario_shards(scenario) == 1);
}

double kvc_memcached_slice_ns(const struct kvc_scenario *scenario)
{
    if (kvc_memcached_goes_on(scenario)) {
        return KVC_MEMCACHED_WINDOW_NS;
    }
    if (scenario->workload.arrival != KVC_ARRIVAL_CLOSED) {
        return SLICE_MOST_NS;
    }
    return KVC_MEMCACHED_WINDOW_NS / ceil(KVC_MEMCACHED_WINDOW_NS / fmin(turn_ns(scenario), SLICE_MOST_NS));
}

static enum kvc_status check_arrival(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    int arrival = scenario->workload.arrival;
    if (kvc_memcached_config_of(scenario)->offline && arrival != KVC_ARRIVAL_SATURATE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found %s, allowed with system.feed = \"memory\": saturate",
                             arrival == KVC_ARRIVAL_CLOSED ? "clients" : "an open load");
    }
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    bool open = config->loopback && config->kind == KVC_MEMCACHED_VANILLA;
    if (config->tcp && !open && arrival != KVC_ARRIVAL_SATURATE && arrival != KVC_ARRIVAL_CLOSED &&
        arrival != KVC_ARRIVAL_TRACE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found an open load, allowed over TCP: saturate, clients or a "
                             "trace, because a connection makes its client wait, unless "
                             "memcached has its clients on the node itself (system.loopback)");
    }
    if (arrival == KVC_ARRIVAL_CLOSED && !kvc_memcached_goes_on(scenario) &&
        turn_ns(scenario) < SLICE_LEAST_NS) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found clients that send again %g ns after the server is done, allowed are at "
            "least %d ns: state the latency of node.nic or node.network, or workload.arrival.think",
            turn_ns(scenario), SLICE_LEAST_NS);
    }
    return KVC_OK;
}

/* Each server is simulated by itself, so servers cannot share a database. With actions, an update of the
 * application could delete keys of other servers, too. */
static enum kvc_status check_database(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    uint32_t servers = kvc_scenario_shards(scenario);
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE && scenario->node.sockets == 1;
    if (kvc_memcached_config_of(scenario)->database == NULL) {
        return KVC_OK;
    }
    if (servers > 1 && !own) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.database: found one behind %u servers, allowed with %s: 1 node with 1 socket, or nodes with "
            "1 socket and cluster.database = \"per_node\"",
            servers, scenario->model->name);
    }
    if (servers > 1 && scenario->workload.action_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.actions: found actions with %u servers, allowed with %s: 1 node with 1 socket, because "
            "an update deletes keys of other nodes, too",
            servers, scenario->model->name);
    }
    if (scenario->run.change_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.changes: found changes with node.database, allowed: one of the two, because "
            "an outage stops the server with its clients");
    }
    return KVC_OK;
}

enum kvc_status kvc_memcached_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    enum kvc_status status = check_arrival(scenario, diag);
    status = status == KVC_OK ? check_database(scenario, diag) : status;
    if (status != KVC_OK) {
        return status;
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame: found %llu, allowed is 1, because a packet has one request",
                             (unsigned long long)workload->frame_requests);
    }
    if (!kvc_run_is_whole(&scenario->run)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found %s, allowed with %s: compact or full, because every request takes the real "
            "table",
            scenario->run.functional == KVC_FUNCTIONAL_OFF ? "off" : "sampled", scenario->model->name);
    }
    return kvc_nic_check_queues(config->nic, config->rings, diag);
}
