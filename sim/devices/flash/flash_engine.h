/** @file
 * A flash engine is the flash of a node at work: it simulates the queues of its chips and channels, and of
 * its drives (flash_engine.c).
 *
 * Operations of a chip wait in order of arrival and run one at a time. A page that was sensed waits for its
 * channel in the order in which pages become ready. The engine adds its steps as events; their owner hands
 * them back. Not modelled: reads that overtake programs, suspended programs and erases. See flash.h. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_H
#define KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/events.h"
#include "sim/devices/flash/flash.h"

/** Kinds of events that engines add; `unit` of such an event is the engine's number. They start at 64, above
 * the kinds of other engines with the same queue (pcie.h). An owner numbers its own kinds from
 * KVC_FLASH_KINDS on, or below 64. */
enum {
    KVC_FLASH_CELLS = 64, /**< The cells of a chip are done: sensed, programmed or erased. */
    KVC_FLASH_CROSSED,    /**< A page has crossed its channel. */
    KVC_FLASH_CHANNEL,    /**< A channel may have ended an operation; the tag is its number. */
    KVC_FLASH_ADMITTED,   /**< A drive hands an operation to its chips. */
    KVC_FLASH_PASSED,     /**< A drive may program a page. */
    KVC_FLASH_LEFT,       /**< An operation has left its drive. */
    KVC_FLASH_KINDS
};

/** The cards of a node at work. */
struct kvc_flash_engine {
    const struct kvc_flash *flash;         /**< Parameters of the cards. */
    struct kvc_events *events;             /**< Queue to which the engine posts its events. */
    uint16_t number;                       /**< Number of the engine, and `unit` of its events. */
    struct kvc_flash_chip *chip;           /**< Chips; the chips of a channel are consecutive. */
    double *channel_free_ns;               /**< Times when the channels are free. */
    struct kvc_flash_operation *operation; /**< Operations that wait or run, and free places. */
    uint32_t operation_capacity;           /**< Places. */
    struct kvc_flash_turns *turns;         /**< Controllers that visit chips in turn; NULL: none do. */
    struct kvc_flash_drive *drive;         /**< Controllers and interfaces of drives; NULL: there are none. */
    /** Limit of programs of all chips of a drive together; NULL: there is none. */
    struct kvc_flash_gate *gate;
    struct kvc_flash_translated *translated; /**< Translation layers of drives; NULL: there are none. */
    uint32_t first_free;                     /**< First free place; operation_capacity: none. */
    uint64_t reads;                          /**< Reads that are done. */
    uint64_t programs;                       /**< Programs that are done. */
    uint64_t erases;                         /**< Erases that are done. */
    uint64_t waiting;                        /**< Operations that wait for chips or run. */
    double channel_busy_ns; /**< Busy time, summed over the channels; see kvc_flash_engine_busy(). */
    double chip_busy_ns;    /**< Busy time, summed over the chips, without waits for a channel. */
};

/** Sectors that drives with a translation layer have written. */
struct kvc_flash_written {
    double host;       /**< Sectors written for the host. */
    double programmed; /**< Sectors written in all, including those that garbage collection has moved. */
};

/** Opens engine `number`. The engine adds its events to `events`, whose owner hands them to
 * kvc_flash_engine_handle(); `flash` and `events` must outlive the engine. Exits with status 3 if memory is
 * short. */
void kvc_flash_engine_open(struct kvc_flash_engine *engine, const struct kvc_flash *flash,
                           struct kvc_events *events, uint16_t number);

/** Gives the drives of an engine that was just opened their translation layers, if kvc_flash_translates().
 * The host uses `pages` pages, which it has filled once in order. The drives are as large as the profile's,
 * or smaller ones with the same share of spare capacity. kvc_flash_translation_check() must have accepted the
 * pages. */
void kvc_flash_engine_translate(struct kvc_flash_engine *engine, uint64_t pages);

/** Returns the translation layer of a drive, to look at it or to age the drive in no time. */
struct kvc_flash_translation *kvc_flash_engine_translation(struct kvc_flash_engine *engine, uint32_t card);

/** Returns the writes of the translation layers of the engine's drives since it was opened; 0 without one. */
struct kvc_flash_written kvc_flash_engine_written(const struct kvc_flash_engine *engine);

/** Frees the engine's queues. */
void kvc_flash_engine_close(struct kvc_flash_engine *engine);

/** Asks at `now_ns` for `bytes` of a page, as kvc_flash_fetched_bytes() says. `tag` comes back when they have
 * crossed the channel and left the drive. */
void kvc_flash_read(struct kvc_flash_engine *engine, double now_ns, uint64_t page, double bytes,
                    uint32_t tag);

/** Asks at `now_ns` to program a page. `tag` comes back when it is programmed, or when a translation layer
 * has taken it. */
void kvc_flash_program(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag);

/** Asks at `now_ns` for a sector of a drive with a translation layer. Sectors are counted over all pages.
 * `tag` comes back when the sector has left the drive. */
void kvc_flash_read_sector(struct kvc_flash_engine *engine, double now_ns, uint64_t sector, uint32_t tag);

/** Asks at `now_ns` to write a sector of a drive with a translation layer. `tag` comes back when the drive
 * has taken it. */
void kvc_flash_write_sector(struct kvc_flash_engine *engine, double now_ns, uint64_t sector, uint32_t tag);

/** Asks at `now_ns` to erase the block in which `page` lies. `tag` comes back when it is erased. A
 * translation layer forgets the pages of the block. */
void kvc_flash_erase(struct kvc_flash_engine *engine, double now_ns, uint64_t page, uint32_t tag);

/** Does the work up to `now_ns` that the engine has postponed because no event depends on it. All events up
 * to then must have been handled. */
void kvc_flash_engine_catch_up(struct kvc_flash_engine *engine, double now_ns);

/** Returns for how long the parts of the flash were busy from when the engine was opened until
 * kvc_flash_engine_catch_up() was called last. */
struct kvc_flash_busy kvc_flash_engine_busy(const struct kvc_flash_engine *engine);

/** Handles an event of this engine.
 *
 * Returns true if an operation is done at the event's time. *tag is then its tag. */
bool kvc_flash_engine_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

#endif
