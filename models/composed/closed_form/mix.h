/* The mean request of a composed store's load, and what stages do for a batch of them. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_MIX_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_MIX_H

#include <stdbool.h>

#include "models/composed/closed_form/tier.h"
#include "models/composed/config.h"
#include "models/composed/costs.h"
#include "models/composed/structures.h"
#include "sim/workload/source/fill.h"

/* The kinds of requests: by operation, outcome and size. */
enum {
    KVC_COMPOSED_KIND_HOTS,
    KVC_COMPOSED_KIND_HITS,
    KVC_COMPOSED_KIND_MISSES,
    KVC_COMPOSED_KIND_SETS,
    KVC_COMPOSED_KIND_DELETES,
    KVC_COMPOSED_KINDS
};

/* Requests that come to a stage as one job: those that every branch before it takes alike. */
struct kvc_composed_part {
    double share;                      /* Share of the requests of the load. */
    struct kvc_composed_counts counts; /* What the stage does for them, per request of the load. */
    uint64_t kinds;                    /* A bit for each kind of them. */
};

/* Requests that all branches take alike. */
struct kvc_composed_path {
    double share;                           /* Share of the requests of the load. */
    uint32_t stages;                        /* A bit for each stage that is for them. */
    uint32_t part[KVC_COMPOSED_STAGES_MAX]; /* The part of each stage that they are in. */
};

/* Sizes of the write buffer for which the reads that it answers are known. */
enum { KVC_COMPOSED_BUFFER_POINTS = 12 };

/* A page of flash that was programmed lately, by age, in a log that lets each chip have a page in turn. */
struct kvc_composed_page {
    double read_frac; /* Share of the reads of flash. */
    double
        behind_ns; /* For how long its chip has reads left, as a mean until the next page is on flash [ns]. */
};

enum { KVC_COMPOSED_NEWEST = 16 /* Pages that are known by age. */ };

enum { KVC_COMPOSED_PATHS_MAX = 2 * KVC_COMPOSED_KINDS * KVC_COMPOSED_ROUTES_MAX };

/* What comes to each stage, without evictions, and the ways of the requests: a bit for each stage of a way.
 */
struct kvc_composed_parts {
    uint32_t ways, way[KVC_COMPOSED_PATHS_MAX];
    struct kvc_composed_counts all[KVC_COMPOSED_STAGES_MAX];
    uint32_t parts[KVC_COMPOSED_STAGES_MAX];
    struct kvc_composed_part part[KVC_COMPOSED_STAGES_MAX][KVC_COMPOSED_PATHS_MAX];
};

struct kvc_composed_mix {
    struct kvc_composed_expected expected;
    const struct kvc_workload *workload;
    struct kvc_fill frame; /* Mean requests of a frame, and how long they wait for it. */
    bool clients_wait;     /* Clients send when they are answered. */
    bool saturates;        /* They do so at once, and without end. */
    double in_flight;      /* Requests that they keep in a socket; infinity: they do not wait. */
    double together;       /* Requests of a pipeline that saturating clients keep in flight; 0 for others. */
    double shard_frac;     /* Share of the requests that the fullest socket gets. */
    double fullest;        /* Requests of the fullest pipeline of a socket over the mean of all. */
    struct kvc_composed_lines lines, hot_lines;
    struct kvc_composed_counts kind[KVC_COMPOSED_KINDS]
                                   [2]; /* Per request of the load; [1]: with a large value. */
    double spare_items; /* Items of a socket for which slabs have room when the run begins; else infinity. */
    double warmup_ns, run_ns;
    double buffered_fracs[KVC_COMPOSED_BUFFER_POINTS]; /* See closed_form/buffer.h. */
    double buffered_full_frac; /* The same of a full buffer, once all keys have been changed. */
    double buffered_frac;      /* Share of the reads of flash whose items are in the write buffer. */
    struct kvc_composed_page newest[KVC_COMPOSED_NEWEST]; /* The page that is on flash since the shortest
                                                             time, and those before it. */
    bool gathers;           /* Bursts and the write buffer are as full as they can be. */
    double evicts_frac;     /* Share of the written items that evict another one. */
    double missed_bytes[2]; /* Values of GETs that miss, per request of the load. */
    const struct kvc_composed_parts *of;
};

/* Returns the rate at which a socket gets its requests [requests/ns]; 0: its clients wait, and it is unknown.
 */
double kvc_composed_sent_per_ns(const struct kvc_scenario *scenario);

/* Returns the shares of the GETs that hit within the measured time of a socket that serves per_ns requests,
 * and how full the index is when the run begins. Copies come into the hot tier as `copying` says; NULL: at
 * once. */
struct kvc_composed_expected kvc_composed_expect(const struct kvc_scenario *scenario, double per_ns,
                                                 const struct kvc_composed_copying *copying);

/* Returns the mix of a scenario with such shares, which refers to *parts; its frames, evictions and write
 * buffer depend on the rate and are left out. */
struct kvc_composed_mix kvc_composed_mix_of(const struct kvc_scenario *scenario,
                                            const struct kvc_composed_expected *expected,
                                            struct kvc_composed_parts *parts);

/* Returns the time from the beginning of a run after which a socket that serves per_ns requests has full
 * slabs, so that each item it writes evicts another one; infinity: never. */
double kvc_composed_full_ns(const struct kvc_composed_mix *mix, double per_ns);

/* Sets which share of the written items evict others within the measured time, at a rate. */
void kvc_composed_mix_evict(struct kvc_composed_mix *mix, double per_ns);

/* Returns whether requests of a kind, with large values or not, meet the conditions of a stage. */
bool kvc_composed_mix_meets(int class, bool large, uint32_t when);

/* Returns what a stage does for a batch of `requests` requests of the load. */
struct kvc_composed_counts kvc_composed_mix_counts(const struct kvc_composed_config *config,
                                                   const struct kvc_composed_mix *mix, uint32_t stage,
                                                   double requests);

/* Returns the same for those of the `requests` requests that are in one part of them. */
struct kvc_composed_counts kvc_composed_mix_part(const struct kvc_composed_config *config,
                                                 const struct kvc_composed_mix *mix, uint32_t stage,
                                                 uint32_t part, double requests);

/* Sets the paths of the load's requests, at most KVC_COMPOSED_PATHS_MAX, and returns their number. */
uint32_t kvc_composed_mix_paths(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                                struct kvc_composed_path *path);

/* Sets the share of the requests that each stage is for. */
void kvc_composed_shares(const struct kvc_scenario *scenario, double *share_frac);

#endif
