#include "sim/devices/database_engine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"

void kvc_database_engine_open(struct kvc_database_engine *engine, const struct kvc_database *database,
                              struct kvc_events *events, uint64_t seed, uint32_t number)
{
    *engine = (struct kvc_database_engine){.database = database, .events = events};
    kvc_rng_init(&engine->times, seed, "database.times", number);
    if (kvc_database_on_machine(database, false)) {
        kvc_page_pool_open(&engine->pool, kvc_database_data_pages(database),
                           kvc_database_pool_pages(database));
    }
}

void kvc_database_engine_close(struct kvc_database_engine *engine)
{
    kvc_ring_free(&engine->waiting);
    kvc_ring_free(&engine->for_core);
    kvc_page_pool_close(&engine->pool);
    free(engine->query);
}

/* Draws a time with the given mean. */
static double draw_ns(struct kvc_database_engine *engine, double mean_ns)
{
    return engine->database->times == KVC_DATABASE_EXPONENTIAL ? kvc_rng_exponential(&engine->times, mean_ns)
                                                               : mean_ns;
}

/* Runs the statements of a query on a core, which must be free. */
static void compute(struct kvc_database_engine *engine, double now_ns, uint32_t tag)
{
    const struct kvc_database *database = engine->database;
    double time_ns = draw_ns(engine, database->statements * database->statement_ns);
    engine->computing++;
    engine->cores_busy_ns += time_ns;
    kvc_events_add(engine->events, now_ns + time_ns, KVC_DATABASE_COMPUTED, 0, tag);
}

/* Lets a query use its pages up to one that is not in the pool, or to its end. */
static void use_pages(struct kvc_database_engine *engine, double now_ns, uint32_t tag)
{
    const struct kvc_database *database = engine->database;
    struct kvc_database_query *query = &engine->query[tag];
    uint32_t data_pages = kvc_database_data_pages(database);
    while (query->pages > 0) {
        uint64_t page = kvc_mix64(kvc_mix64(query->key_id) + query->pages--) % data_pages;
        engine->pages_used++;
        if (!kvc_page_pool_use(&engine->pool, (uint32_t)page)) {
            double drives_ns = 1e3 / database->page_mops;
            double begun_ns =
                kvc_serve(&engine->drives_free_ns, &engine->drives_busy_ns, now_ns, drives_ns) - drives_ns;
            engine->pages_read++;
            kvc_events_add(engine->events, begun_ns + fmax(drives_ns, database->page_read_ns),
                           KVC_DATABASE_FETCHED, 0, tag);
            return;
        }
    }
    kvc_events_add(engine->events, now_ns, KVC_DATABASE_WORKED, 0, tag);
}

/* Begins a query on the machine. */
static void begin(struct kvc_database_engine *engine, double now_ns, uint32_t tag)
{
    double pages = engine->database->pages, more = pages - floor(pages);
    engine->query[tag].pages = (uint32_t)pages + (kvc_rng_unit(&engine->times) < more);
    if (engine->computing < engine->database->cores) {
        compute(engine, now_ns, tag);
    } else {
        kvc_ring_push(&engine->for_core, 0, tag);
    }
}

/* A request travels half of the way before it is worked on, which changes no time but that of its answer, and
 * is therefore added at the end. */
static void start(struct kvc_database_engine *engine, double now_ns, bool writes, uint32_t tag)
{
    engine->running++;
    if (kvc_database_on_machine(engine->database, writes)) {
        begin(engine, now_ns, tag);
        return;
    }
    double time_ns = draw_ns(engine, kvc_database_ns(engine->database, writes));
    engine->busy_ns += time_ns;
    kvc_events_add(engine->events, now_ns + time_ns, KVC_DATABASE_WORKED, 0, tag);
}

void kvc_database_ask(struct kvc_database_engine *engine, double now_ns, bool writes, uint64_t key_id,
                      uint32_t tag)
{
    engine->reads += !writes;
    engine->writes += writes;
    if (tag >= engine->query_room && kvc_database_on_machine(engine->database, writes)) {
        engine->query_room = 2 * tag + 64;
        engine->query = kvc_array_grown(engine->query, engine->query_room, sizeof(*engine->query));
    }
    if (kvc_database_on_machine(engine->database, writes)) {
        engine->query[tag].key_id = key_id;
    }
    if (engine->running < engine->database->queries) {
        start(engine, now_ns, writes, tag);
    } else {
        kvc_ring_push(&engine->waiting, writes, tag);
    }
}

/* The statements of a query have run: another one gets the core. */
static void end_computing(struct kvc_database_engine *engine, double now_ns, uint32_t tag)
{
    engine->computing--;
    if (engine->for_core.count > 0) {
        compute(engine, now_ns, kvc_ring_pop(&engine->for_core).tag);
    }
    use_pages(engine, now_ns, tag);
}

bool kvc_database_engine_handle(struct kvc_database_engine *engine, const struct kvc_event *event)
{
    switch (event->kind) {
    case KVC_DATABASE_ANSWERED:
        return true;
    case KVC_DATABASE_COMPUTED:
        end_computing(engine, event->time_ns, event->tag);
        return false;
    case KVC_DATABASE_FETCHED:
        use_pages(engine, event->time_ns, event->tag);
        return false;
    default:
        break;
    }
    engine->running--;
    if (engine->waiting.count > 0) {
        struct kvc_ring_entry next = kvc_ring_pop(&engine->waiting);
        start(engine, event->time_ns, next.value != 0, next.tag);
    }
    if (engine->database->latency_ns <= 0) {
        return true;
    }
    kvc_events_add(engine->events, event->time_ns + engine->database->latency_ns, KVC_DATABASE_ANSWERED, 0,
                   event->tag);
    return false;
}

double kvc_database_engine_busy_ns(const struct kvc_database_engine *engine)
{
    const struct kvc_database *database = engine->database;
    if (database == NULL) {
        return 0;
    }
    double cores_ns = database->cores > 0 ? engine->cores_busy_ns / (double)database->cores : 0;
    return fmax(engine->busy_ns / (double)database->queries, fmax(cores_ns, engine->drives_busy_ns));
}
