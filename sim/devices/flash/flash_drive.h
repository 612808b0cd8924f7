/* Internal to the flash engine: the controllers and interfaces of drives, between the host and the chips.
 *
 * The controller of a drive takes one operation after another, each for the same time. What is programmed
 * then crosses the interface before it reaches its chip, and what was read crosses it afterwards, the other
 * way. At the end, every operation waits for a latency that occupies nothing: what driver, interface and
 * controller take besides. An interface of several lanes is one server here.
 *
 * Source: NVM Express Base Specification, one queue of submissions that the controller fetches from; the
 * times are those of the drive's data sheet. A translation layer, if there is one, stands between these and
 * the chips (flash_translated.h). */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_DRIVE_H
#define KVC_SIM_DEVICES_FLASH_FLASH_DRIVE_H

#include "sim/devices/flash/flash_engine_internal.h"

struct kvc_flash_drive;

/* Returns the drives of all cards. */
struct kvc_flash_drive *kvc_flash_drive_open(const struct kvc_flash *flash);

/* Frees the drives. NULL is allowed. */
void kvc_flash_drive_close(struct kvc_flash_drive *drive);

/* Takes an operation. Its tag comes back when it has left the drive. */
void kvc_flash_drive_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked);

/* Handles an event of the engine, as kvc_flash_engine_handle() does. */
bool kvc_flash_drive_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

/* Return for how long controllers, and interfaces in their busier direction, were busy, summed over the cards
 * [ns]. */
double kvc_flash_drive_controller_ns(const struct kvc_flash_drive *drive);
double kvc_flash_drive_interface_ns(const struct kvc_flash_drive *drive);

#endif
