/* Internal to the flash engine: a controller for each channel that visits its chips in turn.
 *
 * The controller gives the first operation of a chip its command, leaves the chip alone for some time, asks
 * for its status, asks again later if it is busy, and otherwise lets the page cross at once. At most two
 * commands and questions wait for the channel; if there is no room, or if a question has not been answered
 * when the chip's turn comes again, the controller waits at this chip. Chips therefore fall into step: all
 * get their commands, and then all their pages cross. How long programs and erases are left alone is not
 * known; here it is as long as they take.
 *
 * Source: the controller of BlueDBM's flash card (github.com/sangwoojun/bluedbm, Scoreboard). */
#ifndef KVC_SIM_DEVICES_FLASH_TURNS_H
#define KVC_SIM_DEVICES_FLASH_TURNS_H

#include "sim/devices/flash_engine.h"

struct kvc_flash_turns;

/* Returns the controllers of all channels, to be freed by the caller. */
struct kvc_flash_turns *kvc_flash_turns_open(const struct kvc_flash *flash);

/* Lets the controller of a channel go on with its visits. */
void kvc_flash_turns_visit(struct kvc_flash_engine *engine, double now_ns, uint32_t channel);

/* Handles an event of the engine, as kvc_flash_engine_handle() does. */
bool kvc_flash_turns_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

#endif
