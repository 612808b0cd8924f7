#include "models/kvdirect/options.h"

#include <stddef.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/gather.h"

static const char *const engines[] = {"out_of_order", "stall", NULL};
static const char *const updates[] = {"put", "add", "update", "reduce", "filter", NULL};

static const struct kvc_option rows[] = {
    {.name = "nics",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, nics),
     .min = 1,
     .max = 64,
     .by_default = "1",
     .help = "programmable NICs per node, each with its own keys and memory; more NICs add throughput "
             "and power"},
    {.name = "lanes",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, lanes),
     .min = 1,
     .max = 1024,
     .by_default = "80",
     .help = "PCIe lanes of the node's processors; more lanes leave room for more NICs"},
    {.name = "idle_power",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, idle_w),
     .unit = KVC_UNIT_WATTS,
     .min = 0,
     .max = 1e6,
     .by_default = "0W",
     .help = "power of a node without its NICs, measured at the wall; 0: unknown, and no power is "
             "reported"},
    {.name = "memory",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, memory_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 65536,
     .max = 64 * 0x1p36,
     .by_default = "64GiB",
     .help = "host memory of a node for hash index and slabs, up to 64 GiB for each NIC; more memory "
             "holds more keys"},
    {.name = "index",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, index_frac),
     .min = 0.001,
     .max = 1,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help = "fraction of the memory that the hash index takes; a larger index has shorter chains but "
             "leaves less memory for slabs; auto: the largest one that leaves room for all keys"},
    {.name = "inline",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, inline_bytes),
     .min = 0,
     .max = KVC_KVDIRECT_TABLE_INLINE_MAX,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = KVC_KVDIRECT_INLINE_AUTO,
     .help = "largest key-value pair that is stored in the hash index itself [bytes]; a larger "
             "threshold saves slab accesses but lengthens chains; auto: the threshold with the fewest "
             "accesses"},
    {.name = "dispatch",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_kvdirect_options, dispatch_frac),
     .min = 0,
     .max = 1,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = -1,
     .help = "fraction l of the memory that the NIC's DRAM may cache; a larger one moves load from "
             "PCIe to the DRAM; auto: the one that loads both equally"},
    {.name = "engine",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_kvdirect_options, engine),
     .by_default = "out_of_order",
     .choices = engines,
     .help = "out_of_order: dependent operations wait in the reservation station for the value; stall: "
             "they stop the pipeline"},
    {.name = "gather_cores",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, gather_cores),
     .min = 0,
     .max = KVC_KVDIRECT_GATHER_CORES_MAX,
     .by_default = "0",
     .help = "host cores that access memory for each NIC in batches of 256; more cores access more, "
             "but need a larger in_flight; 0: the NIC accesses memory itself"},
    {.name = "update",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_kvdirect_options, update),
     .by_default = "put",
     .choices = updates,
     .help = "put: SETs replace the value; add: they are atomic fetch-and-adds on 8 bytes; update, "
             "reduce, filter: they run lambda on each element of a vector"},
    {.name = "lambda",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_kvdirect_options, lambda),
     .by_default = "v + d",
     .help = "vectors: Lua expression of the element v, the client's d and, in a reduction, the sum s "
             "so far: \"s + v\", \"v > d\""},
    {.name = "element",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, element_bytes),
     .min = 1,
     .max = 8,
     .by_default = "8",
     .help = "vectors: size of an element, 1, 2, 4 or 8 bytes; with larger elements, a value has fewer "
             "of them"},
    {.name = "delta",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, delta),
     .min = 0,
     .max = 0x1p53,
     .by_default = "1",
     .help = "vectors: value of d, the client's parameter of lambda"},
    {.name = "delta_vector",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_kvdirect_options, delta_vector),
     .by_default = "false",
     .help = "vectors: the client sends a d for each element instead of one for all"},
    {.name = "returns_vector",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_kvdirect_options, returns_vector),
     .by_default = "false",
     .help = "update: the response carries the old vector"},
    {.name = "in_flight",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, in_flight),
     .min = 1,
     .max = 65536,
     .by_default = "256",
     .help = "operations of a NIC in flight at once, including waiting ones; more operations hide more "
             "memory latency"},
    {.name = "station",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_kvdirect_options, station),
     .min = 1,
     .max = 1048576,
     .by_default = "1024",
     .help = "hash slots of the reservation station; with more slots, fewer operations seem dependent"},
};

const struct kvc_option_table kvc_kvdirect_option_table = {.name = "system",
                                                           .rows = rows,
                                                           .count = sizeof(rows) / sizeof(*rows),
                                                           .size = sizeof(struct kvc_kvdirect_options)};

const char *kvc_kvdirect_update_name(enum kvc_kvdirect_update update)
{
    return updates[update];
}
