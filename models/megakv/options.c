#include "models/megakv/options.h"

#include <stddef.h>

#include "kernels/megakv/slab.h"

static const char *const apis[] = {"get", "getk", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const insert_places[] = {"pipelines", "own", NULL};
static const char *const index_places[] = {"gpu", "thread", NULL};
static const char *const gpu_powers[] = {"kernels", "serving", NULL};
static const char *const thread_layouts[] = {"own", "shared", NULL};

static const struct kvc_option rows[] = {
    {.name = "cycle",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, cycle_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e9,
     .by_default = "160us",
     .help = "scheduling cycle C, the time between two launches of searches; a longer cycle raises "
             "throughput and latency"},
    {.name = "delay",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, delay),
     .min = 1,
     .max = KVC_MEGAKV_DELAY_MAX,
     .by_default = "2",
     .help = "inserts and deletes are launched every n cycles; 1 launches them with each search, a "
             "larger n launches fewer and larger batches"},
    {.name = "api",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, api),
     .by_default = "getk",
     .choices = apis,
     .help = "get: the server compares the keys; getk: the server returns the stored key and the client "
             "compares"},
    {.name = "feed",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, feed),
     .by_default = "network",
     .choices = feeds,
     .help = "network: requests pass through the NIC; memory: requests are read from local memory"},
    {.name = "insert_stream",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, insert_stream),
     .by_default = "pipelines",
     .choices = insert_places,
     .help = "pipelines: inserts and deletes follow the searches in each pipeline's stream, so that the next "
             "searches wait for them; own: they have a stream of their own and overlap with searches"},
    {.name = "index_on",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, index_on),
     .by_default = "gpu",
     .choices = index_places,
     .help = "gpu: launches queue on the device; thread: the scheduler's thread runs the index itself, at "
             "the speed that node.gpu gives"},
    {.name = "threads",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, threads),
     .by_default = "own",
     .choices = thread_layouts,
     .help = "own: every receiver and sender has a hardware thread; shared: receivers share the "
             "scheduler's core, and senders take turns on the other cores"},
    {.name = "streams",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, streams),
     .min = 1,
     .max = 512,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "pipelines of one receiver and one sender per socket, each with a CUDA stream; auto: as many "
             "as fit the cores beside the scheduler's; more pipelines use more cores"},
    {.name = "buffers",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, buffers),
     .min = 2,
     .max = 16,
     .by_default = "3",
     .help = "batch buffers per pipeline; with more buffers, the scheduler waits less for senders"},
    {.name = "index",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, index_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 64,
     .max = 34359738368.0,
     .by_default = "2GiB",
     .help = "size of the cuckoo table of each GPU, a power of two; an element takes 8 bytes; a larger "
             "table drops fewer elements"},
    {.name = "slab",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, slab_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = KVC_MEGAKV_SLAB_BYTES,
     .max = 137438953472.0,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "item memory per socket; a larger slab store evicts fewer items; auto: room for all keys and "
             "10 % more"},
    {.name = "max_displacements",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_options, max_displacements),
     .min = 0,
     .max = 1000,
     .by_default = "100",
     .help = "displacements of an insert before it drops an element; more displacements fill the table "
             "further"},
    {.name = "gpu_core",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_options, gpu_core_hz),
     .unit = KVC_UNIT_HZ,
     .min = 1e7,
     .max = 1e10,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "core clock that selects one of the GPU's clock pairs; a faster clock shortens launches; "
             "auto: the fastest pair"},
    {.name = "gpu_power",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_megakv_options, gpu_power),
     .by_default = "kernels",
     .choices = gpu_powers,
     .help =
         "when the GPU draws its busy watts; kernels: while kernels run, and its idle watts between them; "
         "serving: all the time, as a board's sensor reads it, whose mean is over kernels and gaps"},
};

const struct kvc_option_table kvc_megakv_option_table = {.name = "system",
                                                         .rows = rows,
                                                         .count = sizeof(rows) / sizeof(*rows),
                                                         .size = sizeof(struct kvc_megakv_options)};
