/* Fuzz target for restarting a store from a damaged flash, with the index that a checkpoint holds.
 *
 * A store writes pairs and a checkpoint. The input edits them, four bytes at a time, as its third byte says;
 * checksums are made valid again, because otherwise the edits would never get past them. So a checkpoint may
 * claim anything about the index. Then another store recovers and runs the operations of the rest of the
 * input, one byte each. A get returns the value that was put last or nothing. Values from before the recovery
 * may be lost or changed, but no value is longer than the longest one allowed. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_memory.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
    PAGE_BYTES = 512,
    ROWS = 14,
    CHIPS = 2,
    PAGES_PER_BLOCK = 2,
    PAGES = ROWS * CHIPS * PAGES_PER_BLOCK,
    INDEX_BYTES = 512,
    SLAB_BYTES = 4096,
    VALUE_MAX = 700,
    KEYS = 16,
    HEAD_BYTES = 4, /* Modes, variety, number of edits, worn block. */
    EDIT_BYTES = 4,
};

/* Modes, bits of the first byte. */
enum { DRAM = 1, SEALED = 2, WORN = 4, LOG_DELETES = 8, PARALLEL = 16 };

/* Expected state of each key since the recovery: the version that was put last, 0 if it was deleted. */
struct expected {
    bool known[KEYS];
    uint8_t version[KEYS];
};

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static struct kvc_bluecache_store *open_store(struct kvc_flash_memory *memory, uint8_t modes)
{
    struct kvc_bluecache_store_params params = {
        .index_bytes = INDEX_BYTES,
        .dram_bytes = (modes & DRAM) != 0 ? 2 * SLAB_BYTES : 0,
        .medium = kvc_flash_memory_medium(memory),
        .chunk_pages = 4,
        .value_max_bytes = VALUE_MAX,
        .checkpoint_rows = 1,
        .parallel_pages = (modes & PARALLEL) != 0 ? 2 : 0,
        .log_deletes = (modes & LOG_DELETES) != 0,
        .seed = 1,
        .slab_bytes = SLAB_BYTES,
    };
    struct kvc_bluecache_store *store = kvc_bluecache_store_create(&params);
    check(store != NULL);
    return store;
}

static struct kvc_bluecache_keys key_of(const uint8_t *key)
{
    static const uint8_t bytes = 1;
    return (struct kvc_bluecache_keys){1, key, 1, &bytes};
}

static uint32_t value_of(uint8_t key, uint8_t version, uint8_t *value)
{
    memset(value, version ^ key, VALUE_MAX);
    return 1 + (version * 53 + key * 97) % VALUE_MAX;
}

static void put(struct kvc_bluecache_store *store, uint8_t key, uint8_t version)
{
    uint8_t value[VALUE_MAX];
    const uint8_t *const values[] = {value};
    uint32_t bytes = value_of(key, version, value);
    struct kvc_bluecache_keys keys = key_of(&key);
    check(kvc_bluecache_store_put(store, &keys, values, &bytes));
}

static void get(struct kvc_bluecache_store *store, uint8_t key, const struct expected *expected)
{
    uint8_t value[VALUE_MAX], right[VALUE_MAX];
    uint32_t bytes;
    struct kvc_bluecache_keys keys = key_of(&key);
    kvc_bluecache_store_get(store, &keys, value, sizeof(value), &bytes, NULL);
    if (bytes == KVC_BLUECACHE_MISS) {
        return;
    }
    check(bytes <= KVC_BLUECACHE_VALUE_MAX);
    if (expected->known[key]) {
        uint8_t version = expected->version[key];
        check(version != 0 && bytes == value_of(key, version, right) && memcmp(value, right, bytes) == 0);
    }
}

static void erase(struct kvc_bluecache_store *store, uint8_t key)
{
    struct kvc_bluecache_keys keys = key_of(&key);
    check(kvc_bluecache_store_delete(store, &keys, NULL));
}

static void write_store(struct kvc_flash_memory *memory, uint8_t modes, uint8_t variety)
{
    struct kvc_bluecache_store *store = open_store(memory, modes);
    kvc_bluecache_store_format(store);
    for (uint32_t i = 0; i < 12u + variety % 32; i++) {
        put(store, (uint8_t)((i * 5 + variety) % KEYS), (uint8_t)(i + 1));
        if (i % 16 == variety % 16) {
            kvc_bluecache_store_checkpoint(store);
        }
    }
    kvc_bluecache_store_flush(store);
    kvc_bluecache_store_free(store);
}

static void edit(uint8_t *flash, const uint8_t *data, size_t edits, bool seal)
{
    for (; edits > 0; edits--, data += EDIT_BYTES) {
        uint8_t *page = flash + data[0] % PAGES * PAGE_BYTES;
        page[(data[1] | data[2] << 8) % PAGE_BYTES] = data[3];
        if (seal) {
            kvc_flash_page_seal(page, PAGE_BYTES);
        }
    }
}

/* The upper four bits of a byte choose the operation, the lower ones the key. */
static void use(struct kvc_bluecache_store *store, const uint8_t *data, size_t bytes)
{
    struct expected expected = {.version = {0}};
    uint8_t version = 0;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t key = data[i] % KEYS, operation = data[i] / KEYS;
        if (operation < 7) {
            version = version < UINT8_MAX ? version + 1 : 1;
            put(store, key, version);
            expected.known[key] = true;
            expected.version[key] = version;
        } else if (operation < 12) {
            get(store, key, &expected);
        } else if (operation == 12) {
            erase(store, key);
            expected.known[key] = true;
            expected.version[key] = 0;
        } else if (operation == 13) {
            kvc_bluecache_store_flush(store);
        } else if (operation == 14) {
            kvc_bluecache_store_checkpoint(store);
        }
    }
    for (uint8_t key = 0; key < KEYS; key++) {
        get(store, key, &expected);
    }
}

static void restart(struct kvc_flash_memory *memory, uint8_t modes, const uint8_t *data, size_t bytes)
{
    struct kvc_bluecache_store_recovery recovery;
    struct kvc_bluecache_store *store = open_store(memory, modes);
    kvc_bluecache_store_recover(store, &recovery);
    check(recovery.log.pages + recovery.log.pages_dropped <= PAGES);
    check(kvc_bluecache_store_used(store) <= INDEX_BYTES / KVC_BLUECACHE_BUCKET_BYTES * KVC_BLUECACHE_WAYS);
    use(store, data, bytes);
    kvc_bluecache_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct kvc_flash_geometry geometry = {CHIPS, 1, ROWS, PAGES_PER_BLOCK, PAGE_BYTES};
    uint64_t flash_bytes;
    if (bytes < HEAD_BYTES) {
        return 0;
    }
    uint8_t modes = data[0];
    size_t edits = data[2], most = (bytes - HEAD_BYTES) / EDIT_BYTES;
    edits = edits < most ? edits : most;
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&geometry);
    check(memory != NULL);
    write_store(memory, modes, data[1]);
    edit(kvc_flash_memory_bytes(memory, &flash_bytes), data + HEAD_BYTES, edits, (modes & SEALED) != 0);
    kvc_flash_memory_scar(memory);
    if ((modes & WORN) != 0) {
        kvc_flash_memory_wear_out(memory, data[3] % (ROWS * CHIPS));
    }
    size_t used = HEAD_BYTES + edits * EDIT_BYTES;
    restart(memory, modes, data + used, bytes - used);
    restart(memory, modes, NULL, 0);
    check(kvc_flash_memory_stats(memory)->violations == 0);
    kvc_flash_memory_free(memory);
    return 0;
}
