#include "sim/devices/flash/flash_drive.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/serve.h"
#include "sim/devices/flash/flash_gate.h"
#include "sim/devices/flash/flash_translated.h"

/* The servers of one drive. */
struct card {
    double controller_free_ns, in_free_ns, out_free_ns;
};

struct kvc_flash_drive {
    struct card *card;
    struct kvc_flash_asked *operation; /* Places of those in the drives, also those on chips. */
    uint32_t *free_place;
    uint32_t room, free_places;
    double controller_busy_ns, in_busy_ns, out_busy_ns; /* Summed over the cards. */
};

struct kvc_flash_drive *kvc_flash_drive_open(const struct kvc_flash *flash)
{
    struct kvc_flash_drive *drive = kvc_array_of(1, sizeof(*drive));
    *drive = (struct kvc_flash_drive){.card = kvc_array_of(flash->cards, sizeof(*drive->card))};
    for (uint64_t i = 0; i < flash->cards; i++) {
        drive->card[i] = (struct card){0};
    }
    return drive;
}

void kvc_flash_drive_close(struct kvc_flash_drive *drive)
{
    if (drive != NULL) {
        free(drive->card);
        free(drive->operation);
        free(drive->free_place);
        free(drive);
    }
}

static uint32_t take_place(struct kvc_flash_drive *drive)
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

void kvc_flash_drive_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_drive *drive = engine->drive;
    struct card *card = card_of(engine, asked);
    uint32_t place = take_place(drive);
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

/* Lets all leave that the translation layer is done with. */
static void leave_all(struct kvc_flash_engine *engine, double now_ns)
{
    uint32_t place;
    while (kvc_flash_translated_done(engine->translated, &place)) {
        kvc_flash_engine_count(engine, engine->drive->operation[place].what);
        leave(engine, now_ns, place);
    }
}

bool kvc_flash_drive_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
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
        kvc_flash_gate_handle(engine, event);
    } else if (event->kind == KVC_FLASH_LEFT) {
        *tag = drive->operation[place].tag;
        drive->free_place[drive->free_places++] = place;
        return true;
    } else if (kvc_flash_chips_handle(engine, event, &place)) {
        if (engine->translated != NULL) {
            kvc_flash_translated_ended(engine, event->time_ns, place);
            leave_all(engine, event->time_ns);
        } else {
            leave(engine, event->time_ns, place);
        }
    }
    return false;
}

double kvc_flash_drive_controller_ns(const struct kvc_flash_drive *drive)
{
    return drive->controller_busy_ns;
}

double kvc_flash_drive_interface_ns(const struct kvc_flash_drive *drive)
{
    return fmax(drive->in_busy_ns, drive->out_busy_ns);
}
