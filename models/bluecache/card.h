/* The functional flash card of a node: memory that obeys the rules of NAND and notes what the log does to it,
 * so that the simulated card can take the time for it. */
#ifndef KVC_MODELS_BLUECACHE_CARD_H
#define KVC_MODELS_BLUECACHE_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_medium.h"

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

#endif
