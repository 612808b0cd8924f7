/* Cuts the power of a simulated node at random times. Flash then holds the pages that the chips have
 * programmed. A fresh store must recover all durable pairs from it (kernels/bluecache/flash_log.h), and no
 * older versions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_memory.h"
#include "kernels/bluecache/flash_page.h"
#include "models/bluecache/cluster.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"

enum {
    CUTS = 500,
    CHECKED = 600, /* Keys, at most, that are read after a cut; other ones each time. */
    CHANNELS = 4,
    CHIPS = 8,
    PAGE_BYTES = 1024,
    KEY_BYTES = 16,
    KEYS_MAX = 9000,
    PROGRAMS_MAX = 60000,
    QUEUE = 4096, /* Changes that wait for a chip. */
    NONE = -1,
    SEED = 5,
};

/* Parameters of a test. */
struct load {
    double dram_bytes;
    uint64_t keys, value_bytes, pages_per_block, rows, chunk_pages;
    double run_ns; /* Cuts are spread over this time. */
    bool log_deletes;
};

/* A record of the log. */
struct record {
    uint64_t set;           /* Number of the SET that made the value; 0: a tombstone. */
    uint64_t first, behind; /* Numbers of the first program of its pages and of the one after the last. */
    int before;             /* The previous record of the same key, or NONE. */
};

/* A change of a block that its chip has not done yet. */
struct change {
    bool erase;
    uint32_t block, page;
    uint64_t program; /* Number of the program, or of the next one for an erase. */
};

struct queue {
    struct change change[QUEUE];
    uint32_t first, end;
};

static struct world {
    const struct load *load;
    struct kvc_scenario scenario;
    struct kvc_bluecache_options options;
    struct kvc_bluecache_config config;
    struct kvc_bluecache_shards shards;
    struct kvc_bluecache_shard shard;
    struct kvc_bluecache_cluster cluster;
    struct kvc_source *source;
    struct kvc_flash_medium inner; /* The functions of the card. */
    struct kvc_rng rng;
    uint8_t *flash; /* Contents of flash after the chips' operations so far. */
    uint64_t flash_bytes;
    uint8_t *data; /* Data of all programs. */
    uint32_t row_of[PROGRAMS_MAX];
    bool done[PROGRAMS_MAX];
    uint64_t programs; /* Programs that the log has asked for. */
    uint64_t durable;  /* All programs with smaller numbers are done. */
    /* The number as above at a cut, if pages count that are done but not yet acknowledged by their chip. */
    uint64_t maybe;
    uint64_t kept;              /* Records that begin in earlier programs may be erased. */
    uint64_t row_end[KEYS_MAX]; /* Number of the program after the last one of each row. */
    struct queue queue[CHIPS];  /* Indexed by chip. */
    struct record *record;
    uint32_t records, record_room;
    int newest[KEYS_MAX]; /* Indexed by key. */
    uint64_t found, lost, newer, voided, wraps;
} world;

static struct kvc_pcie pcie = {.h2d_bytes_per_s = 1e9, .d2h_bytes_per_s = 1e9, .latency_ns = 1000};
static struct kvc_dram dram = {.random_line_ns = 50, .next_line_ns = 5, .line_bytes = 64};
static struct kvc_flash flash = {.cards = 1,
                                 .channels = CHANNELS,
                                 .chips = CHIPS / CHANNELS,
                                 .blocks = 100,
                                 .page_bytes = PAGE_BYTES,
                                 .read_ns = 50e3,
                                 .program_ns = 200e3,
                                 .erase_ns = 1e6,
                                 .channel_bytes_per_s = 2e8,
                                 .tags = 16};
static struct kvc_fabric fabric = {.links = 2, .bytes_per_s = 1e9, .messages = 3};
static struct kvc_fpga fpga;

/* ---- what the log asks for ---- */

static uint8_t *page_of(uint8_t *bytes, uint32_t block, uint32_t page)
{
    return bytes + ((uint64_t)block * world.load->pages_per_block + page) * PAGE_BYTES;
}

static void ask(const struct change *change)
{
    struct queue *queue = &world.queue[change->block % CHIPS];
    cr_assert_lt(queue->end - queue->first, (uint32_t)QUEUE);
    queue->change[queue->end++ % QUEUE] = *change;
}

static void add_record(const struct kvc_flash_record *record, uint64_t program)
{
    uint64_t key, set = 0;
    memcpy(&key, record->key, sizeof(key));
    cr_assert_lt(key, world.load->keys);
    if (record->kind == KVC_FLASH_RECORD_VALUE) {
        memcpy(&set, record->key + record->key_bytes, sizeof(set));
    }
    if (world.records == world.record_room) {
        world.record_room = world.record_room > 0 ? 2 * world.record_room : 1024;
        world.record = kvc_array_grown(world.record, world.record_room, sizeof(*world.record));
    }
    world.record[world.records] = (struct record){set, program, program + record->pages, world.newest[key]};
    world.newest[key] = (int)world.records++;
}

static bool program_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data)
{
    uint64_t number = world.programs++;
    struct kvc_flash_page_header header;
    struct kvc_flash_record record;
    cr_assert_lt(number, (uint64_t)PROGRAMS_MAX);
    memcpy(world.data + number * PAGE_BYTES, data, PAGE_BYTES);
    memcpy(&header, data, sizeof(header));
    for (uint32_t at = header.first; kvc_flash_record_read(data, PAGE_BYTES, header.used, at, &record);
         at = record.next) {
        add_record(&record, number);
    }
    world.row_of[number] = block / CHIPS;
    world.row_end[block / CHIPS] = number + 1;
    ask(&(struct change){false, block, page, number});
    return world.inner.program_page(medium, block, page, data);
}

/* The log erases rows in the order in which it wrote them. */
static bool erase_block(struct kvc_flash_medium *medium, uint32_t block)
{
    uint64_t end = world.row_end[block / CHIPS];
    world.wraps += end > world.kept;
    world.kept = end > world.kept ? end : world.kept;
    ask(&(struct change){true, block, 0, world.programs});
    return world.inner.erase_block(medium, block);
}

/* ---- what the chips do ---- */

static void watch(void *data, const struct kvc_bluecache_step *step)
{
    (void)data;
    uint64_t in_chip = step->page / CHIPS;
    uint32_t chip = (uint32_t)(step->page % CHIPS), page = (uint32_t)(in_chip % world.load->pages_per_block);
    uint32_t block = (uint32_t)(in_chip / world.load->pages_per_block) * CHIPS + chip;
    if (step->work == KVC_BLUECACHE_READ) {
        return;
    }
    const struct change *change = &world.queue[chip].change[world.queue[chip].first++ % QUEUE];
    cr_assert(change->block == block && change->page == page &&
                  change->erase == (step->work == KVC_BLUECACHE_ERASE),
              "a chip works in the order of the log");
    if (change->erase) {
        memset(page_of(world.flash, block, 0), 0xff, world.load->pages_per_block * PAGE_BYTES);
        return;
    }
    cr_assert_lt(change->program - world.durable, 2 * world.load->chunk_pages,
                 "no more pages at a time than two write buffers hold");
    memcpy(page_of(world.flash, block, page), world.data + change->program * PAGE_BYTES, PAGE_BYTES);
    world.done[change->program] = true;
    while (world.durable < world.programs && world.done[world.durable]) {
        world.durable++;
    }
}

/* ---- cuts ---- */

/* Leaves the operations half done that chips were doing at the cut. */
static void tear(uint8_t *bytes, bool *torn_whole)
{
    uint64_t started = world.durable + 2 * world.load->chunk_pages;
    for (uint32_t chip = 0; chip < CHIPS; chip++) {
        const struct queue *queue = &world.queue[chip];
        const struct change *change = &queue->change[queue->first % QUEUE];
        if (queue->first == queue->end || change->program + !change->erase > started) {
            continue;
        }
        if (change->erase) {
            uint64_t pages = kvc_rng_below(&world.rng, world.load->pages_per_block + 1);
            memset(page_of(bytes, change->block, 0), 0xff, pages * PAGE_BYTES);
            continue;
        }
        uint64_t part =
            kvc_rng_below(&world.rng, 8) == 0 ? PAGE_BYTES : kvc_rng_below(&world.rng, PAGE_BYTES);
        const uint8_t *data = world.data + change->program * PAGE_BYTES;
        struct kvc_flash_page_header header;
        memcpy(&header, data, sizeof(header));
        memcpy(page_of(bytes, change->block, change->page), data, part);
        torn_whole[change->program - world.durable] = part >= header.used;
    }
}

/* Starts a store on the contents of flash. */
static struct kvc_bluecache_store *recover(struct kvc_flash_memory *memory)
{
    struct kvc_bluecache_store_params params =
        kvc_bluecache_store_params_of(&world.config, kvc_flash_memory_medium(memory), SEED);
    params.log_deletes = world.load->log_deletes;
    struct kvc_bluecache_store *store = kvc_bluecache_store_create(&params);
    struct kvc_bluecache_store_recovery recovery;
    struct kvc_bluecache_store_stats stats;
    cr_assert_not_null(store);
    kvc_flash_memory_scar(memory);
    kvc_bluecache_store_recover(store, &recovery);
    kvc_bluecache_store_stats(store, &stats);
    cr_assert_eq(recovery.foreign_records, 0);
    cr_assert_eq(stats.index_evicted, 0, "the index has room for all keys");
    world.voided += recovery.log.pages_dropped;
    return store;
}

/* Returns the number of the SET whose value a key has; 0: none. */
static uint64_t read_key(struct kvc_bluecache_store *store, uint64_t key, const uint8_t *bytes)
{
    static uint8_t value[8192];
    const uint8_t length = KEY_BYTES;
    const struct kvc_bluecache_keys keys = {1, bytes, KEY_BYTES, &length};
    uint32_t value_bytes;
    uint64_t begin, end;
    kvc_bluecache_store_get(store, &keys, value, sizeof(value), &value_bytes, NULL);
    if (value_bytes == KVC_BLUECACHE_MISS) {
        return 0;
    }
    cr_assert_eq(value_bytes, world.load->value_bytes);
    memcpy(&begin, value, sizeof(begin));
    memcpy(&end, value + value_bytes - sizeof(end), sizeof(end));
    cr_assert_eq(begin, end, "key %llu has parts of two values", (unsigned long long)key);
    return begin;
}

/* Checks one key. `erased`: records that begin in this row may be gone as well. */
static void check_key(struct kvc_bluecache_store *store, uint64_t key, const uint8_t *bytes, int64_t erased)
{
    uint64_t set = read_key(store, key, bytes);
    bool newer = false;
    int at = world.newest[key];
    for (; at != NONE && world.record[at].behind > world.durable; at = world.record[at].before) {
        newer = newer || (world.record[at].behind <= world.maybe && world.record[at].set == set);
    }
    uint64_t expected = at == NONE ? 0 : world.record[at].set;
    bool lost = expected != 0 &&
                (world.record[at].first < world.kept || world.row_of[world.record[at].first] == erased);
    cr_assert(set == expected || newer || (set == 0 && lost),
              "key %llu has the value of SET %llu, not of SET %llu%s", (unsigned long long)key,
              (unsigned long long)set, (unsigned long long)expected, lost ? ", or none" : "");
    world.found += set != 0 && set == expected;
    world.lost += set == 0 && expected != 0;
    world.newer += newer;
}

static void check_keys(struct kvc_bluecache_store *store, const struct kvc_batch *keys, int64_t erased)
{
    uint32_t step = (keys->count + CHECKED - 1) / CHECKED;
    for (uint32_t i = (uint32_t)kvc_rng_below(&world.rng, step); i < keys->count; i += step) {
        check_key(store, keys->key_id[i], keys->keys + (size_t)i * keys->key_stride, erased);
    }
}

/* Writes a random number of pairs of an unused key. Each chip keeps only some of the new pages, as at
 * another cut. */
static void write_and_lose(struct kvc_bluecache_store *store, struct kvc_flash_memory *memory)
{
    const uint8_t key[KEY_BYTES] = {[KEY_BYTES - 1] = 0xee}, length = KEY_BYTES;
    const struct kvc_bluecache_keys keys = {1, key, KEY_BYTES, &length};
    const uint8_t *value = world.shards.value;
    const uint32_t value_bytes = (uint32_t)world.load->value_bytes;
    uint64_t bytes;
    uint8_t *after = kvc_flash_memory_bytes(memory, &bytes);
    uint8_t *before = kvc_array_of(bytes, 1);
    memcpy(before, after, bytes);
    /* The pairs fit into a chunk and into the row that is erased for them. */
    uint64_t most = value_bytes > PAGE_BYTES ? 10 : 40;
    for (uint64_t pairs = kvc_rng_below(&world.rng, most); pairs > 0; pairs--) {
        cr_assert(kvc_bluecache_store_put(store, &keys, &value, &value_bytes));
    }
    cr_assert(kvc_bluecache_store_flush(store));
    for (uint32_t chip = 0; chip < CHIPS; chip++) {
        uint64_t left = kvc_rng_below(&world.rng, 4);
        for (uint32_t row = 0; row < world.load->rows; row++) {
            for (uint32_t page = 0; page < world.load->pages_per_block; page++) {
                uint8_t *now = page_of(after, row * CHIPS + chip, page);
                bool written = now[0] != 0xff || now[1] != 0xff || now[2] != 0xff;
                if (!written || memcmp(now, page_of(before, row * CHIPS + chip, page), PAGE_BYTES) == 0) {
                    continue;
                }
                if (left == 0) {
                    memset(now, 0xff, PAGE_BYTES);
                } else {
                    left--;
                }
            }
        }
    }
    free(before);
}

static void cut(const struct kvc_batch *keys, bool twice)
{
    bool *torn_whole = kvc_array_of(2 * world.load->chunk_pages + 1, sizeof(*torn_whole));
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&world.config.geometry);
    uint64_t bytes;
    cr_assert_not_null(memory);
    memcpy(kvc_flash_memory_bytes(memory, &bytes), world.flash, world.flash_bytes);
    memset(torn_whole, 0, 2 * world.load->chunk_pages + 1);
    tear(kvc_flash_memory_bytes(memory, &bytes), torn_whole);
    world.maybe = world.durable;
    while (world.maybe < world.programs &&
           (world.done[world.maybe] || (world.maybe - world.durable < 2 * world.load->chunk_pages &&
                                        torn_whole[world.maybe - world.durable]))) {
        world.maybe++;
    }
    struct kvc_bluecache_store *store = recover(memory);
    check_keys(store, keys, NONE);
    if (twice && world.maybe > 0) {
        write_and_lose(store, memory);
        kvc_bluecache_store_free(store);
        store = recover(memory);
        check_keys(store, keys, (world.row_of[world.maybe - 1] + 1) % (uint32_t)world.load->rows);
    }
    kvc_bluecache_store_free(store);
    kvc_flash_memory_free(memory);
    free(torn_whole);
}

/* ---- runs ---- */

static void describe(const struct load *load)
{
    flash.pages_per_block = load->pages_per_block;
    world.load = load;
    kvc_option_table_set_defaults(&kvc_bluecache_option_table, &world.options);
    world.options.index_bytes = 1 << 18;
    world.options.dram_bytes = load->dram_bytes;
    world.options.flash_bytes = (double)(CHIPS * load->pages_per_block * load->rows * PAGE_BYTES);
    world.options.chunk_pages = load->chunk_pages;
    world.options.outstanding = 64;
    world.scenario = (struct kvc_scenario){.cluster = {.nodes = 1},
                                           .options = &world.options,
                                           .config = &world.config,
                                           .node = {.sockets = 1},
                                           .workload = {.keys = load->keys,
                                                        .key_bytes = KEY_BYTES,
                                                        .value_bytes = load->value_bytes,
                                                        .get_frac = 0.3,
                                                        .set_frac = 0.6,
                                                        .delete_frac = 0.1,
                                                        .popularity = KVC_POPULARITY_ZIPF,
                                                        .zipf_s = 0.7,
                                                        .frame_requests = 1,
                                                        .arrival = KVC_ARRIVAL_SATURATE}};
    const struct kvc_device devices[] = {{&kvc_pcie_kind, &pcie},
                                         {&kvc_dram_kind, &dram},
                                         {&kvc_flash_kind, &flash},
                                         {&kvc_fabric_kind, &fabric},
                                         {&kvc_fpga_kind, &fpga}};
    memcpy(world.scenario.node.device, devices, sizeof(devices));
}

static void open_node(void)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_bluecache_resolve(&world.scenario, &world.config, &diag), KVC_OK, "%s", diag.message);
    const struct kvc_source_params source = kvc_scenario_source(&world.scenario, 1, SEED);
    world.source = kvc_source_create(&source, &diag);
    cr_assert_not_null(world.source, "%s", diag.message);
    kvc_bluecache_card_open(&world.shard.card, &world.config.geometry);
    world.flash_bytes = world.load->rows * CHIPS * world.load->pages_per_block * PAGE_BYTES;
    world.flash = kvc_array_of(world.flash_bytes, 1);
    memset(world.flash, 0xff, world.flash_bytes);
    world.data = kvc_array_of((size_t)PROGRAMS_MAX * PAGE_BYTES, 1);
    memset(world.newest, NONE, sizeof(world.newest));
    kvc_rng_init(&world.rng, SEED, "cuts", 0);
    struct kvc_bluecache_store_params params =
        kvc_bluecache_store_params_of(&world.config, &world.shard.card.medium, SEED);
    params.log_deletes = world.load->log_deletes;
    world.shard.store = kvc_bluecache_store_create(&params);
    cr_assert_not_null(world.shard.store);
    kvc_bluecache_store_format(world.shard.store);
    world.inner = world.shard.card.medium;
    world.shard.card.medium.program_page = program_page;
    world.shard.card.medium.erase_block = erase_block;
    world.shard.card.notes = true;
    world.shards.shard = &world.shard;
    world.shards.shards = 1;
    world.shards.value_room = (uint32_t)world.load->value_bytes;
    world.shards.value = kvc_array_of((size_t)KVC_BLUECACHE_RUN_MAX * world.shards.value_room, 1);
    kvc_bluecache_cluster_open(&world.cluster, &world.scenario, &world.shards, world.source, SEED);
    world.cluster.node[0].writer.watch = watch;
}

static void close_node(void)
{
    kvc_bluecache_cluster_close(&world.cluster);
    kvc_source_free(world.source);
    kvc_bluecache_store_free(world.shard.store);
    kvc_bluecache_card_close(&world.shard.card);
    free(world.shards.value);
    free(world.record);
    free(world.flash);
    free(world.data);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const struct load *load)
{
    double times_ns[CUTS];
    describe(load);
    open_node();
    struct kvc_batch *keys = kvc_batch_create((uint32_t)load->keys, KEY_BYTES);
    kvc_source_keys(world.source, 0, (uint32_t)load->keys, keys);
    for (int i = 0; i < CUTS; i++) {
        times_ns[i] = kvc_rng_unit(&world.rng) * load->run_ns;
    }
    qsort(times_ns, CUTS, sizeof(*times_ns), compare);
    for (int i = 0; i < CUTS; i++) {
        kvc_bluecache_cluster_advance(&world.cluster, times_ns[i]);
        cut(keys, i % 4 == 0);
    }
    cr_log_info("%llu programs, %llu found, %llu lost, %llu newer, %llu voided, %llu wraps",
                (unsigned long long)world.programs, (unsigned long long)world.found,
                (unsigned long long)world.lost, (unsigned long long)world.newer,
                (unsigned long long)world.voided, (unsigned long long)world.wraps);
    cr_expect_gt(world.wraps, 2 * load->rows, "the log is written over");
    cr_expect_gt(world.found, 50 * CUTS);
    cr_expect_gt(world.lost, 0);
    cr_expect_gt(world.newer, 0);
    cr_expect_gt(world.voided, 0);
    kvc_batch_free(keys);
    close_node();
}

Test(bluecache_recovery, chunks_smaller_than_a_row)
{
    run(&(struct load){0, 600, 300, 8, 10, 16, 200e6, true});
}

/* A chunk erases rows while others of it are programmed; a record has three pages. */
Test(bluecache_recovery, chunks_larger_than_a_row)
{
    run(&(struct load){0, 600, 2500, 4, 10, 48, 200e6, true});
}

/* Deletes are not logged, as in the paper: the value that was durable comes back. */
Test(bluecache_recovery, without_tombstones)
{
    run(&(struct load){0, 600, 300, 8, 10, 16, 200e6, false});
}

/* Pairs come from DRAM, the oldest of four first. */
Test(bluecache_recovery, pairs_evicted_from_dram)
{
    run(&(struct load){2 << 20, 9000, 300, 8, 10, 16, 200e6, true});
}
