/* The functional flash card of a node, and the writer that hands its work to the simulated chips.
 *
 * The card is memory that obeys the rules of NAND. It records each operation of the log, so that the
 * simulated card can take the time for it. */
#ifndef KVC_MODELS_BLUECACHE_CARD_H
#define KVC_MODELS_BLUECACHE_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "sim/devices/flash/flash_engine.h"

struct kvc_flash_memory;

enum kvc_bluecache_work { KVC_BLUECACHE_READ, KVC_BLUECACHE_PROGRAM, KVC_BLUECACHE_ERASE };

/* An operation of the log on a page, which has the number of the simulated card
 * (sim/devices/flash/flash.h). */
struct kvc_bluecache_step {
    uint64_t page;
    uint8_t work; /* enum kvc_bluecache_work. */
};

struct kvc_bluecache_card {
    struct kvc_flash_medium medium; /* Interface to the log; must be the first member. */
    struct kvc_flash_memory *memory;
    struct kvc_bluecache_step *step;
    uint32_t steps, room;
    bool notes; /* Records steps; off while keys are preloaded. */
};

/* Creates an erased card, which must not move in memory. Exits with status 3 if memory is short. */
void kvc_bluecache_card_open(struct kvc_bluecache_card *card, const struct kvc_flash_geometry *geometry);
void kvc_bluecache_card_close(struct kvc_bluecache_card *card);

/* Adds a step. Exits with status 3 if memory is short. */
void kvc_bluecache_card_note(struct kvc_bluecache_card *card, enum kvc_bluecache_work work, uint64_t page);

/* The writer of a card gives the log's reads to reclaim, programs and erases to the chips, in the order of
 * the log.
 *
 * The card has two write buffers of a chunk each. The chips program the pages of both buffers in any
 * order. A page of the next chunk waits until its place in the first buffer is free: until all pages that
 * lie two chunks or more before it are on flash. While a page waits, all later operations of the log wait,
 * too. Not modelled: a GET of a waiting page would find it in a buffer; here its chip reads it. */

/* Bit that marks the tags of the writer's operations. */
#define KVC_BLUECACHE_WRITER_TAG (UINT32_C(1) << 31)

struct kvc_bluecache_writer_entry;

/* Returns the pages of both write buffers. */
static inline uint32_t kvc_bluecache_writer_parallel(uint32_t chunk_pages)
{
    return 2 * chunk_pages;
}

struct kvc_bluecache_writer {
    struct kvc_flash_engine *flash;
    struct kvc_bluecache_writer_entry *entry; /* A ring: entry i is at i modulo `room`, a power of two. */
    uint64_t first, started,
        end; /* Entries: the first that is not done, the first that the chips do not have, and the end. */
    uint32_t room;
    uint64_t programs;  /* Programs that the log has asked for. */
    uint64_t unwritten; /* Entry of the first unfinished program; `end` if there is none. */
    uint32_t parallel;  /* Pages of both write buffers. */
    void (*watch)(
        void *data,
        const struct kvc_bluecache_step *step); /* Called with each finished step, for tests; or NULL. */
    void *watch_data;
};

/* Opens the writer of a card. `flash` must outlive it. */
void kvc_bluecache_writer_open(struct kvc_bluecache_writer *writer, struct kvc_flash_engine *flash,
                               uint32_t chunk_pages);
void kvc_bluecache_writer_close(struct kvc_bluecache_writer *writer);

/* Adds steps that the log has just made. Exits with status 3 if memory is short. */
void kvc_bluecache_writer_ask(struct kvc_bluecache_writer *writer, double now_ns,
                              const struct kvc_bluecache_step *step, uint32_t steps);

/* Handles that the chips have finished the operation with this tag. */
void kvc_bluecache_writer_ended(struct kvc_bluecache_writer *writer, double now_ns, uint32_t tag);

#endif
