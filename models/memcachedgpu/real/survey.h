/* Measures the parts of MemcachedGPU on this machine: blocks and batches of the GET kernel, batches that
 * share the card with each other and with a background task, SETs, the CUDA calls of a host thread, and what
 * the response to a packet costs a GNoM-post thread. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_SURVEY_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_SURVEY_H

#include <stdio.h>

#include "kernels/cuda_probe.h"
#include "sim/base/diag.h"
#include "sim/base/progress.h"

/* Place of the lines that a batch reads. */
enum kvc_memcachedgpu_lines {
    KVC_MEMCACHEDGPU_LINES_FAR,     /* All of them in device memory. */
    KVC_MEMCACHEDGPU_LINES_ARRIVED, /* The packets have just been copied in; the table is in device memory. */
    KVC_MEMCACHEDGPU_LINES_NEAR,    /* All of them in the second-level cache. */
    KVC_MEMCACHEDGPU_LINES_COUNT,
};

/* A median with its quartiles. */
struct kvc_memcachedgpu_median {
    double middle, low, high;
};

/* A batch alone on the card. */
struct kvc_memcachedgpu_survey_batch {
    uint32_t key_bytes, packets;
    bool hits;
    enum kvc_memcachedgpu_lines lines;
    struct kvc_memcachedgpu_median block_cycles; /* The median block of a batch. */
    struct kvc_memcachedgpu_median kernel_ns;    /* Time from the first start of a block to the last end. */
    struct kvc_memcachedgpu_median host_ns;      /* Time from before the launch to after the wait. */
};

/* Back-to-back batches in several streams. */
struct kvc_memcachedgpu_survey_streams {
    uint32_t key_bytes, packets, streams;
    bool copied;                 /* Packets are copied in, results and heads out. */
    bool polled;                 /* Another thread polls a pending event all the time. */
    uint32_t background_blocks;  /* Blocks of the background task that runs meanwhile; 0: none. */
    uint32_t background_kernels; /* Kernels of that task. */
    double background_ns;        /* Time of the background task with the batches [ns]. */
    double background_alone_ns;  /* Time of the background task alone [ns]. */
    double mops;                 /* Rate of GETs. */
    double batch_mean_ns, batch_95th_ns,
        batch_max_ns; /* Time of a batch from before the copy until a poll sees its end. */
};

/* Calls of a host thread, each timed by itself, in an idle stream or after a batch. */
enum kvc_memcachedgpu_call {
    KVC_MEMCACHEDGPU_CALL_COPY_IN,   /* Beginning to copy an image of 512 packets. */
    KVC_MEMCACHEDGPU_CALL_LAUNCH,    /* Launching the GET kernel. */
    KVC_MEMCACHEDGPU_CALL_COPY_OUT,  /* Beginning to copy results. */
    KVC_MEMCACHEDGPU_CALL_COPY_ROWS, /* Beginning to copy heads. */
    KVC_MEMCACHEDGPU_CALL_RECORD,    /* Recording an event. */
    KVC_MEMCACHEDGPU_CALL_PENDING,   /* Querying a pending event. */
    KVC_MEMCACHEDGPU_CALL_REACHED,   /* Querying a reached event. */
    KVC_MEMCACHEDGPU_CALLS,
};
extern const char *const kvc_memcachedgpu_call_names[KVC_MEMCACHEDGPU_CALLS];

enum { KVC_MEMCACHEDGPU_SURVEY_BATCHES_MAX = 256, KVC_MEMCACHEDGPU_SURVEY_STREAMS_MAX = 128 };

struct kvc_memcachedgpu_survey {
    /* Dependent access of a warp to the second-level cache and to device memory. */
    struct kvc_cuda_chase near, far;
    struct kvc_cuda_chase far_alone;          /* Dependent access of one thread to device memory. */
    struct kvc_memcachedgpu_median launch_ns; /* An empty kernel, launched and waited for. */
    struct kvc_memcachedgpu_survey_batch batch[KVC_MEMCACHEDGPU_SURVEY_BATCHES_MAX];
    uint32_t batches;
    struct kvc_memcachedgpu_survey_streams streams[KVC_MEMCACHEDGPU_SURVEY_STREAMS_MAX];
    uint32_t streams_count;
    /* One SET of a stored key, and of a new one. */
    struct kvc_memcachedgpu_median set_cycles, set_fresh_cycles;
    struct kvc_memcachedgpu_median call_ns[KVC_MEMCACHEDGPU_CALLS];
    /* Time of a GNoM-post thread for a response: with all lines in the caches of its core, and with values
     * spread over 1 GiB of slabs. */
    struct kvc_memcachedgpu_median answer_near_ns, answer_far_ns;
    uint32_t multiprocessors;
};

/* Returns median and quartiles of `count` values; sorts the values. */
struct kvc_memcachedgpu_median kvc_memcachedgpu_median_of(double *value, uint32_t count);

/* Measures the responses alone, which needs no GPU. */
enum kvc_status kvc_memcachedgpu_survey_answers(struct kvc_memcachedgpu_survey *survey, bool quick,
                                                struct kvc_diag *diag);

/* Measures everything. `quick` leaves out most sizes. Returns KVC_ERR_RUNTIME if there is no GPU, it fails,
 * or memory is short. */
enum kvc_status kvc_memcachedgpu_survey_run(struct kvc_memcachedgpu_survey *survey, bool quick,
                                            const struct kvc_progress *progress, struct kvc_diag *diag);

/* Writes the survey as lines of text. */
void kvc_memcachedgpu_survey_write(const struct kvc_memcachedgpu_survey *survey, FILE *out);

#endif
