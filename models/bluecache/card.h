/* The functional flash card of a node: memory that obeys the rules of NAND and notes what the log does to it,
 * so that the simulated card can take the time for it. */
#ifndef KVC_MODELS_BLUECACHE_CARD_H
#define KVC_MODELS_BLUECACHE_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"
#include "sim/devices/flash/flash_engine.h"

struct kvc_flash_memory;

enum kvc_bluecache_work { KVC_BLUECACHE_READ, KVC_BLUECACHE_PROGRAM, KVC_BLUECACHE_ERASE };

/* What the log did: to a page, counted as the simulated card counts them (sim/devices/flash/flash.h). */
struct kvc_bluecache_step {
    uint64_t page;
    uint8_t work; /* enum kvc_bluecache_work. */
};

struct kvc_bluecache_card {
    struct kvc_flash_medium medium; /* What the log sees; the first member. */
    struct kvc_flash_memory *memory;
    struct kvc_bluecache_step *step;
    uint32_t steps, room;
    bool notes; /* Off while keys are preloaded. */
};

/* Creates an erased card. Returns false with errno if memory is short. It must stay where it is. */
bool kvc_bluecache_card_open(struct kvc_bluecache_card *card, const struct kvc_flash_geometry *geometry);
void kvc_bluecache_card_close(struct kvc_bluecache_card *card);

/* Adds a step. Exits with status 3 if memory is short. */
void kvc_bluecache_card_note(struct kvc_bluecache_card *card, enum kvc_bluecache_work work, uint64_t page);

/* Hands what the log of a node reads to reclaim, programs and erases to its chips, in the order of the log.
 *
 * The card has two write buffers of a chunk each. The chips of a node program both of them at a time, in any
 * order; a page of the next chunk waits until the first buffer is free page by page: all but the last two
 * chunks before it are on flash. What the log does behind a page that waits waits, too. Not modelled: a GET
 * of a page that waits finds it in a buffer; here its chip reads it. */

/* Bit of the tags of the writer's operations; those of others are smaller. */
#define KVC_BLUECACHE_WRITER_TAG (UINT32_C(1) << 31)

struct kvc_bluecache_writer_entry;

/* Returns the pages of both write buffers. */
static inline uint32_t kvc_bluecache_writer_parallel(uint32_t chunk_pages)
{
    return 2 * chunk_pages;
}

struct kvc_bluecache_writer {
    struct kvc_flash_engine *flash;
    struct kvc_bluecache_writer_entry *entry; /* A ring; entry i is at i modulo its room, a power of two. */
    uint64_t first, started,
        end; /* Entries: the first that is not done or given to the chips, and the end. */
    uint32_t room;
    uint64_t programs;  /* Asked for so far. */
    uint64_t unwritten; /* Entry of the first program that is not done; `end`: none. */
    uint32_t parallel;  /* Pages of both write buffers. */
    void (*watch)(void *data,
                  const struct kvc_bluecache_step *step); /* For tests: of what is done; or NULL. */
    void *watch_data;
};

/* Opens the writer of a card. `flash` must outlive it. */
void kvc_bluecache_writer_open(struct kvc_bluecache_writer *writer, struct kvc_flash_engine *flash,
                               uint32_t chunk_pages);
void kvc_bluecache_writer_close(struct kvc_bluecache_writer *writer);

/* Asks for what the log has just done. Exits with status 3 if memory is short. */
void kvc_bluecache_writer_ask(struct kvc_bluecache_writer *writer, double now_ns,
                              const struct kvc_bluecache_step *step, uint32_t steps);

/* The chips have done the operation with this tag. */
void kvc_bluecache_writer_ended(struct kvc_bluecache_writer *writer, double now_ns, uint32_t tag);

#endif
