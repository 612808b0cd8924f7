#include "models/bluecache/whole_log.h"

#include <math.h>

/* The weight of old SETs is halved after so many: a DRAM store begins to evict once it is full, and the share
 * of its items that are dead changes while a run warms up. A longer memory would lag behind. */
static const double sets_kept = 16;

void kvc_bluecache_whole_log_open(struct kvc_bluecache_whole_log *log,
                                  const struct kvc_bluecache_config *config, struct kvc_bluecache_card *card,
                                  double written_pages)
{
    const struct kvc_flash_geometry *geometry = &config->geometry;
    uint64_t chips = (uint64_t)geometry->buses * geometry->chips_per_bus;
    *log = (struct kvc_bluecache_whole_log){.card = card,
                                            .pages = (uint64_t)kvc_bluecache_log_pages(geometry),
                                            .row_pages = chips * geometry->pages_per_block,
                                            .chips = (uint32_t)chips,
                                            .chunk_pages = (uint32_t)config->options->chunk_pages,
                                            .begun = written_pages > 0};
    log->next = (uint64_t)fmod(written_pages, (double)log->pages);
    log->full = written_pages >= (double)log->pages;
}

void kvc_bluecache_whole_log_learn(struct kvc_bluecache_whole_log *log, double pages)
{
    log->sets_known++;
    log->set_pages_known += pages;
    if (log->sets_known >= sets_kept) {
        log->sets_known /= 2;
        log->set_pages_known /= 2;
    }
}

/* Reads the pages of the row at `next`, if there are any, and erases its block of each chip. */
static void reclaim_row(struct kvc_bluecache_whole_log *log)
{
    for (uint64_t i = 0; i < log->row_pages && log->full; i++) {
        kvc_bluecache_card_note(log->card, KVC_BLUECACHE_READ, log->next + i);
    }
    for (uint64_t i = 0; i < log->chips; i++) {
        kvc_bluecache_card_note(log->card, KVC_BLUECACHE_ERASE, log->next + i);
    }
}

static void write_page(struct kvc_bluecache_whole_log *log)
{
    if (log->begun && log->next % log->row_pages == 0) {
        reclaim_row(log);
    }
    kvc_bluecache_card_note(log->card, KVC_BLUECACHE_PROGRAM, log->next);
    log->begun = true;
    if (++log->next == log->pages) {
        log->next = 0;
        log->full = true;
    }
}

void kvc_bluecache_whole_log_set(struct kvc_bluecache_whole_log *log)
{
    log->due_pages += log->sets_known > 0 ? log->set_pages_known / log->sets_known : 0;
    for (; log->due_pages >= log->chunk_pages; log->due_pages -= log->chunk_pages) {
        for (uint32_t i = 0; i < log->chunk_pages; i++) {
            write_page(log);
        }
        log->chunks++;
    }
}
