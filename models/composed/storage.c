#include "models/composed/storage.h"

#include <math.h>
#include <stdlib.h>

#include "models/composed/costs.h"
#include "sim/base/array.h"

/* The event of an answer from another node; the kinds of the devices are below it. */
enum { RETURNED = 256 };

/* Kinds of operations. */
enum { QUERIES, READS, PROGRAMS, ERASES };

void kvc_composed_storage_open(struct kvc_composed_storage *storage, const struct kvc_composed_config *config,
                               const struct kvc_item_log *log, struct kvc_events *events, uint64_t seed,
                               uint32_t number)
{
    *storage = (struct kvc_composed_storage){.config = config, .events = events};
    if (config->database != NULL) {
        kvc_database_engine_open(&storage->database, config->database, events, seed, number);
    }
    if (config->flash != NULL) {
        kvc_composed_flash_open(&storage->flash, config, log, events, seed, number);
    }
}

void kvc_composed_storage_close(struct kvc_composed_storage *storage)
{
    kvc_database_engine_close(&storage->database);
    kvc_composed_flash_close(&storage->flash);
    kvc_ring_free(&storage->free);
    kvc_ring_free(&storage->blocked);
    free(storage->asked);
}

/* ---- operations ---- */

static uint32_t take_tag(struct kvc_composed_storage *storage, const struct kvc_composed_asked *asked)
{
    if (storage->free.count == 0) {
        uint32_t tags = 2 * storage->tags + 64;
        storage->asked = kvc_array_grown(storage->asked, tags, sizeof(*storage->asked));
        for (; storage->tags < tags; storage->tags++) {
            kvc_ring_push(&storage->free, 0, storage->tags);
        }
    }
    uint32_t tag = kvc_ring_pop(&storage->free).tag;
    storage->asked[tag] = *asked;
    return tag;
}

/* Asks the database: GETs are queries, SETs and DELETEs are updates. A GET that missed has its value then. */
static void ask_database(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                         const struct kvc_composed_asked *asked, double now_ns)
{
    const struct kvc_batch *rows = job->rows;
    job->waits = rows->count;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool writes = rows->op[i] != KVC_OP_GET, missed = job->outcome[i] == KVC_COMPOSED_MISS;
        if (missed) {
            job->outcome[i] = KVC_COMPOSED_FETCHED;
            job->location[i] = KVC_LOCATION_NONE; /* Until a stage writes it. */
        }
        kvc_database_ask(&storage->database, now_ns, writes, rows->key_id[i], take_tag(storage, asked));
    }
    kvc_composed_job_count(job, storage->config);
}

/* Reads the items of GETs. Returns the bytes that come. */
static double read_items(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                         const struct kvc_composed_asked *asked, double now_ns)
{
    double bytes = 0;
    for (uint32_t i = 0; i < job->rows->count; i++) {
        if (job->rows->op[i] != KVC_OP_GET || job->hot[i] != 0) {
            continue;
        }
        struct kvc_composed_pages pages = kvc_composed_flash_find(&storage->flash, job, i);
        for (uint32_t j = 0; j < pages.count; j++) {
            kvc_composed_flash_read(&storage->flash, now_ns, &pages, j, take_tag(storage, asked));
        }
        job->waits += pages.count;
        bytes += pages.count * pages.bytes;
    }
    return bytes;
}

/* Appends the items of SETs, and programs the pages that are full. Returns the bytes that enter the write
 * buffer and leave it. */
static double append_items(struct kvc_composed_storage *storage, const struct kvc_composed_job *job,
                           uint32_t stage, double now_ns)
{
    const struct kvc_composed_asked programs = {.stage = (uint8_t)stage, .kind = PROGRAMS};
    const struct kvc_composed_asked erases = {.stage = (uint8_t)stage, .kind = ERASES};
    uint64_t before = storage->flash.end;
    for (uint32_t i = 0; i < job->rows->count; i++) {
        uint32_t full = kvc_composed_job_stores(job, storage->config, i)
                            ? kvc_composed_flash_append(&storage->flash, job, i)
                            : 0;
        for (; full > 0; full--) {
            if (kvc_composed_flash_erases(&storage->flash)) {
                kvc_composed_flash_erase(&storage->flash, now_ns, take_tag(storage, &erases));
            }
            kvc_composed_flash_program(&storage->flash, now_ns, take_tag(storage, &programs));
        }
    }
    return 2 * (double)(storage->flash.end - before);
}

bool kvc_composed_storage_is_full(const struct kvc_composed_storage *storage, uint32_t stage)
{
    uint32_t does = storage->config->stage[stage].does;
    return (does & KVC_COMPOSED_WRITE) != 0 &&
           (storage->blocked.count > 0 || kvc_composed_flash_is_full(&storage->flash));
}

double kvc_composed_storage_begin(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                  uint32_t number, uint32_t stage, double now_ns)
{
    const struct kvc_composed_stage *at = &storage->config->stage[stage];
    struct kvc_composed_asked asked = {.job = number, .stage = (uint8_t)stage, .kind = QUERIES};
    double bytes = 0;
    job->waits = 0;
    if (at->place == KVC_COMPOSED_DATABASE) {
        ask_database(storage, job, &asked, now_ns);
        return bytes;
    }
    if ((at->does & KVC_COMPOSED_WRITE) != 0) {
        bytes += append_items(storage, job, stage, now_ns);
    }
    if ((at->does & KVC_COMPOSED_READ) != 0) {
        asked.kind = READS;
        bytes += read_items(storage, job, &asked, now_ns);
    }
    return bytes;
}

void kvc_composed_storage_visit(struct kvc_composed_storage *storage, struct kvc_composed_job *job,
                                uint32_t number, uint32_t stage, double returns_ns)
{
    const struct kvc_composed_asked asked = {.job = number, .stage = (uint8_t)stage, .kind = QUERIES};
    job->waits = 1;
    kvc_events_add(storage->events, returns_ns, RETURNED, 0, take_tag(storage, &asked));
}

bool kvc_composed_storage_owns(const struct kvc_event *event)
{
    return event->kind >= KVC_FLASH_CELLS;
}

/* Returns for how long an operation keeps a chip busy, relative to the others of its device [ns]. */
static double time_of(const struct kvc_composed_config *config, uint8_t kind)
{
    const struct kvc_flash *flash = config->flash;
    switch (kind) {
    case READS:
        return flash->read_ns +
               kvc_flash_transfer_ns(flash, kvc_composed_fetched_bytes(config, config->means.item_bytes));
    case PROGRAMS:
        return flash->program_ns + kvc_flash_transfer_ns(flash, flash->page_bytes);
    case ERASES:
        return flash->erase_ns;
    default: /* Queries and updates count alike. */
        return 1;
    }
}

bool kvc_composed_storage_handle(struct kvc_composed_storage *storage, const struct kvc_event *event,
                                 struct kvc_composed_asked *ended)
{
    uint32_t tag = event->tag;
    bool is_database = event->kind >= KVC_DATABASE_WORKED;
    if (event->kind == RETURNED ? false
        : is_database           ? !kvc_database_engine_handle(&storage->database, event)
                                : !kvc_flash_engine_handle(&storage->flash.engine, event, &tag)) {
        return false;
    }
    *ended = storage->asked[tag];
    storage->ended_ns[ended->stage] += time_of(storage->config, ended->kind);
    kvc_ring_push(&storage->free, 0, tag);
    if (ended->kind == READS) {
        kvc_composed_flash_read_ended(&storage->flash, event->time_ns);
    } else if (ended->kind == PROGRAMS) {
        kvc_composed_flash_programmed(&storage->flash);
    }
    return ended->kind == READS || ended->kind == QUERIES;
}

/* Gives the stages on a place their parts of more time for which its device was busy: shares of what they
 * have asked for. */
static void add_busy(struct kvc_composed_storage *storage, enum kvc_composed_place place, double more_ns)
{
    const struct kvc_composed_config *config = storage->config;
    double ended_ns = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        ended_ns += config->stage[i].place == place ? storage->ended_ns[i] : 0;
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        if (config->stage[i].place == place) {
            storage->share[i] = ended_ns > 0 ? storage->ended_ns[i] / ended_ns : storage->share[i];
            storage->ended_ns[i] = 0;
            storage->busy_ns[i] += more_ns * storage->share[i];
        }
    }
}

void kvc_composed_storage_catch_up(struct kvc_composed_storage *storage, double now_ns)
{
    if (storage->config->database != NULL) {
        double busy_ns = kvc_database_engine_busy_ns(&storage->database);
        add_busy(storage, KVC_COMPOSED_DATABASE, busy_ns - storage->database_ns);
        storage->database_ns = busy_ns;
    }
    if (storage->config->flash != NULL) {
        kvc_flash_engine_catch_up(&storage->flash.engine, now_ns);
        const struct kvc_flash_busy busy = kvc_flash_engine_busy(&storage->flash.engine);
        double busy_ns = fmax(kvc_flash_shared_ns(&busy), busy.chips_ns);
        add_busy(storage, KVC_COMPOSED_FLASH, busy_ns - storage->flash_ns);
        storage->flash_ns = busy_ns;
    }
}
