/* Internal to the flash engine: drives with a translation layer, between controller and chips.
 *
 * A write is done when its sectors are in the write buffer, which keeps them if power fails. If they do not
 * fit, it waits. As soon as the buffer has a page of sectors, the next chip that is not writing takes it;
 * they leave the buffer when the page is programmed. A chip that is full collects garbage first: it reads the
 * valid sectors of a block page by page, programs a page whenever it has enough of them, and erases the
 * block, one operation after another. Reads of the host wait for a chip like all its operations, so that each
 * of them waits for one operation of these, not for the whole collection. Sectors that are in the drive's
 * memory are read there, and those that were never written are known to be zero.
 *
 * If the layer is smaller than the drive and its blocks are, too, a chip erases a block each time it has
 * emptied as many pages as a real one has, so that erases take as long and come as often.
 *
 * Not modelled: collection while the drive is idle, a buffer that joins writes of the same sector, sectors
 * that are moved without crossing the channel, and what looking up the map takes beyond the controller's
 * time. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_TRANSLATED_H
#define KVC_SIM_DEVICES_FLASH_FLASH_TRANSLATED_H

#include "sim/devices/flash/flash_engine_internal.h"
#include "sim/devices/flash/flash_translation.h"

struct kvc_flash_translated;

/* Returns the layers of all drives, whose host has filled `pages` in order. */
struct kvc_flash_translated *kvc_flash_translated_open(const struct kvc_flash *flash, uint64_t pages);

/* Frees the layers. NULL is allowed. */
void kvc_flash_translated_close(struct kvc_flash_translated *translated);

/* Returns the pages that the host may use. */
uint64_t kvc_flash_translated_pages(const struct kvc_flash_translated *translated);

/* Returns the layer of a drive. */
struct kvc_flash_translation *kvc_flash_translated_map(struct kvc_flash_translated *translated,
                                                       uint32_t card);

/* Takes an operation of the host. */
void kvc_flash_translated_ask(struct kvc_flash_engine *engine, double now_ns,
                              const struct kvc_flash_asked *asked);

/* A chip has done the operation with this tag, which kvc_flash_translated_ask() or this function gave it. */
void kvc_flash_translated_ended(struct kvc_flash_engine *engine, double now_ns, uint32_t tag);

/* Takes the tag of the next operation of the host that is done. Returns false if there is none. */
bool kvc_flash_translated_done(struct kvc_flash_translated *translated, uint32_t *tag);

#endif
