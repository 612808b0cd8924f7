/* A store to try stages on: the real one, preloaded, with the real pipelines over it, whose tasks are run one
 * kind after the other instead of all at once. */
#ifndef KVC_VALIDATE_CALIBRATE_BED_H
#define KVC_VALIDATE_CALIBRATE_BED_H

#include "models/megakv/options.h"
#include "models/model.h"
#include "validate/calibrate/team.h"
#include "validate/measure/pipeline.h"

struct kvc_bed_params {
    uint32_t value_bytes;
    double slab_bytes; /* full of items */
    uint32_t pipelines;
    bool on_gpu;       /* the index */
    bool shared_cores; /* receivers on core 0, senders on the others; else a core for each, behind the
                          scheduler's */
    uint32_t cores;
};

/* What is looked up: nothing, the keys, or keys that the store does not have. */
enum kvc_bed_search { KVC_BED_NO_SEARCH, KVC_BED_KEYS, KVC_BED_ABSENT_KEYS };

/* GETs alone; or as many SETs in any order between them, because that is how a store gets them. */
enum kvc_bed_load { KVC_BED_GETS, KVC_BED_MIX, KVC_BED_LOADS };

struct kvc_bed {
    struct kvc_bed_params params;
    double index_bytes;
    uint64_t keys;
    struct kvc_megakv system;
    struct kvc_scenario scenario[KVC_BED_LOADS];
    struct kvc_megakv_store *store;
    struct kvc_real_node node[KVC_BED_LOADS];
    struct kvc_team *team;
    /* A store launches once a cycle, and what the core's caches have forgotten by then belongs to what a
     * launch costs. 0: at once */
    double period_s;
    double launched_s; /* the last one */
};

/* Bytes of an item of the bed's, and requests of its frames. */
uint32_t kvc_bed_item_bytes(uint32_t value_bytes);
uint32_t kvc_bed_frame_requests(enum kvc_bed_load load, uint32_t value_bytes);

/* KVC_ERR_RUNTIME: memory. Close it in any case. `frame_requests` 0: as many as fit a frame of basic
 * Ethernet. */
enum kvc_status kvc_bed_open(struct kvc_bed *bed, const struct kvc_bed_params *params,
                             uint32_t frame_requests, struct kvc_team *team, struct kvc_diag *diag);
void kvc_bed_close(struct kvc_bed *bed); /* a zeroed one is allowed */

/* Times of one turn. */
struct kvc_bed_turn {
    double receive_s; /* a receiver's, for `rows` requests */
    double search_s;  /* of the launch of all pipelines */
    double send_s;    /* a sender's */
    double insert_s;  /* of the launch of the SETs' index jobs */
    uint32_t rows;    /* that each pipeline received, whole frames */
    uint32_t sets;    /* of them */
    uint32_t jobs;    /* of the launch */
    uint64_t misses;  /* of the GETs that a sender answered */
};

/* One turn with the first `pipelines` pipelines: `rows` GETs or more each are received, the first `rows` of
 * them searched, and answered. The launch waits for its cycle (bed->period_s). */
void kvc_bed_gets(struct kvc_bed *bed, uint32_t pipelines, uint32_t rows, enum kvc_bed_search search,
                  struct kvc_bed_turn *turn);

/* A mix with `sets` SETs or more each is received and stored; the first `sets` inserts and as many deletes at
 * most are launched. The GETs are forgotten. */
void kvc_bed_mix(struct kvc_bed *bed, uint32_t pipelines, uint32_t sets, struct kvc_bed_turn *turn);

#endif
