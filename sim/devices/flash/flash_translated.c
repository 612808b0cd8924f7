/* Drives with a translation layer, between controller and chips.
 *
 * A write is done when its sectors are in the write buffer, which keeps them if power fails. If they do not
 * fit, it waits. As soon as the buffer has a page of sectors, the next chip that is not writing takes it;
 * they leave the buffer when the page is programmed. A chip that is full collects garbage first: it reads the
 * valid sectors of a block page by page, programs a page whenever it has enough of them, and erases the
 * block, one operation after another. Reads of the host wait for a chip like all its operations, so that a
 * read waits for one of these operations, not for the whole collection. Sectors that are in the drive's
 * memory are read there, and those that were never written are known to be zero.
 *
 * If the layer is smaller than the drive and its blocks are, too, a chip erases a block each time it has
 * emptied the number of pages of a real block, so that erases have the real length and frequency.
 *
 * Not modelled: collection while the drive is idle, a buffer that joins writes of the same sector, sectors
 * that are moved without crossing the channel, and the time of map look-ups beyond the controller's time. */
#include "sim/devices/flash/flash_engine_internal.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/ring.h"

/* Bit that marks tags of operations for the buffer and for garbage collection; the other bits are the chip.
 */
#define OWN_TAG (UINT32_C(1) << 31)

/* Activity of a chip for the buffer or for garbage collection. */
enum doing { RESTS, WRITES, COLLECTS };

struct chip {
    enum doing doing;
    uint32_t writing;     /* Sectors on their way from the buffer to the chip. */
    uint64_t empty_pages; /* Pages that were collected since the last erase. */
};

struct drive {
    struct kvc_flash_translation map;
    uint16_t *buffered;      /* For each sector, how often it is in the buffer. */
    uint32_t used, room;     /* Sectors of the buffer. */
    struct kvc_ring waiting; /* Writes that do not fit: first sector, and the operation's tag. */
    struct kvc_ring ready;   /* Sectors in the buffer that no chip has taken. */
    struct kvc_ring resting; /* Chips that may write next. */
    struct chip *chip;
    uint32_t *writing; /* For each chip, the sectors on their way to it. */
};

struct kvc_flash_translated {
    const struct kvc_flash *flash;
    struct drive *drive;
    uint64_t pages;
    uint32_t slots, chips; /* Sectors of a page; chips of a drive. */
    uint32_t *waits,
        *left; /* For each tag, the sectors of a write, or the pages that a read still waits for. */
    uint32_t tags;
    struct kvc_ring done;
};

static void open_drive(struct kvc_flash_translated *translated, struct drive *drive,
                       const struct kvc_flash_translation_size *size)
{
    const struct kvc_flash *flash = translated->flash;
    kvc_flash_translation_open(&drive->map, size);
    kvc_flash_translation_fill(&drive->map);
    drive->map.written = drive->map.moved = drive->map.erases =
        0; /* Only operations of the host from now on count. */
    drive->buffered = kvc_array_of(size->sectors, sizeof(*drive->buffered));
    drive->room = flash->buffer_bytes > 0 ? (uint32_t)(flash->buffer_bytes / flash->sector_bytes)
                                          : 2 * size->chips * size->slots;
    drive->chip = kvc_array_of(size->chips, sizeof(*drive->chip));
    drive->writing = kvc_array_of((size_t)size->chips * size->slots, sizeof(*drive->writing));
    for (uint32_t i = 0; i < size->chips; i++) {
        kvc_ring_push(&drive->resting, i, 0);
    }
}

struct kvc_flash_translated *kvc_flash_translated_open(const struct kvc_flash *flash, uint64_t pages)
{
    struct kvc_flash_translated *translated = kvc_array_of(1, sizeof(*translated));
    struct kvc_flash_translation_size size;
    struct kvc_diag diag = {0};
    uint64_t in_drive = kvc_flash_translation_in_drive(flash, pages);
    if (kvc_flash_translation_size_of(flash, in_drive, &size, &diag) != KVC_OK) {
        KVC_BUG("%s", diag.message);
    }
    *translated = (struct kvc_flash_translated){
        .flash = flash, .pages = in_drive * flash->cards, .slots = size.slots, .chips = size.chips};
    translated->drive = kvc_array_of(flash->cards, sizeof(*translated->drive));
    for (uint64_t i = 0; i < flash->cards; i++) {
        open_drive(translated, &translated->drive[i], &size);
    }
    return translated;
}

void kvc_flash_translated_close(struct kvc_flash_translated *translated)
{
    if (translated == NULL) {
        return;
    }
    for (uint64_t i = 0; i < translated->flash->cards; i++) {
        struct drive *drive = &translated->drive[i];
        kvc_flash_translation_close(&drive->map);
        kvc_ring_free(&drive->waiting);
        kvc_ring_free(&drive->ready);
        kvc_ring_free(&drive->resting);
        free(drive->buffered);
        free(drive->chip);
        free(drive->writing);
    }
    kvc_ring_free(&translated->done);
    free(translated->waits);
    free(translated->left);
    free(translated->drive);
    free(translated);
}

uint64_t kvc_flash_translated_pages(const struct kvc_flash_translated *translated)
{
    return translated->pages;
}

struct kvc_flash_translation *kvc_flash_translated_map(struct kvc_flash_translated *translated, uint32_t card)
{
    return &translated->drive[card].map;
}

bool kvc_flash_translated_done(struct kvc_flash_translated *translated, uint32_t *tag)
{
    if (translated->done.count == 0) {
        return false;
    }
    *tag = kvc_ring_pop(&translated->done).tag;
    return true;
}

/* Gives a chip of a drive an operation. Consecutive pages lie on consecutive cards and then on consecutive
 * chips of the layer. */
static void ask_chip(struct kvc_flash_engine *engine, double now_ns, const struct drive *drive, uint32_t chip,
                     const struct kvc_flash_asked *operation)
{
    uint64_t card = (uint64_t)(drive - engine->translated->drive);
    struct kvc_flash_asked asked = *operation;
    asked.page = card + engine->flash->cards * chip;
    kvc_flash_gate_ask(engine, now_ns, &asked);
}

static uint32_t own_tag(const struct kvc_flash_engine *engine, const struct drive *drive, uint32_t chip)
{
    uint32_t card = (uint32_t)(drive - engine->translated->drive);
    return OWN_TAG | (card * engine->translated->chips + chip);
}

/* Does the next step of garbage collection on a chip. Returns false if the chip has room now, or none to
 * gain. */
static bool collect(struct kvc_flash_engine *engine, double now_ns, struct drive *drive, uint32_t number)
{
    const struct kvc_flash *flash = engine->flash;
    struct chip *chip = &drive->chip[number];
    struct kvc_flash_asked step = {.tag = own_tag(engine, drive, number)};
    if (chip->doing != COLLECTS && !kvc_flash_translation_collect(&drive->map, number)) {
        return false;
    }
    for (;;) {
        uint32_t taken;
        chip->doing = COLLECTS;
        if (kvc_flash_translation_settle(&drive->map, number)) {
            step.what = KVC_FLASH_DO_PROGRAM;
            step.bytes = flash->page_bytes;
            break;
        }
        taken = kvc_flash_translation_take(&drive->map, number);
        if (taken > 0) {
            step.what = KVC_FLASH_DO_READ;
            step.bytes = taken * flash->sector_bytes;
            break;
        }
        kvc_flash_translation_erase(&drive->map, number);
        chip->doing = RESTS;
        chip->empty_pages += drive->map.size.pages;
        if (chip->empty_pages >= flash->pages_per_block) {
            chip->empty_pages -= flash->pages_per_block;
            step.what = KVC_FLASH_DO_ERASE;
            break;
        }
        if (!kvc_flash_translation_is_full(&drive->map, number) ||
            !kvc_flash_translation_collect(&drive->map, number)) {
            return false;
        }
    }
    ask_chip(engine, now_ns, drive, number, &step);
    return true;
}

/* Gives a page of the buffer to a chip that has room. */
static void program(struct kvc_flash_engine *engine, double now_ns, struct drive *drive, uint32_t number)
{
    uint32_t slots = engine->translated->slots, *sector = drive->writing + (size_t)number * slots;
    for (uint32_t i = 0; i < slots; i++) {
        sector[i] = (uint32_t)kvc_ring_pop(&drive->ready).value;
    }
    kvc_flash_translation_write(&drive->map, number, sector, slots);
    drive->chip[number].doing = WRITES;
    drive->chip[number].writing = slots;
    ask_chip(engine, now_ns, drive, number,
             &(struct kvc_flash_asked){.bytes = engine->flash->page_bytes,
                                       .tag = own_tag(engine, drive, number),
                                       .what = KVC_FLASH_DO_PROGRAM});
}

/* Hands pages of the buffer to chips that rest. */
static void write_out(struct kvc_flash_engine *engine, double now_ns, struct drive *drive)
{
    uint32_t slots = engine->translated->slots;
    for (uint32_t tries = drive->resting.count; tries > 0 && drive->ready.count >= slots; tries--) {
        uint32_t chip = (uint32_t)kvc_ring_pop(&drive->resting).value;
        bool full = kvc_flash_translation_is_full(&drive->map, chip);
        if (full && collect(engine, now_ns, drive, chip)) {
            continue;
        }
        if (kvc_flash_translation_is_full(&drive->map, chip)) {
            kvc_ring_push(&drive->resting, chip, 0); /* All of it is valid. */
        } else {
            program(engine, now_ns, drive, chip);
        }
    }
}

/* Takes writes that wait into the buffer while they fit. */
static void take_waiting(struct kvc_flash_engine *engine, double now_ns, struct drive *drive)
{
    struct kvc_flash_translated *translated = engine->translated;
    while (drive->waiting.count > 0) {
        const struct kvc_ring_entry *write = kvc_ring_first(&drive->waiting);
        uint32_t count = translated->waits[write->tag];
        if (drive->used + count > drive->room) {
            break;
        }
        for (uint32_t i = 0; i < count; i++) {
            drive->buffered[write->value + i]++;
            kvc_ring_push(&drive->ready, write->value + i, 0);
        }
        drive->used += count;
        kvc_ring_push(&translated->done, 0, write->tag);
        kvc_ring_pop(&drive->waiting);
    }
    write_out(engine, now_ns, drive);
}

/* Asks the chips for the pages on which sectors lie; those in memory need none. */
static void read(struct kvc_flash_engine *engine, double now_ns, struct drive *drive, uint32_t first,
                 uint32_t count, uint32_t tag)
{
    struct kvc_flash_translated *translated = engine->translated;
    const struct kvc_flash_translation *map = &drive->map;
    translated->left[tag] = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t place = map->place[first + i], sectors = 1;
        if (drive->buffered[first + i] > 0 || place >= KVC_FLASH_HELD) {
            i++;
            continue;
        }
        uint32_t page = kvc_flash_translation_page_of(map, place);
        for (; i + sectors < count; sectors++) {
            uint32_t next = map->place[first + i + sectors];
            if (drive->buffered[first + i + sectors] > 0 || next >= KVC_FLASH_HELD ||
                kvc_flash_translation_page_of(map, next) != page) {
                break;
            }
        }
        translated->left[tag]++;
        ask_chip(engine, now_ns, drive, kvc_flash_translation_chip_of(map, place),
                 &(struct kvc_flash_asked){
                     .bytes = sectors * engine->flash->sector_bytes, .tag = tag, .what = KVC_FLASH_DO_READ});
        i += sectors;
    }
    if (translated->left[tag] == 0) {
        kvc_ring_push(&translated->done, 0, tag);
    }
}

/* Forgets the pages of the block in which `page` lies; the host counts the pages of one chip. */
static void trim(struct kvc_flash_engine *engine, uint64_t page, uint32_t tag)
{
    struct kvc_flash_translated *translated = engine->translated;
    uint64_t stride = kvc_flash_chips(engine->flash), block = stride * engine->flash->pages_per_block;
    uint64_t first = page / block * block + page % stride;
    for (uint64_t i = first; i < first + block && i < translated->pages; i += stride) {
        struct drive *drive = &translated->drive[i % engine->flash->cards];
        for (uint32_t j = 0; j < translated->slots; j++) {
            kvc_flash_translation_trim(&drive->map,
                                       (uint32_t)(i / engine->flash->cards * translated->slots + j));
        }
    }
    kvc_ring_push(&translated->done, 0, tag);
}

/* Makes room for what is known of operations up to a tag. */
static void know_tag(struct kvc_flash_translated *translated, uint32_t tag)
{
    if (tag >= translated->tags) {
        translated->tags = 2 * (tag + 32);
        translated->waits = kvc_array_grown(translated->waits, translated->tags, sizeof(*translated->waits));
        translated->left = kvc_array_grown(translated->left, translated->tags, sizeof(*translated->left));
    }
}

void kvc_flash_translated_ask(struct kvc_flash_engine *engine, double now_ns,
                              const struct kvc_flash_asked *asked)
{
    struct kvc_flash_translated *translated = engine->translated;
    const struct kvc_flash *flash = engine->flash;
    struct drive *drive = &translated->drive[asked->page % flash->cards];
    uint32_t first = (uint32_t)(asked->page / flash->cards * translated->slots + asked->sector);
    uint32_t count = (uint32_t)((asked->bytes + flash->sector_bytes - 1) / flash->sector_bytes);
    know_tag(translated, asked->tag);
    switch (asked->what) {
    case KVC_FLASH_DO_READ:
        read(engine, now_ns, drive, first, count, asked->tag);
        break;
    case KVC_FLASH_DO_PROGRAM:
        translated->waits[asked->tag] = count;
        kvc_ring_push(&drive->waiting, first, asked->tag);
        take_waiting(engine, now_ns, drive);
        break;
    default:
        trim(engine, asked->page, asked->tag);
        break;
    }
}

/* Goes on with a chip that has done a step of its own. */
static void go_on(struct kvc_flash_engine *engine, double now_ns, struct drive *drive, uint32_t number)
{
    struct chip *chip = &drive->chip[number];
    uint32_t *sector = drive->writing + (size_t)number * engine->translated->slots;
    if (chip->doing == WRITES) {
        for (uint32_t i = 0; i < chip->writing; i++) {
            drive->buffered[sector[i]]--;
        }
        drive->used -= chip->writing;
        chip->doing = RESTS;
    } else if (chip->doing == COLLECTS && collect(engine, now_ns, drive, number)) {
        return;
    }
    kvc_ring_push(&drive->resting, number, 0);
    take_waiting(engine, now_ns, drive);
}

void kvc_flash_translated_ended(struct kvc_flash_engine *engine, double now_ns, uint32_t tag)
{
    struct kvc_flash_translated *translated = engine->translated;
    if ((tag & OWN_TAG) != 0) {
        uint32_t chip = tag & ~OWN_TAG;
        go_on(engine, now_ns, &translated->drive[chip / translated->chips], chip % translated->chips);
    } else if (--translated->left[tag] == 0) {
        kvc_ring_push(&translated->done, 0, tag);
    }
}
