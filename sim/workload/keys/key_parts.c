#include "sim/workload/keys/key_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/keys/hash_ring.h"
#include "sim/workload/source/source.h"
#include "sim/workload/keys/zipf.h"

enum { BLOCK_KEYS = 4096, EXACT_RANKS = 4096, STEPS = 1024 };

/* Popularity in ascending order of rank: exact up to EXACT_RANKS, then linear between points that are a
 * STEPS-th of the rank apart. */
struct popularity {
    double s, total, slope, at_first;
    uint64_t first, end;
};

/* One pass over the keys. */
struct pass {
    const struct kvc_key_parts_params *params;
    struct kvc_source *source;
    struct kvc_batch *batch;
    struct kvc_hash_ring *ring[KVC_KEY_EPOCHS_MAX];
    uint32_t *node[KVC_KEY_EPOCHS_MAX]; /* Nodes of the keys of the batch by epoch. */
    struct popularity popularity;
    uint16_t *kept; /* Nodes of all keys from the first pass, where there is one epoch. */
    uint64_t *next; /* Position of the next key of each node. */
    struct kvc_key_parts *parts;
};

static double popularity_of(struct popularity *popularity, uint64_t rank)
{
    if (popularity->s <= 0) {
        return 1;
    }
    if (rank < EXACT_RANKS) {
        return pow((double)rank + 1, -popularity->s);
    }
    if (rank >= popularity->end || rank < popularity->first) {
        popularity->first = rank;
        popularity->end = rank + rank / STEPS;
        popularity->at_first = pow((double)rank + 1, -popularity->s);
        popularity->slope = (pow((double)popularity->end + 1, -popularity->s) - popularity->at_first) /
                            (double)(popularity->end - rank);
    }
    return popularity->at_first + popularity->slope * (double)(rank - popularity->first);
}

double kvc_key_parts_bytes(uint64_t keys, uint32_t epochs)
{
    const struct kvc_key_parts *parts = NULL;
    return (double)keys *
           (epochs > 1 ? 2 * (sizeof(*parts->key) + sizeof(*parts->owned)) : sizeof(*parts->key));
}

double kvc_key_parts_create_bytes(uint64_t keys, uint32_t epochs)
{
    const struct pass *pass = NULL;
    return kvc_key_parts_bytes(keys, epochs) + (epochs > 1 ? 0 : (double)keys * sizeof(*pass->kept));
}

void kvc_key_parts_free(struct kvc_key_parts *parts)
{
    if (parts == NULL) {
        return;
    }
    free(parts->part);
    free(parts->key);
    free(parts->owned);
    free(parts);
}

static void close_pass(struct pass *pass)
{
    for (uint32_t e = 0; e < pass->params->epochs; e++) {
        kvc_hash_ring_free(pass->ring[e]);
        free(pass->node[e]);
    }
    kvc_source_free(pass->source);
    kvc_batch_free(pass->batch);
    free(pass->next);
    free(pass->kept);
}

static bool open_pass(struct pass *pass, struct kvc_diag *diag)
{
    const struct kvc_key_parts_params *params = pass->params;
    const struct kvc_source_params one = {.workload = params->workload,
                                          .nodes = 1,
                                          .sockets = 1,
                                          .hash_seed = params->hash_seed,
                                          .frame_requests = 1};
    pass->source = kvc_source_create(&one, diag);
    pass->batch = kvc_batch_create(BLOCK_KEYS, kvc_workload_key_stride(params->workload));
    pass->next = calloc(params->nodes, sizeof(*pass->next));
    if (params->epochs == 1) {
        pass->kept = malloc(params->workload->keys * sizeof(*pass->kept));
    }
    bool ok = pass->source != NULL && pass->next != NULL;
    for (uint32_t e = 0; e < params->epochs && ok; e++) {
        pass->ring[e] = kvc_hash_ring_create(
            &(struct kvc_hash_ring_params){.nodes = params->nodes,
                                           .sockets = 1,
                                           .seed = params->hash_seed,
                                           .each = params->points + (size_t)e * params->nodes});
        pass->node[e] = malloc(BLOCK_KEYS * sizeof(*pass->node[e]));
        ok = pass->ring[e] != NULL && pass->node[e] != NULL;
    }
    return ok;
}

/* Makes the keys from `first` on and looks up their nodes. */
static void look_up(struct pass *pass, uint64_t first)
{
    uint64_t left = pass->params->workload->keys - first;
    pass->batch->count = 0;
    kvc_source_keys(pass->source, first, left < BLOCK_KEYS ? (uint32_t)left : BLOCK_KEYS, pass->batch);
    for (uint32_t e = 0; e < pass->params->epochs; e++) {
        kvc_hash_ring_shards(pass->ring[e], pass->batch->hash, pass->batch->count, pass->node[e]);
    }
}

/* Returns whether no epoch before e gives key i to the same node. */
static bool is_new(const struct pass *pass, uint32_t e, uint32_t i)
{
    for (uint32_t before = 0; before < e; before++) {
        if (pass->node[before][i] == pass->node[e][i]) {
            return false;
        }
    }
    return true;
}

static void count_keys(struct pass *pass)
{
    struct kvc_key_parts *parts = pass->parts;
    const uint32_t epochs = pass->params->epochs;
    for (uint64_t first = 0; first < pass->params->workload->keys; first += pass->batch->count) {
        look_up(pass, first);
        for (uint32_t i = 0; i < pass->batch->count; i++) {
            double popularity = popularity_of(&pass->popularity, first + i);
            if (pass->kept != NULL) {
                pass->kept[first + i] = (uint16_t)pass->node[0][i];
            }
            pass->popularity.total += popularity;
            for (uint32_t e = 0; e < epochs; e++) {
                struct kvc_key_part *part = &parts->part[pass->node[e][i]];
                part->epoch[e].share += popularity;
                part->epoch[e].keys++;
                part->count += is_new(pass, e, i);
                parts->moved_frac[e] += e > 0 && pass->node[e - 1][i] != pass->node[e][i];
            }
        }
    }
}

static void place_keys(struct pass *pass)
{
    struct kvc_key_parts *parts = pass->parts;
    if (pass->kept != NULL) { /* Looking the nodes up again would cost as much as the first pass. */
        for (uint64_t i = 0; i < pass->params->workload->keys; i++) {
            parts->key[pass->next[pass->kept[i]]++] = (uint32_t)i;
        }
        return;
    }
    for (uint64_t first = 0; first < pass->params->workload->keys; first += pass->batch->count) {
        look_up(pass, first);
        for (uint32_t i = 0; i < pass->batch->count; i++) {
            for (uint32_t e = 0; e < pass->params->epochs; e++) {
                uint32_t node = pass->node[e][i];
                if (is_new(pass, e, i)) {
                    parts->key[pass->next[node]++] = (uint32_t)(first + i);
                }
                if (parts->owned != NULL) {
                    parts->owned[pass->next[node] - 1] |= 1ull << e;
                }
            }
        }
    }
}

/* Reserves the lists, one after the other. */
static bool make_lists(struct pass *pass)
{
    struct kvc_key_parts *parts = pass->parts;
    uint64_t all = 0;
    for (uint32_t i = 0; i < parts->nodes; i++) {
        pass->next[i] = all;
        all += parts->part[i].count;
    }
    parts->key = malloc(all * sizeof(*parts->key));
    parts->owned = pass->params->epochs > 1 ? calloc(all, sizeof(*parts->owned)) : NULL;
    if (parts->key == NULL || (pass->params->epochs > 1 && parts->owned == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < parts->nodes; i++) {
        parts->part[i].key = parts->key + pass->next[i];
        parts->part[i].owned = parts->owned != NULL ? parts->owned + pass->next[i] : NULL;
    }
    return true;
}

static void set_epochs(const struct pass *pass)
{
    const struct kvc_key_parts_params *params = pass->params;
    for (uint32_t i = 0; i < params->nodes; i++) {
        struct kvc_key_part *part = &pass->parts->part[i];
        part->epochs = params->epochs;
        for (uint32_t e = 0; e < params->epochs; e++) {
            struct kvc_key_epoch *epoch = &part->epoch[e];
            epoch->from_ns = params->from_ns != NULL ? params->from_ns[e] : 0;
            epoch->share /= pass->popularity.total;
            if (params->dead != NULL && params->dead[(size_t)e * params->nodes + i]) {
                epoch->lost = epoch->share;
                epoch->share = 0;
            }
        }
    }
    for (uint32_t e = 0; e < params->epochs; e++) {
        pass->parts->moved_frac[e] /= (double)params->workload->keys;
    }
}

struct kvc_key_parts *kvc_key_parts_create(const struct kvc_key_parts_params *params, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = params->workload;
    double s = workload->popularity == KVC_POPULARITY_ZIPF ? workload->zipf_s : 0;
    struct pass pass = {.params = params, .popularity = {.s = s}, .parts = calloc(1, sizeof(*pass.parts))};
    bool ok = pass.parts != NULL && open_pass(&pass, diag);
    if (ok) {
        pass.parts->nodes = params->nodes;
        pass.parts->part = calloc(params->nodes, sizeof(*pass.parts->part));
        ok = pass.parts->part != NULL;
    }
    if (ok) {
        count_keys(&pass);
        ok = make_lists(&pass);
    }
    if (ok) {
        place_keys(&pass);
        set_epochs(&pass);
    } else {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the keys of %u nodes", params->nodes);
        kvc_key_parts_free(pass.parts);
        pass.parts = NULL;
    }
    close_pass(&pass);
    return pass.parts;
}
