#include "scenarios/papers/bluecache/drives_fixture.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenarios/load/decode/hardware.h"
#include "scenarios/load/load.h"
#include "sim/base/rng.h"
#include "sim/devices/flash/flash_engine.h"
#include "sim/devices/flash/flash_translation.h"

/* Pages of the smaller drives, and blocks of a chip of theirs: many enough for the closed form of random
 * writes. */
enum { PAGES_MOST = 150000, BLOCKS = 48, AGES = 4 };

static struct kvc_events events;
static struct kvc_flash_engine engine;
static struct kvc_rng rng;
static uint64_t next; /* What is accessed next in a row. */

struct kvc_flash kvc_drive_of(const char *profile)
{
    struct kvc_loaded loaded = {.warning_count = 0};
    struct kvc_node node;
    struct kvc_diag diag = {0};
    const struct kvc_device_kind *kind;
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.lua", kvc_hardware_dir(), profile);
    enum kvc_status status = kvc_hardware_read(path, &kind, &node, &loaded, &diag);
    cr_assert_eq(status, KVC_OK, "%s:%d: %s", diag.file, diag.line, diag.message);
    struct kvc_flash flash = *kvc_flash_of(&node);
    kvc_node_free(&node);
    kvc_parameters_clear(&loaded.parameters);
    kvc_parameters_clear(&loaded.provenance);
    return flash;
}

void kvc_drive_open(const struct kvc_flash *flash, bool aged)
{
    uint64_t chips = kvc_flash_chips(flash), block = PAGES_MOST / (BLOCKS * chips);
    block = block < flash->pages_per_block ? block : flash->pages_per_block;
    events = (struct kvc_events){0};
    next = 0;
    kvc_rng_init(&rng, 1, "drives_fixture", 0);
    kvc_flash_engine_open(&engine, flash, &events, 0);
    kvc_flash_engine_translate(&engine,
                               (uint64_t)((double)(BLOCKS * chips * block) / (1 + flash->over_provisioning)));
    struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    if (aged) {
        kvc_flash_translation_scatter(map, AGES * (uint64_t)map->size.sectors, &rng);
    }
}

void kvc_drive_close(void)
{
    kvc_flash_engine_close(&engine);
    kvc_events_free(&events);
}

static void ask(const struct kvc_drive_load *load, double now_ns)
{
    const struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    bool sector = load->bytes < engine.flash->page_bytes, reads = kvc_rng_unit(&rng) < load->reads;
    uint64_t places = sector ? map->size.sectors : map->size.sectors / map->size.slots;
    uint64_t place = load->random ? kvc_rng_below(&rng, places) : next++ % places;
    if (sector && reads) {
        kvc_flash_read_sector(&engine, now_ns, place, 0);
    } else if (sector) {
        kvc_flash_write_sector(&engine, now_ns, place, 0);
    } else if (reads) {
        kvc_flash_read(&engine, now_ns, place, load->bytes, 0);
    } else {
        kvc_flash_program(&engine, now_ns, place, 0);
    }
}

/* What a drive has done until now. */
struct counts {
    double now_ns, written, moved, chips_ns;
};

static struct counts count(double now_ns)
{
    const struct kvc_flash_translation *map = kvc_flash_engine_translation(&engine, 0);
    return (struct counts){now_ns, (double)map->written, (double)map->moved,
                           kvc_flash_engine_busy(&engine).chips_ns};
}

struct kvc_drive_work kvc_drive_run(const struct kvc_drive_load *load)
{
    uint32_t before = load->count / 3, done = 0, asked = 0, tag;
    double now_ns = 0;
    struct counts begin = count(0);
    while (done < before + load->count) {
        for (; asked < done + load->depth; asked++) {
            ask(load, now_ns);
        }
        struct kvc_event event = kvc_events_pop(&events);
        now_ns = event.time_ns;
        uint32_t last = done;
        done += kvc_flash_engine_handle(&engine, &event, &tag);
        if (last < before && done >= before) {
            begin = count(now_ns);
        }
    }
    struct counts end = count(now_ns);
    while (events.count > 0) { /* The next load begins with an idle drive. */
        struct kvc_event event = kvc_events_pop(&events);
        kvc_flash_engine_handle(&engine, &event, &tag);
    }
    double took_ns = end.now_ns - begin.now_ns, written = end.written - begin.written;
    double programmed = written + end.moved - begin.moved;
    return (struct kvc_drive_work){.per_s = load->count / took_ns * 1e9,
                                   .amplification = written > 0 ? programmed / written : 1,
                                   .programs_bytes_per_s =
                                       programmed * engine.flash->sector_bytes / took_ns * 1e9,
                                   .chips_busy = (end.chips_ns - begin.chips_ns) / took_ns};
}

double kvc_drive_error(const char *what, double predicted, double published)
{
    double error = predicted / published - 1;
    cr_log_info("%s: %.4g, published %.4g, %+.1f %%", what, predicted, published, error * 100);
    return error;
}

void kvc_drive_expect(const char *what, double predicted, double published, double low, double high)
{
    double error = kvc_drive_error(what, predicted, published);
    cr_expect(error >= low && error <= high, "%s is wrong by %+.1f %%", what, error * 100);
}
