/* Internal to the flash engine: a controller for each channel that visits its chips in turn.
 *
 * The controller gives the first operation of a chip its command, leaves the chip alone for some time, asks
 * for its status, asks again later if it is busy, and otherwise lets the page cross at once. At most two
 * commands and questions wait for the channel; if there is no room, or if a question has not been answered
 * when the chip's turn comes again, the controller waits at this chip. Chips therefore fall into step: all
 * get their commands, and then all their pages cross. How long programs and erases are left alone is not
 * known; here it is as long as they take.
 *
 * A page takes about ten such steps. They follow from one another until an operation ends or an idle chip is
 * asked for something, so that only ends of operations are events.
 *
 * Source: the controller of BlueDBM's flash card (github.com/sangwoojun/bluedbm, Scoreboard). */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_TURNS_H
#define KVC_SIM_DEVICES_FLASH_FLASH_TURNS_H

#include "sim/devices/flash/flash_engine.h"

struct kvc_flash_turns;

/* Returns the controllers of all channels. */
struct kvc_flash_turns *kvc_flash_turns_open(const struct kvc_flash *flash);

/* Frees the controllers; NULL: there are none. */
void kvc_flash_turns_close(struct kvc_flash_turns *turns);

/* Tells the controller of its channel that a chip, which was idle, has an operation. */
void kvc_flash_turns_ask(struct kvc_flash_engine *engine, double now_ns, uint32_t chip);

/* Handles an event of the engine, as kvc_flash_engine_handle() does. */
bool kvc_flash_turns_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

/* Does the steps up to now_ns that nobody has waited for. All events up to then must have been handled. */
void kvc_flash_turns_catch_up(struct kvc_flash_engine *engine, double now_ns);

#endif
