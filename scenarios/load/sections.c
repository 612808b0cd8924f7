#include "scenarios/load/sections.h"

#include "scenarios/load/load.h"
#include "sim/workload/workload.h"

static const struct kvc_option dist_rows[] = {
    {.name = "zipf",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, zipf_s),
     .min = 1e-3,
     .max = 10,
     .by_default = "0.99",
     .help = "exponent of the Zipf distribution of keys; larger is more skewed"},
};

const struct kvc_option_table kvc_dist_option_table = {.name = "workload.dist",
                                                       .rows = dist_rows,
                                                       .count = sizeof(dist_rows) / sizeof(*dist_rows),
                                                       .size = sizeof(struct kvc_workload)};

static const struct kvc_option arrival_rows[] = {
    {.name = "poisson_mops",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, rate_mops),
     .unit = KVC_UNIT_MOPS,
     .min = 1e-6,
     .max = 1e6,
     .help = "open loop: frames arrive as a Poisson process of this request rate, all nodes together"},
    {.name = "fixed_mops",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, rate_mops),
     .unit = KVC_UNIT_MOPS,
     .min = 1e-6,
     .max = 1e6,
     .help = "open loop: frames arrive at equal distances, at this request rate of all nodes together"},
    {.name = "clients",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, clients),
     .min = 1,
     .max = 16777216,
     .help = "closed loop: number of clients, each of which sends its next request after its last response"},
    {.name = "think",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, think_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e12,
     .help = "closed loop: pause of a client between response and next request"},
    {.name = "curve",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_workload, curve),
     .element = &kvc_rate_curve_option_table,
     .count_offset = offsetof(struct kvc_workload, curve_points),
     .help = "open loop, Poisson: the rate follows these points and is linear between them"},
    {.name = "trace",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_workload, trace),
     .help = "CSV file to replay (time_us,op,key,key_bytes,value_bytes), relative to the scenario"},
};

const struct kvc_option_table kvc_arrival_option_table = {.name = "workload.arrival",
                                                          .rows = arrival_rows,
                                                          .count =
                                                              sizeof(arrival_rows) / sizeof(*arrival_rows),
                                                          .size = sizeof(struct kvc_workload)};

static const struct kvc_option slo_rows[] = {
    {.name = "p50",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_slo, p50_ns),
     .unit = KVC_UNIT_NS,
     .min = 1,
     .max = 1e12,
     .help = "largest allowed median latency; read, but not used yet"},
    {.name = "p95",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_slo, p95_ns),
     .unit = KVC_UNIT_NS,
     .min = 1,
     .max = 1e12,
     .help = "largest allowed 95th percentile of latency; read, but not used yet"},
    {.name = "p99",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_slo, p99_ns),
     .unit = KVC_UNIT_NS,
     .min = 1,
     .max = 1e12,
     .help = "largest allowed 99th percentile of latency; read, but not used yet"},
    {.name = "mops",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_slo, mops),
     .unit = KVC_UNIT_MOPS,
     .min = 1e-6,
     .max = 1e6,
     .help = "least required throughput; read, but not used yet"},
};

const struct kvc_option_table kvc_slo_option_table = {.name = "slo",
                                                      .rows = slo_rows,
                                                      .count = sizeof(slo_rows) / sizeof(*slo_rows),
                                                      .size = sizeof(struct kvc_slo)};
