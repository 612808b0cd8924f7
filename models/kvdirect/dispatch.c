#include "models/kvdirect/dispatch.h"

#include <stdlib.h>

static const uint32_t changed_bit = UINT32_C(1) << 31;

bool kvc_kvdirect_dispatch_open(struct kvc_kvdirect_dispatch *dispatch, double cacheable_frac,
                                double dram_bytes, uint32_t endpoints)
{
    *dispatch = (struct kvc_kvdirect_dispatch){.cacheable_frac = dram_bytes > 0 ? cacheable_frac : 0,
                                               .places = (uint64_t)(dram_bytes / KVC_KVDIRECT_LINE_BYTES),
                                               .endpoints = endpoints};
    dispatch->all_cacheable = dispatch->cacheable_frac >= 1;
    dispatch->cacheable_below = (uint64_t)(dispatch->cacheable_frac * 0x1p63) * 2;
    if (dispatch->cacheable_frac > 0) {
        dispatch->place = calloc(dispatch->places, sizeof(*dispatch->place));
    }
    return dispatch->cacheable_frac == 0 || dispatch->place != NULL;
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

/* Picks the link by hash, because slabs begin at even lines and would load the links unevenly. */
static uint16_t endpoint_of(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line)
{
    return (uint16_t)(kvc_mix64(line) % dispatch->endpoints);
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
    uint64_t place = kvc_kvdirect_dispatch_place_of(dispatch, step->line);
    uint32_t held = dispatch->place[place], tag = (uint32_t)(step->line / dispatch->places) + 1;
    bool hit = (held & ~changed_bit) == tag || step->again;
    *evicts = !hit && (held & changed_bit) != 0;
    if (*evicts) {
        uint64_t evicted = ((held & ~changed_bit) - 1) * dispatch->places + place;
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
        kvc_kvdirect_dispatch_place(dispatch, step->line, changed);
    }
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
            step[count++] = (struct kvc_kvdirect_step){.kind = access->write ? KVC_KVDIRECT_CACHE_WRITE
                                                                             : KVC_KVDIRECT_CACHE_READ,
                                                       .open = true,
                                                       .bytes = (uint16_t)bytes,
                                                       .line_of = (uint8_t)line_of,
                                                       .endpoint = endpoint_of(dispatch, line),
                                                       .line = (uint32_t)line};
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
