/* Internal to the flash engine: its operations and chips. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_INTERNAL_H
#define KVC_SIM_DEVICES_FLASH_FLASH_ENGINE_INTERNAL_H

#include "sim/devices/flash/flash_engine.h"

enum kvc_flash_what { KVC_FLASH_DO_READ, KVC_FLASH_DO_PROGRAM, KVC_FLASH_DO_ERASE };

enum { KVC_FLASH_NONE = UINT32_MAX };

/* What a controller that visits its chips in turn knows of one (flash_turns.c). */
enum kvc_flash_progress {
    KVC_FLASH_WAITS,     /* Its first operation has no command yet. */
    KVC_FLASH_COMMANDED, /* It works. */
    KVC_FLASH_ASKED,     /* It was asked for its status. */
    KVC_FLASH_BUSY,      /* It was still busy. */
};

struct kvc_flash_operation {
    uint32_t next; /* Next operation of the chip, or next free place. */
    uint32_t tag, chip;
    enum kvc_flash_what what;
    double bytes; /* What crosses the channel, without its spare bytes. */
};

struct kvc_flash_chip {
    uint32_t first, last; /* Queue of operations; the first one runs. KVC_FLASH_NONE: idle. */
    double since_ns;      /* Time when the first one started. */
    double ready_ns;      /* When its cells are done. */
    enum kvc_flash_progress progress;
};

/* Returns how long an operation keeps the cells of a chip busy [ns]. */
double kvc_flash_cells_ns(const struct kvc_flash *flash, enum kvc_flash_what what);

/* What is asked of the chips, or of a translation layer before them. */
struct kvc_flash_asked {
    uint64_t page;
    double bytes;
    uint32_t tag;
    uint32_t sector; /* First sector within the page, for a translation layer. */
    enum kvc_flash_what what;
};

/* Hands an operation to its chip. */
void kvc_flash_chips_ask(struct kvc_flash_engine *engine, double now_ns, const struct kvc_flash_asked *asked);

/* Handles an event of chips and channels, as kvc_flash_engine_handle() does. */
bool kvc_flash_chips_handle(struct kvc_flash_engine *engine, const struct kvc_event *event, uint32_t *tag);

/* Counts an operation that is done. */
void kvc_flash_engine_count(struct kvc_flash_engine *engine, enum kvc_flash_what what);

/* Ends the operation, which is the first one of its chip. Returns its tag. */
uint32_t kvc_flash_engine_end(struct kvc_flash_engine *engine, double now_ns, uint32_t place);

#endif
