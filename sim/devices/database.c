#include "sim/devices/database.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"

/* Returns whether the time of a query or an update follows from the machine. */
static bool on_machine(const struct kvc_database *database, bool writes)
{
    return database->read_ns < 0 && !(writes && database->write_ns >= 0);
}

/* Returns the mean time of a query or an update that does not follow from the machine, without waiting and
 * way [ns]. */
static double time_ns_of(const struct kvc_database *database, bool writes)
{
    return writes && database->write_ns >= 0 ? database->write_ns : database->read_ns;
}

/* Returns the memory of a pool [bytes]. */
static double pool_bytes(uint32_t pages)
{
    return 2.0 * sizeof(uint32_t) * pages;
}

void kvc_page_pool_open(struct kvc_page_pool *pool, uint32_t pages, uint32_t room)
{
    *pool = (struct kvc_page_pool){.older = kvc_array_of(pages, sizeof(*pool->older)),
                                   .younger = kvc_array_of(pages, sizeof(*pool->younger)),
                                   .youngest = room - 1};
    for (uint32_t page = 0; page < pages; page++) {
        pool->older[page] = page > 0 ? page - 1 : page;
        pool->younger[page] = page + 1 < room ? page + 1 : page;
    }
}

void kvc_page_pool_close(struct kvc_page_pool *pool)
{
    free(pool->older);
    free(pool->younger);
}

static bool holds(const struct kvc_page_pool *pool, uint32_t page)
{
    return pool->younger[page] != page || pool->youngest == page;
}

/* Takes a page that is not the youngest out of the list. */
static void take_out(struct kvc_page_pool *pool, uint32_t page)
{
    uint32_t younger = pool->younger[page];
    if (page == pool->oldest) {
        pool->oldest = younger;
    } else {
        uint32_t older = pool->older[page];
        pool->younger[older] = younger;
        pool->older[younger] = older;
    }
    pool->younger[page] = page;
}

bool kvc_page_pool_use(struct kvc_page_pool *pool, uint32_t page)
{
    bool held = holds(pool, page);
    if (page == pool->youngest) {
        return true;
    }
    uint32_t leaves = held ? page : pool->oldest;
    if (leaves == pool->youngest) { /* The pool has room for one page. */
        pool->oldest = pool->youngest = page;
        return false;
    }
    take_out(pool, leaves);
    pool->younger[pool->youngest] = page;
    pool->older[page] = pool->youngest;
    pool->youngest = page;
    return held;
}

/* Most pages of the data. The lists of the pool have an entry for each page. */
#define DATA_PAGES_MAX 268435456.0

static const char *const times[] = {"exponential", "fixed", NULL};

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_database, "name", name, "", "name of the database and its machine"),
    KVC_COUNT_ROW(kvc_database, "queries", queries, 1, 1e6, NULL,
                  "queries that run at the same time, while others wait; more of them raise the highest "
                  "rate"),
    KVC_REAL_ROW(
        kvc_database, "read", read_ns, KVC_UNIT_NS, 1, 1e12, NULL,
        "mean time of a query, or machine if it is computed from the options after times; a longer time "
        "makes cache misses more costly",
        .auto_word = "machine", .auto_value = -1),
    KVC_REAL_ROW(kvc_database, "write", write_ns, KVC_UNIT_NS, 1, 1e12, "read",
                 "mean time of an update; a longer time leaves less for queries", .auto_word = "read",
                 .auto_value = -1),
    KVC_REAL_ROW(kvc_database, "latency", latency_ns, KVC_UNIT_NS, 0, 1e12, "0ns",
                 "round-trip time to the database; a longer time lengthens misses and updates"),
    KVC_CHOICE_ROW(kvc_database, "times", times, times, "exponential",
                   "distribution of the times of single queries: exponential, or all equal; with a "
                   "machine, of the times of statements"),
    KVC_COUNT_ROW(
        kvc_database, "cores", cores, 1, 4096, NULL,
        "machine: statements that run at the same time; more of them raise the rate that the processors "
        "allow",
        .optional = true),
    KVC_REAL_ROW(kvc_database, "statements", statements, KVC_UNIT_NONE, 1e-3, 1e6, NULL,
                 "machine: mean number of statements of a query; more of them make queries longer",
                 .optional = true),
    KVC_REAL_ROW(kvc_database, "statement", statement_ns, KVC_UNIT_NS, 0, 1e12, NULL,
                 "machine: mean time of a statement on a core; a longer time makes queries longer",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_database, "pages", pages, KVC_UNIT_NONE, 0, 1e6, NULL,
        "machine: mean number of pages that a query uses, without upper levels of indexes; more of them "
        "cause more reads of the drives",
        .optional = true),
    KVC_REAL_ROW(kvc_database, "page", page_bytes, KVC_UNIT_BYTES, 512, 1e9, NULL,
                 "machine: size of a page; larger pages fill the pool with more unused data",
                 .optional = true),
    KVC_REAL_ROW(kvc_database, "data", data_bytes, KVC_UNIT_BYTES, 512, 1e18, NULL,
                 "machine: size of all data; more data makes hits in the pool rarer", .optional = true),
    KVC_REAL_ROW(kvc_database, "pool", pool_bytes, KVC_UNIT_BYTES, 512, 1e18, NULL,
                 "machine: memory of the page pool; a larger pool reads the drives less often",
                 .optional = true),
    KVC_REAL_ROW(kvc_database, "page_read", page_read_ns, KVC_UNIT_NS, 0, 1e12, NULL,
                 "machine: time of a drive to read a page; a longer time makes queries longer",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_database, "page_rate", page_mops, KVC_UNIT_MOPS, 1e-9, 1e6, NULL,
        "machine: rate at which all drives together read pages; a higher rate serves more queries that "
        "miss the pool",
        .optional = true),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_database, rows, "database");

/* Returns the first option of the machine that is missing, or NULL. */
static const char *missing(const struct kvc_database *database)
{
    const struct {
        const char *name;
        double value;
    } needed[] = {{"cores", database->cores > 0 ? 1 : NAN}, {"statements", database->statements},
                  {"statement", database->statement_ns},    {"pages", database->pages},
                  {"page", database->page_bytes},           {"data", database->data_bytes},
                  {"pool", database->pool_bytes},           {"page_read", database->page_read_ns},
                  {"page_rate", database->page_mops}};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
        if (isnan(needed[i].value)) {
            return needed[i].name;
        }
    }
    return NULL;
}

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_database *database = device;
    if (database->read_ns >= 0) {
        return KVC_OK;
    }
    const char *name = missing(database);
    if (name != NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "database.%s is missing; read = \"machine\" needs it, and allowed is a time of a "
            "query instead",
            name);
    }
    if (database->data_bytes / database->page_bytes > DATA_PAGES_MAX) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "database.data has %.3g pages; allowed are up to %.0f: simulate a part of the data, "
            "the pool and the keys",
            database->data_bytes / database->page_bytes, DATA_PAGES_MAX);
    }
    return KVC_OK;
}

const struct kvc_device_kind kvc_database_kind = {
    .name = "database",
    .help = "Database behind the cache: queries at a time, times of queries and updates (optional)",
    .options = &options,
    .optional = true,
    .check = check};

void kvc_database_speed_up(struct kvc_database *database, double factor)
{
    database->read_ns /= database->read_ns > 0 ? factor : 1;
    database->statement_ns /= factor;
    database->page_read_ns /= factor;
    database->page_mops *= factor;
    database->write_ns /= database->write_ns > 0 ? factor : 1;
    database->latency_ns /= factor;
}

/* Returns the number of pages of all data, at least 1. */
static uint32_t data_pages(const struct kvc_database *database)
{
    return (uint32_t)fmax(ceil(database->data_bytes / database->page_bytes), 1);
}

/* Returns the number of pages of the pool, at least 1. */
static uint32_t pool_pages(const struct kvc_database *database)
{
    double pages = floor(database->pool_bytes / database->page_bytes);
    return (uint32_t)fmin(fmax(pages, 1), data_pages(database));
}

double kvc_database_memory_bytes(const struct kvc_database *database)
{
    return on_machine(database, false) ? pool_bytes(data_pages(database)) : 0;
}

/* Returns the share of the pages that are not in the pool: all pages that the keys use are equally popular.
 */
static double missed_frac(const struct kvc_database *database, double keys)
{
    double pages = data_pages(database);
    double used = pages * -expm1(-keys * database->pages / pages);
    return fmax(1 - pool_pages(database) / fmax(used, 1), 0);
}

struct kvc_database_load kvc_database_load_of(const struct kvc_database *database, bool writes, double keys)
{
    struct kvc_database_load load = {.time_ns = time_ns_of(database, writes)};
    double queries = (double)database->queries;
    if (!on_machine(database, writes)) {
        load.busy_ns = load.time_ns / queries;
        return load;
    }
    double missed = database->pages * missed_frac(database, keys);
    double cores_ns = database->statements * database->statement_ns;
    load.time_ns = cores_ns + missed * database->page_read_ns;
    load.busy_ns = fmax(load.time_ns / queries,
                        fmax(cores_ns / (double)database->cores, missed * 1e3 / database->page_mops));
    return load;
}

void kvc_database_engine_open(struct kvc_database_engine *engine, const struct kvc_database *database,
                              struct kvc_events *events, uint64_t seed, uint32_t number)
{
    *engine = (struct kvc_database_engine){.database = database, .events = events};
    kvc_rng_init(&engine->times, seed, "database.times", number);
    if (on_machine(database, false)) {
        kvc_page_pool_open(&engine->pool, data_pages(database), pool_pages(database));
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
    uint32_t all_pages = data_pages(database);
    while (query->pages > 0) {
        uint64_t page = kvc_mix64(kvc_mix64(query->key_id) + query->pages--) % all_pages;
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

/* A request travels half of the way before it is worked on. This only delays its answer, so both halves are
 * added at the end. */
static void start(struct kvc_database_engine *engine, double now_ns, bool writes, uint32_t tag)
{
    engine->running++;
    if (on_machine(engine->database, writes)) {
        begin(engine, now_ns, tag);
        return;
    }
    double time_ns = draw_ns(engine, time_ns_of(engine->database, writes));
    engine->busy_ns += time_ns;
    kvc_events_add(engine->events, now_ns + time_ns, KVC_DATABASE_WORKED, 0, tag);
}

void kvc_database_ask(struct kvc_database_engine *engine, double now_ns, bool writes, uint64_t key_id,
                      uint32_t tag)
{
    engine->reads += !writes;
    engine->writes += writes;
    if (tag >= engine->query_room && on_machine(engine->database, writes)) {
        engine->query_room = 2 * tag + 64;
        engine->query = kvc_array_grown(engine->query, engine->query_room, sizeof(*engine->query));
    }
    if (on_machine(engine->database, writes)) {
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
