#include "sim/devices/flash_turns.h"

#include <math.h>

#include "sim/base/array.h"
#include "sim/devices/flash_engine_internal.h"

enum { QUEUE = 2 };

/* What waits for a channel: the command of a chip's operation, or a question for its status. */
struct request {
    uint32_t chip;
    bool asks;
};

struct kvc_flash_turns {
    struct request queue[QUEUE], running;
    uint32_t queued, turn; /* `turn`: the chip of the channel that is visited next. */
    bool runs, asleep;     /* `asleep`: a later visit is planned, at wakes_ns. */
    double wakes_ns;
};

struct kvc_flash_turns *kvc_flash_turns_open(const struct kvc_flash *flash)
{
    return kvc_array_of(kvc_flash_channels(flash), sizeof(struct kvc_flash_turns));
}

/* Returns how long a chip is left alone after its command was queued. */
static double first_wait_ns(const struct kvc_flash *flash, enum kvc_flash_what what)
{
    return what == KVC_FLASH_DO_READ
               ? flash->first_poll_ns
               : kvc_flash_cells_ns(flash, what) +
                     (what == KVC_FLASH_DO_PROGRAM ? kvc_flash_data_ns(flash, flash->page_bytes) : 0);
}

static enum kvc_flash_what what_of(const struct kvc_flash_engine *engine, const struct kvc_flash_chip *chip)
{
    return engine->operation[chip->first].what;
}

/* Starts what waits first for an idle channel. */
static void run_next(struct kvc_flash_engine *engine, double now_ns, uint32_t channel)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_turns *turns = &engine->turns[channel];
    if (turns->runs || turns->queued == 0) {
        return;
    }
    turns->running = turns->queue[0];
    turns->queue[0] = turns->queue[--turns->queued];
    turns->runs = true;
    struct kvc_flash_chip *chip = &engine->chip[turns->running.chip];
    enum kvc_flash_what what = what_of(engine, chip);
    double takes_ns = turns->running.asks ? flash->status_ns : flash->command_ns;
    bool ready = turns->running.asks && now_ns + flash->status_ns >= chip->ready_ns;
    if (turns->running.asks ? ready && what == KVC_FLASH_DO_READ : what == KVC_FLASH_DO_PROGRAM) {
        takes_ns += kvc_flash_data_ns(flash, engine->operation[chip->first].bytes);
    }
    if (!turns->running.asks) {
        chip->since_ns = now_ns;
        chip->ready_ns = now_ns + takes_ns + kvc_flash_cells_ns(flash, what);
    }
    engine->channel_busy_ns += takes_ns;
    kvc_events_add(engine->events, now_ns + takes_ns, KVC_FLASH_CHANNEL, engine->number, channel);
}

/* Queues a command or a question for the chip. Returns false if there is no room. */
static bool queue(struct kvc_flash_engine *engine, double now_ns, uint32_t channel, uint32_t chip, bool asks)
{
    struct kvc_flash_turns *turns = &engine->turns[channel];
    if (turns->queued == QUEUE) {
        return false;
    }
    turns->queue[turns->queued++] = (struct request){chip, asks};
    run_next(engine, now_ns, channel);
    return true;
}

/* Does what is next for a chip that has an operation. Returns false if the controller waits at it. */
static bool visit_chip(struct kvc_flash_engine *engine, double now_ns, uint32_t channel, uint32_t number)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_chip *chip = &engine->chip[number];
    switch (chip->progress) {
    case KVC_FLASH_WAITS:
        if (!queue(engine, now_ns, channel, number, false)) {
            return false;
        }
        chip->progress = KVC_FLASH_COMMANDED;
        chip->visit_ns = now_ns + first_wait_ns(flash, what_of(engine, chip));
        return true;
    case KVC_FLASH_COMMANDED:
        if (!queue(engine, now_ns, channel, number, true)) {
            return false;
        }
        chip->progress = KVC_FLASH_ASKED;
        return true;
    case KVC_FLASH_BUSY:
        chip->progress = KVC_FLASH_COMMANDED;
        chip->visit_ns = now_ns + flash->poll_ns;
        return true;
    default: /* KVC_FLASH_ASKED. */
        return false;
    }
}

/* Plans the next visit for when a chip need no longer be left alone. */
static void sleep(struct kvc_flash_engine *engine, uint32_t channel)
{
    struct kvc_flash_turns *turns = &engine->turns[channel];
    uint32_t chips = (uint32_t)engine->flash->chips;
    double wakes_ns = INFINITY;
    for (uint32_t i = 0; i < chips; i++) {
        const struct kvc_flash_chip *chip = &engine->chip[channel * chips + i];
        bool sooner = chip->first != KVC_FLASH_NONE && chip->visit_ns < wakes_ns;
        wakes_ns = sooner ? chip->visit_ns : wakes_ns;
    }
    if (!isinf(wakes_ns) && !(turns->asleep && turns->wakes_ns <= wakes_ns)) {
        turns->asleep = true;
        turns->wakes_ns = wakes_ns;
        kvc_events_add(engine->events, wakes_ns, KVC_FLASH_VISIT, engine->number, channel);
    }
}

void kvc_flash_turns_visit(struct kvc_flash_engine *engine, double now_ns, uint32_t channel)
{
    struct kvc_flash_turns *turns = &engine->turns[channel];
    uint32_t chips = (uint32_t)engine->flash->chips;
    for (uint32_t passed = 0; passed < chips;) {
        uint32_t number = channel * chips + turns->turn;
        const struct kvc_flash_chip *chip = &engine->chip[number];
        if (chip->first != KVC_FLASH_NONE && chip->visit_ns <= now_ns) {
            if (!visit_chip(engine, now_ns, channel, number)) {
                return; /* Until the channel has done a step. */
            }
            passed = 0;
        } else {
            passed++;
        }
        turns->turn = turns->turn + 1 < chips ? turns->turn + 1 : 0;
    }
    sleep(engine, channel);
}

bool kvc_flash_turns_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    uint32_t channel = event->tag;
    struct kvc_flash_turns *turns = &engine->turns[channel];
    bool done = false;
    if (event->kind == KVC_FLASH_VISIT) {
        turns->asleep = turns->asleep && turns->wakes_ns > event->time_ns;
    } else {
        struct kvc_flash_chip *chip = &engine->chip[turns->running.chip];
        turns->runs = false;
        if (turns->running.asks && event->time_ns >= chip->ready_ns) {
            done = true;
            chip->progress = KVC_FLASH_WAITS;
            *tag = kvc_flash_engine_end(engine, event->time_ns, chip->first);
        } else if (turns->running.asks) {
            chip->progress = KVC_FLASH_BUSY;
        }
        run_next(engine, event->time_ns, channel);
    }
    kvc_flash_turns_visit(engine, event->time_ns, channel);
    return done;
}
