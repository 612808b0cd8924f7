/* A libFuzzer target for recovering the flash log from arbitrary contents.
 *
 * The first byte of the input selects a mode, the second one varies sizes. Either the rest is the contents of
 * the medium, or a real log is written first and the rest edits it, four bytes at a time. Checksums are
 * usually made valid again, because otherwise the fuzzer would never get past them. Then the log is
 * recovered, read, used and recovered again. The target aborts if an invariant does not hold. */
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_log.h"
#include "kernels/bluecache/flash_memory.h"

enum {
    PAGE_BYTES = 512,
    ROWS = 8,
    CHIPS = 2,
    PAGES_PER_BLOCK = 2,
    PAGES = ROWS * CHIPS * PAGES_PER_BLOCK,
    VALUE_MAX = 1200,
    IMAGE_BYTES = 640,
    RECORDS_MAX = PAGES * PAGE_BYTES / KVC_FLASH_RECORD_HEADER_BYTES,
};

static const char last_key[] = "the last";

enum choice { RAW = 1, SEALED = 2, WORN = 4, PARALLEL = 8, CHECKPOINT = 16 };

/* An owner that accepts every record and notes its pointer. */
struct owner {
    struct kvc_flash_log *log;
    uint64_t pointer[RECORDS_MAX];
    uint32_t records;
    uint64_t last_pointer; /* pointer of last_key */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static uint64_t moved(void *context, const struct kvc_bluecache_move *moves, uint32_t count)
{
    struct owner *owner = context;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (moves[i].from == owner->last_pointer) {
            owner->last_pointer = moves[i].to;
            changed++;
        }
    }
    return changed;
}

static void replayed(void *context, const struct kvc_flash_record *record, uint64_t pointer)
{
    struct owner *owner = context;
    require(owner->records < RECORDS_MAX);
    require(record->key_bytes <= KVC_BLUECACHE_KEY_MAX && record->value_bytes <= KVC_BLUECACHE_VALUE_MAX);
    owner->pointer[owner->records++] = pointer;
    if (record->key_bytes == sizeof(last_key) && memcmp(record->key, last_key, sizeof(last_key)) == 0) {
        owner->last_pointer = record->kind == KVC_FLASH_RECORD_VALUE ? pointer : KVC_BLUECACHE_NOWHERE;
    }
}

static void save(void *context, uint64_t offset, void *out, uint64_t count)
{
    (void)context;
    require(offset + count <= IMAGE_BYTES);
    memset(out, (int)offset, count);
}

static void load(void *context, uint64_t offset, const void *saved, uint64_t count)
{
    const struct owner *owner = context;
    require(offset + count <= IMAGE_BYTES);
    for (uint64_t i = 0; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t)) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)saved + i, sizeof(pointer));
        (void)kvc_flash_log_kept(owner->log, pointer);
    }
}

static void open_log(struct owner *owner, struct kvc_flash_memory *memory, uint8_t choices)
{
    struct kvc_flash_log_params params = {.medium = kvc_flash_memory_medium(memory),
                                          .owner = {owner, moved, replayed, IMAGE_BYTES, save, load},
                                          .chunk_pages = 4,
                                          .value_max_bytes = VALUE_MAX,
                                          .checkpoint_rows = 1,
                                          .parallel_pages = (choices & PARALLEL) != 0 ? 3 : 0};
    owner->log = kvc_flash_log_create(&params);
    owner->records = 0;
    owner->last_pointer = KVC_BLUECACHE_NOWHERE;
    require(owner->log != NULL);
}

/* Writes a log that has wrapped around, with checkpoints. `how` varies the sizes. */
static void write_log(struct owner *owner, struct kvc_flash_memory *memory, uint8_t choices, uint8_t how)
{
    uint8_t value[VALUE_MAX] = {0};
    open_log(owner, memory, choices);
    kvc_flash_log_format(owner->log);
    for (uint32_t i = 0; i < 20u + how % 32; i++) {
        uint32_t bytes = (i * 37 + how) * (i % 5 == 0 ? 29 : 3) % VALUE_MAX;
        uint8_t key[4] = {(uint8_t)(i % 7), how, 1, 2};
        bool delete = i % 11 == 10;
        kvc_flash_log_append(owner->log, delete ? KVC_FLASH_RECORD_TOMBSTONE : KVC_FLASH_RECORD_VALUE, i, key,
                             1 + i % 4, value, delete ? 0 : bytes, NULL);
        if (i % 16 == how % 16) {
            kvc_flash_log_checkpoint(owner->log);
        }
    }
    kvc_flash_log_flush(owner->log);
    kvc_flash_log_free(owner->log);
}

static void edit(uint8_t *flash, const uint8_t *data, size_t size, bool seal)
{
    for (; size >= 4; data += 4, size -= 4) {
        uint8_t *page = flash + data[0] % PAGES * PAGE_BYTES;
        if ((data[0] & 0x80) != 0) {
            memmove(page, flash + data[3] % PAGES * PAGE_BYTES, PAGE_BYTES);
        } else {
            page[(data[1] | data[2] << 8) % PAGE_BYTES] = data[3];
            if (seal) {
                kvc_flash_page_seal(page, PAGE_BYTES);
            }
        }
    }
}

/* Returns the largest sequence number of any intact page. */
static uint64_t largest_sequence(const uint8_t *flash)
{
    uint64_t largest = 0;
    for (uint32_t p = 0; p < PAGES; p++) {
        struct kvc_flash_page_header header;
        if (kvc_flash_page_open(flash + p * PAGE_BYTES, PAGE_BYTES, KVC_FLASH_PAGE_LOG, &header) &&
            header.sequence > largest) {
            largest = header.sequence;
        }
    }
    return largest;
}

static void read_all(const struct owner *owner)
{
    static uint8_t value[KVC_BLUECACHE_VALUE_MAX];
    uint32_t bytes;
    for (uint32_t i = 0; i < owner->records; i++) {
        for (uint32_t key_bytes = 0; key_bytes < 5; key_bytes++) {
            uint8_t key[4] = {0};
            (void)kvc_flash_log_get(owner->log, owner->pointer[i], key, key_bytes, value, sizeof(value),
                                    &bytes);
        }
    }
}

/* Returns whether the last record that use() wrote is at a pointer. */
static bool has_last(const struct owner *owner, uint64_t pointer, uint8_t fill)
{
    uint8_t value[VALUE_MAX], back[VALUE_MAX];
    uint32_t bytes;
    memset(value, fill, sizeof(value));
    return kvc_flash_log_get(owner->log, pointer, last_key, sizeof(last_key), back, VALUE_MAX, &bytes) &&
           bytes == VALUE_MAX && memcmp(back, value, VALUE_MAX) == 0;
}

/* Uses a recovered log; `fill` varies how much. Returns true if everything was written. */
static bool use(struct owner *owner, uint8_t fill)
{
    uint8_t value[VALUE_MAX], back[VALUE_MAX];
    uint32_t bytes = 0;
    memset(value, fill, sizeof(value));
    for (uint32_t i = 0; i < fill % 13; i++) {
        require(
            kvc_flash_log_append(owner->log, KVC_FLASH_RECORD_VALUE, i, &i, sizeof(i), value, 100 * i, NULL));
    }
    require(kvc_flash_log_append(owner->log, KVC_FLASH_RECORD_VALUE, 1, last_key, sizeof(last_key), value,
                                 VALUE_MAX, &owner->last_pointer));
    require(kvc_flash_log_get(owner->log, owner->last_pointer, last_key, sizeof(last_key), back, VALUE_MAX,
                              &bytes));
    bool written = kvc_flash_log_flush(owner->log);
    require(written == (owner->last_pointer != KVC_BLUECACHE_NOWHERE));
    require(!written || has_last(owner, owner->last_pointer, fill));
    return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct owner owner;
    struct kvc_flash_geometry geometry = {CHIPS, 1, ROWS, PAGES_PER_BLOCK, PAGE_BYTES};
    struct kvc_flash_recovery recovery;
    uint64_t flash_bytes;
    if (size < 2) {
        return 0;
    }
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    require(memory != NULL);
    uint8_t *flash = kvc_flash_memory_bytes(memory, &flash_bytes);
    bool seal = (data[0] & SEALED) != 0;
    if ((data[0] & RAW) != 0) {
        memcpy(flash, data + 2, size - 2 < flash_bytes ? size - 2 : flash_bytes);
        for (uint32_t p = 0; p < PAGES && seal; p++) {
            kvc_flash_page_seal(flash + p * PAGE_BYTES, PAGE_BYTES);
        }
    } else {
        write_log(&owner, memory, data[0], data[1]);
        edit(flash, data + 2, size - 2, seal);
    }
    kvc_flash_memory_scar(memory);
    if ((data[0] & WORN) != 0) {
        kvc_flash_memory_wear_out(memory, data[1] % (ROWS * CHIPS));
    }
    bool plausible = largest_sequence(flash) < KVC_FLASH_SEQUENCE_END / 2;
    bool intact = (data[0] & (RAW | WORN)) == 0 && size == 2;

    open_log(&owner, memory, data[0]);
    kvc_flash_log_recover(owner.log, &recovery);
    require(recovery.pages + recovery.pages_dropped <= PAGES);
    plausible = plausible && !recovery.checkpoint;
    read_all(&owner);
    bool written = use(&owner, data[1]);
    uint64_t pointer = owner.last_pointer;
    bool covered = (data[0] & CHECKPOINT) != 0 && kvc_flash_log_checkpoint(owner.log);
    kvc_flash_log_free(owner.log);

    /* Written records are there after a restart, unless the input drove the sequence numbers to their end, as
     * a checkpoint that it edited may do. The owner keeps no image, so it knows the last record only if no
     * checkpoint covers it. */
    open_log(&owner, memory, data[0]);
    kvc_flash_log_recover(owner.log, &recovery);
    bool remains = written && (plausible || intact);
    require(!remains || covered || owner.last_pointer == pointer);
    require(!remains || has_last(&owner, pointer, data[1]));
    require(kvc_flash_memory_stats(memory)->violations == 0);
    read_all(&owner);
    kvc_flash_log_free(owner.log);
    kvc_flash_memory_free(memory);
    return 0;
}
