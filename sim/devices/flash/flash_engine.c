#include "sim/devices/flash/flash_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"
#include "sim/devices/flash/flash_drive.h"
#include "sim/devices/flash/flash_engine_internal.h"
#include "sim/devices/flash/flash_gate.h"
#include "sim/devices/flash/flash_translated.h"
#include "sim/devices/flash/flash_turns.h"

enum { PLACES = 64 };

double kvc_flash_cells_ns(const struct kvc_flash *flash, enum kvc_flash_what what)
{
    switch (what) {
    case KVC_FLASH_DO_READ:
        return flash->read_ns;
    case KVC_FLASH_DO_PROGRAM:
        return flash->program_ns;
    default:
        return flash->erase_ns;
    }
}

static void link_free(struct kvc_flash_engine *engine, uint32_t from)
{
    for (uint32_t i = from; i < engine->operation_capacity; i++) {
        engine->operation[i].next = i + 1;
    }
    engine->first_free = from;
}

void kvc_flash_engine_open(struct kvc_flash_engine *engine, const struct kvc_flash *flash,
                           struct kvc_events *events, uint16_t number)
{
    size_t chips = kvc_flash_chips(flash), channels = kvc_flash_channels(flash);
    *engine = (struct kvc_flash_engine){
        .flash = flash, .events = events, .number = number, .operation_capacity = PLACES};
    engine->chip = kvc_array_of(chips, sizeof(*engine->chip));
    engine->channel_free_ns = kvc_array_of(channels, sizeof(*engine->channel_free_ns));
    engine->operation = kvc_array_of(PLACES, sizeof(*engine->operation));
    for (size_t i = 0; i < chips; i++) {
        engine->chip[i] = (struct kvc_flash_chip){.first = KVC_FLASH_NONE, .last = KVC_FLASH_NONE};
    }
    for (size_t i = 0; i < channels; i++) {
        engine->channel_free_ns[i] = 0;
    }
    link_free(engine, 0);
    if (flash->poll_ns > 0) {
        engine->turns = kvc_flash_turns_open(flash);
    }
    if (kvc_flash_is_drive(flash)) {
        engine->drive = kvc_flash_drive_open(flash);
    }
    if (kvc_flash_limits_programs(flash)) {
        engine->gate = kvc_flash_gate_open(flash);
    }
}

void kvc_flash_engine_close(struct kvc_flash_engine *engine)
{
    free(engine->chip);
    free(engine->channel_free_ns);
    free(engine->operation);
    kvc_flash_turns_close(engine->turns);
    kvc_flash_drive_close(engine->drive);
    kvc_flash_gate_close(engine->gate);
    kvc_flash_translated_close(engine->translated);
}

static uint32_t take_place(struct kvc_flash_engine *engine)
{
    if (engine->first_free == engine->operation_capacity) {
        uint32_t taken = engine->operation_capacity;
        struct kvc_flash_operation *larger = kvc_array_of(2 * (size_t)taken, sizeof(*larger));
        memcpy(larger, engine->operation, taken * sizeof(*larger));
        free(engine->operation);
        engine->operation = larger;
        engine->operation_capacity *= 2;
        link_free(engine, taken);
    }
    uint32_t place = engine->first_free;
    engine->first_free = engine->operation[place].next;
    return place;
}

static void cross(struct kvc_flash_engine *engine, double now_ns, uint32_t place)
{
    uint32_t channel = engine->operation[place].chip / (uint32_t)engine->flash->chips;
    double crossed_ns = kvc_serve(&engine->channel_free_ns[channel], &engine->channel_busy_ns, now_ns,
                                  kvc_flash_transfer_ns(engine->flash, engine->operation[place].bytes));
    kvc_events_add(engine->events, crossed_ns, KVC_FLASH_CROSSED, engine->number, place);
}

/* Starts the operation, which is the first one of its chip. */
static void start(struct kvc_flash_engine *engine, double now_ns, uint32_t place)
{
    const struct kvc_flash *flash = engine->flash;
    const struct kvc_flash_operation *operation = &engine->operation[place];
    engine->chip[operation->chip].since_ns = now_ns;
    if (operation->what == KVC_FLASH_DO_PROGRAM) {
        cross(engine, now_ns, place);
        return;
    }
    kvc_events_add(engine->events, now_ns + kvc_flash_cells_ns(flash, operation->what), KVC_FLASH_CELLS,
                   engine->number, place);
}

void kvc_flash_chips_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    uint32_t place = take_place(engine), number = kvc_flash_chip_of(engine->flash, asked->page);
    struct kvc_flash_chip *chip = &engine->chip[number];
    engine->operation[place] =
        (struct kvc_flash_operation){KVC_FLASH_NONE, asked->tag, number, asked->what, asked->bytes};
    engine->waiting++;
    bool idle = chip->first == KVC_FLASH_NONE;
    if (idle) {
        chip->first = chip->last = place;
    } else {
        engine->operation[chip->last].next = place;
        chip->last = place;
    }
    if (idle && engine->turns != NULL) {
        kvc_flash_turns_ask(engine, now_ns, number);
    } else if (idle) {
        start(engine, now_ns, place);
    }
}

static void ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    uint64_t pages = engine->translated != NULL ? kvc_flash_translated_pages(engine->translated)
                                                : kvc_flash_pages(engine->flash);
    if (asked->page >= pages || (engine->translated == NULL && kvc_flash_translates(engine->flash))) {
        KVC_BUG("page %llu of flash with %llu", (unsigned long long)asked->page, (unsigned long long)pages);
    }
    if (engine->drive != NULL) {
        kvc_flash_drive_ask(engine, now_ns, asked);
    } else {
        kvc_flash_chips_ask(engine, now_ns, asked);
    }
}

void kvc_flash_read(struct kvc_flash_engine *engine, double now_ns, uint64_t page, double bytes, uint32_t tag)
{
    ask(engine, now_ns, &(struct kvc_flash_asked){page, bytes, tag, 0, KVC_FLASH_DO_READ});
}

void kvc_flash_program(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag)
{
    ask(engine, now_ns,
        &(struct kvc_flash_asked){page, engine->flash->page_bytes, tag, 0, KVC_FLASH_DO_PROGRAM});
}

void kvc_flash_erase(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag)
{
    ask(engine, now_ns, &(struct kvc_flash_asked){page, 0, tag, 0, KVC_FLASH_DO_ERASE});
}

/* Asks for one sector of a drive with a translation layer. */
static void ask_sector(struct kvc_flash_engine *engine, double now_ns, uint64_t sector, uint32_t tag,
                       enum kvc_flash_what what)
{
    const struct kvc_flash *flash = engine->flash;
    uint32_t slots = (uint32_t)(flash->page_bytes / flash->sector_bytes);
    ask(engine, now_ns,
        &(struct kvc_flash_asked){sector / slots, flash->sector_bytes, tag, (uint32_t)(sector % slots),
                                  what});
}

void kvc_flash_read_sector(struct kvc_flash_engine *engine, double now_ns, uint64_t sector, uint32_t tag)
{
    ask_sector(engine, now_ns, sector, tag, KVC_FLASH_DO_READ);
}

void kvc_flash_write_sector(struct kvc_flash_engine *engine, double now_ns, uint64_t sector, uint32_t tag)
{
    ask_sector(engine, now_ns, sector, tag, KVC_FLASH_DO_PROGRAM);
}

void kvc_flash_engine_translate(struct kvc_flash_engine *engine, uint64_t pages)
{
    if (kvc_flash_translates(engine->flash)) {
        engine->translated = kvc_flash_translated_open(engine->flash, pages);
    }
}

struct kvc_flash_translation *kvc_flash_engine_translation(struct kvc_flash_engine *engine, uint32_t card)
{
    return kvc_flash_translated_map(engine->translated, card);
}

struct kvc_flash_written kvc_flash_engine_written(const struct kvc_flash_engine *engine)
{
    struct kvc_flash_written written = {0};
    for (uint32_t i = 0; engine->translated != NULL && i < engine->flash->cards; i++) {
        const struct kvc_flash_translation *map = kvc_flash_translated_map(engine->translated, i);
        written.host += (double)map->written;
        written.programmed += (double)(map->written + map->moved);
    }
    return written;
}

void kvc_flash_engine_count(struct kvc_flash_engine *engine, enum kvc_flash_what what)
{
    engine->reads += what == KVC_FLASH_DO_READ;
    engine->programs += what == KVC_FLASH_DO_PROGRAM;
    engine->erases += what == KVC_FLASH_DO_ERASE;
}

uint32_t kvc_flash_engine_end(struct kvc_flash_engine *engine, double now_ns, uint32_t place)
{
    struct kvc_flash_operation *operation = &engine->operation[place];
    struct kvc_flash_chip *chip = &engine->chip[operation->chip];
    uint32_t tag = operation->tag;
    engine->chip_busy_ns += now_ns - chip->since_ns;
    engine->waiting--;
    if (engine->translated == NULL) { /* It counts what the host asked for. */
        kvc_flash_engine_count(engine, operation->what);
    }
    chip->first = operation->next;
    operation->next = engine->first_free;
    engine->first_free = place;
    return tag;
}

/* Ends the operation and starts the next one of its chip. */
static uint32_t end(struct kvc_flash_engine *engine, double now_ns, uint32_t place)
{
    uint32_t chip = engine->operation[place].chip, tag = kvc_flash_engine_end(engine, now_ns, place);
    if (engine->chip[chip].first != KVC_FLASH_NONE) {
        start(engine, now_ns, engine->chip[chip].first);
    }
    return tag;
}

bool kvc_flash_chips_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    if (engine->turns != NULL) {
        return kvc_flash_turns_handle(engine, event, tag);
    }
    uint32_t place = event->tag;
    enum kvc_flash_what what = engine->operation[place].what;
    switch (event->kind) {
    case KVC_FLASH_CELLS:
        if (what == KVC_FLASH_DO_READ) {
            cross(engine, event->time_ns, place);
            return false;
        }
        *tag = end(engine, event->time_ns, place);
        return true;
    case KVC_FLASH_CROSSED:
        if (what == KVC_FLASH_DO_PROGRAM) {
            kvc_events_add(engine->events, event->time_ns + kvc_flash_cells_ns(engine->flash, what),
                           KVC_FLASH_CELLS, engine->number, place);
            return false;
        }
        *tag = end(engine, event->time_ns, place);
        return true;
    default:
        KVC_BUG("a flash engine got an event of kind %u", event->kind);
    }
}

bool kvc_flash_engine_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    return engine->drive != NULL ? kvc_flash_drive_handle(engine, event, tag)
                                 : kvc_flash_chips_handle(engine, event, tag);
}

void kvc_flash_engine_catch_up(struct kvc_flash_engine *engine, double now_ns)
{
    if (engine->turns != NULL) {
        kvc_flash_turns_catch_up(engine, now_ns);
    }
}

struct kvc_flash_busy kvc_flash_engine_busy(const struct kvc_flash_engine *engine)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_busy busy = {.channels_ns = engine->channel_busy_ns / kvc_flash_channels(flash),
                                  .chips_ns = engine->chip_busy_ns / kvc_flash_chips(flash)};
    if (engine->drive != NULL) {
        busy.controller_ns = kvc_flash_drive_controller_ns(engine->drive) / (double)flash->cards;
        double gate_ns = engine->gate != NULL ? kvc_flash_gate_busy_ns(engine->gate) : 0;
        busy.interface_ns = fmax(kvc_flash_drive_interface_ns(engine->drive), gate_ns) / (double)flash->cards;
    }
    return busy;
}
