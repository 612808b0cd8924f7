/* Cuts the power of a medium that programs several pages at a time, again and again. */
#include "kernels/bluecache/flash_log.h"

#include <criterion/criterion.h>
#include <string.h>

#include "kernels/bluecache/flash_memory.h"
#include "kernels/random_fixture.h"

enum {
    CHIPS = 4,
    ROWS = 7,
    BLOCK_PAGES = 3,
    PAGE_BYTES = 512,
    BLOCK_BYTES = BLOCK_PAGES * PAGE_BYTES,
    PARALLEL = 20,
    KEYS = 48,
    ROUNDS = 30000,
    CHANGES_MAX = 1000,
};

/* A change of the medium since the log was recovered, and the block before it. */
struct change {
    uint32_t block;
    bool erase;
    uint64_t program; /* Its number, or that of the next one. */
    uint8_t before[BLOCK_BYTES];
};

/* A record that was written since then. */
struct written {
    uint32_t key, version, row;
    uint64_t behind; /* The program behind its last page. */
    bool erased;
};

/* What must be on flash: the version of a key; `erased`: or none. */
struct expected {
    uint32_t version, row;
    bool erased;
};

static struct parallel {
    struct kvc_flash_medium medium; /* What the log sees; the first member. */
    struct kvc_flash_memory *memory;
    struct kvc_flash_log *log;
    uint64_t pointer[KEYS]; /* The index. */
    struct expected expected[KEYS];
    struct change change[CHANGES_MAX];
    struct written written[CHANGES_MAX];
    uint32_t changes, records;
    uint64_t programs;
    uint32_t version;
} parallel;

static uint8_t *block_of(uint32_t block)
{
    uint64_t bytes;
    return kvc_flash_memory_bytes(parallel.memory, &bytes) + (size_t)block * BLOCK_BYTES;
}

static struct kvc_flash_medium *inner(void)
{
    return kvc_flash_memory_medium(parallel.memory);
}

static void note(uint32_t block, bool erase)
{
    cr_assert_lt(parallel.changes, (uint32_t)CHANGES_MAX);
    struct change *change = &parallel.change[parallel.changes++];
    *change = (struct change){.block = block, .erase = erase, .program = parallel.programs};
    memcpy(change->before, block_of(block), BLOCK_BYTES);
}

static bool read_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data)
{
    (void)medium;
    return inner()->read_page(inner(), block, page, data);
}

static bool program_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data)
{
    (void)medium;
    struct kvc_flash_page_header header;
    struct kvc_flash_record record;
    note(block, false);
    memcpy(&header, data, sizeof(header));
    for (uint32_t at = header.first; kvc_flash_record_read(data, PAGE_BYTES, header.used, at, &record);
         at = record.next) {
        struct written *written = &parallel.written[parallel.records++];
        *written = (struct written){
            .key = record.key[0], .row = block / CHIPS, .behind = parallel.programs + record.pages};
        memcpy(&written->version, record.key + record.key_bytes, sizeof(written->version));
    }
    parallel.programs++;
    return inner()->program_page(inner(), block, page, data);
}

static bool erase_block(struct kvc_flash_medium *medium, uint32_t block)
{
    (void)medium;
    note(block, true);
    for (uint32_t key = 0; key < KEYS; key++) {
        parallel.expected[key].erased |= parallel.expected[key].row == block / CHIPS;
    }
    for (uint32_t i = 0; i < parallel.records; i++) {
        parallel.written[i].erased |= parallel.written[i].row == block / CHIPS;
    }
    return inner()->erase_block(inner(), block);
}

static uint64_t moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    (void)context;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parallel.pointer[moves[i].position] == moves[i].from) {
            parallel.pointer[moves[i].position] = moves[i].to;
            changed++;
        }
    }
    return changed;
}

static void replayed(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    (void)context;
    parallel.pointer[record->back] = pointer;
}

static void start(void)
{
    const struct kvc_flash_log_params params = {.medium = &parallel.medium,
                                                .owner = {.moved = moved, .replayed = replayed},
                                                .chunk_pages = PARALLEL / 2,
                                                .value_max_bytes = 1200,
                                                .parallel_pages = PARALLEL,
                                                .buffer_pointer = 1 << 20};
    parallel.log = kvc_flash_log_create(&params);
    cr_assert_not_null(parallel.log);
    for (uint32_t key = 0; key < KEYS; key++) {
        parallel.pointer[key] = KVC_BLUECACHE_NOWHERE;
    }
}

static void write_some(void)
{
    uint8_t value[1200] = {0};
    for (uint64_t records = random_word() % 150; records > 0; records--) {
        uint32_t bytes = random_word() % 16 == 0 ? 1200 : 4 + (uint32_t)(random_word() % 150);
        uint8_t key = (uint8_t)(random_word() % KEYS);
        uint64_t pointer;
        parallel.version++;
        memcpy(value, &parallel.version, sizeof(parallel.version));
        cr_assert(
            kvc_flash_log_append(parallel.log, KVC_FLASH_RECORD_VALUE, key, &key, 1, value, bytes, &pointer));
        parallel.pointer[key] = pointer;
    }
    if (random_word() % 2 == 0) {
        cr_assert(kvc_flash_log_flush(parallel.log));
    }
}

/* Takes back what the chips have not done at a cut: each has worked in the order of the log, and up to
 * PARALLEL pages are missing. Returns the number of pages that are on flash with all pages before them. */
static uint64_t cut(void)
{
    uint64_t window = random_word() % 3 == 0 ? 0 : PARALLEL;
    uint64_t settled = parallel.programs > window ? parallel.programs - window : 0, end[CHIPS];
    uint64_t durable = parallel.programs;
    for (uint32_t chip = 0; chip < CHIPS; chip++) {
        end[chip] = settled + random_word() % (parallel.programs - settled + 1);
    }
    for (uint32_t i = parallel.changes; i-- > 0;) {
        const struct change *change = &parallel.change[i];
        if (change->program >= end[change->block % CHIPS]) {
            memcpy(block_of(change->block), change->before, BLOCK_BYTES);
            durable = change->erase ? durable : change->program;
        }
    }
    kvc_flash_memory_scar(parallel.memory);
    return durable;
}

static void expect(uint64_t durable)
{
    for (uint32_t i = 0; i < parallel.records; i++) {
        const struct written *written = &parallel.written[i];
        if (written->behind <= durable) {
            parallel.expected[written->key] =
                (struct expected){written->version, written->row, written->erased};
        }
    }
    parallel.changes = parallel.records = 0;
    parallel.programs = 0;
}

/* Returns how many keys have their values. */
static uint32_t check(int round)
{
    uint32_t kept = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        const struct expected *expected = &parallel.expected[key];
        uint32_t version = 0, bytes;
        const uint8_t name = (uint8_t)key;
        if (parallel.pointer[key] != KVC_BLUECACHE_NOWHERE) {
            bool found = kvc_flash_log_get(parallel.log, parallel.pointer[key], &name, 1, &version,
                                           sizeof(version), &bytes);
            cr_assert(found, "cut %d: the index has key %u, the log has not", round, key);
        }
        cr_assert(version == expected->version || (version == 0 && expected->erased),
                  "cut %d: key %u has version %u; %u was durable%s", round, key, version, expected->version,
                  expected->erased ? ", then reclaimed" : "");
        kept += version != 0;
        if (version == 0) {
            parallel.expected[key] = (struct expected){0};
        }
    }
    return kept;
}

Test(flash_log, power_cuts_while_several_pages_are_programmed)
{
    const struct kvc_flash_geometry geometry = {2, CHIPS / 2, ROWS, BLOCK_PAGES, PAGE_BYTES};
    uint64_t kept = 0, dropped = 0;
    parallel.medium = (struct kvc_flash_medium){.geometry = geometry,
                                                .read_page = read_page,
                                                .program_page = program_page,
                                                .erase_block = erase_block};
    parallel.memory = kvc_flash_memory_create(&geometry);
    start();
    kvc_flash_log_format(parallel.log);
    for (int round = 0; round < ROUNDS; round++) {
        struct kvc_flash_recovery recovery;
        write_some();
        kvc_flash_log_free(parallel.log);
        expect(cut());
        start();
        kvc_flash_log_recover(parallel.log, &recovery);
        kept += check(round);
        dropped += recovery.pages_dropped;
    }
    cr_expect_gt(kept, (uint64_t)ROUNDS * KEYS / 10);
    cr_expect_gt(dropped, (uint64_t)ROUNDS);
    kvc_flash_log_free(parallel.log);
    kvc_flash_memory_free(parallel.memory);
}
