
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/simulation.h"
#include "sim/base/array.h"

enum { UPDATES, QUERIES, INVALIDATES };

struct kvc_megakv_aside_request {
    double sent_ns;
    uint64_t key_id, hash;
    uint32_t value_bytes, connection, pipeline;
    uint8_t wanted, key_bytes;          /* Operation of the application. */
    struct kvc_invalidated invalidated; /* Keys that an update has yet to delete. */
};

void kvc_megakv_aside_open(struct kvc_megakv_aside *aside, const struct kvc_database *database,
                           const struct kvc_source *source, uint32_t key_stride, uint64_t seed,
                           uint32_t number)
{
    *aside = (struct kvc_megakv_aside){.source = source, .batch = kvc_batch_create(1, key_stride)};
    kvc_database_engine_open(&aside->database, database, &aside->events, seed, number);
    kvc_invalidations_open(&aside->invalidations, source, seed);
}

void kvc_megakv_aside_close(struct kvc_megakv_aside *aside)
{
    for (uint32_t i = 0; i < aside->requests; i++) {
        kvc_invalidated_free(&aside->request[i].invalidated);
    }
    kvc_database_engine_close(&aside->database);
    kvc_events_free(&aside->events);
    kvc_batch_free(aside->batch);
    free(aside->request);
    free(aside->keys);
    free(aside->free_request);
}

static uint8_t *key_of(const struct kvc_megakv_aside *aside, uint32_t number)
{
    return aside->keys + (size_t)number * aside->batch->key_stride;
}

/* Makes a request of a row. */
static uint32_t new_request(struct kvc_megakv_aside *aside, const struct kvc_batch *batch, uint32_t row,
                            uint32_t connection, uint32_t pipeline)
{
    if (aside->free_count == 0) {
        uint32_t count = aside->requests > 0 ? 2 * aside->requests : 1024;
        aside->request = kvc_array_grown(aside->request, count, sizeof(*aside->request));
        aside->keys = kvc_array_grown(aside->keys, count, batch->key_stride);
        aside->free_request = kvc_array_grown(aside->free_request, count, sizeof(*aside->free_request));
        while (aside->requests < count) {
            aside->request[aside->requests].invalidated = (struct kvc_invalidated){0};
            aside->free_request[aside->free_count++] = aside->requests++;
        }
    }
    uint32_t number = aside->free_request[--aside->free_count];
    aside->request[number] = (struct kvc_megakv_aside_request){.sent_ns = batch->sent_ns[row],
                                                               .key_id = batch->key_id[row],
                                                               .hash = batch->hash[row],
                                                               .value_bytes = batch->value_bytes[row],
                                                               .connection = connection,
                                                               .pipeline = pipeline,
                                                               .wanted = batch->op[row],
                                                               .key_bytes = batch->key_bytes[row]};
    memcpy(key_of(aside, number), batch->keys + (size_t)row * batch->key_stride, batch->key_stride);
    return number;
}

void kvc_megakv_aside_forget(struct kvc_megakv_aside *aside, uint32_t number)
{
    kvc_invalidated_free(&aside->request[number].invalidated);
    aside->free_request[aside->free_count++] = number;
}

static void copy_row(struct kvc_batch *batch, uint32_t from, uint32_t to)
{
    batch->op[to] = batch->op[from];
    batch->key_bytes[to] = batch->key_bytes[from];
    batch->value_bytes[to] = batch->value_bytes[from];
    batch->key_id[to] = batch->key_id[from];
    batch->hash[to] = batch->hash[from];
    batch->sent_ns[to] = batch->sent_ns[from];
    batch->client[to] = batch->client[from];
    memmove(batch->keys + (size_t)to * batch->key_stride, batch->keys + (size_t)from * batch->key_stride,
            batch->key_stride);
}

void kvc_megakv_aside_take_updates(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                                   uint32_t first, uint32_t pipeline)
{
    struct kvc_batch *batch = buffer->batch;
    uint32_t kept = first;
    for (uint32_t i = first; i < batch->count; i++) {
        if (kvc_cache_aside_updates((enum kvc_op)batch->op[i])) {
            uint32_t number = new_request(aside, batch, i, batch->connection, pipeline);
            kvc_events_add(&aside->events, batch->left_ns, UPDATES, 0, number);
            continue;
        }
        if (kept < i) {
            copy_row(batch, i, kept);
        }
        buffer->connection[kept] = batch->connection;
        buffer->aside[kept++] = KVC_MEGAKV_ASIDE_NONE;
    }
    batch->count = kept;
}

/* Gives a request the next key that its update invalidates. */
static void invalidate(struct kvc_megakv_aside *aside, uint32_t number)
{
    struct kvc_megakv_aside_request *request = &aside->request[number];
    struct kvc_batch *batch = aside->batch;
    batch->count = 0;
    kvc_source_keys(aside->source, kvc_invalidated_next(&request->invalidated), 1, batch);
    if (batch->count == 0) { /* A trace: the request has the key. */
        return;
    }
    request->key_id = batch->key_id[0];
    request->hash = batch->hash[0];
    request->key_bytes = batch->key_bytes[0];
    request->value_bytes = batch->value_bytes[0];
    memcpy(key_of(aside, number), batch->keys, batch->key_stride);
}

uint32_t kvc_megakv_aside_handle(struct kvc_megakv_aside *aside, double *time_ns)
{
    struct kvc_event event = kvc_events_pop(&aside->events);
    struct kvc_megakv_aside_request *request;
    *time_ns = event.time_ns;
    switch (event.kind) {
    case UPDATES:
    case QUERIES:
        kvc_database_ask(&aside->database, event.time_ns, event.kind == UPDATES,
                         aside->request[event.tag].key_id, event.tag);
        return KVC_MEGAKV_ASIDE_NONE;
    case INVALIDATES:
        invalidate(aside, event.tag);
        return event.tag;
    default:
        if (!kvc_database_engine_handle(&aside->database, &event)) {
            return KVC_MEGAKV_ASIDE_NONE;
        }
        request = &aside->request[event.tag];
        if (kvc_cache_aside_updates((enum kvc_op)request->wanted)) {
            request->invalidated = kvc_invalidations_draw(&aside->invalidations, request->key_id);
            invalidate(aside, event.tag);
        }
        return event.tag;
    }
}

uint32_t kvc_megakv_aside_pipeline(const struct kvc_megakv_aside *aside, uint32_t number)
{
    return aside->request[number].pipeline;
}

void kvc_megakv_aside_put(const struct kvc_megakv_aside *aside, uint32_t number, double time_ns,
                          struct kvc_megakv_buffer *buffer)
{
    const struct kvc_megakv_aside_request *request = &aside->request[number];
    struct kvc_batch *batch = buffer->batch;
    uint32_t row = batch->count++;
    batch->op[row] = (uint8_t)kvc_cache_aside_follows((enum kvc_op)request->wanted);
    batch->key_bytes[row] = request->key_bytes;
    batch->value_bytes[row] = request->value_bytes;
    batch->key_id[row] = request->key_id;
    batch->hash[row] = request->hash;
    batch->sent_ns[row] = request->sent_ns;
    batch->client[row] = 0;
    memcpy(batch->keys + (size_t)row * batch->key_stride, key_of(aside, number), batch->key_stride);
    batch->left_ns = time_ns;
    batch->connection = buffer->connection[row] = request->connection;
    buffer->aside[row] = number;
}

/* Returns what becomes of a row whose response arrives at done_ns. */
static uint32_t answer_row(struct kvc_megakv_aside *aside, const struct kvc_megakv_buffer *buffer,
                           uint32_t row, bool hit, double done_ns, uint32_t pipeline)
{
    enum kvc_op asked = (enum kvc_op)buffer->batch->op[row];
    uint32_t number = buffer->aside[row];
    if (number == KVC_MEGAKV_ASIDE_NONE) {
        if (!kvc_cache_aside_queries(asked, asked, hit)) {
            return KVC_MEGAKV_ASIDE_NONE;
        }
        number = new_request(aside, buffer->batch, row, buffer->connection[row], pipeline);
        kvc_events_add(&aside->events, done_ns, QUERIES, 0, number);
        return KVC_MEGAKV_ASIDE_GOES_ON;
    }
    if (aside->request[number].invalidated.left > 0) {
        kvc_events_add(&aside->events, done_ns, INVALIDATES, 0, number);
        return KVC_MEGAKV_ASIDE_GOES_ON;
    }
    bool updated = kvc_cache_aside_updates((enum kvc_op)aside->request[number].wanted);
    kvc_megakv_aside_forget(aside, number);
    return updated ? KVC_MEGAKV_ASIDE_UPDATED : KVC_MEGAKV_ASIDE_FILLED;
}

void kvc_megakv_aside_answer(struct kvc_megakv_aside *aside, struct kvc_megakv_buffer *buffer,
                             const uint8_t *outcome, const double *done_ns, uint32_t pipeline)
{
    for (uint32_t i = 0; i < buffer->batch->count; i++) {
        buffer->aside[i] = answer_row(aside, buffer, i, outcome[i] == KVC_MEGAKV_HIT, done_ns[i], pipeline);
    }
}
