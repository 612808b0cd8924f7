#include "sim/devices/flash/flash_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/ring.h"
#include "sim/base/serve.h"
#include "sim/devices/flash/flash_engine_internal.h"

/* ---- chips and channels ---- */

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

void kvc_flash_engine_count(struct kvc_flash_engine *engine, enum kvc_flash_what what)
{
    engine->reads += what == KVC_FLASH_DO_READ;
    engine->programs += what == KVC_FLASH_DO_PROGRAM;
    engine->erases += what == KVC_FLASH_DO_ERASE;
}

uint32_t kvc_flash_engine_end(struct kvc_flash_engine *engine, uint32_t place)
{
    struct kvc_flash_operation *operation = &engine->operation[place];
    struct kvc_flash_chip *chip = &engine->chip[operation->chip];
    uint32_t tag = operation->tag;
    engine->chip_busy_ns += kvc_flash_cells_ns(engine->flash, operation->what);
    if (operation->what != KVC_FLASH_DO_ERASE) {
        engine->chip_busy_ns += kvc_flash_transfer_ns(engine->flash, operation->bytes);
    }
    engine->waiting--;
    if (engine->translated == NULL) { /* The translation layer counts the host's operations itself. */
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
    uint32_t chip = engine->operation[place].chip, tag = kvc_flash_engine_end(engine, place);
    if (engine->chip[chip].first != KVC_FLASH_NONE) {
        start(engine, now_ns, engine->chip[chip].first);
    }
    return tag;
}

/* Handles an event of chips and channels, as kvc_flash_engine_handle() does. */
static bool handle_on_chips(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
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

/* ---- what all chips of a drive may program together ----
 *
 * Programs pass one after another, each for the time of its bytes at the drive's rate, and then go to their
 * chips; the other operations go there at once. What limits the rate, power or parity, is not modelled:
 * drives of one series that write sequentially at the same rate with 32 chips and with 256 have such a limit.
 */

struct kvc_flash_gate {
    double *free_ns; /* For each drive, when its gate is free. */
    double busy_ns;  /* Summed over the drives. */
    struct kvc_flash_asked *waiting;
    uint32_t room;
    struct kvc_ring free_place;
};

/* Returns the gates of all drives. */
static struct kvc_flash_gate *open_gates(const struct kvc_flash *flash)
{
    struct kvc_flash_gate *gate = kvc_array_of(1, sizeof(*gate));
    gate->free_ns = kvc_array_of(flash->cards, sizeof(*gate->free_ns));
    return gate;
}

/* Frees the gates. NULL is allowed. */
static void close_gates(struct kvc_flash_gate *gate)
{
    if (gate != NULL) {
        kvc_ring_free(&gate->free_place);
        free(gate->free_ns);
        free(gate->waiting);
        free(gate);
    }
}

static uint32_t take_gate_place(struct kvc_flash_gate *gate)
{
    if (gate->free_place.count == 0) {
        uint32_t room = gate->room > 0 ? 2 * gate->room : 64;
        gate->waiting = kvc_array_grown(gate->waiting, room, sizeof(*gate->waiting));
        for (; gate->room < room; gate->room++) {
            kvc_ring_push(&gate->free_place, gate->room, 0);
        }
    }
    return (uint32_t)kvc_ring_pop(&gate->free_place).value;
}

void kvc_flash_gate_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_gate *gate = engine->gate;
    if (gate == NULL || asked->what != KVC_FLASH_DO_PROGRAM) {
        kvc_flash_chips_ask(engine, now_ns, asked);
        return;
    }
    uint32_t card = kvc_flash_channel_of(flash, asked->page) / (uint32_t)flash->channels;
    double takes_ns = asked->bytes / flash->program_bytes_per_s * 1e9;
    double passed_ns = kvc_serve(&gate->free_ns[card], &gate->busy_ns, now_ns, takes_ns);
    uint32_t place = take_gate_place(gate);
    gate->waiting[place] = *asked;
    kvc_events_add(engine->events, passed_ns - takes_ns, KVC_FLASH_PASSED, engine->number, place);
}

/* Handles an event of kind KVC_FLASH_PASSED. */
static void pass_gate(struct kvc_flash_engine *engine, const struct kvc_event *event)
{
    const struct kvc_flash_asked asked = engine->gate->waiting[event->tag];
    kvc_ring_push(&engine->gate->free_place, event->tag, 0);
    kvc_flash_chips_ask(engine, event->time_ns, &asked);
}

/* Returns for how long the gates were busy, summed over the drives [ns]. */
static double gate_busy_ns(const struct kvc_flash_gate *gate)
{
    return gate->busy_ns;
}

/* ---- controllers and interfaces of drives, between the host and the chips ----
 *
 * The controller of a drive takes one operation after another, each for the same time. What is programmed
 * then crosses the interface before it reaches its chip, and what was read crosses it afterwards, the other
 * way. At the end, every operation waits for the further latency of driver, interface and controller, which
 * occupies nothing. An interface of several lanes is one server here.
 *
 * Source: NVM Express Base Specification, one queue of submissions that the controller fetches from; the
 * times come from the drive's data sheet. A translation layer, if there is one, stands between these and the
 * chips (flash_translated.c). */

/* The servers of one drive. */
struct card {
    double controller_free_ns, in_free_ns, out_free_ns;
};

struct kvc_flash_drive {
    struct card *card;
    struct kvc_flash_asked *operation; /* Places of the operations in the drives, including those on chips. */
    uint32_t *free_place;
    uint32_t room, free_places;
    double controller_busy_ns, in_busy_ns, out_busy_ns; /* Summed over the cards. */
};

/* Returns the drives of all cards. */
static struct kvc_flash_drive *open_drives(const struct kvc_flash *flash)
{
    struct kvc_flash_drive *drive = kvc_array_of(1, sizeof(*drive));
    *drive = (struct kvc_flash_drive){.card = kvc_array_of(flash->cards, sizeof(*drive->card))};
    for (uint64_t i = 0; i < flash->cards; i++) {
        drive->card[i] = (struct card){0};
    }
    return drive;
}

/* Frees the drives. NULL is allowed. */
static void close_drives(struct kvc_flash_drive *drive)
{
    if (drive != NULL) {
        free(drive->card);
        free(drive->operation);
        free(drive->free_place);
        free(drive);
    }
}

static uint32_t take_drive_place(struct kvc_flash_drive *drive)
{
    if (drive->free_places == 0) {
        uint32_t room = drive->room > 0 ? 2 * drive->room : 64;
        drive->operation = kvc_array_grown(drive->operation, room, sizeof(*drive->operation));
        drive->free_place = kvc_array_grown(drive->free_place, room, sizeof(*drive->free_place));
        while (drive->room < room) {
            drive->free_place[drive->free_places++] = drive->room++;
        }
    }
    return drive->free_place[--drive->free_places];
}

static struct card *card_of(const struct kvc_flash_engine *engine, const struct kvc_flash_asked *operation)
{
    uint32_t channel = kvc_flash_channel_of(engine->flash, operation->page);
    return &engine->drive->card[channel / (uint32_t)engine->flash->channels];
}

/* Takes an operation. Its tag comes back when it has left the drive. */
static void ask_drive(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_drive *drive = engine->drive;
    struct card *card = card_of(engine, asked);
    uint32_t place = take_drive_place(drive);
    drive->operation[place] = *asked;
    double at_ns =
        kvc_serve(&card->controller_free_ns, &drive->controller_busy_ns, now_ns, flash->operation_ns);
    if (asked->what == KVC_FLASH_DO_PROGRAM) {
        at_ns = kvc_serve(&card->in_free_ns, &drive->in_busy_ns, at_ns,
                          kvc_flash_interface_ns(flash, asked->bytes));
    }
    kvc_events_add(engine->events, at_ns, KVC_FLASH_ADMITTED, engine->number, place);
}

/* A chip has done its part: what was read crosses the interface. */
static void leave(struct kvc_flash_engine *engine, double now_ns, uint32_t place)
{
    struct kvc_flash_drive *drive = engine->drive;
    const struct kvc_flash_asked *operation = &drive->operation[place];
    double at_ns = now_ns;
    if (operation->what == KVC_FLASH_DO_READ) {
        at_ns = kvc_serve(&card_of(engine, operation)->out_free_ns, &drive->out_busy_ns, now_ns,
                          kvc_flash_interface_ns(engine->flash, operation->bytes));
    }
    kvc_events_add(engine->events, at_ns + engine->flash->access_ns, KVC_FLASH_LEFT, engine->number, place);
}

/* Lets the operations leave that the translation layer has done. */
static void leave_all(struct kvc_flash_engine *engine, double now_ns)
{
    uint32_t place;
    while (kvc_flash_translated_done(engine->translated, &place)) {
        kvc_flash_engine_count(engine, engine->drive->operation[place].what);
        leave(engine, now_ns, place);
    }
}

/* Handles an event of the engine, as kvc_flash_engine_handle() does. */
static bool handle_in_drive(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    struct kvc_flash_drive *drive = engine->drive;
    uint32_t place = event->tag;
    if (event->kind == KVC_FLASH_ADMITTED) {
        struct kvc_flash_asked inner = drive->operation[place];
        inner.tag = place;
        if (engine->translated != NULL) {
            kvc_flash_translated_ask(engine, event->time_ns, &inner);
            leave_all(engine, event->time_ns);
        } else {
            kvc_flash_gate_ask(engine, event->time_ns, &inner);
        }
    } else if (event->kind == KVC_FLASH_PASSED) {
        pass_gate(engine, event);
    } else if (event->kind == KVC_FLASH_LEFT) {
        *tag = drive->operation[place].tag;
        drive->free_place[drive->free_places++] = place;
        return true;
    } else if (handle_on_chips(engine, event, &place)) {
        if (engine->translated != NULL) {
            kvc_flash_translated_ended(engine, event->time_ns, place);
            leave_all(engine, event->time_ns);
        } else {
            leave(engine, event->time_ns, place);
        }
    }
    return false;
}

/* These return the busy times of controllers, and of interfaces in their busier direction, summed over the
 * cards [ns]. */
static double controller_busy_ns(const struct kvc_flash_drive *drive)
{
    return drive->controller_busy_ns;
}

static double interface_busy_ns(const struct kvc_flash_drive *drive)
{
    return fmax(drive->in_busy_ns, drive->out_busy_ns);
}

/* ---- the engine ---- */

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
        engine->drive = open_drives(flash);
    }
    if (kvc_flash_limits_programs(flash)) {
        engine->gate = open_gates(flash);
    }
}

void kvc_flash_engine_close(struct kvc_flash_engine *engine)
{
    free(engine->chip);
    free(engine->channel_free_ns);
    free(engine->operation);
    kvc_flash_turns_close(engine->turns);
    close_drives(engine->drive);
    close_gates(engine->gate);
    kvc_flash_translated_close(engine->translated);
}

static void ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    uint64_t pages = engine->translated != NULL ? kvc_flash_translated_pages(engine->translated)
                                                : kvc_flash_pages(engine->flash);
    if (asked->page >= pages || (engine->translated == NULL && kvc_flash_translates(engine->flash))) {
        KVC_BUG("page %llu of flash with %llu", (unsigned long long)asked->page, (unsigned long long)pages);
    }
    if (engine->drive != NULL) {
        ask_drive(engine, now_ns, asked);
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

bool kvc_flash_engine_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    return engine->drive != NULL ? handle_in_drive(engine, event, tag) : handle_on_chips(engine, event, tag);
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
        busy.controller_ns = controller_busy_ns(engine->drive) / (double)flash->cards;
        double gate_ns = engine->gate != NULL ? gate_busy_ns(engine->gate) : 0;
        busy.interface_ns = fmax(interface_busy_ns(engine->drive), gate_ns) / (double)flash->cards;
    }
    return busy;
}
