#include "models/composed/config.h"

#include <stddef.h>

static const char *const kernels[] = {"none",    "cuckoo",   "cuckoo-interleaved", "set-assoc", "hopscotch",
                                      "chained", "kvdirect", "bluecache",          "mica",      "memc3",
                                      "farm",    NULL};
static const char *const value_kernels[] = {"none", "slab", "log", "inline", NULL};
static const char *const memories[] = {"host", "gpu", "card", "cxl", NULL};
static const char *const value_memories[] = {"host", "gpu", "card", "cxl", "flash", NULL};
static const char *const packet_memories[] = {"host", "gpu", NULL};
static const char *const places[] = {"cpu",     "gpu",      "fpga",  "nic.rx", "nic.tx",   "pcie.down",
                                     "pcie.up", "database", "flash", "node",   "card.cpu", NULL};
static const char *const pers[] = {"request", "batch", "byte", "block", NULL};
const char *const kvc_composed_operations[] = {"parse",    "write",    "search",    "insert",
                                               "erase",    "compare",  "read",      "hot.search",
                                               "hot.read", "hot.fill", "hot.erase", NULL};
static const char *const conditions[] = {"get",   "set",   "delete", "hit",  "miss",
                                         "large", "small", "hot",    "cold", NULL};
static const char *const requests[] = {"get", "set", "delete", NULL};
static const char *const spreads[] = {"connections", "keys", "turns", NULL};
static const char *const fulls[] = {"wait", "drop", "refuse", NULL};

static const struct kvc_option index_rows[] = {
    KVC_CHOICE_ROW(kvc_composed_index_options, "kernel", kernel, kernels, "none",
                   "the index's real code; none: the store has no index, and GETs find what they ask for"),
    KVC_CHOICE_ROW(
        kvc_composed_index_options, "memory", memory, memories, "host",
        "memory that holds the index, which stages on the same side search; an FPGA reads host memory, too"),
    KVC_REAL_ROW(
        kvc_composed_index_options, "size", bytes, KVC_UNIT_BYTES, 65536, 34359738368.0, "auto",
        "size of the index of each socket, a power of two; a larger one is less full; auto: the smallest "
        "that is at most nine tenths full with all keys",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_composed_index_options, "max_displacements", max_displacements, 0, 1000, "100",
        "cuckoo: displacements of an insert before it drops an element; more fill the table further"),
};

static const struct kvc_option_table index_options =
    KVC_OPTION_TABLE(kvc_composed_index_options, index_rows, "index");

static const struct kvc_option value_rows[] = {
    KVC_CHOICE_ROW(
        kvc_composed_values_options, "kernel", kernel, value_kernels, "none",
        "the real code of the items; slab: size classes of items, of which CLOCK evicts; log: items one behind "
        "the other, of which the oldest makes room; inline: the index holds them, so that `search` finds and `insert` "
        "stores keys and values; none: the store has none, or keeps them where no stage looks"),
    KVC_CHOICE_ROW(kvc_composed_values_options, "memory", memory, value_memories, "host",
                   "memory that holds the items, which stages on the same side write, compare and read"),
    KVC_REAL_ROW(
        kvc_composed_values_options, "size", bytes, KVC_UNIT_BYTES, 2097152, 137438953472.0, "auto",
        "item memory of each socket; a larger one evicts fewer items; auto: room for all keys and 10 % "
        "more",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_composed_values_options, "inline", inline_bytes, KVC_UNIT_BYTES, 1, 1e6, "auto",
        "inline: largest pair of key and value that lies in the index's entries; a larger one has a slab of the "
        "index, which is one more access; kvdirect: its entries have 5/8 of the memory, as published, and its slabs "
        "the rest; auto: that of the kernel's publication",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_composed_values_options, "buffer", buffer_bytes, KVC_UNIT_BYTES, 512, 137438953472.0, "auto",
        "flash: memory that holds items until their pages are on flash; a larger one takes longer bursts of "
        "SETs before they wait; auto: 256 pages",
        .auto_word = "auto", .auto_value = 0),
};

static const struct kvc_option_table value_options =
    KVC_OPTION_TABLE(kvc_composed_values_options, value_rows, "values");

static const struct kvc_option hot_rows[] = {
    KVC_CHOICE_ROW(
        kvc_composed_hot_options, "kernel", kernel, kernels, "none",
        "the real code of the tier's own index; none: the store's index, in the same memory, knows what "
        "is hot"),
    KVC_CHOICE_ROW(kvc_composed_hot_options, "memory", memory, memories, "host",
                   "memory that holds the tier, which stages on the same side use"),
    KVC_REAL_ROW(
        kvc_composed_hot_options, "size", bytes, KVC_UNIT_BYTES, 0, 137438953472.0, "0B",
        "item memory of the tier of each socket, of which CLOCK evicts; a larger one answers more GETs; "
        "0: the store has no hot tier"),
    KVC_REAL_ROW(kvc_composed_hot_options, "admit", admit, KVC_UNIT_NONE, 0.001, 1, "1",
                 "share of the items missing from the tier that hot.fill copies; a smaller one writes less"),
};

static const struct kvc_option_table hot_options =
    KVC_OPTION_TABLE(kvc_composed_hot_options, hot_rows, "hot");

static const struct kvc_option batch_rows[] = {
    KVC_COUNT_ROW(
        kvc_composed_batch_options, "count", count, 0, KVC_COMPOSED_BATCH_MAX, "0",
        "requests with which a batch closes; larger batches raise throughput and latency; 0: no limit"),
    KVC_REAL_ROW(kvc_composed_batch_options, "bytes", bytes, KVC_UNIT_BYTES, 0, 1e9, "0B",
                 "bytes of requests with which a batch closes; 0: no limit"),
    KVC_REAL_ROW(
        kvc_composed_batch_options, "timeout", timeout_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time after its first request with which a batch closes; a longer one waits for more requests; 0: "
        "it does not close by time"),
    KVC_REAL_ROW(
        kvc_composed_batch_options, "every", every_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "cycle of a scheduler at which the batches of all pipelines close; a longer one raises throughput "
        "and latency; 0: there is no scheduler"),
    KVC_BOOL_ROW(
        kvc_composed_batch_options, "while_busy", while_busy, "false",
        "whether a batch closes as soon as all requests of those before it are answered, with what has come "
        "meanwhile, so that batches grow with the load; a full one does not wait"),
    KVC_COUNT_ROW(kvc_composed_batch_options, "buffers", buffers, 1, KVC_COMPOSED_BUFFERS_MAX, "3",
                  "batches that a pipeline has room for, the one that fills included; with more of them the "
                  "stages wait less for each other"),
    KVC_TEXT_ROW(
        kvc_composed_batch_options, "before", before, "",
        "name of the stage in front of which batches form; empty: the first one on a GPU, FPGA or PCIe link"),
    KVC_TEXT_ROW(
        kvc_composed_batch_options, "apart", apart, "",
        "name of a later stage, in front of which batches come apart: each request goes on by itself, as a part of "
        "its batch; empty: they are answered as batches"),
};

static const struct kvc_option_table batch_options =
    KVC_OPTION_TABLE(kvc_composed_batch_options, batch_rows, "batch");

/* The rows of a piece of work, whose fields are those of `member` of struct `of`. */
#define WORK_ROWS(of, member)                                                                                \
    KVC_REAL_ROW(                                                                                            \
        of, "cycles", member cycles, KVC_UNIT_NONE, 0, 1e9, "0",                                             \
        "compute in cycles of the cores' fastest clock, of the FPGA's clock, or of a GPU's multiprocessor "  \
        "that serves blocks; without block, one of a GPU is an instruction; more of them lower the limit "   \
        "of the stage"),                                                                                     \
        KVC_REAL_ROW(                                                                                        \
            of, "ns", member ns, KVC_UNIT_NONE, 0, 1e9, "0",                                                 \
            "compute in nanoseconds at the fastest clock; a longer one lowers the limit of the stage"),      \
        KVC_REAL_ROW(of, "instructions", member instructions, KVC_UNIT_NONE, 0, 1e9, "0",                    \
                     "compute in instructions, at the rate that the device's profile sustains"),             \
        KVC_REAL_ROW(                                                                                        \
            of, "lines", member lines, KVC_UNIT_NONE, 0, 1e6, "0",                                           \
            "further lines at random places of the device's memory; each is a stall of a core, or an "       \
            "access of a GPU"),                                                                              \
        KVC_REAL_ROW(                                                                                        \
            of, "bytes", member bytes, KVC_UNIT_BYTES, 0, 1e9, "0B",                                         \
            "bytes that cross a link, or that a core streams through its memory; on nic.rx and nic.tx "      \
            "in addition to the requests and responses"),                                                    \
        KVC_CHOICE_ROW(                                                                                      \
            of, "per", member per, pers, "request",                                                          \
            "what the numbers are for: each request, each batch (or frame), each byte of keys and values, "  \
            "or each block of a GPU's kernel")

static const struct kvc_option work_rows[] = {WORK_ROWS(kvc_composed_work, )};

static const struct kvc_option_table work_options =
    KVC_OPTION_TABLE(kvc_composed_work, work_rows, "work", .max_list = KVC_COMPOSED_WORKS_MAX);

static const struct kvc_option point_rows[] = {
    KVC_REAL_ROW(kvc_composed_point, "requests", requests, KVC_UNIT_NONE, 1, 1e9, NULL,
                 "requests of a job; the next point has more"),
    KVC_REAL_ROW(
        kvc_composed_point, "ns", ns, KVC_UNIT_NONE, 0, 1e12, NULL,
        "time of a job of so many requests in nanoseconds at the fastest clock; a longer one lowers the "
        "limit of the stage"),
};

static const struct kvc_option_table point_options =
    KVC_OPTION_TABLE(kvc_composed_point, point_rows, "curve", .max_list = KVC_COMPOSED_POINTS_MAX);

static const struct kvc_option stage_rows[] = {
    KVC_TEXT_ROW(kvc_composed_stage_options, "name", name, NULL, "name of the stage in results and paths"),
    KVC_CHOICE_ROW(
        kvc_composed_stage_options, "on", on, places, NULL,
        "where it works: cores of the host (cpu) or of a SmartNIC (card.cpu), the GPU, the FPGA, one direction of the "
        "network ports, the PCIe link to a card (pcie.down) or from it (pcie.up), the database, which is asked for each "
        "request, the flash, or another node, which gets bytes over the ports and answers after ns"),
    KVC_COUNT_ROW(kvc_composed_stage_options, "cores", cores, 1, 1024, "1",
                  "cpu: cores of each pipeline that serve the stage; more of them serve more requests"),
    KVC_BOOL_ROW(kvc_composed_stage_options, "split", split, "false",
                 "cpu: whether all cores serve one batch or frame at a time, each a part of its requests"),
    KVC_COUNT_ROW(kvc_composed_stage_options, "streams", streams, 1, 128, "1",
                  "gpu: kernels of each pipeline's stage that run at a time; more of them hide more latency"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "block", block, 0, 1024, "0",
        "gpu: requests of a thread block, which a multiprocessor serves; `cycles` are then those of a "
        "multiprocessor, and `lines` with per = \"block\" follow one another; 0: a thread for each request"),
    KVC_COUNT_ROW(kvc_composed_stage_options, "threads", threads, 1, 64, "1",
                  "gpu: threads of a request in a block; more of them leave room for fewer blocks"),
    KVC_REAL_ROW(
        kvc_composed_stage_options, "block_memory", block_memory_bytes, KVC_UNIT_BYTES, 0, 1e6, "0B",
        "gpu: shared memory of a block; more of it leaves room for fewer blocks on a multiprocessor"),
    KVC_CHOICE_ROW(
        kvc_composed_stage_options, "memory", memory, packet_memories, "host",
        "nic.rx: memory into which the NIC writes packets; gpu: over the PCIe link, past host memory"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "ports", ports, 1, KVC_COMPOSED_PORTS_MAX, "auto",
        "nic.rx, nic.tx: ports of the card that the stage uses; each carries a frame, or the responses of a job, at the "
        "rate of one port; more of them carry more; auto: all ports together, as one",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(kvc_composed_stage_options, "interval", interval, 1, 1000000, "1",
                  "fpga: clocks from the start of one request to that of the next; fewer raise the limit"),
    KVC_TEXT_ROW(
        kvc_composed_stage_options, "pool", pool, "",
        "stages with the same pool share their cores or streams, of which each states the same number; empty: the "
        "stage has its own"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "priority", priority, 0, KVC_COMPOSED_PRIORITIES - 1, "0",
        "of the stages that share a pool or a link, the one with a higher priority is served first; its jobs "
        "wait less"),
    KVC_REAL_ROW(
        kvc_composed_stage_options, "steal", steal_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "cpu: cores whose own queue is empty take jobs that wait in other pipelines, each for this much more "
        "time; left out: they do not",
        .optional = true),
    KVC_TEXT_ROW(
        kvc_composed_stage_options, "beside", beside, "",
        "name of the stage before it, or of the first of several; they work at the same time, and jobs "
        "go on when all of them are done"),
    KVC_TEXT_ROW(
        kvc_composed_stage_options, "after", after, "",
        "name of an earlier stage on a GPU: a job begins only when all kernels of that stage have ended that began "
        "before it came, in all pipelines, as a program does that synchronises with the card"),
    WORK_ROWS(kvc_composed_stage_options, own.),
    KVC_LIST_ROW(kvc_composed_stage_options, "work", work, work_count, &work_options,
                 "further work, for a stage that has some for each request and some for each batch"),
    KVC_LIST_ROW(
        kvc_composed_stage_options, "curve", curve, curve_count, &point_options,
        "cpu, card.cpu, gpu: times that were measured for jobs of several sizes, which a job takes in addition to "
        "its other work; they follow straight lines between the points and beyond the last one, and a smaller job "
        "takes the time of the first one"),
    KVC_WORDS_ROW(
        kvc_composed_stage_options, "does", does, kvc_composed_operations, "",
        "operations on the real index and values, whose lines are charged to the stage; parse: reads the packet, "
        "which the NIC has put into the last-level cache or the GPU's memory; write: stores the items of SETs; insert: "
        "puts them into the index; erase: takes evicted and deleted ones out of it; search: looks up the keys of GETs; "
        "compare, read: the keys and the values of the items that it finds; hot.search, hot.read: answer GETs from the "
        "hot tier; hot.fill: copies what a GET has found elsewhere into it; hot.erase: takes what SETs and DELETEs "
        "change out of it; if no stage does write or erase, the first one that does parse or insert does it"),
    KVC_WORDS_ROW(
        kvc_composed_stage_options, "when", when, conditions, "",
        "requests that the stage is for; the others pass it by at once, as a batch of their own; words of a kind "
        "(get/set/delete, hit/miss, large/small, hot/cold) are alternatives, and all kinds must hold; hot: GETs that the "
        "hot tier answers; cold: all others; empty: all"),
    KVC_TEXT_ROW(
        kvc_composed_stage_options, "route", route, "",
        "name of the route that the stage is on; a request takes one route at random, by their shares, and passes the "
        "stages of the others by; empty: all requests come to the stage"),
    KVC_REAL_ROW(
        kvc_composed_stage_options, "share", share, KVC_UNIT_NONE, 0, 1, NULL,
        "share of the requests that take the route, in one of its stages; a larger one moves load to them; left out "
        "for one of several routes: what the others leave",
        .optional = true),
    KVC_WORDS_ROW(kvc_composed_stage_options, "of", of, requests, "get, set, delete",
                  "operations that its own work is for; requests of the others stay in the batch"),
    KVC_REAL_ROW(
        kvc_composed_stage_options, "overlap", overlap, KVC_UNIT_NONE, 1, 1000, "1",
        "cpu: lines of different requests that a core waits for at a time; code that prefetches the lines of a burst "
        "has more than 1"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "burst", burst, 1, 4096, "1",
        "frames that a server takes from the queue at a time, if they wait, and serves together; more of them "
        "overlap more, and delay each other"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "every", every, 1, 1000, "1",
        "inserts and erases, and copies for another node, are done in every n-th batch, together; more of them delay "
        "writes and make larger launches or messages"),
    KVC_BOOL_ROW(kvc_composed_stage_options, "background", background, "false",
                 "whether batches go on at once while the stage works for them"),
    KVC_BOOL_ROW(
        kvc_composed_stage_options, "shared", shared, "false",
        "cpu: whether jobs of all pipelines wait in one queue, from which a core takes one when its own queue is "
        "empty"),
    KVC_COUNT_ROW(
        kvc_composed_stage_options, "queue", queue, 0, 1000000, "0",
        "jobs of each pipeline that may wait for the stage; a longer queue loses fewer requests, which "
        "wait longer; 0: no limit"),
    KVC_CHOICE_ROW(
        kvc_composed_stage_options, "full", full, fulls, "wait",
        "when the queue is full; wait: the stage before keeps its server; drop: the requests are lost; refuse: "
        "they are answered with an error at once; saturating clients wait in any case"),
};

static const struct kvc_option_table stage_options =
    KVC_OPTION_TABLE(kvc_composed_stage_options, stage_rows, "stages", .max_list = KVC_COMPOSED_STAGES_MAX);

static const struct kvc_option rows[] = {
    KVC_COUNT_ROW(kvc_composed_options, "pipelines", pipelines, 1, 512, "1",
                  "copies of all stages in a socket, each with cores, streams and batches of its own"),
    KVC_COUNT_ROW(
        kvc_composed_options, "outstanding", outstanding, 1, 16777216, "auto",
        "requests of each socket that saturating clients keep in flight; more of them hide more latency; "
        "auto: enough to fill all buffers; clients of other loads ignore it",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_composed_options, "backlog", backlog, 0, 65536, "0",
        "frames that saturating clients let wait in each pipeline for its first stage behind the ports; they "
        "send the next one when fewer wait and a port is idle; 0: clients do not look, and send as many as "
        "outstanding allows"),
    KVC_CHOICE_ROW(
        kvc_composed_options, "spread", spread, spreads, "connections",
        "which pipeline gets a frame; connections: the NIC hashes its connection; keys: clients address "
        "the pipeline that owns the key; turns: the next one"),
    KVC_TEXT_ROW(
        kvc_composed_options, "policy", policy, "",
        "a Lua function that sees the running store, and returns nil, or a table with limits of batches and cores "
        "of stages, such as { batch = { count = 512 } }, which hold until it returns others"),
    KVC_REAL_ROW(
        kvc_composed_options, "policy_every", policy_every_ns, KVC_UNIT_NS, 1e3, 1e12, "100us",
        "simulated time between two calls of the policy; a longer one averages over more requests and reacts "
        "later"),
    KVC_REAL_ROW(kvc_composed_options, "large", large_bytes, KVC_UNIT_BYTES, 1, 1e9, "1KiB",
                 "smallest size of a large value, for when = \"large\""),
    KVC_REAL_ROW(
        kvc_composed_options, "gpu_core", gpu_core_hz, KVC_UNIT_HZ, 1e7, 1e10, "auto",
        "core clock that selects one of the GPU's clock pairs; a faster one shortens kernels and draws "
        "more power; auto: the fastest pair",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_composed_options, "cached", cached_frac, KVC_UNIT_NONE, 0, 1, "0",
        "fpga: share of the index's lines in host memory, by their addresses, that the card's memory "
        "caches; a larger one moves load from PCIe to that memory"),
    KVC_GROUP_ROW(kvc_composed_options, "index", index, &index_options, "the index of each socket"),
    KVC_GROUP_ROW(kvc_composed_options, "values", values, &value_options, "the items of each socket"),
    KVC_GROUP_ROW(kvc_composed_options, "hot", hot, &hot_options,
                  "copies of the most popular items of each socket in another memory, in front of the store"),
    KVC_GROUP_ROW(kvc_composed_options, "batch", batch, &batch_options, "how requests form batches"),
    KVC_LIST_ROW(kvc_composed_options, "stages", stage, stage_count, &stage_options,
                 "the stages that requests pass through, in order; the last one answers them"),
};

const struct kvc_option_table kvc_composed_option_table =
    KVC_OPTION_TABLE(kvc_composed_options, rows, "system");
