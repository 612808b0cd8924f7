#include "models/composed/closed_form/buffer.h"

#include <math.h>
#include <string.h>

#include "models/composed/closed_form/reads.h"
#include "sim/workload/keys/popularity_blocks.h"

enum { LAST = KVC_COMPOSED_BUFFER_POINTS - 1 };

/* Returns the pages in the buffer, besides half of the one that fills: at point 0 none, at the last one all.
 */
static double pages_at(const struct kvc_composed_config *config, int point)
{
    double pages = config->buffer_bytes / config->flash->page_bytes;
    return pow(pages + 1, (double)point / LAST) - 1;
}

void kvc_composed_buffer_open(const struct kvc_scenario *scenario, struct kvc_composed_mix *mix)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double cold_frac = mix->expected.hit_frac - mix->expected.hot_frac, buffered[KVC_COMPOSED_BUFFER_POINTS];
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    if (!config->on_flash || workload->set_frac <= 0 || workload->arrival == KVC_ARRIVAL_TRACE ||
        cold_frac <= 0) {
        return;
    }
    double programs = kvc_composed_mix_flash(config, mix).programs; /* For a request. */
    bool fills = config->has_hot && (kvc_composed_does(config) & KVC_COMPOSED_HOT_FILL) != 0;
    double taken = fills ? workload->get_frac * config->options->hot.admit : 0;
    double leaves = workload->set_frac + workload->delete_frac + taken;
    double requests[KVC_COMPOSED_BUFFER_POINTS]; /* The requests since the oldest item in the buffer came. */
    for (int i = 0; i < KVC_COMPOSED_BUFFER_POINTS; i++) {
        buffered[i] = 0;
        requests[i] = (pages_at(config, i) + 0.5) / programs;
    }
    kvc_popularity_blocks_open(&blocks, workload);
    while (programs > 0 && kvc_popularity_blocks_next(&blocks, &block)) {
        double of_key =
            block.mass / block.keys * config->shards; /* It gets this share of its socket's requests. */
        for (int i = 0; i < KVC_COMPOSED_BUFFER_POINTS; i++) {
            buffered[i] += block.mass * workload->set_frac / leaves * -expm1(-leaves * of_key * requests[i]);
        }
        /* Once all keys have been changed since the run began, reads are of those that are. */
        mix->buffered_full_frac += block.mass * -expm1(-leaves * of_key * requests[LAST]);
    }
    kvc_popularity_blocks_close(&blocks);
    for (int i = 0; i < KVC_COMPOSED_BUFFER_POINTS; i++) {
        mix->buffered_fracs[i] = fmin(buffered[i] / cold_frac, 1);
    }
}

/* Returns the share of the reads that find their items in the buffer while this many pages wait in it. The
 * page that fills is half full, so that none do at -0.5 pages. */
static double buffered_of(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                          double pages)
{
    int i = 0;
    if (pages < 0) {
        return mix->buffered_fracs[0] * fmax(1 + 2 * pages, 0);
    }
    pages = fmin(pages, pages_at(config, LAST));
    while (i < LAST - 1 && pages_at(config, i + 1) < pages) {
        i++;
    }
    double from = pages_at(config, i), part = (pages - from) / (pages_at(config, i + 1) - from);
    return mix->buffered_fracs[i] + part * (mix->buffered_fracs[i + 1] - mix->buffered_fracs[i]);
}

/* Sets the reads of the newest pages on flash, of which `pages` more are in the buffer. The chip of a new
 * page falls behind if it has more reads until the next page comes than it serves in that time. */
static void set_newest(const struct kvc_composed_config *config, struct kvc_composed_mix *mix, double pages,
                       double per_ns)
{
    const struct kvc_flash_load load = kvc_composed_mix_flash(config, mix);
    double read_ns = config->flash->read_ns + kvc_flash_transfer_ns(config->flash, load.read_bytes);
    double found = buffered_of(config, mix, pages), rest = fmax(1 - found, 1e-9), behind_ns = 0;
    uint32_t chips = kvc_flash_chips(config->flash);
    for (uint32_t i = 0; i < KVC_COMPOSED_NEWEST && i < chips; i++) {
        double next = buffered_of(config, mix, pages + i + 1), before_ns = behind_ns;
        struct kvc_composed_page *page = &mix->newest[i];
        page->read_frac = (next - found) / rest;
        behind_ns =
            fmax(behind_ns + (load.reads * page->read_frac * read_ns - 1 / per_ns) / load.programs, 0);
        page->behind_ns = (before_ns + behind_ns) / 2;
        found = next;
    }
}

void kvc_composed_buffer_at(const struct kvc_composed_config *config, struct kvc_composed_mix *mix,
                            double per_ns, double late)
{
    mix->buffered_frac = 0;
    memset(mix->newest, 0, sizeof(mix->newest));
    if (mix->buffered_fracs[LAST] <= 0) {
        return;
    }
    double programs = kvc_composed_mix_flash(config, mix).programs;
    double pages = fmin(per_ns * programs * kvc_composed_program_ns(config->flash), pages_at(config, LAST));
    pages -= late * programs; /* GETs do not find the items that were appended since. */
    mix->buffered_frac = mix->gathers ? mix->buffered_full_frac : buffered_of(config, mix, pages);
    if (!mix->gathers) {
        set_newest(config, mix, pages, per_ns);
    }
}

bool kvc_composed_inserts_late(const struct kvc_composed_config *config)
{
    uint32_t searches = 0, inserts = 0, writes = 0,
             reads = 0; /* The last stage that does it, of any route. */
    for (uint32_t i = 0; i < config->stages && config->on_flash; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        bool flash = stage->place == KVC_COMPOSED_FLASH;
        searches = (stage->does & KVC_COMPOSED_SEARCH) != 0 ? i : searches;
        inserts = (stage->does & KVC_COMPOSED_INSERT) != 0 ? i : inserts;
        writes = flash && (stage->does & KVC_COMPOSED_WRITE) != 0 ? i : writes;
        reads = flash && (stage->does & KVC_COMPOSED_READ) != 0 ? i : reads;
    }
    return searches >= config->batched && inserts > searches && writes < reads;
}
