/* A scenario as the models see it: plain structs, no Lua. */
#ifndef KVC_SIM_SCENARIO_H
#define KVC_SIM_SCENARIO_H

#include <stdint.h>

#include "sim/base/option.h"
#include "sim/devices/cpu.h"
#include "sim/devices/dma.h"
#include "sim/devices/dram.h"
#include "sim/devices/fpga.h"
#include "sim/devices/gpu.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "models/megakv/cost_profile.h"
#include "sim/workload/workload.h"

/* Which machine a calibrated profile was measured on, and when; all texts empty where none is used. */
struct kvc_machine {
    char name[KVC_TEXT_MAX];     /* "2 cores, Intel Xeon" */
    char date[KVC_TEXT_MAX];     /* ISO 8601, "2026-11-21" */
    char compiler[KVC_TEXT_MAX]; /* "gcc 12.2.0" */
    char commit[KVC_TEXT_MAX];   /* of kvcast */
};

struct kvc_node {
    uint64_t sockets;
    struct kvc_machine machine;
    struct kvc_cpu cpu;
    struct kvc_dma dma;
    struct kvc_dram dram;
    struct kvc_fpga fpga;
    struct kvc_gpu gpu;
    struct kvc_nic nic;
    struct kvc_pcie pcie;
    struct kvc_megakv_cost_profile stages;
};

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

extern const struct kvc_option_table kvc_node_option_table; /* only the plain fields: sockets */
extern const struct kvc_option_table kvc_machine_option_table;
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
