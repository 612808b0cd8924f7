/* The pipeline of a store, for pictures: its stages with what they state, how batches form, and the
 * structures that the stages use. Texts are for people; those with several lines have '\n' between them. */
#ifndef KVC_MODELS_PIPELINE_H
#define KVC_MODELS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/resource.h"

enum { KVC_PIPELINE_TEXT_MAX = 256, KVC_PIPELINE_STRUCTURES_MAX = 8 };

struct kvc_pipeline_stage {
    const char *name;
    const char *place;                   /* Where it works: "pcie.down". */
    char servers[KVC_PIPELINE_TEXT_MAX]; /* "2 cores"; empty: one that needs no name. */
    const char *pool;                    /* Name of its servers if stages may share them; empty: none. */
    bool of_node;                        /* All pipelines of a socket share its servers. */
    char work[KVC_PIPELINE_TEXT_MAX];    /* Lines: "150 cycles per request". */
    char does[KVC_PIPELINE_TEXT_MAX];    /* Operations on the structures: "parse, write". */
    char when[KVC_PIPELINE_TEXT_MAX];    /* Requests that it is for: "get, miss"; empty: all. */
    char others[KVC_PIPELINE_TEXT_MAX];  /* Lines: further options that are not at their default. */
    double share_frac;                   /* Share of the requests that it is for, by the closed form. */
    bool background;                     /* Requests go on at once. */
    uint64_t every;                      /* It works once for so many batches. */
    uint64_t queue;                      /* Jobs that may wait for it; 0: any number. */
    bool drops;                          /* Whether requests that find the queue full are lost. */
    uint32_t structures;                 /* A bit for each structure that it uses. */
};

struct kvc_pipeline_structure {
    const char *name;   /* "index". */
    const char *kernel; /* "cuckoo". */
    const char *memory; /* "gpu". */
    double bytes;       /* Of a socket. */
};

struct kvc_pipeline {
    uint32_t pipelines; /* Copies of the stages in a socket. */
    uint32_t sockets;   /* Sockets of all nodes. */
    uint32_t stages;
    struct kvc_pipeline_stage stage[KVC_MODEL_STAGES_MAX];
    uint32_t batched;                  /* Stage in front of which batches form; `stages`: none. */
    char batch[KVC_PIPELINE_TEXT_MAX]; /* Lines: what closes a batch. */
    uint64_t buffers;                  /* Batches that a pipeline has room for. */
    uint32_t structures;
    struct kvc_pipeline_structure structure[KVC_PIPELINE_STRUCTURES_MAX];
};

/* Fills in the zeroed pipeline of a resolved scenario. */
typedef void kvc_pipeline_fn(const struct kvc_scenario *scenario, struct kvc_pipeline *pipeline);

#endif
