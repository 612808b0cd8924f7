/* Internals that the files of the flash engine share: its operations and chips (flash_engine.c), the
 * controllers that visit chips in turn (flash_turns.c), and the drives with a translation layer
 * (flash_translated.c). */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_INTERNAL_H
#define KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_INTERNAL_H

#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/flash/flash_translation.h"

enum kvc_flash_what { KVC_FLASH_DO_READ, KVC_FLASH_DO_PROGRAM, KVC_FLASH_DO_ERASE };

enum { KVC_FLASH_NONE = UINT32_MAX };

/* State of a chip as known to a controller that visits its chips in turn (flash_turns.c). */
enum kvc_flash_progress {
    KVC_FLASH_WAITS,     /* The chip's first operation has no command yet. */
    KVC_FLASH_COMMANDED, /* The chip works. */
    KVC_FLASH_ASKED,     /* The chip was asked for its status. */
    KVC_FLASH_BUSY,      /* The chip was still busy when asked. */
};

struct kvc_flash_operation {
    uint32_t next; /* Next operation of the chip, or next free place. */
    uint32_t tag, chip;
    enum kvc_flash_what what;
    double bytes; /* Bytes that cross the channel, without spare bytes. */
};

struct kvc_flash_chip {
    uint32_t first, last; /* Queue of operations; the first one runs. KVC_FLASH_NONE: idle. */
    double ready_ns;      /* When its cells are done. */
    enum kvc_flash_progress progress;
};

/* Returns how long an operation keeps the cells of a chip busy [ns]. */
double kvc_flash_cells_ns(const struct kvc_flash *flash, enum kvc_flash_what what);

/* A request to the chips, or to a translation layer in front of them. */
struct kvc_flash_asked {
    uint64_t page;
    double bytes;
    uint32_t tag;
    uint32_t sector; /* First sector within the page, for a translation layer. */
    enum kvc_flash_what what;
};

/* Hands an operation to its chip. */
void kvc_flash_chips_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked);

/* Counts an operation that is done. */
void kvc_flash_engine_count(struct kvc_flash_engine *engine, enum kvc_flash_what what);

/* Ends the operation, which is the first one of its chip. Returns its tag. */
uint32_t kvc_flash_engine_end(struct kvc_flash_engine *engine, uint32_t place);

/* Hands an operation to its chip, as kvc_flash_chips_ask() does, as soon as its drive may program. Without
 * gates, that is at once. */
void kvc_flash_gate_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked);

struct kvc_flash_turns;

/* Returns the controllers of all channels. */
struct kvc_flash_turns *kvc_flash_turns_open(const struct kvc_flash *flash);

/* Frees the controllers; NULL: there are none. */
void kvc_flash_turns_close(struct kvc_flash_turns *turns);

/* Tells the controller of its channel that a chip, which was idle, has an operation. */
void kvc_flash_turns_ask(struct kvc_flash_engine *engine, double now_ns, uint32_t chip);

/* Handles an event of the engine, as kvc_flash_engine_handle() does. */
bool kvc_flash_turns_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

/* Does the steps up to now_ns that no event depends on. All events up to then must have been handled. */
void kvc_flash_turns_catch_up(struct kvc_flash_engine *engine, double now_ns);

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
