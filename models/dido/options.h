/* DIDO's options as a scenario writes them. */
#ifndef KVC_MODELS_DIDO_OPTIONS_H
#define KVC_MODELS_DIDO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text/option.h"

/* Which closed form predicts and plans. */
enum kvc_dido_predictor {
    KVC_DIDO_BY_KVCAST, /* "kvcast": the costs of the simulation (predict.h). */
    KVC_DIDO_BY_PAPER,  /* "paper": the authors' cost model (paper_model.h). */
};

/* Where requests come from and responses go to. */
enum kvc_dido_network {
    KVC_DIDO_KERNEL, /* "kernel": the sockets of the operating system. */
    KVC_DIDO_MEMORY, /* "memory": requests are read from memory, and responses are not sent. */
};

struct kvc_dido_options {
    char pipeline[KVC_TEXT_MAX];
    bool adapt;
    double adapt_threshold_frac;
    double plan_ns;
    bool stealing;
    uint64_t steal_set;
    double steal_ns;
    double latency_limit_ns;
    double interval_ns; /* 0: "auto". */
    int network;        /* enum kvc_dido_network. */
    double receive_cycles, send_cycles;
    double index_bytes, slab_bytes; /* 0: "auto". */
    uint64_t max_displacements;
    int predict; /* enum kvc_dido_predictor. */
};

extern const struct kvc_option_table kvc_dido_option_table;

#endif
