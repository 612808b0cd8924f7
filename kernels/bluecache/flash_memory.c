#include "kernels/bluecache/flash_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pages.h"

static const uint8_t erased_byte = 0xff;

struct block {
    uint32_t next_page; /* first page that may be programmed */
    uint32_t stored;    /* pages whose bytes are stored; later ones are erased */
    bool worn;
    uint64_t erases;
};

struct kvc_flash_memory {
    struct kvc_flash_medium medium; /* first member, because its functions receive its address */
    uint8_t *bytes;
    uint8_t *erased; /* bytes of an erased page */
    uint64_t total_bytes;
    struct block *blocks;
    uint32_t block_count;
    bool off;
    bool cut; /* a power cut is planned */
    uint64_t cut_after;
    uint32_t torn_bytes;
    struct kvc_flash_memory_stats stats;
};

static uint8_t *page_at(const struct kvc_flash_memory *memory, uint32_t block, uint32_t page)
{
    const struct kvc_flash_geometry *geometry = &memory->medium.geometry;
    return memory->bytes + ((uint64_t)block * geometry->pages_per_block + page) * geometry->page_bytes;
}

static bool exists(struct kvc_flash_memory *memory, uint32_t block, uint32_t page)
{
    bool there = block < memory->block_count && page < memory->medium.geometry.pages_per_block;
    memory->stats.violations += !there;
    return there;
}

/* Stores the bytes of the erased pages before this one. */
static void store_erased(struct kvc_flash_memory *memory, uint32_t block, uint32_t before)
{
    uint32_t *stored = &memory->blocks[block].stored;
    if (*stored < before) {
        uint64_t bytes = (uint64_t)(before - *stored) * memory->medium.geometry.page_bytes;
        memset(page_at(memory, block, *stored), erased_byte, bytes);
        *stored = before;
    }
}

/* True if the planned power cut happens during this write. */
static bool cut_now(struct kvc_flash_memory *memory)
{
    if (!memory->cut || memory->cut_after-- > 0) {
        return false;
    }
    memory->cut = false;
    memory->off = true;
    return true;
}

static bool fail(struct kvc_flash_memory *memory)
{
    memory->stats.failures++;
    return false;
}

static const void *borrow_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page)
{
    struct kvc_flash_memory *memory = (struct kvc_flash_memory *)medium;
    if (!exists(memory, block, page)) {
        return NULL;
    }
    if (memory->off) {
        fail(memory);
        return NULL;
    }
    memory->stats.reads++;
    return page < memory->blocks[block].stored ? page_at(memory, block, page) : memory->erased;
}

static bool read_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data)
{
    const void *bytes = borrow_page(medium, block, page);
    if (bytes != NULL) {
        memcpy(data, bytes, medium->geometry.page_bytes);
    }
    return bytes != NULL;
}

static bool program_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data)
{
    struct kvc_flash_memory *memory = (struct kvc_flash_memory *)medium;
    if (!exists(memory, block, page)) {
        return false;
    }
    if (page < memory->blocks[block].next_page) {
        memory->stats.violations++;
        return false;
    }
    if (memory->off) {
        return fail(memory);
    }
    memory->blocks[block].next_page = page + 1;
    uint32_t bytes = medium->geometry.page_bytes;
    bool cut = cut_now(memory);
    store_erased(memory, block, page);
    if (cut || memory->blocks[block].worn) {
        store_erased(memory, block, page + 1);
        uint32_t failing = block % 2 == 0 ? bytes / 2 : bytes;
        uint32_t torn = !cut ? failing : memory->torn_bytes < bytes ? memory->torn_bytes : bytes;
        memcpy(page_at(memory, block, page), data, torn);
        return fail(memory);
    }
    memcpy(page_at(memory, block, page), data, bytes);
    memory->blocks[block].stored = page + 1;
    memory->stats.programs++;
    return true;
}

static bool erase_block(struct kvc_flash_medium *medium, uint32_t block)
{
    struct kvc_flash_memory *memory = (struct kvc_flash_memory *)medium;
    if (!exists(memory, block, 0)) {
        return false;
    }
    if (memory->off || memory->blocks[block].worn) {
        return fail(memory);
    }
    struct block *erased = &memory->blocks[block];
    uint32_t pages = medium->geometry.pages_per_block;
    bool cut = cut_now(memory);
    if (cut && memory->torn_bytes < pages) {
        uint32_t torn = memory->torn_bytes < erased->stored ? memory->torn_bytes : erased->stored;
        memset(page_at(memory, block, 0), erased_byte, (uint64_t)torn * medium->geometry.page_bytes);
        erased->next_page = pages;
    } else {
        erased->next_page = erased->stored = 0;
    }
    if (cut) {
        return fail(memory);
    }
    erased->erases++;
    memory->stats.erases++;
    return true;
}

void kvc_flash_memory_free(struct kvc_flash_memory *memory)
{
    if (memory != NULL) {
        kvc_pages_free(memory->bytes, memory->total_bytes);
        free(memory->erased);
        free(memory->blocks);
        free(memory);
    }
}

struct kvc_flash_memory *kvc_flash_memory_create(const struct kvc_flash_geometry *geometry)
{
    uint64_t chips = (uint64_t)geometry->buses * geometry->chips_per_bus;
    if (chips == 0 || chips > INT32_MAX || geometry->blocks_per_chip == 0 || geometry->pages_per_block == 0 ||
        geometry->page_bytes == 0 || chips * geometry->blocks_per_chip > INT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    struct kvc_flash_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) {
        return NULL;
    }
    uint64_t page_count = chips * geometry->blocks_per_chip * geometry->pages_per_block;
    memory->medium = (struct kvc_flash_medium){*geometry, read_page, borrow_page, program_page, erase_block};
    memory->block_count = (uint32_t)(chips * geometry->blocks_per_chip);
    memory->blocks = calloc(memory->block_count, sizeof(*memory->blocks));
    memory->erased = malloc(geometry->page_bytes);
    if (page_count <= UINT64_MAX / geometry->page_bytes) {
        memory->total_bytes = page_count * geometry->page_bytes;
        memory->bytes = kvc_pages_alloc_sparse(memory->total_bytes);
    }
    if (memory->blocks == NULL || memory->erased == NULL || memory->bytes == NULL) {
        kvc_flash_memory_free(memory);
        errno = ENOMEM;
        return NULL;
    }
    memset(memory->erased, erased_byte, geometry->page_bytes);
    return memory;
}

struct kvc_flash_medium *kvc_flash_memory_medium(struct kvc_flash_memory *memory)
{
    return &memory->medium;
}

uint8_t *kvc_flash_memory_bytes(struct kvc_flash_memory *memory, uint64_t *bytes)
{
    for (uint32_t b = 0; b < memory->block_count; b++) {
        store_erased(memory, b, memory->medium.geometry.pages_per_block);
    }
    *bytes = memory->total_bytes;
    return memory->bytes;
}

void kvc_flash_memory_scar(struct kvc_flash_memory *memory)
{
    for (uint32_t b = 0; b < memory->block_count; b++) {
        memory->blocks[b].next_page = memory->medium.geometry.pages_per_block;
    }
}

void kvc_flash_memory_wear_out(struct kvc_flash_memory *memory, uint32_t block)
{
    memory->blocks[block].worn = true;
}

void kvc_flash_memory_cut_power(struct kvc_flash_memory *memory, uint64_t after, uint32_t torn_bytes)
{
    memory->cut = true;
    memory->cut_after = after;
    memory->torn_bytes = torn_bytes;
}

void kvc_flash_memory_power_on(struct kvc_flash_memory *memory)
{
    memory->off = false;
    memory->cut = false;
}

uint64_t kvc_flash_memory_erases(const struct kvc_flash_memory *memory, uint32_t block)
{
    return memory->blocks[block].erases;
}

const struct kvc_flash_memory_stats *kvc_flash_memory_stats(const struct kvc_flash_memory *memory)
{
    return &memory->stats;
}
