/* A scenario as the models see it: plain structs, no Lua. */
#ifndef KVC_SIM_SCENARIO_H
#define KVC_SIM_SCENARIO_H

#include <stdint.h>

#include "sim/base/option.h"
#include "sim/devices/node.h"
#include "sim/workload/workload.h"

struct kvc_cluster {
    uint64_t nodes;
};

enum kvc_functional {
    KVC_FUNCTIONAL_FULL,    /* every request runs through the store's real index and slabs */
    KVC_FUNCTIONAL_SAMPLED, /* 1/sample_rate of the key space does, by hash */
    KVC_FUNCTIONAL_OFF,     /* none does: closed-form hit ratio */
};

struct kvc_run {
    int functional;       /* enum kvc_functional */
    uint64_t sample_rate; /* SAMPLED: power of two; 0: the smallest that fits sample_bytes */
    double sample_bytes;  /* SAMPLED: memory budget that sample_rate 0 aims at */
    double warmup_ns;     /* negative: detected (MSER-5) */
    double duration_ns;   /* measured time after the warm-up */
    uint64_t seed;
    uint64_t replicas;
};

extern const struct kvc_option_table kvc_cluster_option_table;
extern const struct kvc_option_table kvc_run_option_table;

/* Cross-field checks of `run`: the sample rate. */
enum kvc_status kvc_run_check(const struct kvc_run *run, uint64_t keys, struct kvc_diag *diag);

struct kvc_model;

struct kvc_scenario {
    char name[KVC_TEXT_MAX];
    char file[KVC_TEXT_MAX];
    const struct kvc_model *model;
    void *system; /* the model's own parameter struct, model->options.size bytes */
    struct kvc_node node;
    struct kvc_cluster cluster;
    struct kvc_workload workload;
    struct kvc_run run;
};

/* Sockets of the whole cluster: each owns one shard of the keys. */
static inline uint32_t kvc_scenario_shards(const struct kvc_scenario *scenario)
{
    return (uint32_t)(scenario->cluster.nodes * scenario->node.sockets);
}

#endif
