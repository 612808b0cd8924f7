#include "sim/devices/flash/flash_gate.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/ring.h"
#include "sim/base/serve.h"

struct kvc_flash_gate {
    double *free_ns; /* For each drive, when its gate is free. */
    double busy_ns;  /* Summed over the drives. */
    struct kvc_flash_asked *waiting;
    uint32_t room;
    struct kvc_ring free_place;
};

struct kvc_flash_gate *kvc_flash_gate_open(const struct kvc_flash *flash)
{
    struct kvc_flash_gate *gate = kvc_array_of(1, sizeof(*gate));
    gate->free_ns = kvc_array_of(flash->cards, sizeof(*gate->free_ns));
    return gate;
}

void kvc_flash_gate_close(struct kvc_flash_gate *gate)
{
    if (gate != NULL) {
        kvc_ring_free(&gate->free_place);
        free(gate->free_ns);
        free(gate->waiting);
        free(gate);
    }
}

static uint32_t take_place(struct kvc_flash_gate *gate)
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
    uint32_t place = take_place(gate);
    gate->waiting[place] = *asked;
    kvc_events_add(engine->events, passed_ns - takes_ns, KVC_FLASH_PASSED, engine->number, place);
}

void kvc_flash_gate_handle(struct kvc_flash_engine *engine, const struct kvc_event *event)
{
    const struct kvc_flash_asked asked = engine->gate->waiting[event->tag];
    kvc_ring_push(&engine->gate->free_place, event->tag, 0);
    kvc_flash_chips_ask(engine, event->time_ns, &asked);
}

double kvc_flash_gate_busy_ns(const struct kvc_flash_gate *gate)
{
    return gate->busy_ns;
}
