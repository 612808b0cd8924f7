#include "models/dido/options.h"

#include <stddef.h>

static const char *const networks[] = {"kernel", "memory", NULL};
static const char *const predictors[] = {"kvcast", "paper", NULL};

#define REAL_ROW(name_, field, unit_, low, high, standard, text)                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_dido_options, field),          \
        .unit = unit_, .min = low, .max = high, .by_default = standard, .help = text                         \
    }

static const struct kvc_option rows[] = {
    {.name = "pipeline",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_dido_options, pipeline),
     .by_default = "auto",
     .help =
         "the stages in order with their tasks, \"cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:2 WR "
         "SD\"; cpu without a number: the cores are divided as the closed form finds best; megakv: the "
         "index is on the GPU and all else on the CPU; auto: the best pipeline of all, as system.predict "
         "finds it"},
    {.name = "adapt",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_dido_options, adapt),
     .by_default = "true",
     .help = "with pipeline = \"auto\": whether a new pipeline is planned when the load changes"},
    {.name = "adapt_threshold",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dido_options, adapt_threshold_frac),
     .min = 0,
     .max = 100,
     .by_default = "0.1",
     .help =
         "change of a counter of the load from which on a new pipeline is planned, as a share of its value "
         "(dido.design.counter_threshold); a smaller one follows the load more closely and plans more "
         "often for nothing"},
    REAL_ROW(
        "plan", plan_ns, KVC_UNIT_NS, 0, 1e12, "0.38ms",
        "time of a core to plan a pipeline, while batches go on with the one before; not published: the "
        "median that the search took over the 24 presets on a core of an AMD EPYC server (dido_plan_bench "
        "--searches), with stealing; 0.24 to 1.5 ms, without stealing 0.17 ms, by predict = \"paper\" 1.2 "
        "ms; what kvcast derives of the caches from the popularity is not in it, 8 ms where keys are "
        "skewed"),
    {.name = "stealing",
     .type = KVC_OPTION_BOOL,
     .offset = offsetof(struct kvc_dido_options, stealing),
     .by_default = "true",
     .help = "whether a processor without work takes queries of a stage of the other one"},
    {.name = "steal_set",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_dido_options, steal_set),
     .min = 1,
     .max = 65536,
     .by_default = "64",
     .help =
         "queries that a processor takes at once (dido.design.steal_set); larger sets take fewer tags and "
         "leave more to wait for at the end of a batch"},
    REAL_ROW(
        "steal", steal_ns, KVC_UNIT_NS, 0, 1e6, "100ns",
        "time to fetch a line of tags that the other processor may hold; a core takes the sets of a line "
        "one by one from its cache, and all waves that the GPU holds wait for theirs at the same time; "
        "not published: an access to memory"),
    REAL_ROW("latency_limit", latency_limit_ns, KVC_UNIT_NS, 1e3, 1e12, "1ms",
             "mean latency that batches are limited for (dido.wl.latency_limit); a higher one allows larger "
             "batches"),
    {.name = "interval",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dido_options, interval_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e12,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "longest time of a stage, for which batches are sized; auto: 0.9 of the latency limit over the "
             "stages, which is the 300 us of dido.mot.stage_limit with three stages and 1 ms"},
    {.name = "network",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_dido_options, network),
     .by_default = "kernel",
     .choices = networks,
     .help =
         "kernel: frames pass through the sockets of the operating system; memory: requests are read from "
         "memory, and responses are not sent"},
    REAL_ROW(
        "receive", receive_cycles, KVC_UNIT_NONE, 0, 1e9, "3520",
        "core cycles of the operating system for a frame that arrives, the copy to the process and the call "
        "included (Arrakis, OSDI 2014, table 1: 1.26 + 0.24 + 0.10 us with Linux 3.8 and an X520, at 2.2 "
        "GHz on a Sandy Bridge)"),
    REAL_ROW("send", send_cycles, KVC_UNIT_NONE, 0, 1e9, "3498",
             "likewise for a frame that leaves (1.05 + 0.44 + 0.10 us)"),
    {.name = "index",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dido_options, index_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 0,
     .max = 1e13,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help =
         "size of the index, a power of two; auto: the smallest that is at most nine tenths full with all "
         "keys"},
    {.name = "slab",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_dido_options, slab_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 0,
     .max = 1e13,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help =
         "memory of the items; auto: what all keys need, so that every SET of a full store evicts an item"},
    {.name = "displacements",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_dido_options, max_displacements),
     .min = 0,
     .max = 10000,
     .by_default = "100",
     .help = "elements that an insert moves at most before it gives up; not published"},
    {.name = "predict",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_dido_options, predict),
     .by_default = "kvcast",
     .choices = predictors,
     .help = "the closed form that predicts and plans: kvcast charges what the simulation does; paper is the "
             "authors' cost model (sec. IV)"},
};

const struct kvc_option_table kvc_dido_option_table = {.name = "system",
                                                       .rows = rows,
                                                       .count = sizeof(rows) / sizeof(*rows),
                                                       .size = sizeof(struct kvc_dido_options)};
