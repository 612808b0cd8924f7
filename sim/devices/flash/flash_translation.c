#include "sim/devices/flash/flash_translation.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

/* Least number of blocks of a chip with the host's data: with fewer, a block is too large a share of the
 * chip. */
enum { BLOCKS_MIN = 8, BLOCKS_WANTED = 48 };

enum state { FREE, OPEN, FULL, COLLECTED };

struct kvc_flash_translation_block {
    uint32_t valid; /* Valid sectors. */
    uint8_t state;
};

struct kvc_flash_translation_chip {
    uint32_t open, next_page;   /* The open block, counted over the drive, and its next page. */
    uint32_t victim, from_page; /* The block that is collected, and where to look further. */
    uint32_t free;              /* Free blocks. */
    uint32_t held;              /* Sectors that wait for a place. */
};

/* Returns the pages of a block. Blocks are at most as large as the profile's, and small enough that a chip
 * has BLOCKS_WANTED of them. Among the sizes down to half of that, it returns the one whose blocks exceed
 * `in_chip` pages by the least. */
static double block_pages(const struct kvc_flash *flash, double in_chip)
{
    double most = fmax(fmin((double)flash->pages_per_block, floor(in_chip / BLOCKS_WANTED)), 1);
    double best = most, least = INFINITY;
    for (double block = most; block >= 1 && block >= most / 2; block--) {
        double more = ceil(in_chip / block) * block - in_chip;
        best = more < least ? block : best;
        least = fmin(more, least);
    }
    return best;
}

enum kvc_status kvc_flash_translation_size_of(const struct kvc_flash *flash, uint64_t pages,
                                              struct kvc_flash_translation_size *size, struct kvc_diag *diag)
{
    double chips = (double)(flash->channels * flash->chips), slots = flash->page_bytes / flash->sector_bytes;
    double in_chip = (double)pages * (1 + flash->over_provisioning) / chips;
    double block = block_pages(flash, in_chip), blocks = ceil(in_chip / block);
    if (blocks < BLOCKS_MIN) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "flash.over_provisioning: the store uses %llu pages of a drive with %g chips, allowed: at "
            "least %.0f, for which each chip has %d blocks, or over_provisioning = \"none\"",
            (unsigned long long)pages, chips, ceil(BLOCKS_MIN * chips / (1 + flash->over_provisioning)),
            BLOCKS_MIN);
    }
    if ((blocks + 1) * block * chips * slots >= KVC_FLASH_HELD) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "flash.over_provisioning: the store uses %llu pages of a drive, allowed: fewer than 2^32 "
            "sectors with spare capacity, or over_provisioning = \"none\"",
            (unsigned long long)pages);
    }
    *size = (struct kvc_flash_translation_size){.chips = (uint32_t)chips,
                                                .blocks = (uint32_t)blocks + 1,
                                                .pages = (uint32_t)block,
                                                .slots = (uint32_t)slots,
                                                .sectors = (uint32_t)((double)pages * slots)};
    return KVC_OK;
}

enum kvc_status kvc_flash_translation_check(const struct kvc_flash *flash, uint64_t pages,
                                            struct kvc_diag *diag)
{
    struct kvc_flash_translation_size size;
    return kvc_flash_translates(flash) ? kvc_flash_translation_size_of(
                                             flash, kvc_flash_translation_in_drive(flash, pages), &size, diag)
                                       : KVC_OK;
}

double kvc_flash_translation_bytes(const struct kvc_flash *flash, uint64_t pages)
{
    double sectors = flash->page_bytes / flash->sector_bytes * (double)pages;
    double bytes = sizeof(uint32_t) * (2 + flash->over_provisioning) + sizeof(uint16_t);
    return kvc_flash_translates(flash) ? sectors * bytes : 0;
}

static uint32_t block_slots(const struct kvc_flash_translation *map)
{
    return map->size.pages * map->size.slots;
}

static uint32_t block_of(const struct kvc_flash_translation *map, uint32_t place)
{
    return place / block_slots(map);
}

uint32_t kvc_flash_translation_page_of(const struct kvc_flash_translation *map, uint32_t place)
{
    return place / map->size.slots;
}

uint32_t kvc_flash_translation_chip_of(const struct kvc_flash_translation *map, uint32_t place)
{
    return block_of(map, place) / map->size.blocks;
}

uint32_t kvc_flash_translation_valid(const struct kvc_flash_translation *map, uint32_t block)
{
    return map->block[block].valid;
}

static void fill_array(uint32_t *array, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        array[i] = value;
    }
}

/* Opens the first free block of a chip, which has one. */
static void open_block(struct kvc_flash_translation *map, uint32_t number)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    uint32_t block = number * map->size.blocks, end = block + map->size.blocks;
    while (block < end && map->block[block].state != FREE) {
        block++;
    }
    if (block == end) {
        KVC_BUG("chip %u of a drive has no free block", number);
    }
    map->block[block].state = OPEN;
    chip->open = block;
    chip->next_page = 0;
    chip->free--;
}

void kvc_flash_translation_open(struct kvc_flash_translation *map,
                                const struct kvc_flash_translation_size *size)
{
    size_t blocks = (size_t)size->chips * size->blocks, places = blocks * size->pages * size->slots;
    *map = (struct kvc_flash_translation){.size = *size};
    map->place = kvc_array_of(size->sectors, sizeof(*map->place));
    map->owner = kvc_array_of(places, sizeof(*map->owner));
    map->block = kvc_array_of(blocks, sizeof(*map->block));
    map->chip = kvc_array_of(size->chips, sizeof(*map->chip));
    map->held = kvc_array_of((size_t)size->chips * 2 * size->slots, sizeof(*map->held));
    fill_array(map->place, size->sectors, KVC_FLASH_UNWRITTEN);
    fill_array(map->owner, places, KVC_FLASH_UNWRITTEN);
    for (uint32_t i = 0; i < size->chips; i++) {
        map->chip[i].free = size->blocks;
        open_block(map, i);
    }
}

void kvc_flash_translation_close(struct kvc_flash_translation *map)
{
    free(map->place);
    free(map->owner);
    free(map->block);
    free(map->chip);
    free(map->held);
}

static bool open_is_written(const struct kvc_flash_translation *map, uint32_t chip)
{
    return map->chip[chip].next_page == map->size.pages;
}

bool kvc_flash_translation_is_full(const struct kvc_flash_translation *map, uint32_t chip)
{
    return open_is_written(map, chip) && map->chip[chip].free <= 1;
}

void kvc_flash_translation_trim(struct kvc_flash_translation *map, uint32_t sector)
{
    uint32_t place = map->place[sector];
    if (place < KVC_FLASH_HELD) {
        map->owner[place] = KVC_FLASH_UNWRITTEN;
        map->block[block_of(map, place)].valid--;
    }
    map->place[sector] = KVC_FLASH_UNWRITTEN;
}

/* Closes the block that a chip has written, unless garbage collection already has. */
static void close_block(struct kvc_flash_translation *map, uint32_t chip)
{
    struct kvc_flash_translation_block *block = &map->block[map->chip[chip].open];
    block->state = block->state == OPEN ? FULL : block->state;
}

/* Writes the next page of a chip. */
static void write_page(struct kvc_flash_translation *map, uint32_t number, const uint32_t *sector,
                       uint32_t count)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    if (open_is_written(map, number)) {
        close_block(map, number);
        open_block(map, number);
    }
    uint32_t place = chip->open * block_slots(map) + chip->next_page++ * map->size.slots;
    for (uint32_t i = 0; i < count; i++, place++) {
        kvc_flash_translation_trim(map, sector[i]);
        map->place[sector[i]] = place;
        map->owner[place] = sector[i];
        map->block[chip->open].valid++;
    }
}

void kvc_flash_translation_write(struct kvc_flash_translation *map, uint32_t chip, const uint32_t *sector,
                                 uint32_t count)
{
    if (kvc_flash_translation_is_full(map, chip)) {
        KVC_BUG("the host writes to chip %u, which is full", chip);
    }
    write_page(map, chip, sector, count);
    map->written += count;
}

bool kvc_flash_translation_collect(struct kvc_flash_translation *map, uint32_t number)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    uint32_t first = number * map->size.blocks, best = UINT32_MAX, fewest = block_slots(map);
    if (open_is_written(map, number)) {
        close_block(map, number); /* The closed block may be the one to collect. */
    }
    for (uint32_t block = first; block < first + map->size.blocks; block++) {
        if (map->block[block].state == FULL && map->block[block].valid < fewest) {
            fewest = map->block[block].valid;
            best = block;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    map->block[best].state = COLLECTED;
    chip->victim = best;
    chip->from_page = 0;
    return true;
}

uint32_t kvc_flash_translation_take(struct kvc_flash_translation *map, uint32_t number)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    uint32_t *held = map->held + (size_t)number * 2 * map->size.slots, taken = 0;
    for (; taken == 0 && chip->from_page < map->size.pages; chip->from_page++) {
        uint32_t place = chip->victim * block_slots(map) + chip->from_page * map->size.slots;
        for (uint32_t i = 0; i < map->size.slots; i++, place++) {
            uint32_t sector = map->owner[place];
            if (sector != KVC_FLASH_UNWRITTEN) {
                kvc_flash_translation_trim(map, sector);
                map->place[sector] = KVC_FLASH_HELD;
                held[chip->held++] = sector;
                taken++;
            }
        }
    }
    return taken;
}

bool kvc_flash_translation_settle(struct kvc_flash_translation *map, uint32_t number)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    uint32_t *held = map->held + (size_t)number * 2 * map->size.slots, slots = map->size.slots, kept = 0;
    for (uint32_t i = 0; i < chip->held; i++) {
        if (map->place[held[i]] == KVC_FLASH_HELD) { /* The host has not written the sector again. */
            held[kept++] = held[i];
        }
    }
    chip->held = kept;
    if (kept < slots) {
        return false;
    }
    write_page(map, number, held, slots);
    map->moved += slots;
    chip->held -= slots;
    for (uint32_t i = 0; i < chip->held; i++) {
        held[i] = held[slots + i];
    }
    return true;
}

void kvc_flash_translation_erase(struct kvc_flash_translation *map, uint32_t number)
{
    struct kvc_flash_translation_chip *chip = &map->chip[number];
    map->block[chip->victim].state = FREE;
    chip->free++;
    map->erases++;
}

/* Makes room on a chip. Returns false if all of it is valid. */
static bool make_room(struct kvc_flash_translation *map, uint32_t chip)
{
    while (kvc_flash_translation_is_full(map, chip)) {
        if (!kvc_flash_translation_collect(map, chip)) {
            return false;
        }
        do {
            while (kvc_flash_translation_settle(map, chip)) {
                ;
            }
        } while (kvc_flash_translation_take(map, chip) > 0);
        kvc_flash_translation_erase(map, chip);
    }
    return true;
}

/* Writes a page to the next chip that has room. */
static void write_somewhere(struct kvc_flash_translation *map, const uint32_t *sector, uint32_t count)
{
    uint32_t tries = 0;
    while (!make_room(map, map->turn)) {
        map->turn = (map->turn + 1) % map->size.chips;
        if (++tries > map->size.chips) {
            KVC_BUG("all chips of a drive are full");
        }
    }
    kvc_flash_translation_write(map, map->turn, sector, count);
    map->turn = (map->turn + 1) % map->size.chips;
}

/* Writes `count` sectors in order, or at random if there is a stream. */
static void write_all(struct kvc_flash_translation *map, uint64_t count, struct kvc_rng *rng)
{
    uint32_t *sector = kvc_array_of(map->size.slots, sizeof(*sector)), filled = 0;
    for (uint64_t i = 0; i < count; i++) {
        sector[filled++] = (uint32_t)(rng != NULL ? kvc_rng_below(rng, map->size.sectors) : i);
        if (filled == map->size.slots || i + 1 == count) {
            write_somewhere(map, sector, filled);
            filled = 0;
        }
    }
    free(sector);
}

void kvc_flash_translation_fill(struct kvc_flash_translation *map)
{
    write_all(map, map->size.sectors, NULL);
}

void kvc_flash_translation_scatter(struct kvc_flash_translation *map, uint64_t count, struct kvc_rng *rng)
{
    write_all(map, count, rng);
}
