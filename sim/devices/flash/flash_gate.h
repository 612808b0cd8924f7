/* Internal to the flash engine: what all chips of a drive may program together.
 *
 * Programs pass one after another, each for the time of its bytes at the drive's rate, and then go to their
 * chips; the other operations go there at once. What limits the rate, power or parity, is not modelled:
 * drives of one series that write in a row as fast with 32 chips as with 256 have such a limit in common. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_GATE_H
#define KVC_SIM_DEVICES_FLASH_FLASH_GATE_H

#include "sim/devices/flash/flash_engine_internal.h"

struct kvc_flash_gate;

/* Returns the gates of all drives. */
struct kvc_flash_gate *kvc_flash_gate_open(const struct kvc_flash *flash);

/* Frees the gates. NULL is allowed. */
void kvc_flash_gate_close(struct kvc_flash_gate *gate);

/* Hands an operation to its chip, as kvc_flash_chips_ask() does, as soon as its drive may program. Without
 * gates, that is at once. */
void kvc_flash_gate_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked);

/* Handles an event of kind KVC_FLASH_PASSED. */
void kvc_flash_gate_handle(struct kvc_flash_engine *engine, const struct kvc_event *event);

/* Returns for how long the gates were busy, summed over the drives [ns]. */
double kvc_flash_gate_busy_ns(const struct kvc_flash_gate *gate);

#endif
