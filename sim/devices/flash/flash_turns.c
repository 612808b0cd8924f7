/* A controller for each channel that visits its chips in turn.
 *
 * The controller gives the first operation of a chip its command, leaves the chip alone for some time, asks
 * for its status, asks again later if it is busy, and otherwise lets the page cross at once. At most two
 * commands and questions wait for the channel; if there is no room, or if a question has not been answered
 * when the chip's turn comes again, the controller waits at this chip. Chips therefore fall into step: all
 * get their commands, and then all their pages cross. How long programs and erases are left alone is not
 * known; here it is the time that they take.
 *
 * A page takes about ten such steps. They follow from one another until an operation ends or an idle chip is
 * asked for something, so that only ends of operations are events.
 *
 * Source: the controller of BlueDBM's flash card (github.com/sangwoojun/bluedbm, Scoreboard). */
#include "sim/devices/flash/flash_engine_internal.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum { QUEUE = 2 };

/* A request that waits for a channel: the command of a chip's operation, or a status poll. */
struct request {
    uint32_t chip;
    bool asks;
};

/* A channel with its controller. Its steps are no events: they are done when an event happens that they
 * depend on, or that depends on them. */
struct channel {
    struct request queue[QUEUE], running;
    uint32_t queued, turn; /* `turn`: the chip of the channel that is visited next. */
    bool ends;             /* The running step ends an operation. */
    double free_ns;        /* When the running step is done; infinity: there is none. */
    double wakes_ns;   /* When the next chip need no longer be left alone; infinity: a step comes before. */
    double planned_ns; /* Time of the channel's next event; infinity: there is none. */
    double *due_ns;    /* For each chip, when it may be visited; infinity: it has no operation. */
};

struct kvc_flash_turns {
    struct channel *channel;
    double *due_ns; /* For every chip, when it may be visited. */
};

struct kvc_flash_turns *kvc_flash_turns_open(const struct kvc_flash *flash)
{
    uint32_t channels = kvc_flash_channels(flash), chips = kvc_flash_chips(flash);
    struct kvc_flash_turns *turns = kvc_array_of(1, sizeof(*turns));
    turns->channel = kvc_array_of(channels, sizeof(*turns->channel));
    turns->due_ns = kvc_array_of(chips, sizeof(*turns->due_ns));
    for (uint32_t i = 0; i < channels; i++) {
        turns->channel[i] = (struct channel){.free_ns = INFINITY,
                                             .wakes_ns = INFINITY,
                                             .planned_ns = INFINITY,
                                             .due_ns = turns->due_ns + i * flash->chips};
    }
    for (uint32_t i = 0; i < chips; i++) {
        turns->due_ns[i] = INFINITY;
    }
    return turns;
}

void kvc_flash_turns_close(struct kvc_flash_turns *turns)
{
    if (turns != NULL) {
        free(turns->channel);
        free(turns->due_ns);
        free(turns);
    }
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

/* Returns how long a chip takes to answer that it is ready, including the page of a read. */
static double answer_ns(const struct kvc_flash_engine *engine, const struct kvc_flash_chip *chip)
{
    const struct kvc_flash *flash = engine->flash;
    bool reads = what_of(engine, chip) == KVC_FLASH_DO_READ;
    return flash->status_ns + (reads ? kvc_flash_data_ns(flash, engine->operation[chip->first].bytes) : 0);
}

/* Starts what waits first for an idle channel. */
static void run_next(struct kvc_flash_engine *engine, double now_ns, struct channel *channel)
{
    const struct kvc_flash *flash = engine->flash;
    if (!isinf(channel->free_ns) || channel->queued == 0) {
        return;
    }
    channel->running = channel->queue[0];
    channel->queue[0] = channel->queue[--channel->queued];
    struct kvc_flash_chip *chip = &engine->chip[channel->running.chip];
    double takes_ns = flash->status_ns;
    channel->ends = channel->running.asks && now_ns + flash->status_ns >= chip->ready_ns;
    if (channel->ends) {
        takes_ns = answer_ns(engine, chip);
    } else if (!channel->running.asks) {
        enum kvc_flash_what what = what_of(engine, chip);
        takes_ns = flash->command_ns;
        if (what == KVC_FLASH_DO_PROGRAM) {
            takes_ns += kvc_flash_data_ns(flash, engine->operation[chip->first].bytes);
        }
        chip->ready_ns = now_ns + takes_ns + kvc_flash_cells_ns(flash, what);
    }
    engine->channel_busy_ns += takes_ns;
    channel->free_ns = now_ns + takes_ns;
}

/* Queues a command or a question for the chip. Returns false if there is no room. */
static bool queue(struct kvc_flash_engine *engine, double now_ns, struct channel *channel, uint32_t chip,
                  bool asks)
{
    if (channel->queued == QUEUE) {
        return false;
    }
    channel->queue[channel->queued++] = (struct request){chip, asks};
    run_next(engine, now_ns, channel);
    return true;
}

/* Does what is next for a chip that has an operation. Returns false if the controller waits at it. */
static bool visit_chip(struct kvc_flash_engine *engine, double now_ns, struct channel *channel,
                       uint32_t number, double *due_ns)
{
    const struct kvc_flash *flash = engine->flash;
    struct kvc_flash_chip *chip = &engine->chip[number];
    switch (chip->progress) {
    case KVC_FLASH_WAITS:
        if (!queue(engine, now_ns, channel, number, false)) {
            return false;
        }
        chip->progress = KVC_FLASH_COMMANDED;
        *due_ns = now_ns + first_wait_ns(flash, what_of(engine, chip));
        return true;
    case KVC_FLASH_COMMANDED:
        if (!queue(engine, now_ns, channel, number, true)) {
            return false;
        }
        chip->progress = KVC_FLASH_ASKED;
        return true;
    case KVC_FLASH_BUSY:
        chip->progress = KVC_FLASH_COMMANDED;
        *due_ns = now_ns + flash->poll_ns;
        return true;
    default: /* KVC_FLASH_ASKED. */
        return false;
    }
}

/* Returns the first chip of the channel. */
static uint32_t first_chip(const struct kvc_flash_engine *engine, const struct channel *channel)
{
    return (uint32_t)(channel->due_ns - engine->turns->due_ns);
}

/* Lets the controller visit chips until it waits at one or all others are left alone. */
static void visit(struct kvc_flash_engine *engine, double now_ns, struct channel *channel)
{
    uint32_t chips = (uint32_t)engine->flash->chips, first = first_chip(engine, channel);
    double soonest_ns = INFINITY; /* When the first of the chips that were passed is due. */
    channel->wakes_ns = INFINITY;
    for (uint32_t passed = 0; passed < chips;) {
        double *due_ns = &channel->due_ns[channel->turn];
        if (*due_ns <= now_ns) {
            if (!visit_chip(engine, now_ns, channel, first + channel->turn, due_ns)) {
                return; /* Until the channel has done a step. */
            }
            passed = 0;
            soonest_ns = INFINITY;
        } else {
            soonest_ns = *due_ns < soonest_ns ? *due_ns : soonest_ns;
            passed++;
        }
        channel->turn = channel->turn + 1 < chips ? channel->turn + 1 : 0;
    }
    channel->wakes_ns = soonest_ns;
}

/* Goes on after the running step, at its end. */
static void step_done(struct kvc_flash_engine *engine, double now_ns, struct channel *channel)
{
    channel->free_ns = INFINITY;
    channel->ends = false;
    run_next(engine, now_ns, channel);
    visit(engine, now_ns, channel);
}

/* Does the steps up to now_ns, but not the end of an operation. */
static void catch_up(struct kvc_flash_engine *engine, double now_ns, struct channel *channel)
{
    for (;;) {
        bool steps = channel->free_ns <= channel->wakes_ns;
        double next_ns = steps ? channel->free_ns : channel->wakes_ns;
        if (!(next_ns <= now_ns) || (steps && channel->ends)) {
            return;
        }
        if (steps) {
            if (channel->running.asks) {
                engine->chip[channel->running.chip].progress = KVC_FLASH_BUSY;
            }
            step_done(engine, next_ns, channel);
        } else {
            visit(engine, next_ns, channel);
        }
    }
}

/* Returns a time before which no operation of the channel ends unless more is asked of it. If the running
 * step ends an operation, this is the end of the step. Otherwise, an operation ends with a question in a
 * later step, which its chip cannot answer earlier. */
static double soonest_end_ns(const struct kvc_flash_engine *engine, const struct channel *channel)
{
    if (channel->ends) {
        return channel->free_ns;
    }
    const struct kvc_flash *flash = engine->flash;
    const struct kvc_flash_chip *chip = &engine->chip[first_chip(engine, channel)];
    double step_ns = fmin(channel->free_ns, channel->wakes_ns), soonest_ns = INFINITY;
    for (uint32_t i = 0; i < flash->chips; i++) {
        if (!isinf(channel->due_ns[i])) {
            double ready_ns = chip[i].progress == KVC_FLASH_WAITS
                                  ? step_ns + kvc_flash_cells_ns(flash, what_of(engine, &chip[i]))
                                  : chip[i].ready_ns;
            double end_ns = fmax(step_ns, ready_ns - flash->status_ns) + answer_ns(engine, &chip[i]);
            soonest_ns = fmin(soonest_ns, end_ns);
        }
    }
    return soonest_ns;
}

/* Plans an event of the channel for when an operation can end. */
static void plan(struct kvc_flash_engine *engine, struct channel *channel)
{
    double soonest_ns = soonest_end_ns(engine, channel);
    if (soonest_ns < channel->planned_ns) {
        channel->planned_ns = soonest_ns;
        kvc_events_add(engine->events, soonest_ns, KVC_FLASH_CHANNEL, engine->number,
                       (uint32_t)(channel - engine->turns->channel));
    }
}

void kvc_flash_turns_ask(struct kvc_flash_engine *engine, double now_ns, uint32_t number)
{
    struct channel *channel = &engine->turns->channel[number / (uint32_t)engine->flash->chips];
    /* Requests are visited in the order in which they were made. */
    catch_up(engine, nextafter(now_ns, -INFINITY), channel);
    engine->turns->due_ns[number] = now_ns;
    visit(engine, now_ns, channel);
    plan(engine, channel);
}

bool kvc_flash_turns_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag)
{
    struct channel *channel = &engine->turns->channel[event->tag];
    channel->planned_ns = event->time_ns < channel->planned_ns ? channel->planned_ns : INFINITY;
    catch_up(engine, event->time_ns, channel);
    bool done = channel->ends && channel->free_ns <= event->time_ns;
    if (done) {
        uint32_t number = channel->running.chip;
        struct kvc_flash_chip *chip = &engine->chip[number];
        chip->progress = KVC_FLASH_WAITS;
        *tag = kvc_flash_engine_end(engine, chip->first);
        if (chip->first == KVC_FLASH_NONE) {
            engine->turns->due_ns[number] = INFINITY;
        }
        step_done(engine, event->time_ns, channel);
    }
    plan(engine, channel);
    return done;
}

void kvc_flash_turns_catch_up(struct kvc_flash_engine *engine, double now_ns)
{
    for (uint32_t i = 0; i < kvc_flash_channels(engine->flash); i++) {
        catch_up(engine, now_ns, &engine->turns->channel[i]);
    }
}
