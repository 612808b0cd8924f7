#include "scenarios/run/composed/composition_fixture.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/rng.h"

enum {
    STAGES_MAX = 12,
    ROOMY = 7 /* Stages from which on each operation adds at most one. */,
    HARDWARE_THREADS = 112, /* Of the default CPU. */
    CARD_THREADS = 16,
};

enum { PARSE = 1, WRITE = 2, SEARCH = 4, INSERT = 8, ERASE = 16, COMPARE = 32, READ = 64, OPERATIONS = 7 };
enum { HOT_SEARCH = 128, HOT_READ = 256, HOT_FILL = 512, HOT_ERASE = 1024, ALL_OPERATIONS = 11 };
enum { ON_INDEX = SEARCH | INSERT | ERASE };

static const char *const operation_names[] = {"parse",    "write",    "search",   "insert",
                                              "erase",    "compare",  "read",     "hot.search",
                                              "hot.read", "hot.fill", "hot.erase"};

static const char *const index_names[] = {"none",      "cuckoo",    "cuckoo-interleaved",
                                          "set-assoc", "hopscotch", "chained",
                                          "kvdirect",  "bluecache", "mica",
                                          "memc3",     "farm"};

struct stage {
    const char *on;
    uint32_t cores, streams, interval, does, burst, every, queue;
    char pool;             /* A letter; 0: none. */
    const char *when, *of; /* NULL: not stated. */
    const char *route;     /* NULL: none. */
    double share;          /* Of its route; below 0: not stated. */
    const char *work;      /* Name of its own work; NULL: none. */
    double amount;
    const char *per; /* What it counts for; NULL: not stated. */
    double batch_ns; /* Further work for each batch; 0: none. */
    double overlap;
    const char *full;  /* What becomes of those that find the queue full. */
    double steal_ns;   /* Below 0: not stated. */
    uint32_t priority; /* 0: not stated. */
    bool is_beside;    /* Works beside the stage before it, or what that one is beside. */
    bool background, shared, split, past_host;
    uint32_t block, threads; /* Of a kernel of blocks; 0: it has none. */
    double block_cycles, block_lines;
    uint32_t ports; /* 0: not stated. */
};

struct composition {
    uint32_t pipelines, sockets, stages, per_frame;
    const char *gpu, *pcie; /* NULL: none. */
    bool has_fpga, has_database, has_node, receives, sends;
    bool one_memory;     /* The GPU uses host memory. */
    bool past_host;      /* Packets go into GPU memory. */
    uint32_t ports;      /* Of a card whose ports are used one by one; 0: it has the usual one. */
    uint32_t index;      /* Number of its kernel; 0: none. */
    double inline_bytes; /* Largest pair in the entries of an index that holds values; 0: it holds none. */
    bool has_values, logs, index_there, values_there, values_on_flash;
    const char *flash;
    bool has_hot, hot_there;
    bool index_cxl, values_cxl;                      /* Behind CXL, for the cores. */
    const char *index_card, *values_card, *hot_card; /* Who uses it on a card instead; NULL: nobody. */
    bool dma;                                        /* An FPGA reads the index in host memory. */
    double cached;                                   /* Of it. */
    uint32_t hot;                                    /* Number of the kernel of its index; 0: none. */
    double admit;
    const char *spread;
    uint32_t batched; /* Stage in front of which batches form; `stages`: none. */
    uint32_t count, buffers, apart;
    bool while_busy;
    uint32_t outstanding; /* Of each pipeline; 0: not stated. */
    double bytes, timeout_ns, every_ns;
    double keys, key_bytes, value_bytes, get, set, del;
    double zipf; /* 0: uniform. */
    uint32_t queries;
    double query_ns;
    bool fixed_times;
    struct stage stage[STAGES_MAX];
};

/* ---- drawing ---- */

static double between(struct kvc_rng *rng, double low, double high)
{
    return low * pow(high / low, kvc_rng_unit(rng));
}

static uint32_t whole(struct kvc_rng *rng, double low, double high)
{
    return (uint32_t)floor(between(rng, low, high + 0.99));
}

static bool happens(struct kvc_rng *rng, double share)
{
    return kvc_rng_unit(rng) < share;
}

static bool is_on(const struct stage *stage, const char *place)
{
    return strcmp(stage->on, place) == 0;
}

/* Whether its jobs wait elsewhere: at a device with queues of its own, or at another node. */
static bool is_away(const struct stage *stage)
{
    return is_on(stage, "database") || is_on(stage, "flash") || is_on(stage, "node");
}

static bool is_link(const struct stage *stage)
{
    return !is_on(stage, "cpu") && !is_on(stage, "card.cpu") && !is_on(stage, "gpu") &&
           !is_on(stage, "fpga") && !is_away(stage);
}

static bool has_cores(const struct stage *stage)
{
    return is_on(stage, "cpu") || is_on(stage, "card.cpu");
}

static void draw_machine(struct kvc_rng *rng, struct composition *drawn)
{
    drawn->sockets = happens(rng, 0.2) ? 2 : 1;
    drawn->pipelines = happens(rng, 0.3) ? 1 : whole(rng, 1, 8);
    if (happens(rng, 0.5)) {
        bool is_new = happens(rng, 0.6);
        drawn->gpu = is_new ? "h200" : "tesla-k40c";
        drawn->pcie = is_new ? "pcie5-x16" : "pcie3-k40c";
    }
    drawn->has_fpga = happens(rng, 0.2);
    drawn->receives = happens(rng, 0.75);
    drawn->sends = happens(rng, drawn->receives ? 0.9 : 0.1);
}

/* The old GPU states no rate of random accesses, so that it holds no items. */
static void draw_structures(struct kvc_rng *rng, struct composition *drawn)
{
    bool is_new = drawn->gpu != NULL && strcmp(drawn->gpu, "h200") == 0;
    drawn->index = happens(rng, 0.15) ? 0 : 1 + (uint32_t)kvc_rng_below(rng, 10);
    drawn->index_there = drawn->index > 0 && drawn->gpu != NULL && happens(rng, 0.7);
    drawn->has_values = drawn->index > 0 && happens(rng, 0.6);
    drawn->values_there = drawn->has_values && is_new && happens(rng, 0.3);
    drawn->values_on_flash = drawn->has_values && drawn->flash != NULL;
    drawn->values_there = drawn->values_there && !drawn->values_on_flash;
    drawn->keys = floor(between(rng, 1e4, 1e5));
    drawn->key_bytes = floor(between(rng, 8, 64));
    drawn->value_bytes = floor(between(rng, 8, 400));
    drawn->get = happens(rng, 0.2) ? 1 : happens(rng, 0.3) ? 0.5 : 0.95;
    drawn->del = happens(rng, 0.2) ? (1 - drawn->get) / 2 : 0;
    drawn->set = 1 - drawn->get - drawn->del;
    drawn->zipf = happens(rng, 0.4) ? 0.5 + 0.49 * kvc_rng_unit(rng) : 0;
}

/* Draws the hot tier, by numbers of its own: without it, a composition is what it was before there were
 * tiers. */
static void draw_hot(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    bool is_new = drawn->gpu != NULL && strcmp(drawn->gpu, "h200") == 0;
    kvc_rng_init(&rng, seed, "composition hot", 0);
    drawn->has_hot = drawn->index > 0 && happens(&rng, 0.25);
    drawn->hot = happens(&rng, 0.3) ? 0 : 1 + (uint32_t)kvc_rng_below(&rng, 10);
    drawn->hot_there = drawn->hot > 0 ? is_new && happens(&rng, 0.5) : drawn->index_there;
    drawn->has_hot = drawn->has_hot && (is_new || !drawn->hot_there);
    drawn->admit = happens(&rng, 0.3) ? 0.25 : 1;
}

/* Lets KV-Direct's table hold the values, by numbers of its own. Without values of their own, it has no
 * other. */
static void draw_inline(uint64_t seed, struct composition *drawn)
{
    static const char *const kvdirect = "kvdirect";
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "composition inline", 0);
    bool holds = drawn->index > 0 && strcmp(index_names[drawn->index], kvdirect) == 0;
    if (holds && (!drawn->has_values || happens(&rng, 0.3))) {
        drawn->has_values = drawn->values_there = drawn->values_on_flash = false;
        drawn->inline_bytes = floor(between(&rng, 8, 50));
        drawn->value_bytes = happens(&rng, 0.5) ? floor(between(&rng, 8, 40)) : drawn->value_bytes;
    }
}

/* Moves structures to a card: to an FPGA, which also reads host memory, or to cores. By numbers of its own.
 */
static void draw_card(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "composition card", 0);
    bool moves = happens(&rng, drawn->has_fpga ? 0.6 : 0.15);
    const char *on = drawn->has_fpga ? "fpga" : "card.cpu";
    if (!moves || drawn->index == 0) {
        return;
    }
    if (!drawn->index_there && happens(&rng, 0.6)) {
        drawn->index_card = on;
        drawn->dma = drawn->has_fpga && drawn->gpu == NULL && happens(&rng, 0.5);
        drawn->cached = drawn->dma && happens(&rng, 0.5) ? 0.5 : 0;
    }
    if (drawn->has_values && !drawn->values_there && !drawn->values_on_flash && happens(&rng, 0.5)) {
        drawn->values_card = on;
    }
    bool own = drawn->hot > 0;
    if (drawn->has_hot && !drawn->hot_there && (own ? happens(&rng, 0.6) : drawn->index_card != NULL)) {
        drawn->hot_card = on;
    }
}

/* Moves what cores use from host memory behind CXL, by numbers of its own. */
static void draw_cxl(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "composition cxl", 0);
    bool index = happens(&rng, 0.1), values = happens(&rng, 0.2),
         plain = !drawn->one_memory && !drawn->has_hot;
    drawn->index_cxl = index && plain && drawn->index > 0 && !drawn->index_there && drawn->index_card == NULL;
    drawn->values_cxl = values && plain && drawn->has_values && !drawn->values_there &&
                        drawn->values_card == NULL && !drawn->values_on_flash;
}

static bool is_on_card(const struct composition *drawn)
{
    return drawn->index_card != NULL || drawn->values_card != NULL || drawn->hot_card != NULL;
}

/* Draws what a stage costs for each request, and at times for each batch. */
static void draw_work(struct kvc_rng *rng, const struct composition *drawn, struct stage *stage)
{
    bool is_new = drawn->gpu != NULL && strcmp(drawn->gpu, "h200") == 0;
    if (has_cores(stage)) {
        static const char *const works[] = {"cycles", "ns", "lines", "bytes"};
        static const double most[] = {2000, 500, 8, 256};
        uint32_t kind = happens(rng, 0.6) ? 0 : (uint32_t)kvc_rng_below(rng, 4);
        stage->work = works[kind];
        stage->amount = most[kind] * between(rng, 0.02, 1);
        stage->overlap = happens(rng, 0.3) ? floor(between(rng, 2, 16)) : 1;
    } else if (is_on(stage, "gpu")) {
        bool lines = is_new && happens(rng, 0.3);
        stage->work = lines ? "lines" : "ns";
        stage->amount = (lines ? 4 : 2) * between(rng, 0.02, 1);
    } else if (is_on(stage, "fpga")) {
        stage->work = "cycles";
        stage->amount = floor(between(rng, 10, 200));
    } else if ((is_link(stage) || is_on(stage, "node")) && !is_on(stage, "nic.rx") &&
               !is_on(stage, "nic.tx")) {
        stage->work = "bytes";
        stage->amount = floor(between(rng, 4, 64));
    }
    if (stage->work != NULL && happens(rng, 0.15)) {
        static const char *const of[] = {"get", "set", "get, delete"};
        stage->of = of[kvc_rng_below(rng, 3)];
    }
    if (stage->work != NULL && happens(rng, 0.1)) {
        stage->per = "byte";
        stage->amount /= 32;
    }
    stage->batch_ns = !is_link(stage) && (!is_away(stage) || is_on(stage, "node")) && happens(rng, 0.2)
                          ? floor(between(rng, 20, 1000))
                          : 0;
}

/* Adds a stage at the end and returns it. */
static struct stage *add(struct kvc_rng *rng, struct composition *drawn, const char *on)
{
    struct stage *stage = &drawn->stage[drawn->stages++];
    *stage = (struct stage){
        .on = on, .cores = 1, .streams = 1, .interval = 1, .burst = 1, .every = 1, .overlap = 1};
    draw_work(rng, drawn, stage);
    if (has_cores(stage)) {
        stage->cores = whole(rng, 1, 4);
    } else if (is_on(stage, "gpu")) {
        stage->streams = whole(rng, 1, 4);
    } else if (is_on(stage, "fpga")) {
        stage->interval = whole(rng, 1, 8);
    }
    return stage;
}

static void add_filler(struct kvc_rng *rng, struct composition *drawn)
{
    bool fpga = drawn->has_fpga && happens(rng, 0.5), gpu = drawn->gpu != NULL && happens(rng, 0.2);
    add(rng, drawn, fpga ? "fpga" : gpu ? "gpu" : "cpu");
}

static bool is_there(const struct composition *drawn, uint32_t operation)
{
    return (operation & (SEARCH | INSERT | ERASE)) != 0 ? drawn->index_there
           : operation == PARSE                         ? drawn->past_host
           : operation >= HOT_SEARCH                    ? drawn->hot_there
                                                        : drawn->values_there;
}

/* Returns where a stage with an operation works. */
static const char *place_of(const struct composition *drawn, uint32_t operation)
{
    bool on_values = (operation & (WRITE | COMPARE | READ)) != 0;
    const char *card = operation == PARSE                             ? NULL
                       : (operation & (SEARCH | INSERT | ERASE)) != 0 ? drawn->index_card
                       : operation >= HOT_SEARCH                      ? drawn->hot_card
                                                                      : drawn->values_card;
    return card != NULL                          ? card
           : on_values && drawn->values_on_flash ? "flash"
           : is_there(drawn, operation)          ? "gpu"
                                                 : "cpu";
}

/* Returns an operation that comes next, of those that are left. */
static uint32_t draw_operation(struct kvc_rng *rng, uint32_t left)
{
    for (;;) {
        uint32_t operation = 1u << kvc_rng_below(rng, left < HOT_SEARCH ? OPERATIONS : ALL_OPERATIONS);
        uint32_t needs = operation == INSERT                        ? WRITE
                         : operation == SEARCH                      ? PARSE | HOT_SEARCH
                         : operation == HOT_READ                    ? HOT_SEARCH | SEARCH
                         : operation == HOT_FILL                    ? HOT_SEARCH | SEARCH | COMPARE | READ
                         : operation == COMPARE                     ? SEARCH
                         : operation == READ                        ? SEARCH | COMPARE
                         : operation == WRITE || operation == PARSE ? 0
                                                                    : PARSE;
        if ((left & operation) != 0 && (left & needs) == 0) {
            return operation;
        }
    }
}

/* Adds all stages. A hot tier can need more of them than there may be: the composition then has none. */
static void draw_stages(struct kvc_rng *rng, struct composition *drawn)
{
    uint32_t left = happens(rng, 0.6) ? PARSE : 0;
    left |= drawn->index > 0 ? SEARCH | INSERT | ERASE : 0;
    left |=
        drawn->has_values ? WRITE | READ | (happens(rng, 0.6) && !drawn->values_on_flash ? COMPARE : 0) : 0;
    left |= drawn->has_hot ? HOT_READ | HOT_FILL | HOT_ERASE | (drawn->hot > 0 ? HOT_SEARCH : 0) : 0;
    if (drawn->receives) {
        add(rng, drawn, "nic.rx");
    }
    uint32_t first = drawn->stages, in_index = drawn->hot == 0 ? HOT_READ | HOT_FILL | HOT_ERASE : 0;
    uint32_t by_dma = ON_INDEX | in_index; /* An index in host memory has the tier that it knows. */
    bool asked = false;
    while (left != 0) {
        uint32_t operation = draw_operation(rng, left);
        bool known = (left & (SEARCH | COMPARE | READ)) == 0 && drawn->stages > first;
        if (drawn->has_database && !asked && known && drawn->stages + 3 < STAGES_MAX && happens(rng, 0.5)) {
            add(rng, drawn, "database"); /* What it gives is stored. */
            asked = true;
        }
        const char *on = place_of(drawn, operation);
        struct stage *latest = drawn->stages > first ? &drawn->stage[drawn->stages - 1] : NULL;
        bool is_full = drawn->stages >= ROOMY;
        left &= ~operation;
        bool other_memory = latest != NULL && is_on(latest, "fpga") && drawn->dma && latest->does != 0 &&
                            ((operation & by_dma) != 0) != ((latest->does & by_dma) != 0);
        if (latest != NULL && is_on(latest, on) && !other_memory && (is_full || happens(rng, 0.6))) {
            latest->does |= operation;
            continue;
        }
        if (drawn->stages + 2 >= STAGES_MAX) {
            drawn->has_hot = false;
            drawn->hot_card = NULL;
            drawn->stages = 0;
            draw_stages(rng, drawn);
            return;
        }
        bool crosses = latest != NULL && !is_on(latest, on) && drawn->gpu != NULL && strcmp(on, "flash") != 0;
        if (crosses && !is_full && happens(rng, 0.7)) {
            add(rng, drawn, strcmp(on, "gpu") == 0 ? "pcie.down" : "pcie.up");
        } else if (!is_full && happens(rng, 0.15)) {
            add_filler(rng, drawn);
        }
        add(rng, drawn, on)->does = operation;
    }
    if (drawn->stages == first || (drawn->stages < ROOMY && happens(rng, 0.2))) {
        add_filler(rng, drawn);
    }
    if (drawn->has_node && drawn->stages + 3 < STAGES_MAX) {
        add(rng, drawn, "node");
    }
    if (drawn->has_database && !asked) { /* Its requests are chosen with the other options. */
        add(rng, drawn, "database");
    }
    if (drawn->sends) {
        add(rng, drawn, "nic.tx");
    }
}

/* ---- options of stages that depend on others ---- */

static void draw_batches(struct kvc_rng *rng, struct composition *drawn)
{
    drawn->batched = drawn->stages;
    if (happens(rng, drawn->gpu != NULL ? 0.15 : 0.5)) {
        return;
    }
    drawn->batched = (uint32_t)kvc_rng_below(rng, drawn->stages);
    for (uint32_t i = 0; i < drawn->stages && happens(rng, 0.97);
         i++) { /* In front of the first GPU stage. */
        if (is_on(&drawn->stage[i], "gpu") || is_on(&drawn->stage[i], "pcie.down")) {
            drawn->batched = i;
            break;
        }
    }
    uint32_t kind = (uint32_t)kvc_rng_below(rng, 5);
    drawn->buffers = whole(rng, 1, 6);
    drawn->count = kind == 0 || kind == 1 ? whole(rng, 4, 4096) : 0;
    drawn->timeout_ns = kind == 1 || kind == 2 ? floor(between(rng, 1e3, 1e5)) : 0;
    drawn->every_ns = kind == 3 ? floor(between(rng, 5e3, 1e5)) : 0;
    drawn->bytes = kind == 4 ? floor(between(rng, 256, 65536)) : 0;
    drawn->outstanding = kind == 2 || kind == 3 ? drawn->buffers * whole(rng, 64, 2048) : 0;
    drawn->timeout_ns = kind == 4 && happens(rng, 0.5) ? 5e4 : drawn->timeout_ns;
}

static void draw_conditions(struct kvc_rng *rng, const struct composition *drawn, struct stage *stage,
                            uint32_t before)
{
    static const char *const any[] = {"get", "set", "get, delete", "large", "small", "set, small"};
    uint32_t gets = SEARCH | COMPARE | READ, sets = WRITE | INSERT, known = 0;
    known = drawn->has_values ? COMPARE | READ : SEARCH;
    bool knows_hot = drawn->has_hot && (before & (drawn->hot > 0 ? HOT_SEARCH : SEARCH)) != 0;
    if (knows_hot && (stage->does & ~(uint32_t)HOT_READ) == 0) {
        stage->when = stage->does != 0 || happens(rng, 0.5) ? "hot" : "cold";
    } else if (knows_hot && (stage->does & ~(gets | HOT_FILL)) == 0) {
        stage->when = "get, cold";
    } else if ((stage->does & gets) != 0 && (stage->does & ~gets) == 0) {
        stage->when = "get";
    } else if ((stage->does & sets) != 0 && (stage->does & ~sets) == 0) {
        stage->when = "set";
    } else if ((stage->does & (sets | ERASE)) != 0 && (stage->does & ~(sets | ERASE)) == 0) {
        stage->when = "set, delete";
    } else if (stage->does == 0 && happens(rng, 0.4) && (drawn->index == 0 || (before & known) != 0)) {
        stage->when = happens(rng, 0.5) ? "hit" : "miss";
    } else if (stage->does == 0) {
        stage->when = any[kvc_rng_below(rng, sizeof(any) / sizeof(*any))];
    }
}

static bool shares_pool(const struct composition *drawn, uint32_t number)
{
    const struct stage *stage = &drawn->stage[number];
    for (uint32_t i = 0; i < number; i++) {
        const struct stage *other = &drawn->stage[i];
        bool link = is_on(other, stage->on) && (is_link(stage) || is_on(stage, "fpga"));
        if (link || (stage->pool != 0 && stage->pool == other->pool)) {
            return true;
        }
    }
    return false;
}

/* Joins stages on the same device to a pool, of as many servers as the first one has. */
static void draw_pools(struct kvc_rng *rng, struct composition *drawn)
{
    static const char *const places[] = {"cpu", "gpu"};
    for (uint32_t p = 0; p < 2; p++) {
        const struct stage *first = NULL;
        for (uint32_t i = 0; i < drawn->stages && happens(rng, 0.8); i++) {
            struct stage *stage = &drawn->stage[i];
            if (is_on(stage, places[p]) && happens(rng, 0.4)) {
                first = first == NULL ? stage : first;
                stage->pool = p == 0 ? 'c' : 'g';
                stage->cores = first->cores;
                stage->streams = first->streams;
            }
        }
    }
}

static void draw_options(struct kvc_rng *rng, struct composition *drawn)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < drawn->stages; i++) {
        struct stage *stage = &drawn->stage[i];
        bool is_last = i + 1 == drawn->stages, later = (stage->does & ~(uint32_t)(INSERT | ERASE)) == 0;
        if (!is_last && happens(rng, is_on(stage, "database") || is_on(stage, "node") ? 0.8 : 0.2)) {
            draw_conditions(rng, drawn, stage, before);
        }
        stage->every = later && !is_last && stage->does != 0 && happens(rng, 0.25) ? whole(rng, 2, 8) : 1;
        if (is_away(stage)) { /* It takes all jobs, one by one. */
            before |= stage->does;
            continue;
        }
        stage->background = later && !is_last && happens(rng, stage->does != 0 ? 0.3 : 0.08);
        bool defers = stage->background || stage->every > 1;
        if (i < drawn->batched && !is_on(stage, "nic.rx") && !defers && happens(rng, 0.25)) {
            stage->burst = whole(rng, 2, 32);
        }
        stage->shared = has_cores(stage) && i < drawn->batched && !defers && happens(rng, 0.2);
        bool in_line = i != drawn->batched && !(is_last && drawn->sends);
        if (happens(rng, 0.2) && in_line) {
            bool loses = i == 0 || shares_pool(drawn, i) || happens(rng, 0.5);
            stage->queue = whole(rng, 1, 64);
            stage->full = !loses ? "wait" : drawn->sends && happens(rng, 0.4) ? "refuse" : "drop";
        }
        before |= stage->does;
    }
}

static bool has_partner(const struct composition *drawn, uint32_t number)
{
    const struct stage *stage = &drawn->stage[number];
    bool has = shares_pool(drawn, number);
    for (uint32_t i = number + 1; i < drawn->stages && !has; i++) {
        const struct stage *other = &drawn->stage[i];
        bool link = is_on(other, stage->on) && (is_link(stage) || is_on(stage, "fpga"));
        has = link || (stage->pool != 0 && stage->pool == other->pool);
    }
    return has;
}

/* Draws which stage is served first, whose jobs other pipelines take, and what works at the same time.
 * Numbers of its own leave the rest as it is. */
static void draw_order(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng order, *rng = &order;
    kvc_rng_init(rng, seed, "composition order", 0);
    for (uint32_t i = 0; i < drawn->stages; i++) {
        struct stage *stage = &drawn->stage[i];
        const struct stage *latest = i > 0 ? &drawn->stage[i - 1] : stage;
        bool defers = stage->background || stage->every > 1, takes_all = is_away(stage);
        stage->priority = !takes_all && has_partner(drawn, i) && happens(rng, 0.3) ? whole(rng, 1, 3) : 0;
        bool steals = is_on(stage, "cpu") && !defers && !stage->shared && drawn->pipelines > 1;
        stage->steal_ns = steals && happens(rng, 0.2) ? floor(between(rng, 10, 300)) : -1;
        bool alone = defers || stage->burst > 1 || stage->queue > 0 || stage->when != NULL ||
                     stage->does != 0 || stage->route != NULL;
        bool starts = latest->background || latest->every > 1 || latest->burst > 1 || is_away(latest);
        stage->is_beside = i > 0 && i + 1 < drawn->stages && i != drawn->batched && !takes_all && !alone &&
                           !starts && happens(rng, 0.6);
    }
}

/* Lets the ports of a card carry frames and responses one by one, by numbers of its own. */
static void draw_ports(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    bool other = false; /* Another stage sends as well. */
    kvc_rng_init(&rng, seed, "composition ports", 0);
    for (uint32_t i = 0; i + 1 < drawn->stages; i++) {
        other = other || is_on(&drawn->stage[i], "node") || is_on(&drawn->stage[i], "nic.tx");
    }
    drawn->ports = (drawn->receives || drawn->sends) && happens(&rng, 0.15) ? whole(&rng, 2, 4) : 0;
    if (drawn->ports > 0 && drawn->receives && happens(&rng, 0.7)) {
        drawn->stage[0].ports = whole(&rng, 1, drawn->ports);
    }
    if (drawn->ports > 0 && drawn->sends && !other && happens(&rng, 0.7)) {
        drawn->stage[drawn->stages - 1].ports = whole(&rng, 1, drawn->ports);
    }
}

/* Puts one stage on the first of two routes, and at times another one, with the same operations, on the
 * second. Both are for as many operations as the first was. */
static void draw_routes(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng routes, *rng = &routes;
    kvc_rng_init(rng, seed, "composition routes", 0);
    uint32_t from = (uint32_t)kvc_rng_below(rng, drawn->stages);
    struct stage *stage = &drawn->stage[from], *next = stage + 1;
    bool last = from + 1 == drawn->stages, defers = stage->background || stage->every > 1;
    if (!happens(rng, 0.3) || last || is_away(stage) || is_on(stage, "nic.rx") || stage->split) {
        return;
    }
    double share = 0.05 + 0.9 * kvc_rng_unit(rng);
    if (stage->does != 0 && (defers || stage->pool != 0 || drawn->stages == STAGES_MAX)) {
        return;
    }
    stage->share = share;
    stage->route = "a";
    if (stage->does == 0 && (happens(rng, 0.5) || drawn->stages == STAGES_MAX)) {
        return;
    }
    for (uint32_t i = drawn->stages++; i > from + 1; i--) {
        drawn->stage[i] = drawn->stage[i - 1];
    }
    *next = *stage;
    next->route = "b";
    next->share = happens(rng, 0.5) ? 1 - share : -1;
    stage->queue = next->queue = 0;
    stage->full = next->full = NULL;
    drawn->batched += drawn->batched > from;
}

/* Lets another node get copies in the background, by numbers of its own. */
static void draw_copies(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "composition copies", 0);
    for (uint32_t i = 0; i + 1 < drawn->stages; i++) {
        struct stage *stage = &drawn->stage[i];
        bool node = is_on(stage, "node");
        stage->background = stage->background || (node && happens(&rng, 0.5));
        stage->every = node && stage->background && happens(&rng, 0.5) ? whole(&rng, 2, 8) : stage->every;
    }
}

/* Fits the cores of twice the pipelines, or of twice the cores of each, into the machine. */
static void fit_cores(struct composition *drawn)
{
    for (;;) {
        uint32_t cores = 0, on_card = 0;
        for (uint32_t i = 0; i < drawn->stages; i++) {
            struct stage *stage = &drawn->stage[i];
            bool card = is_on(stage, "card.cpu");
            stage->cores = card && 2 * drawn->pipelines * stage->cores > CARD_THREADS / 4 ? 1 : stage->cores;
            cores += is_on(stage, "cpu") ? stage->cores : 0;
            on_card += card ? stage->cores : 0;
        }
        bool fits = 2 * cores * drawn->pipelines <= HARDWARE_THREADS &&
                    2 * on_card * drawn->pipelines <= CARD_THREADS;
        if (fits) {
            return;
        }
        if (drawn->pipelines == 1) { /* One core each fits. */
            for (uint32_t i = 0; i < drawn->stages; i++) {
                drawn->stage[i].cores = 1;
            }
            return;
        }
        drawn->pipelines--;
    }
}

/* Storage has numbers of its own, so that a composition without it does not depend on them. */
static void draw_storage(uint64_t seed, struct composition *drawn)
{
    static const char *const flashes[] = {
        "{ base = 'bluecache-flash', chips = 4, pages_per_block = 8 }",
        "{ base = 'micron-9550-max', channels = 4, chips = 4, blocks = 24000, pages_per_block = 4 }"};
    struct kvc_rng storage, *rng = &storage;
    kvc_rng_init(rng, seed, "composition storage", 0);
    drawn->has_database = drawn->sockets == 1 && happens(rng, 0.25);
    drawn->logs = happens(rng, 0.4);
    drawn->has_node = happens(rng, 0.15);
    drawn->flash = happens(rng, 0.3) ? flashes[kvc_rng_below(rng, 2)] : NULL;
    drawn->queries = whole(rng, 16, 256); /* Few of them would leave a short run to chance. */
    drawn->query_ns = floor(between(rng, 1e3, 1e5));
    drawn->fixed_times = happens(rng, 0.3);
}

/* Kernels of blocks, GPUs that use host memory and cores that share a batch have numbers of their own, too.
 */
static void draw_memory(struct kvc_rng *rng, struct composition *drawn)
{
    bool is_new = drawn->gpu != NULL && strcmp(drawn->gpu, "h200") == 0;
    if (drawn->gpu != NULL && !is_new && happens(rng, 0.5)) {
        drawn->gpu = "a10-7850k-gpu";
        drawn->one_memory = true;
    }
    drawn->past_host = is_new && drawn->receives && happens(rng, 0.4);
}

static void draw_kernels(struct kvc_rng *rng, struct composition *drawn)
{
    bool is_new = drawn->gpu != NULL && strcmp(drawn->gpu, "h200") == 0;
    for (uint32_t i = 0; i < drawn->stages; i++) {
        struct stage *stage = &drawn->stage[i];
        stage->past_host = drawn->past_host && is_on(stage, "nic.rx");
        /* Faster cores take smaller bursts, for which a GPU behind them needs more launches. */
        bool splits = is_on(stage, "cpu") && stage->cores > 1 && stage->pool == 0 && stage->burst == 1;
        stage->split = splits && happens(rng, 0.2);
        if (is_on(stage, "gpu") && drawn->one_memory && happens(rng, 0.5)) {
            stage->work = "instructions";
            stage->amount = between(rng, 10, 1000);
        } else if (is_on(stage, "gpu") && is_new && happens(rng, 0.4)) {
            stage->block = 16 << kvc_rng_below(rng, 4);
            stage->threads = whole(rng, 1, 4);
            stage->work = "cycles";
            stage->amount = between(rng, 1, 100);
            stage->block_cycles = between(rng, 100, 10000);
            stage->block_lines = happens(rng, 0.5) ? between(rng, 0.5, 8) : 0;
            stage->per = NULL;
        }
    }
}

/* Lets some batches close when those before them are answered, and some come apart. */
static void draw_closing(uint64_t seed, struct composition *drawn)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, "composition closing", 0);
    drawn->apart = drawn->stages;
    if (drawn->batched == drawn->stages || !happens(&rng, 0.3)) {
        return;
    }
    drawn->while_busy = happens(&rng, 0.7);
    drawn->buffers += drawn->while_busy && drawn->buffers == 1;
    if (drawn->while_busy && happens(&rng, 0.8)) {
        drawn->timeout_ns = drawn->every_ns = 0;
    }
    uint32_t apart = drawn->batched + 1 + (uint32_t)kvc_rng_below(&rng, drawn->stages);
    if (apart < drawn->stages && !drawn->stage[apart].is_beside) {
        drawn->apart = apart;
    }
}

static void draw(uint64_t seed, struct composition *drawn)
{
    static const char *const spreads[] = {"connections", "turns", "keys"};
    struct kvc_rng rng, kernels;
    kvc_rng_init(&rng, seed, "composition", 0);
    kvc_rng_init(&kernels, seed, "composition kernels", 0);
    *drawn = (struct composition){.pcie = NULL};
    draw_machine(&rng, drawn);
    draw_storage(seed, drawn);
    draw_memory(&kernels, drawn);
    draw_structures(&rng, drawn);
    draw_inline(seed, drawn);
    draw_hot(seed, drawn);
    draw_card(seed, drawn);
    draw_cxl(seed, drawn);
    draw_stages(&rng, drawn);
    draw_batches(&rng, drawn);
    draw_pools(&rng, drawn);
    draw_options(&rng, drawn);
    draw_kernels(&kernels, drawn);
    draw_routes(seed, drawn);
    draw_copies(seed, drawn);
    fit_cores(drawn);
    draw_order(seed, drawn);
    draw_ports(seed, drawn);
    draw_closing(seed, drawn);
    drawn->spread = spreads[kvc_rng_below(&rng, 3)];
    drawn->per_frame = strcmp(drawn->spread, "keys") == 0 || happens(&rng, 0.2) ? 1
                       : happens(&rng, 0.5)                                     ? 8
                                                                                : 0;
}

/* ---- writing ---- */

struct writer {
    char *text;
    size_t used;
};

static void put(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes =
        vsnprintf(writer->text + writer->used, KVC_COMPOSITION_BYTES - writer->used, format, arguments);
    va_end(arguments);
    writer->used += (size_t)bytes;
    if (writer->used >= KVC_COMPOSITION_BYTES) {
        writer->used = KVC_COMPOSITION_BYTES - 1;
    }
}

/* Names of words and places contain no quotes. */
static void put_words(struct writer *writer, const char *name, const char *words)
{
    if (words != NULL) {
        put(writer, ", %s = \"%s\"", name, words);
    }
}

/* `beside` is how many stages behind the one that it is beside it stands. */
static void put_stage(struct writer *writer, const struct stage *stage, uint32_t number, uint32_t beside,
                      uint32_t cores_times)
{
    put(writer, "      { name = \"s%u\", on = \"%s\"", number, stage->on);
    if (has_cores(stage)) {
        put(writer, ", cores = %u", stage->cores * cores_times);
    }
    if (stage->streams > 1) {
        put(writer, ", streams = %u", stage->streams);
    }
    if (stage->interval > 1) {
        put(writer, ", interval = %u", stage->interval);
    }
    if (stage->ports > 0) {
        put(writer, ", ports = %u", stage->ports);
    }
    if (stage->pool != 0) {
        put(writer, ", pool = \"%c\"", stage->pool);
    }
    if (stage->work != NULL) {
        put(writer, ", %s = %.4g", stage->work, stage->amount);
        put_words(writer, "per", stage->per);
    }
    if (stage->block > 0) {
        put(writer,
            ", block = %u, threads = %u, block_memory = \"1KiB\", work = { { ns = %.0f, per = \"batch\" }, { cycles "
            "= %.4g, lines = %.4g, per = \"block\" } }",
            stage->block, stage->threads, stage->batch_ns, stage->block_cycles, stage->block_lines);
    } else if (stage->batch_ns > 0 && fmod(stage->batch_ns, 2) == 0 &&
               (has_cores(stage) || is_on(stage, "gpu"))) {
        put(writer,
            ", curve = { { requests = 1, ns = %.0f }, { requests = 16, ns = %.0f }, { requests = 128, ns = %.0f } }",
            stage->batch_ns, 1.5 * stage->batch_ns, 5 * stage->batch_ns);
    } else if (stage->batch_ns > 0) {
        put(writer, ", work = { { ns = %.0f, per = \"batch\" } }", stage->batch_ns);
    }
    put(writer, "%s%s", stage->split ? ", split = true" : "", stage->past_host ? ", memory = \"gpu\"" : "");
    put_words(writer, "when", stage->when);
    put_words(writer, "of", stage->of);
    put_words(writer, "route", stage->route);
    if (stage->route != NULL && stage->share >= 0) {
        put(writer, ", share = %.17g", stage->share);
    }
    if (stage->does != 0) {
        put(writer, ", does = {");
        for (uint32_t i = 0, listed = 0; i < ALL_OPERATIONS; i++) {
            if ((stage->does >> i & 1) != 0) {
                put(writer, "%s \"%s\"", listed++ > 0 ? "," : "", operation_names[i]);
            }
        }
        put(writer, " }");
    }
    if (stage->overlap > 1) {
        put(writer, ", overlap = %.0f", stage->overlap);
    }
    if (stage->burst > 1) {
        put(writer, ", burst = %u", stage->burst);
    }
    if (stage->every > 1) {
        put(writer, ", every = %u", stage->every);
    }
    if (stage->priority > 0) {
        put(writer, ", priority = %u", stage->priority);
    }
    if (stage->steal_ns >= 0) {
        put(writer, ", steal = \"%.0fns\"", stage->steal_ns);
    }
    if (stage->is_beside) {
        put(writer, ", beside = \"s%u\"", number - beside);
    }
    if (stage->queue > 0) {
        put(writer, ", queue = %u, full = \"%s\"", stage->queue, stage->full);
    }
    put(writer, "%s%s },\n", stage->background ? ", background = true" : "",
        stage->shared ? ", shared = true" : "");
}

static const char *hot_memory(const struct composition *drawn)
{
    bool by_index = drawn->hot == 0; /* In the memory of the index. */
    return drawn->hot_there ? "gpu" : drawn->hot_card != NULL && !(by_index && drawn->dma) ? "card" : "host";
}

/* Returns the next stage from `from` on that is the first one of a pool of cores; `stages`: there is none. */
static uint32_t core_pool(const struct composition *drawn, uint32_t from)
{
    while (from < drawn->stages &&
           !(is_on(&drawn->stage[from], "cpu") && !shares_pool(drawn, from) && !drawn->stage[from].split)) {
        from++;
    }
    return from;
}

/* A policy that halves the batches at every second look, lends a core of one pool to another one, and moves
 * requests to another route. */
static void put_policy(struct writer *writer, const struct composition *drawn)
{
    uint32_t to = core_pool(drawn, 0), from = core_pool(drawn, to + 1);
    uint32_t routed = 0; /* The stage whose share it changes; `stages`: none. */
    bool lends = from < drawn->stages && drawn->stage[from].cores > 1;
    while (routed < drawn->stages && drawn->stage[routed].route == NULL) {
        routed++;
    }
    bool rest = routed + 1 < drawn->stages &&
                (drawn->stage[routed + 1].route == NULL || drawn->stage[routed + 1].share < 0);
    bool shifts = rest && !(lends && (routed == to || routed == from));
    if (!lends && !shifts && drawn->count == 0) {
        return;
    }
    put(writer, "    policy_every = \"70us\", policy = function(state)\n");
    put(writer, "      local odd = math.floor(state.time_us / 70 + 0.5) %% 2\n      return {");
    if (drawn->count > 0) {
        put(writer, " batch = { count = math.max(%u // (1 + odd), 1) },", drawn->count);
    }
    put(writer, lends || shifts ? " stages = {" : "");
    if (lends) {
        put(writer, " s%u = { cores = %u + odd }, s%u = { cores = %u - odd },", to, drawn->stage[to].cores,
            from, drawn->stage[from].cores);
    }
    if (shifts) {
        put(writer, " s%u = { share = 0.2 + 0.5 * odd },", routed);
    }
    put(writer, lends || shifts ? " }, }\n    end,\n" : " }\n    end,\n");
}

static void put_system(struct writer *writer, const struct composition *drawn,
                       const struct kvc_composition_use *use)
{
    put(writer, "  system = {\n    kind = \"composed\", pipelines = %u, spread = \"%s\", large = \"100B\",\n",
        drawn->pipelines * use->pipelines_times, drawn->spread);
    if (drawn->outstanding > 0) {
        put(writer, "    outstanding = %u,\n", drawn->outstanding * drawn->pipelines * use->pipelines_times);
    }
    put(writer, "    index = { kernel = \"%s\"%s },\n", index_names[drawn->index],
        drawn->index_there && !drawn->one_memory   ? ", memory = \"gpu\""
        : drawn->index_card != NULL && !drawn->dma ? ", memory = \"card\""
        : drawn->index_cxl                         ? ", memory = \"cxl\""
                                                   : "");
    if (drawn->cached > 0) {
        put(writer, "    cached = %.2f,\n", drawn->cached);
    }
    if (drawn->has_values) {
        bool logs = drawn->logs || drawn->values_on_flash;
        put(writer, "    values = { kernel = \"%s\"%s%s },\n", logs ? "log" : "slab",
            drawn->values_on_flash ? ", memory = \"flash\"" : "",
            drawn->values_there          ? ", memory = \"gpu\""
            : drawn->values_card != NULL ? ", memory = \"card\""
            : drawn->values_cxl          ? ", memory = \"cxl\""
                                         : "");
    }
    if (drawn->inline_bytes > 0) {
        put(writer, "    values = { kernel = \"inline\", inline = \"%.0fB\" },\n", drawn->inline_bytes);
    }
    if (drawn->has_hot) {
        put(writer, "    hot = { kernel = \"%s\", memory = \"%s\", size = \"2MiB\", admit = %.2f },\n",
            index_names[drawn->hot], hot_memory(drawn), drawn->admit);
    }
    if (drawn->batched < drawn->stages) {
        put(writer, "    batch = { before = \"s%u\", buffers = %u", drawn->batched, drawn->buffers);
        /* Without a limit, saturating clients gather in one batch, which is served by one core at a time. */
        bool gathers =
            drawn->outstanding > 0 && drawn->buffers > 1 && strcmp(use->arrival, "'saturate'") == 0;
        uint32_t share = drawn->outstanding / drawn->buffers, count = gathers ? share : drawn->count;
        count = use->full_batches && share > 0 ? share / 2 : count; /* Frames need not divide the share. */
        if (count > 0) {
            put(writer, ", count = %u", count);
        }
        if (drawn->bytes > 0) {
            put(writer, ", bytes = \"%.0fB\"", drawn->bytes);
        }
        if (drawn->timeout_ns > 0 && !use->full_batches) {
            put(writer, ", timeout = \"%.0fns\"", drawn->timeout_ns);
        }
        if (drawn->every_ns > 0 && !use->full_batches) {
            put(writer, ", every = \"%.0fns\"", drawn->every_ns);
        }
        if (drawn->while_busy && !use->full_batches) {
            put(writer, ", while_busy = true");
        }
        if (drawn->apart < drawn->stages) {
            put(writer, ", apart = \"s%u\"", drawn->apart);
        }
        put(writer, " },\n");
    }
    if (use->has_policy) {
        put_policy(writer, drawn);
    }
    put(writer, "    stages = {\n");
    for (uint32_t i = 0, beside = 0; i < drawn->stages; i++) {
        beside = drawn->stage[i].is_beside ? beside + 1 : 0;
        put_stage(writer, &drawn->stage[i], i, beside, use->cores_times);
    }
    put(writer, "    },\n  },\n");
}

void kvc_composition_write(uint64_t seed, const struct kvc_composition_use *use,
                           char text[KVC_COMPOSITION_BYTES])
{
    struct composition drawn;
    struct writer writer = {.text = text};
    draw(seed, &drawn);
    put(&writer, "return {\n  name = \"composition %llu\",\n", (unsigned long long)seed);
    put_system(&writer, &drawn, use);
    put(&writer, "  node = { sockets = %u", drawn.sockets);
    if (drawn.gpu != NULL) {
        const char *launch = drawn.one_memory ? ", launch = \"3.5us\"" : ""; /* As from a queue of HSA. */
        put(&writer, ", gpu = { base = \"%s\"%s }, pcie = \"%s\"", drawn.gpu, launch, drawn.pcie);
    }
    if (drawn.dma) {
        put(&writer, ", pcie = \"catapult-pcie3-x8\"");
    }
    if (is_on_card(&drawn) && !drawn.has_fpga) {
        put(&writer, ", card_cpu = \"bluefield-3-cores\", card_dram = \"bluefield-3-ddr5\"");
    }
    if (drawn.ports > 0) {
        put(&writer, ", nic = { base = \"connectx-7-400g\", ports = %u }", drawn.ports);
    }
    if (drawn.has_database) {
        put(&writer, ", database = { base = \"mysql-bg\", queries = %u, read = \"%.0fns\", times = \"%s\" }",
            drawn.queries, drawn.query_ns, drawn.fixed_times ? "fixed" : "exponential");
    }
    if (drawn.index_cxl || drawn.values_cxl) {
        put(&writer, ", cxl = \"cxl-e3s-x8\"");
    }
    if (drawn.values_on_flash) {
        put(&writer, ", flash = %s", drawn.flash);
    }
    put(&writer, "%s },\n", drawn.has_fpga ? ", fpga = \"catapult-stratix-v\"" : "");
    put(&writer, "  workload = { keys = %.0f, key = %.0f, value = %.0f, get = %.6g, set = %.6g", drawn.keys,
        drawn.key_bytes, drawn.value_bytes, drawn.get, drawn.set);
    if (drawn.del > 0) {
        put(&writer, ", delete = %.6g", drawn.del);
    }
    if (drawn.per_frame > 0) {
        put(&writer, ", per_frame = %u", drawn.per_frame);
    }
    if (drawn.zipf > 0) {
        put(&writer, ", dist = { zipf = %.2f }", drawn.zipf);
    }
    put(&writer, ",\n    arrival = %s },\n", use->arrival);
    put(&writer, "  run = { duration = \"%.4gus\", warmup = \"%.4gus\", seed = %u },\n}\n", use->duration_us,
        use->duration_us / 2, (unsigned)(1 + seed % 1000));
}
