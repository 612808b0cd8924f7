#include "sim/devices/database_engine.h"

void kvc_database_engine_open(struct kvc_database_engine *engine, const struct kvc_database *database,
                              struct kvc_events *events, uint64_t seed)
{
    *engine = (struct kvc_database_engine){.database = database, .events = events};
    kvc_rng_init(&engine->times, seed, "database.times", 0);
}

void kvc_database_engine_close(struct kvc_database_engine *engine)
{
    kvc_ring_free(&engine->waiting);
}

/* A request travels half of the way before it is worked on, which changes no time but that of its answer, and
 * is therefore added at the end. */
static void start(struct kvc_database_engine *engine, double now_ns, bool writes, uint32_t tag)
{
    double time_ns = kvc_database_ns(engine->database, writes);
    if (engine->database->times == KVC_DATABASE_EXPONENTIAL) {
        time_ns = kvc_rng_exponential(&engine->times, time_ns);
    }
    engine->running++;
    engine->busy_ns += time_ns;
    kvc_events_add(engine->events, now_ns + time_ns, KVC_DATABASE_WORKED, 0, tag);
}

void kvc_database_ask(struct kvc_database_engine *engine, double now_ns, bool writes, uint32_t tag)
{
    engine->reads += !writes;
    engine->writes += writes;
    if (engine->running < engine->database->queries) {
        start(engine, now_ns, writes, tag);
    } else {
        kvc_ring_push(&engine->waiting, writes, tag);
    }
}

bool kvc_database_engine_handle(struct kvc_database_engine *engine, const struct kvc_event *event)
{
    if (event->kind == KVC_DATABASE_ANSWERED) {
        return true;
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
    return engine->database != NULL ? engine->busy_ns / (double)engine->database->queries : 0;
}
