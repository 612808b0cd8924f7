#include "models/composed/storage.h"

#include <stdlib.h>

#include "sim/base/array.h"

void kvc_composed_storage_open(struct kvc_composed_storage *storage, const struct kvc_composed_config *config,
                               struct kvc_events *events, uint64_t seed, uint32_t number)
{
    *storage = (struct kvc_composed_storage){.config = config};
    if (config->database != NULL) {
        kvc_database_engine_open(&storage->database, config->database, events, seed, number);
    }
}

void kvc_composed_storage_close(struct kvc_composed_storage *storage)
{
    kvc_database_engine_close(&storage->database);
    kvc_ring_free(&storage->free);
    free(storage->asked);
}

/* ---- operations ---- */

static uint32_t take_tag(struct kvc_composed_storage *storage, uint32_t job, uint32_t stage)
{
    if (storage->free.count == 0) {
        uint32_t tags = 2 * storage->tags + 64;
        storage->asked = kvc_array_grown(storage->asked, tags, sizeof(*storage->asked));
        for (; storage->tags < tags; storage->tags++) {
            kvc_ring_push(&storage->free, 0, storage->tags);
        }
    }
    uint32_t tag = kvc_ring_pop(&storage->free).tag;
    storage->asked[tag] = (struct kvc_composed_asked){.job = job, .stage = (uint8_t)stage};
    return tag;
}

/* Asks the database: GETs are queries, SETs and DELETEs are updates. A GET that missed has its value then. */
static void ask_database(struct kvc_composed_storage *storage, struct kvc_composed_job *job, uint32_t number,
                         uint32_t stage, double now_ns)
{
    const struct kvc_batch *rows = job->rows;
    job->waits = rows->count;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool writes = rows->op[i] != KVC_OP_GET, missed = job->outcome[i] == KVC_COMPOSED_MISS;
        job->outcome[i] = missed ? KVC_COMPOSED_FETCHED : job->outcome[i];
        kvc_database_ask(&storage->database, now_ns, writes, rows->key_id[i],
                         take_tag(storage, number, stage));
    }
    kvc_composed_job_count(job, storage->config);
}

void kvc_composed_storage_begin(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                uint32_t number, uint32_t stage, double now_ns)
{
    ask_database(storage, job, number, stage, now_ns);
}

bool kvc_composed_storage_owns(const struct kvc_event *event)
{
    return event->kind >= KVC_DATABASE_WORKED;
}

bool kvc_composed_storage_handle(struct kvc_composed_storage *storage, const struct kvc_event *event,
                                 struct kvc_composed_asked *ended)
{
    if (!kvc_database_engine_handle(&storage->database, event)) {
        return false;
    }
    *ended = storage->asked[event->tag];
    kvc_ring_push(&storage->free, 0, event->tag);
    return true;
}

double kvc_composed_storage_busy_ns(const struct kvc_composed_storage *storage, enum kvc_composed_place place)
{
    return place == KVC_COMPOSED_DATABASE ? kvc_database_engine_busy_ns(&storage->database) : 0;
}
