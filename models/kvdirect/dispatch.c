#include "models/kvdirect/dispatch.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/kvdirect/table.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"

/* ---- hot ---- */

enum {
    FIRST_ROOM = 4096,
    SLAB_LINES_MAX = 9, /* Lines of an access after the first one. */
    CLOCK_BEGINS = 1,   /* Time of use of the lines that are in the cache at the start. */
};

static const uint32_t changed_bit = UINT32_C(1) << 31;

struct kvc_kvdirect_hot_place {
    uint64_t number; /* Number of the place plus 1; 0: none. */
    uint32_t tag;    /* Tag of the hot key's line that was used last, with changed_bit if it was changed. */
    uint32_t used;   /* Time of that use. */
    float since;     /* Before the run: time since that use. */
};

void kvc_kvdirect_hot_open(struct kvc_kvdirect_hot *hot, const struct kvc_kvdirect_extent *whole,
                           const struct kvc_kvdirect_extent *sample)
{
    *hot = (struct kvc_kvdirect_hot){.whole = *whole, .sample = *sample, .clock = CLOCK_BEGINS};
    hot->place_used = kvc_array_of(sample->places, sizeof(*hot->place_used));
    hot->place_written = kvc_array_of(sample->places, sizeof(*hot->place_written));
    hot->index_used = kvc_array_of(sample->index_lines, sizeof(*hot->index_used));
    for (uint64_t i = 0; i < sample->places; i++) {
        hot->place_used[i] = CLOCK_BEGINS;
    }
}

void kvc_kvdirect_hot_close(struct kvc_kvdirect_hot *hot)
{
    free(hot->place_used);
    free(hot->place_written);
    free(hot->index_used);
    free(hot->place);
}

uint32_t kvc_kvdirect_hot_line(const struct kvc_kvdirect_hot *hot, uint64_t hash, uint32_t line)
{
    uint64_t index_lines = hot->whole.index_lines;
    if (line < hot->sample.index_lines) {
        return (uint32_t)kvc_kvdirect_table_bucket_of(hash, index_lines);
    }
    uint64_t behind = hot->whole.lines - index_lines - SLAB_LINES_MAX;
    return (uint32_t)(index_lines + kvc_mix64(hash + line) % behind);
}

void kvc_kvdirect_hot_note(struct kvc_kvdirect_hot *hot, uint64_t line, bool hit, bool write)
{
    uint64_t place = line % hot->sample.places;
    uint32_t now = ++hot->clock;
    hot->place_used[place] = now;
    if (write || !hit) {
        hot->place_written[place] = write ? now : 0;
    }
    if (line < hot->sample.index_lines) {
        hot->index_used[line] = now;
    }
}

void kvc_kvdirect_hot_begin(struct kvc_kvdirect_hot *hot, uint64_t place, bool changed)
{
    hot->place_written[place] = changed ? CLOCK_BEGINS : 0;
}

/* Returns the entry of a place, or the free entry that it would get. */
static struct kvc_kvdirect_hot_place *entry_of(const struct kvc_kvdirect_hot *hot, uint64_t number)
{
    uint64_t at = kvc_mix64(number) & (hot->place_room - 1);
    while (hot->place[at].number != 0 && hot->place[at].number != number + 1) {
        at = (at + 1) & (hot->place_room - 1);
    }
    return &hot->place[at];
}

bool kvc_kvdirect_hot_look(const struct kvc_kvdirect_hot *hot, uint64_t line, uint64_t mate, bool *evicts)
{
    static const struct kvc_kvdirect_hot_place none = {0};
    uint64_t number = line % hot->whole.places, like = number % hot->sample.places;
    const struct kvc_kvdirect_hot_place *place = hot->place_room > 0 ? entry_of(hot, number) : &none;
    uint32_t tag = (uint32_t)(line / hot->whole.places) + 1, displaced = hot->place_used[like];
    uint32_t used = (place->tag & ~changed_bit) == tag ? place->used : 0;
    if (mate != KVC_KVDIRECT_NO_LINE) {
        uint32_t others = hot->index_used[mate];
        used = others > used && others >= place->used ? others : used;
    }
    *evicts = false;
    if (used > 0 && used >= displaced) {
        return true;
    }
    *evicts =
        displaced > place->used ? hot->place_written[like] > place->used : (place->tag & changed_bit) != 0;
    return false;
}

static void add_room(struct kvc_kvdirect_hot *hot)
{
    struct kvc_kvdirect_hot old = *hot;
    hot->place_room = old.place_room > 0 ? 2 * old.place_room : FIRST_ROOM;
    hot->place = kvc_array_of(hot->place_room, sizeof(*hot->place));
    for (uint64_t i = 0; i < old.place_room; i++) {
        if (old.place[i].number != 0) {
            *entry_of(hot, old.place[i].number - 1) = old.place[i];
        }
    }
    free(old.place);
}

/* The table is at most half full. */
static uint64_t room_of(double lines)
{
    return FIRST_ROOM * (uint64_t)exp2(ceil(fmax(log2(2 * lines / FIRST_ROOM), 0)));
}

void kvc_kvdirect_hot_expect(struct kvc_kvdirect_hot *hot, double lines)
{
    hot->place_room = room_of(lines);
    hot->place = kvc_array_of(hot->place_room, sizeof(*hot->place));
}

double kvc_kvdirect_hot_memory_bytes(double lines)
{
    return (double)room_of(lines) * sizeof(struct kvc_kvdirect_hot_place);
}

/* Returns the place of a line. */
static struct kvc_kvdirect_hot_place *place_for(struct kvc_kvdirect_hot *hot, uint64_t line)
{
    if (2 * hot->place_count >= hot->place_room) {
        add_room(hot);
    }
    uint64_t number = line % hot->whole.places;
    struct kvc_kvdirect_hot_place *place = entry_of(hot, number);
    hot->place_count += place->number == 0;
    place->number = number + 1;
    return place;
}

static uint32_t tag_of(const struct kvc_kvdirect_hot *hot, uint64_t line, bool changed)
{
    return ((uint32_t)(line / hot->whole.places) + 1) | (changed ? changed_bit : 0);
}

void kvc_kvdirect_hot_fill(struct kvc_kvdirect_hot *hot, uint64_t line, float since, bool changed)
{
    struct kvc_kvdirect_hot_place *place = place_for(hot, line);
    if (place->used == 0 || since < place->since) {
        place->tag = tag_of(hot, line, changed);
        place->used = CLOCK_BEGINS;
        place->since = since;
    }
}

void kvc_kvdirect_hot_put(struct kvc_kvdirect_hot *hot, uint64_t line, bool changed)
{
    struct kvc_kvdirect_hot_place *place = place_for(hot, line);
    place->tag = tag_of(hot, line, changed);
    place->used = hot->clock;
}

void kvc_kvdirect_dispatch_open(struct kvc_kvdirect_dispatch *dispatch, double cacheable_frac,
                                double dram_bytes, uint32_t endpoints)
{
    *dispatch = (struct kvc_kvdirect_dispatch){.cacheable_frac = dram_bytes > 0 ? cacheable_frac : 0,
                                               .places = (uint64_t)(dram_bytes / KVC_KVDIRECT_LINE_BYTES),
                                               .endpoints = endpoints};
    dispatch->all_cacheable = dispatch->cacheable_frac >= 1;
    dispatch->cacheable_below = (uint64_t)(dispatch->cacheable_frac * 0x1p63) * 2;
    if (dispatch->cacheable_frac > 0) {
        dispatch->place = kvc_array_of(dispatch->places, sizeof(*dispatch->place));
    }
}

void kvc_kvdirect_dispatch_close(struct kvc_kvdirect_dispatch *dispatch)
{
    free(dispatch->place);
    kvc_kvdirect_hot_close(&dispatch->hot);
}

bool kvc_kvdirect_dispatch_cacheable(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line)
{
    return dispatch->all_cacheable || kvc_mix64(line) < dispatch->cacheable_below;
}

void kvc_kvdirect_dispatch_place(struct kvc_kvdirect_dispatch *dispatch, uint64_t line, bool changed)
{
    uint32_t tag = (uint32_t)(line / dispatch->places) + 1;
    dispatch->place[kvc_kvdirect_dispatch_place_of(dispatch, line)] = changed ? tag | changed_bit : tag;
}

/* Picks the link by hash, because slabs begin at even lines and would load the links unevenly. Cards have a
 * power of two of links as a rule, and division is slow. */
static uint16_t endpoint_of(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line)
{
    uint64_t hash = kvc_mix64(line), mask = dispatch->endpoints - 1;
    return (uint16_t)((dispatch->endpoints & mask) == 0 ? hash & mask : hash % dispatch->endpoints);
}

uint64_t kvc_kvdirect_dispatch_mate(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line)
{
    const struct kvc_kvdirect_hot *hot = &dispatch->hot;
    uint64_t mate = line % hot->sample.index_lines, tries = hot->sample.index_lines;
    while (line < hot->whole.index_lines && tries-- > 0) {
        if (kvc_kvdirect_dispatch_cacheable(dispatch, mate)) {
            return mate;
        }
        mate = mate + 1 < hot->sample.index_lines ? mate + 1 : 0;
    }
    return KVC_KVDIRECT_NO_LINE;
}

/* Looks a line up in the places of the sample. */
static bool look_in_sample(struct kvc_kvdirect_dispatch *dispatch, struct kvc_kvdirect_step *step,
                           bool *evicts)
{
    uint32_t held = dispatch->place[step->place];
    bool hit = (held & ~changed_bit) == step->tag || step->again;
    *evicts = !hit && (held & changed_bit) != 0;
    if (*evicts) {
        uint64_t evicted = ((held & ~changed_bit) - 1) * dispatch->places + step->place;
        step->evicted_endpoint = endpoint_of(dispatch, evicted);
    }
    if (step->line_of == KVC_KVDIRECT_OWN && dispatch->hot.clock > 0) {
        kvc_kvdirect_hot_note(&dispatch->hot, step->line, hit, step->kind == KVC_KVDIRECT_CACHE_WRITE);
    }
    return hit;
}

void kvc_kvdirect_dispatch_look(struct kvc_kvdirect_dispatch *dispatch, struct kvc_kvdirect_step *step)
{
    bool write = step->kind == KVC_KVDIRECT_CACHE_WRITE, hit;
    if (step->line_of == KVC_KVDIRECT_HOT) {
        hit = kvc_kvdirect_hot_look(&dispatch->hot, step->line,
                                    kvc_kvdirect_dispatch_mate(dispatch, step->line), &step->evicts);
        step->evicted_endpoint = endpoint_of(dispatch, step->line % dispatch->hot.whole.places);
    } else {
        hit = look_in_sample(dispatch, step, &step->evicts);
    }
    dispatch->stats.hits += hit;
    dispatch->stats.writebacks += step->evicts;
    step->open = false;
    if (!write && !hit) {
        step->kind = KVC_KVDIRECT_CACHE_FETCH;
    }
    step->fetches = write && !hit && step->bytes < KVC_KVDIRECT_LINE_BYTES;
}

void kvc_kvdirect_dispatch_use(struct kvc_kvdirect_dispatch *dispatch,
                               const struct kvc_kvdirect_table_access *access)
{
    uint64_t end =
        access->line + (access->bytes + KVC_KVDIRECT_LINE_BYTES - UINT64_C(1)) / KVC_KVDIRECT_LINE_BYTES;
    for (uint64_t line = access->line; line < end; line++) {
        uint32_t held = dispatch->place[kvc_kvdirect_dispatch_place_of(dispatch, line)];
        bool is_there = (held & ~changed_bit) == (uint32_t)(line / dispatch->places) + 1;
        if (kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
            kvc_kvdirect_dispatch_place(dispatch, line,
                                        access->write || (is_there && (held & changed_bit) != 0));
        }
    }
}

void kvc_kvdirect_dispatch_arrive(struct kvc_kvdirect_dispatch *dispatch,
                                  const struct kvc_kvdirect_step *step)
{
    bool changed = step->kind == KVC_KVDIRECT_CACHE_WRITE;
    if (step->line_of == KVC_KVDIRECT_HOT) {
        kvc_kvdirect_hot_put(&dispatch->hot, step->line, changed);
    } else {
        dispatch->place[step->place] = changed ? step->tag | changed_bit : step->tag;
    }
}

/* Sets the place of an open step. A place of the sample is prefetched, because it is looked up some events
 * later. */
static void set_place(const struct kvc_kvdirect_dispatch *dispatch, struct kvc_kvdirect_step *step)
{
    if (step->line_of == KVC_KVDIRECT_HOT) {
        step->place = dispatch->places + step->line % dispatch->hot.whole.places;
        return;
    }
    step->place = step->line % dispatch->places;
    step->tag = (uint32_t)(step->line / dispatch->places) + 1;
    __builtin_prefetch(&dispatch->place[step->place], 1);
}

uint32_t kvc_kvdirect_dispatch_steps(struct kvc_kvdirect_dispatch *dispatch,
                                     const struct kvc_kvdirect_table_access *access,
                                     enum kvc_kvdirect_line_of line_of, struct kvc_kvdirect_step *step)
{
    uint32_t count = 0, left = access->bytes;
    struct kvc_kvdirect_step *host = NULL; /* The DMA operation of the previous line. */
    for (uint64_t line = access->line; left > 0; line++) {
        uint32_t bytes = left < KVC_KVDIRECT_LINE_BYTES ? left : KVC_KVDIRECT_LINE_BYTES;
        left -= bytes;
        dispatch->stats.lines++;
        if (kvc_kvdirect_dispatch_cacheable(dispatch, line)) {
            dispatch->stats.cacheable++;
            step[count] = (struct kvc_kvdirect_step){.kind = access->write ? KVC_KVDIRECT_CACHE_WRITE
                                                                           : KVC_KVDIRECT_CACHE_READ,
                                                     .open = true,
                                                     .bytes = (uint16_t)bytes,
                                                     .line_of = (uint8_t)line_of,
                                                     .endpoint = endpoint_of(dispatch, line),
                                                     .line = (uint32_t)line};
            set_place(dispatch, &step[count++]);
            host = NULL;
            continue;
        }
        if (host != NULL) {
            host->bytes = (uint16_t)(host->bytes + bytes);
            continue;
        }
        host = &step[count++];
        *host = (struct kvc_kvdirect_step){.kind = access->write ? KVC_KVDIRECT_HOST_WRITE
                                                                 : KVC_KVDIRECT_HOST_READ,
                                           .bytes = (uint16_t)bytes,
                                           .endpoint = endpoint_of(dispatch, line)};
    }
    step[count - 1].ends_access = true;
    return count;
}
