/* Mega-KV's own parameters: the scenario's `system` table. */
#ifndef KVC_MODELS_MEGAKV_OPTIONS_H
#define KVC_MODELS_MEGAKV_OPTIONS_H

#include <stdint.h>

#include "sim/base/option.h"

/* Sizes of the pipeline. */
enum {
    KVC_MEGAKV_ROWS_MAX = 65536, /* of a buffer where no admission limit is smaller */
    KVC_MEGAKV_SEND_ROWS = 256,  /* that a sender answers before another one on its core has its turn */
};

enum kvc_megakv_api {
    KVC_MEGAKV_GET,  /* the sender compares the stored key with the requested one */
    KVC_MEGAKV_GETK, /* the client does: the response carries the key */
};

enum kvc_megakv_feed {
    KVC_MEGAKV_NETWORK, /* requests and responses cross the NIC */
    KVC_MEGAKV_MEMORY, /* requests lie in local memory, as the paper does where the network would be the limit
                        */
};

enum kvc_megakv_admission {
    KVC_MEGAKV_ADMIT_CYCLE, /* receivers take no more per cycle than the GPU finishes in time (eq. 4) */
    KVC_MEGAKV_ADMIT_ALL,   /* receivers take what they can; too much work stretches the cycle */
};

enum kvc_megakv_index_on {
    KVC_MEGAKV_INDEX_ON_GPU,    /* launches queue on the device while the scheduler goes on */
    KVC_MEGAKV_INDEX_ON_THREAD, /* the scheduler's thread does the index's work itself, and swaps again when
                                   it is through */
};

enum kvc_megakv_threads {
    KVC_MEGAKV_OWN_THREADS,    /* every receiver and sender has a hardware thread */
    KVC_MEGAKV_SHARED_THREADS, /* the receivers share the scheduler's core, between its launches; the senders
                                  the other cores, in turns */
};

struct kvc_megakv_options {
    double cycle_ns;    /* C */
    uint64_t delay;     /* n: insert and delete run every n cycles; 1: with every search */
    int api;            /* enum kvc_megakv_api */
    int feed;           /* enum kvc_megakv_feed */
    int admission;      /* enum kvc_megakv_admission */
    int index_on;       /* enum kvc_megakv_index_on */
    int threads;        /* enum kvc_megakv_threads */
    uint64_t streams;   /* pipelines per socket, one CUDA stream each; 0: as many as the cores hold */
    uint64_t buffers;   /* per pipeline */
    double index_bytes; /* per GPU */
    double slab_bytes;  /* per socket; 0: room for all keys and a tenth more */
    uint64_t max_displacements;
    double gpu_core_hz; /* clock pair by its core clock; 0: the fastest */
};

extern const struct kvc_option_table kvc_megakv_option_table;

#endif
