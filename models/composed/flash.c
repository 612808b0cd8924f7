#include "models/composed/flash.h"

#include <math.h>

#include "models/composed/costs.h"

/* A read that waits: the page in the upper bits, and the bytes that it fetches in the lower ones. */
enum { BYTES_BITS = 24 };

void kvc_composed_flash_open(struct kvc_composed_flash *flash, const struct kvc_composed_config *config,
                             const struct kvc_item_log *log, struct kvc_events *events, uint64_t seed,
                             uint32_t number)
{
    double rate = fmax((double)config->sample_rate, 1), page_bytes = config->flash->page_bytes;
    *flash = (struct kvc_composed_flash){.config = config, .log = log};
    kvc_rng_init(&flash->places, seed, "composed.places", number);
    kvc_flash_engine_open(&flash->engine, config->flash, events, (uint16_t)number);
    if (kvc_flash_translates(config->flash)) {
        kvc_flash_engine_translate(&flash->engine, config->flash_pages);
    }
    flash->end = (uint64_t)(log != NULL ? rate * (double)kvc_item_log_end(log)
                                        : config->keys * config->means.item_bytes);
    flash->asked = flash->end / (uint64_t)page_bytes;
}

void kvc_composed_flash_close(struct kvc_composed_flash *flash)
{
    if (flash->config != NULL) {
        kvc_flash_engine_close(&flash->engine);
        kvc_ring_free(&flash->wanted);
    }
}

/* ---- writing ---- */

bool kvc_composed_flash_is_full(const struct kvc_composed_flash *flash)
{
    double held_bytes = (double)flash->programming * flash->config->flash->page_bytes;
    return held_bytes >= flash->config->buffer_bytes;
}

uint32_t kvc_composed_flash_append(struct kvc_composed_flash *flash, const struct kvc_composed_job *job,
                                   uint32_t row)
{
    const struct kvc_batch *rows = job->rows;
    uint32_t page_bytes = (uint32_t)flash->config->flash->page_bytes;
    uint32_t bytes = kvc_item_log_item_bytes(rows->key_bytes[row], rows->value_bytes[row]);
    flash->end = kvc_item_log_begin(flash->end, bytes, page_bytes) + bytes;
    return (uint32_t)(flash->end / page_bytes - flash->asked);
}

/* Returns the place of a page of the log on the flash. */
static uint64_t place_of(const struct kvc_composed_flash *flash, uint64_t page)
{
    return page % flash->config->flash_pages;
}

void kvc_composed_flash_program(struct kvc_composed_flash *flash, double now_ns, uint32_t tag)
{
    flash->programming++;
    kvc_flash_program(&flash->engine, now_ns, place_of(flash, flash->asked++), tag);
}

bool kvc_composed_flash_erases(const struct kvc_composed_flash *flash)
{
    const struct kvc_composed_config *config = flash->config;
    uint64_t in_chip = place_of(flash, flash->asked) / kvc_flash_chips(config->flash);
    return !kvc_flash_translates(config->flash) && flash->asked >= config->flash_pages &&
           in_chip % config->flash->pages_per_block == 0;
}

void kvc_composed_flash_erase(struct kvc_composed_flash *flash, double now_ns, uint32_t tag)
{
    kvc_flash_erase(&flash->engine, now_ns, place_of(flash, flash->asked), tag);
}

void kvc_composed_flash_programmed(struct kvc_composed_flash *flash)
{
    flash->programming--;
}

/* ---- reading ---- */

/* Returns the position of an item that does not run through the log: anywhere in it. */
static uint64_t draw_position(struct kvc_composed_flash *flash)
{
    uint64_t held = (uint64_t)flash->config->value_bytes;
    held = held < flash->end ? held : flash->end;
    return held > 0 ? flash->end - 1 - kvc_rng_below(&flash->places, held) : 0;
}

struct kvc_composed_pages kvc_composed_flash_find(struct kvc_composed_flash *flash,
                                                  const struct kvc_composed_job *job, uint32_t row)
{
    const struct kvc_batch *rows = job->rows;
    const struct kvc_composed_config *config = flash->config;
    uint64_t page_bytes = (uint64_t)config->flash->page_bytes, position;
    uint32_t bytes = kvc_item_log_item_bytes(rows->key_bytes[row], rows->value_bytes[row]);
    if (job->kept[row] != 0 && flash->log != NULL) { /* Also where the log has another key's item. */
        position = kvc_item_log_position(flash->log, job->location[row]);
        position = position != UINT64_MAX ? position * (config->sample_rate > 1 ? config->sample_rate : 1)
                                          : position;
    } else {
        position = job->outcome[row] == KVC_COMPOSED_HIT ? draw_position(flash) : UINT64_MAX;
    }
    uint64_t first = position / page_bytes, on_flash = flash->asked - flash->programming;
    if (position == UINT64_MAX || first >= on_flash) {
        return (struct kvc_composed_pages){0};
    }
    uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
    return (struct kvc_composed_pages){.first = first,
                                       .count =
                                           (uint32_t)(first + pages < on_flash ? pages : on_flash - first),
                                       .bytes = kvc_composed_fetched_bytes(config, bytes)};
}

/* Gives tags of the flash to reads that wait. */
static void read_wanted(struct kvc_composed_flash *flash, double now_ns)
{
    const struct kvc_flash *device = flash->config->flash;
    while (flash->wanted.count > 0 && flash->reading < kvc_flash_tags(device)) {
        struct kvc_ring_entry wanted = kvc_ring_pop(&flash->wanted);
        double bytes = (double)(wanted.value & ((1u << BYTES_BITS) - 1));
        flash->reading++;
        kvc_flash_read(&flash->engine, now_ns, wanted.value >> BYTES_BITS, bytes, wanted.tag);
    }
}

void kvc_composed_flash_read(struct kvc_composed_flash *flash, double now_ns,
                             const struct kvc_composed_pages *pages, uint32_t number, uint32_t tag)
{
    uint64_t page = place_of(flash, pages->first + number);
    kvc_ring_push(&flash->wanted, page << BYTES_BITS | (uint64_t)pages->bytes, tag);
    read_wanted(flash, now_ns);
}

void kvc_composed_flash_read_ended(struct kvc_composed_flash *flash, double now_ns)
{
    flash->reading--;
    read_wanted(flash, now_ns);
}
