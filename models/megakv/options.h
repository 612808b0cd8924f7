/* Mega-KV's options: the scenario's table `system`, as the user wrote it. */
#ifndef KVC_MODELS_MEGAKV_OPTIONS_H
#define KVC_MODELS_MEGAKV_OPTIONS_H

#include <stdint.h>

#include "sim/base/text/option.h"

/* Sizes of the pipeline. */
enum {
    KVC_MEGAKV_DELAY_MAX = 64,   /* Largest delay n. */
    KVC_MEGAKV_ROWS_MAX = 65536, /* Rows that a buffer holds. */
    KVC_MEGAKV_SEND_ROWS =
        256, /* Rows that a sender answers before the next sender on its core gets its turn. */
};

enum kvc_megakv_api {
    KVC_MEGAKV_GET,  /* The sender compares the stored key with the requested one. */
    KVC_MEGAKV_GETK, /* The response contains the key, and the client compares. */
};

enum kvc_megakv_feed {
    KVC_MEGAKV_NETWORK, /* Requests and responses pass through the NIC. */
    KVC_MEGAKV_MEMORY,  /* Requests are read from local memory, as in those experiments of the paper that the
                           network  would limit. */
};

enum kvc_megakv_insert_stream {
    KVC_MEGAKV_INSERT_IN_PIPELINES, /* Inserts follow the searches in the stream of each pipeline, as eq. (1)
                                       assumes: T_S + T_max <= 2C. */
    KVC_MEGAKV_INSERT_OWN_STREAM,   /* They overlap with the searches in a stream of their own. */
};

enum kvc_megakv_index_on {
    KVC_MEGAKV_INDEX_ON_GPU,    /* Launches queue on the device while the scheduler continues. */
    KVC_MEGAKV_INDEX_ON_THREAD, /* The scheduler's thread does the work of the index and swaps again when
                                   it has finished. */
};

enum kvc_megakv_threads {
    KVC_MEGAKV_OWN_THREADS,    /* Every receiver and sender has a hardware thread of its own. */
    KVC_MEGAKV_SHARED_THREADS, /* The receivers share the scheduler's core between its launches; the senders
                                  take turns on the other cores. */
};

enum kvc_megakv_gpu_power {
    KVC_MEGAKV_GPU_POWER_KERNELS, /* Busy watts while kernels run, idle watts between them. */
    KVC_MEGAKV_GPU_POWER_SERVING, /* Busy watts all the time: published ones are often means of a sensor that
                                     does not tell kernels from the gaps between launches. */
};

struct kvc_megakv_options {
    double cycle_ns;            /* Scheduling cycle C [ns]. */
    uint64_t delay;             /* n: inserts and deletes are launched every n cycles. */
    int api;                    /* enum kvc_megakv_api. */
    int feed;                   /* enum kvc_megakv_feed. */
    int insert_stream;          /* enum kvc_megakv_insert_stream. */
    int index_on;               /* enum kvc_megakv_index_on. */
    int threads;                /* enum kvc_megakv_threads. */
    uint64_t streams;           /* Pipelines per socket, one CUDA stream each; 0: as many as fit the cores. */
    uint64_t buffers;           /* Batch buffers per pipeline. */
    double index_bytes;         /* Index of each GPU [bytes]. */
    double slab_bytes;          /* Item memory of each socket [bytes]; 0: room for all keys and 10 % more. */
    uint64_t max_displacements; /* Displacements of an insert before it drops an element. */
    double gpu_core_hz;         /* Core clock of the GPU's clock pair [Hz]; 0: the fastest pair. */
    int gpu_power;              /* enum kvc_megakv_gpu_power. */
};

extern const struct kvc_option_table kvc_megakv_option_table;

#endif
