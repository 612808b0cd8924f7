/* The flash of a composed store, with the log of its values: where items lie, and which pages they touch.
 *
 * Items are appended to a write buffer in memory. A page that is full is programmed at once, and the buffer
 * keeps it until it is on flash; a stage that writes waits while the buffer has no room. A read of an item
 * that the buffer has takes no time of the flash. Where no translation layer places the pages, the log takes
 * whole rows of blocks, one of each chip, and erases the blocks of a row before it writes them again. */
#ifndef KVC_MODELS_COMPOSED_FLASH_H
#define KVC_MODELS_COMPOSED_FLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/item_log/item_log.h"
#include "models/composed/config.h"
#include "models/composed/job.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/flash/flash_engine.h"

struct kvc_composed_flash {
    const struct kvc_composed_config *config;
    const struct kvc_item_log *log; /* NULL: it holds no items. */
    struct kvc_flash_engine engine;
    struct kvc_rng places;  /* Draws the places of items that do not run through the log. */
    struct kvc_ring wanted; /* Reads that wait for a tag of the flash: page and tag. */
    uint64_t reading;       /* Reads that have a tag of the flash. */
    uint64_t end;           /* Position behind the newest item of all requests [bytes]. */
    uint64_t asked;         /* Pages whose programs have been asked for since the log was empty. */
    uint64_t programming;   /* Those of them that are not on flash yet. */
};

/* Opens the flash of a socket; `log` may be NULL. The configuration, the log and the events must outlive it.
 */
void kvc_composed_flash_open(struct kvc_composed_flash *flash, const struct kvc_composed_config *config,
                             const struct kvc_item_log *log, struct kvc_events *events, uint64_t seed,
                             uint32_t number);
void kvc_composed_flash_close(struct kvc_composed_flash *flash); /* A zeroed one is allowed. */

/* Whether the write buffer has no room. */
bool kvc_composed_flash_is_full(const struct kvc_composed_flash *flash);

/* Appends the item of a SET. Returns how many pages are full since. */
uint32_t kvc_composed_flash_append(struct kvc_composed_flash *flash, const struct kvc_composed_job *job,
                                   uint32_t row);

/* Asks for the program of the oldest full page that was not asked for; `tag` comes back. */
void kvc_composed_flash_program(struct kvc_composed_flash *flash, double now_ns, uint32_t tag);

/* Whether that program must wait for an erase of its block, which kvc_composed_flash_erase() asks for. */
bool kvc_composed_flash_erases(const struct kvc_composed_flash *flash);
void kvc_composed_flash_erase(struct kvc_composed_flash *flash, double now_ns, uint32_t tag);

/* The pages of an item that are to be read. */
struct kvc_composed_pages {
    uint64_t first; /* Its first page. */
    uint32_t count; /* 0: the log has no such item, or the write buffer has it. */
    double bytes;   /* Bytes that a read of each page fetches. */
};

/* Finds the pages of the item that a row reads. */
struct kvc_composed_pages kvc_composed_flash_find(struct kvc_composed_flash *flash,
                                                  const struct kvc_composed_job *job, uint32_t row);

/* Asks for page `number` of an item; `tag` comes back. */
void kvc_composed_flash_read(struct kvc_composed_flash *flash, double now_ns,
                             const struct kvc_composed_pages *pages, uint32_t number, uint32_t tag);

/* Handles that a read, or a program, has ended. */
void kvc_composed_flash_read_ended(struct kvc_composed_flash *flash, double now_ns);
void kvc_composed_flash_programmed(struct kvc_composed_flash *flash);

#endif
