#include "models/kvdirect/hot.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/kvdirect/table.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"

enum {
    FIRST_ROOM = 4096,
    SLAB_LINES_MAX = 9, /* Lines behind the first one of an access. */
    CLOCK_BEGINS = 1,   /* When the lines were used that are in the cache at the beginning. */
};

static const uint32_t changed_bit = UINT32_C(1) << 31;

struct kvc_kvdirect_hot_place {
    uint64_t number; /* Plus 1; 0: none. */
    uint32_t tag;    /* Of the hot key's line that was last used, with changed_bit if it was changed. */
    uint32_t used;   /* When. */
    float since;     /* Before the run: how long ago. */
};

bool kvc_kvdirect_hot_open(struct kvc_kvdirect_hot *hot, const struct kvc_kvdirect_extent *whole,
                           const struct kvc_kvdirect_extent *sample)
{
    *hot = (struct kvc_kvdirect_hot){.whole = *whole, .sample = *sample, .clock = CLOCK_BEGINS};
    hot->place_used = malloc(sample->places * sizeof(*hot->place_used));
    hot->place_written = calloc(sample->places, sizeof(*hot->place_written));
    hot->index_used = calloc(sample->index_lines, sizeof(*hot->index_used));
    if (hot->place_used == NULL || hot->place_written == NULL || hot->index_used == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < sample->places; i++) {
        hot->place_used[i] = CLOCK_BEGINS;
    }
    return true;
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
    hot->place = calloc(room_of(lines), sizeof(*hot->place));
    hot->place_room = hot->place != NULL ? room_of(lines) : 0;
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
