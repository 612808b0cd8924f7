#include "sim/workload/source/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/phases.h"
#include "sim/workload/source/source_batch.h"
#include "sim/workload/source/source_closed.h"
#include "sim/workload/source/source_open.h"
#include "sim/workload/source/source_requests.h"
#include "sim/workload/source/source_saturating.h"
#include "sim/workload/source/source_state.h"
#include "sim/workload/source/source_trace.h"

void kvc_source_free(struct kvc_source *source)
{
    if (source == NULL) {
        return;
    }
    for (uint32_t i = 0; i < KVC_PHASES_MAX; i++) {
        kvc_source_free(source->phase[i]);
    }
    for (uint32_t i = 0; source->shard != NULL && i < source->shards; i++) {
        kvc_rows_free(&source->shard[i].rows);
        kvc_sends_free(&source->shard[i].sends);
    }
    kvc_source_free_open(source);
    free(source->shard);
    kvc_hash_ring_free(source->ring);
    kvc_sizes_free(source->sizes);
    kvc_zipf_free(source->zipf);
    kvc_part_sampler_free(source->sampler);
    kvc_columns_free(&source->block);
    free(source->block_shard);
    free(source->block_order);
    free(source->shard_rows);
    free(source->client_key_id);
    free(source->client_op);
    free(source->client_draws);
    kvc_trace_close(source->trace);
    free(source);
}

static bool set_up_keys(struct kvc_source *source)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t key_max = kvc_workload_key_bytes_max(workload);
    bool trace = workload->arrival == KVC_ARRIVAL_TRACE;
    source->block.key_stride = (key_max + 7) / 8 * 8;
    if (trace || workload->phase_count > 0) {
        return true;
    }
    kvc_action_mix_open(&source->actions, workload, NULL); /* kvc_workload_check() has checked it. */
    source->members = workload->keys / source->actions.kinds;
    source->sizes = kvc_sizes_create(workload);
    if (source->sizes == NULL) {
        return false;
    }
    source->sizes_fixed = kvc_sizes_fixed(source->sizes);
    if (source->sizes_fixed) {
        uint64_t any[KVC_SOURCE_BLOCK] = {0};
        kvc_sizes_fill(source->sizes, any, KVC_SOURCE_BLOCK, source->same_key_bytes,
                       source->same_value_bytes);
    }
    if (workload->part != NULL) {
        if (!kvc_source_enter_epoch(source, 0)) {
            return false;
        }
    } else if (workload->popularity == KVC_POPULARITY_ZIPF) {
        source->zipf = kvc_zipf_create(source->members, workload->zipf_s);
        if (source->zipf == NULL) {
            return false;
        }
    }
    bool deletes = workload->delete_frac > 0, sets = deletes || workload->set_frac > 0;
    source->set_from = sets ? (uint64_t)(workload->get_frac * 0x1.0p63) : 1ull << 63;
    source->delete_from = deletes ? (uint64_t)((1 - workload->delete_frac) * 0x1.0p63) : 1ull << 63;
    return true;
}

static bool set_up_shards(struct kvc_source *source, const struct kvc_source_params *params)
{
    source->shards = params->nodes * params->sockets;
    source->ring = kvc_hash_ring_create(&(struct kvc_hash_ring_params){.nodes = params->nodes,
                                                                       .sockets = params->sockets,
                                                                       .seed = params->hash_seed,
                                                                       .points = params->ring_points});
    source->shard = calloc(source->shards, sizeof(*source->shard));
    source->block_shard = malloc(KVC_SOURCE_BLOCK * sizeof(*source->block_shard));
    source->block_order = malloc(KVC_SOURCE_BLOCK * sizeof(*source->block_order));
    source->shard_rows = malloc((source->shards + 1ull) * sizeof(*source->shard_rows));
    if (source->ring == NULL || source->shard == NULL || source->block_shard == NULL ||
        source->block_order == NULL || source->shard_rows == NULL) {
        return false;
    }
    unsigned sizes = source->sizes_fixed ? 0 : KVC_ROWS_SIZES;
    unsigned text = source->workload.arrival == KVC_ARRIVAL_TRACE ? KVC_ROWS_KEYS | KVC_ROWS_SENT : 0;
    for (uint32_t i = 0; i < source->shards; i++) {
        kvc_rows_init(&source->shard[i].rows, source->block.key_stride, sizes | text);
    }
    return kvc_columns_grow(&source->block, KVC_SOURCE_BLOCK, sizes | KVC_ROWS_KEYS);
}

static enum kvc_status set_up_arrival(struct kvc_source *source, uint64_t seed, struct kvc_diag *diag)
{
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return KVC_OK;
    case KVC_ARRIVAL_CLOSED:
        return kvc_source_start_clients(source, seed)
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the clients");
    case KVC_ARRIVAL_TRACE:
        source->trace_ns = -1;
        source->trace = kvc_trace_open(source->workload.trace, diag);
        return source->trace != NULL ? KVC_OK : KVC_ERR_SCENARIO;
    default:
        return kvc_source_start_open(source, seed)
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the clients");
    }
}

static bool alternates(const struct kvc_source *source)
{
    return source->workload.phase_count > 0;
}

static enum kvc_status set_up_phases(struct kvc_source *source, const struct kvc_source_params *params,
                                     struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < params->workload->phase_count; i++) {
        struct kvc_workload workload = kvc_phases_workload(params->workload, i);
        struct kvc_source_params own = *params;
        own.workload = &workload;
        own.seed = kvc_rng_seed(params->seed, "workload.phase", i);
        own.frame_requests =
            params->phase_frame_requests != NULL ? params->phase_frame_requests[i] : params->frame_requests;
        source->phase[i] = kvc_source_create(&own, diag);
        if (source->phase[i] == NULL) {
            return KVC_ERR_RUNTIME;
        }
        source->phase[i]->first_key = kvc_phases_first_key(params->workload, i);
    }
    return KVC_OK;
}

double kvc_source_memory_bytes(const struct kvc_workload *workload, uint32_t shards)
{
    const struct kvc_source *source = NULL;
    double client_bytes = sizeof(*source->client_key_id) + sizeof(*source->client_op) +
                          sizeof(*source->client_draws) + sizeof(struct kvc_send);
    bool waits = workload->arrival == KVC_ARRIVAL_SATURATE && shards > 1;
    return (workload->arrival == KVC_ARRIVAL_CLOSED ? (double)workload->clients * client_bytes : 0) +
           (waits ? kvc_rows_memory_bytes(KVC_SOURCE_WINDOW + KVC_SOURCE_BLOCK) : 0);
}

struct kvc_source *kvc_source_create(const struct kvc_source_params *params, struct kvc_diag *diag)
{
    struct kvc_source *source = calloc(1, sizeof(*source));
    if (source != NULL) {
        source->workload = *params->workload;
        source->hash_seed = params->hash_seed;
        source->frame_requests = params->frame_requests;
        source->window = KVC_SOURCE_WINDOW;
        kvc_rng_init(&source->op_rng, params->seed, "workload.op", 0);
        kvc_rng_init(&source->key_rng, params->seed, "workload.key", 0);
    }
    if (source == NULL || !set_up_keys(source) || !set_up_shards(source, params)) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the workload of %u nodes", params->nodes);
    } else if ((alternates(source) ? set_up_phases(source, params, diag)
                                   : set_up_arrival(source, params->seed, diag)) == KVC_OK) {
        return source;
    }
    kvc_source_free(source);
    return NULL;
}

/* ---- phases ---- */

/* Returns when the next frame of a phase leaves its client [ns]. */
static double next_of_phase_ns(const struct kvc_source *source, uint32_t phase, uint32_t shard)
{
    double own_ns = kvc_source_next_ns(source->phase[phase], shard);
    bool saturates = source->workload.arrival == KVC_ARRIVAL_SATURATE;
    return saturates || isinf(own_ns) ? own_ns : kvc_phases_time_ns(&source->workload, phase, own_ns);
}

/* Returns the phase of the next frame: the present one of saturating clients, or the one whose frame leaves
 * first. */
static uint32_t next_phase(const struct kvc_source *source, uint32_t shard, double now_ns)
{
    uint32_t next = 0;
    double next_ns = INFINITY;
    if (source->workload.arrival == KVC_ARRIVAL_SATURATE) {
        return kvc_phases_at(&source->workload, now_ns);
    }
    for (uint32_t i = 0; i < source->workload.phase_count; i++) {
        double leaves_ns = next_of_phase_ns(source, i, shard);
        next = leaves_ns < next_ns ? i : next;
        next_ns = fmin(next_ns, leaves_ns);
    }
    return next;
}

static uint32_t drain_phase(struct kvc_source *source, uint32_t shard, double until_ns,
                            struct kvc_batch *batch)
{
    const struct kvc_workload *workload = &source->workload;
    uint32_t phase = next_phase(source, shard, until_ns), first = batch->count;
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        return kvc_source_drain(source->phase[phase], shard, until_ns, batch);
    }
    double own_ns = kvc_phases_own_ns(workload, phase, until_ns);
    uint32_t count = kvc_source_drain(source->phase[phase], shard, own_ns, batch);
    for (uint32_t i = first; i < batch->count; i++) {
        batch->sent_ns[i] = kvc_phases_time_ns(workload, phase, batch->sent_ns[i]);
    }
    batch->left_ns = count > 0 ? kvc_phases_time_ns(workload, phase, batch->left_ns) : batch->left_ns;
    return count;
}

/* ---- all loads ---- */

bool kvc_source_peek(struct kvc_source *source, uint32_t shard, double until_ns, uint32_t *connection)
{
    if (alternates(source)) {
        uint32_t phase = next_phase(source, shard, until_ns);
        bool saturates = source->workload.arrival == KVC_ARRIVAL_SATURATE;
        double own_ns = saturates ? until_ns : kvc_phases_own_ns(&source->workload, phase, until_ns);
        return kvc_source_peek(source->phase[phase], shard, own_ns, connection);
    }
    struct kvc_source_shard *at = &source->shard[shard];
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        *connection = kvc_source_turn_connection(source, at);
        return kvc_source_fill_window(source, at);
    case KVC_ARRIVAL_CLOSED:
        return kvc_source_peek_closed(source, at, until_ns, connection);
    case KVC_ARRIVAL_TRACE:
        *connection = kvc_source_turn_connection(source, at);
        return kvc_source_peek_trace(source, at, until_ns);
    default:
        return kvc_source_peek_open(source, at, until_ns, connection);
    }
}

uint32_t kvc_source_drain(struct kvc_source *source, uint32_t shard, double until_ns, struct kvc_batch *batch)
{
    if (alternates(source)) {
        return drain_phase(source, shard, until_ns, batch);
    }
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return kvc_source_drain_saturating(source, &source->shard[shard], batch);
    case KVC_ARRIVAL_CLOSED:
        return kvc_source_drain_closed(source, &source->shard[shard], until_ns, batch);
    case KVC_ARRIVAL_TRACE:
        return kvc_source_drain_trace(source, &source->shard[shard], until_ns, batch);
    default:
        return kvc_source_drain_open(source, &source->shard[shard], until_ns, batch);
    }
}

void kvc_source_complete(struct kvc_source *source, const uint32_t *client, const double *done_ns,
                         uint32_t count)
{
    if (source->workload.arrival == KVC_ARRIVAL_CLOSED && !kvc_source_stopped(source)) {
        kvc_source_complete_closed(source, client, done_ns, count);
    }
}

double kvc_source_next_ns(struct kvc_source *source, uint32_t shard)
{
    double next_ns = INFINITY;
    for (uint32_t i = 0; i < source->workload.phase_count; i++) {
        next_ns = fmin(next_ns, next_of_phase_ns(source, i, shard));
    }
    if (alternates(source)) {
        return next_ns;
    }
    switch (source->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return kvc_source_fill_window(source, &source->shard[shard]) ? 0 : INFINITY;
    case KVC_ARRIVAL_CLOSED:
        return kvc_sends_next_ns(&source->shard[shard].sends);
    case KVC_ARRIVAL_TRACE:
        return kvc_source_next_trace_ns(source, &source->shard[shard]);
    default:
        return kvc_source_next_open_ns(source, &source->shard[shard]);
    }
}

enum kvc_status kvc_source_error(const struct kvc_source *source, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < source->workload.phase_count; i++) {
        if (kvc_source_stopped(source->phase[i])) {
            return kvc_source_error(source->phase[i], diag);
        }
    }
    if (kvc_source_stopped(source) && diag != NULL) {
        *diag = source->diag;
    }
    return source->diag.status;
}

int kvc_source_ended(const struct kvc_source *source)
{
    if (source->workload.arrival != KVC_ARRIVAL_TRACE || source->trace != NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < source->shards; i++) {
        if (kvc_rows_count(&source->shard[i].rows) != 0) {
            return 0;
        }
    }
    return 1;
}

const struct kvc_action_mix *kvc_source_actions(const struct kvc_source *source)
{
    return &source->actions;
}

void kvc_source_draw_other_members(const struct kvc_source *source, struct kvc_rng *rng, uint64_t *member,
                                   uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        kvc_source_draw_members(source, rng, &member[i], 1);
        for (uint32_t other = 0; other < i; other++) {
            if (member[i] == member[other]) { /* The next one, which may be another of them. */
                member[i] = (member[i] + 1) % source->members;
                other = UINT32_MAX;
            }
        }
    }
}

bool kvc_source_holds_key(const struct kvc_source *source, uint64_t key_id)
{
    const struct kvc_key_part *part = source->workload.part;
    return part == NULL || part->owned == NULL || (part->owned[key_id] & 1) != 0;
}

uint32_t kvc_source_shard(const struct kvc_source *source, uint64_t hash)
{
    return kvc_hash_ring_shard(source->ring, hash);
}

void kvc_source_keys(const struct kvc_source *source, uint64_t first, uint32_t count, struct kvc_batch *batch)
{
    if (source->workload.arrival == KVC_ARRIVAL_TRACE) {
        return;
    }
    if (count > batch->capacity - batch->count) {
        KVC_BUG("%u keys for a batch with room for %u", count, batch->capacity - batch->count);
    }
    for (uint32_t i = 0; i < source->workload.phase_count; i++) {
        uint64_t begin = kvc_phases_first_key(&source->workload, i);
        uint64_t end = kvc_phases_first_key(&source->workload, i + 1);
        uint64_t from = first > begin ? first : begin, until = first + count < end ? first + count : end;
        if (from < until) {
            kvc_source_keys(source->phase[i], from, (uint32_t)(until - from), batch);
        }
    }
    for (uint32_t done = 0, part; !alternates(source) && done < count; done += part) {
        struct kvc_columns to = kvc_source_batch_columns(batch);
        part = count - done < KVC_SOURCE_BLOCK ? count - done : KVC_SOURCE_BLOCK;
        memset(to.op, KVC_OP_SET, part);
        memset(batch->client + batch->count, 0, part * sizeof(*batch->client));
        for (uint32_t i = 0; i < part; i++) {
            to.key_id[i] = first + done + i;
            to.sent_ns[i] = 0;
        }
        kvc_source_complete_columns(source, to, part);
        batch->count += part;
    }
}
