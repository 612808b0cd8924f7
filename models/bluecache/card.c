#include "models/bluecache/card.h"

#include <stdlib.h>

#include "kernels/bluecache/flash_memory.h"
#include "sim/base/array.h"

void kvc_bluecache_card_note(struct kvc_bluecache_card *card, enum kvc_bluecache_work work, uint64_t page)
{
    if (card->steps == card->room) {
        card->room = card->room > 0 ? 2 * card->room : 256;
        card->step = kvc_array_grown(card->step, card->room, sizeof(*card->step));
    }
    card->step[card->steps++] = (struct kvc_bluecache_step){.page = page, .work = (uint8_t)work};
}

static void note(struct kvc_bluecache_card *card, enum kvc_bluecache_work work, uint32_t block, uint32_t page)
{
    const struct kvc_flash_geometry *geometry = &card->medium.geometry;
    uint64_t chips = (uint64_t)geometry->buses * geometry->chips_per_bus;
    if (card->notes) {
        uint64_t in_chip = block / chips * geometry->pages_per_block + page;
        kvc_bluecache_card_note(card, work, in_chip * chips + block % chips);
    }
}

static struct kvc_flash_medium *inner(struct kvc_bluecache_card *card)
{
    return kvc_flash_memory_medium(card->memory);
}

static bool read_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, void *data)
{
    struct kvc_bluecache_card *card = (struct kvc_bluecache_card *)medium; /* the first member */
    note(card, KVC_BLUECACHE_READ, block, page);
    return inner(card)->read_page(inner(card), block, page, data);
}

static const void *borrow_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page)
{
    struct kvc_bluecache_card *card = (struct kvc_bluecache_card *)medium;
    note(card, KVC_BLUECACHE_READ, block, page);
    return inner(card)->borrow_page(inner(card), block, page);
}

static bool program_page(struct kvc_flash_medium *medium, uint32_t block, uint32_t page, const void *data)
{
    struct kvc_bluecache_card *card = (struct kvc_bluecache_card *)medium;
    note(card, KVC_BLUECACHE_PROGRAM, block, page);
    return inner(card)->program_page(inner(card), block, page, data);
}

static bool erase_block(struct kvc_flash_medium *medium, uint32_t block)
{
    struct kvc_bluecache_card *card = (struct kvc_bluecache_card *)medium;
    note(card, KVC_BLUECACHE_ERASE, block, 0);
    return inner(card)->erase_block(inner(card), block);
}

bool kvc_bluecache_card_open(struct kvc_bluecache_card *card, const struct kvc_flash_geometry *geometry)
{
    *card = (struct kvc_bluecache_card){.medium = {.geometry = *geometry,
                                                   .read_page = read_page,
                                                   .borrow_page = borrow_page,
                                                   .program_page = program_page,
                                                   .erase_block = erase_block}};
    card->memory = kvc_flash_memory_create(geometry);
    return card->memory != NULL;
}

void kvc_bluecache_card_close(struct kvc_bluecache_card *card)
{
    kvc_flash_memory_free(card->memory);
    free(card->step);
}
