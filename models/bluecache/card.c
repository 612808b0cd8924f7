#include "models/bluecache/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void kvc_bluecache_card_open(struct kvc_bluecache_card *card, const struct kvc_flash_geometry *geometry)
{
    *card = (struct kvc_bluecache_card){.medium = {.geometry = *geometry,
                                                   .read_page = read_page,
                                                   .borrow_page = borrow_page,
                                                   .program_page = program_page,
                                                   .erase_block = erase_block}};
    card->memory = kvc_flash_memory_create(geometry);
    if (card->memory == NULL) {
        kvc_out_of_memory("the flash of a card: %s", strerror(errno));
    }
}

void kvc_bluecache_card_close(struct kvc_bluecache_card *card)
{
    kvc_flash_memory_free(card->memory);
    free(card->step);
}

/* ---- writer ---- */

enum { FIRST_ROOM = 256 };

struct kvc_bluecache_writer_entry {
    struct kvc_bluecache_step step;
    uint64_t program; /* Number of the program if the step is one. */
    bool done;
};

void kvc_bluecache_writer_open(struct kvc_bluecache_writer *writer, struct kvc_flash_engine *flash,
                               uint32_t chunk_pages)
{
    *writer = (struct kvc_bluecache_writer){
        .flash = flash, .room = FIRST_ROOM, .parallel = kvc_bluecache_writer_parallel(chunk_pages)};
    writer->entry = kvc_array_of(writer->room, sizeof(*writer->entry));
}

void kvc_bluecache_writer_close(struct kvc_bluecache_writer *writer)
{
    free(writer->entry);
}

static struct kvc_bluecache_writer_entry *entry_of(const struct kvc_bluecache_writer *writer, uint64_t number)
{
    return &writer->entry[number & (writer->room - 1)];
}

static void add(struct kvc_bluecache_writer *writer, const struct kvc_bluecache_step *step)
{
    if (writer->end - writer->first == writer->room) {
        struct kvc_bluecache_writer old = *writer;
        writer->room = 2 * old.room;
        writer->entry = kvc_array_of(writer->room, sizeof(*writer->entry));
        for (uint64_t i = old.first; i < old.end; i++) {
            *entry_of(writer, i) = *entry_of(&old, i);
        }
        free(old.entry);
    }
    *entry_of(writer, writer->end++) = (struct kvc_bluecache_writer_entry){*step, writer->programs, false};
    writer->programs += step->work == KVC_BLUECACHE_PROGRAM;
}

/* Moves on to the first program that is not done. */
static void find_unwritten(struct kvc_bluecache_writer *writer)
{
    while (writer->unwritten < writer->end) {
        const struct kvc_bluecache_writer_entry *entry = entry_of(writer, writer->unwritten);
        if (entry->step.work == KVC_BLUECACHE_PROGRAM && !entry->done) {
            return;
        }
        writer->unwritten++;
    }
}

/* Gives the chips all steps that need not wait. */
static void start(struct kvc_bluecache_writer *writer, double now_ns)
{
    find_unwritten(writer);
    for (; writer->started < writer->end; writer->started++) {
        const struct kvc_bluecache_writer_entry *entry = entry_of(writer, writer->started);
        uint32_t tag = KVC_BLUECACHE_WRITER_TAG | (uint32_t)writer->started;
        switch ((enum kvc_bluecache_work)entry->step.work) {
        case KVC_BLUECACHE_READ:
            kvc_flash_read(writer->flash, now_ns, entry->step.page, writer->flash->flash->page_bytes, tag);
            break;
        case KVC_BLUECACHE_ERASE:
            kvc_flash_erase(writer->flash, now_ns, entry->step.page, tag);
            break;
        case KVC_BLUECACHE_PROGRAM:
            if (entry->program - entry_of(writer, writer->unwritten)->program >= writer->parallel) {
                return;
            }
            kvc_flash_program(writer->flash, now_ns, entry->step.page, tag);
            break;
        }
    }
}

void kvc_bluecache_writer_ask(struct kvc_bluecache_writer *writer, double now_ns,
                              const struct kvc_bluecache_step *step, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        add(writer, &step[i]);
    }
    start(writer, now_ns);
}

void kvc_bluecache_writer_ended(struct kvc_bluecache_writer *writer, double now_ns, uint32_t tag)
{
    struct kvc_bluecache_writer_entry *entry = entry_of(writer, tag);
    entry->done = true;
    if (writer->watch != NULL) {
        writer->watch(writer->watch_data, &entry->step);
    }
    find_unwritten(writer);
    while (writer->first < writer->started && entry_of(writer, writer->first)->done) {
        writer->first++;
    }
    start(writer, now_ns);
}
