#include "scenarios/explore/space_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kvc_tuple_set {
    uint32_t axes, count, room, slots; /* `slots` is a power of two, at least twice the count. */
    uint32_t *tuple;                   /* The points in the order in which they were added. */
    uint32_t *slot;                    /* Number of a point plus 1; 0: free. */
};

struct kvc_tuple_set *kvc_tuple_set_create(uint32_t axes, uint32_t expected)
{
    struct kvc_tuple_set *set = calloc(1, sizeof(*set));
    if (set == NULL) {
        return NULL;
    }
    set->axes = axes;
    set->room = expected + 1;
    for (set->slots = 16; set->slots < 2 * (uint64_t)set->room; set->slots *= 2) {
    }
    set->tuple = calloc(set->room, axes * sizeof(*set->tuple));
    set->slot = calloc(set->slots, sizeof(*set->slot));
    if (set->tuple == NULL || set->slot == NULL) {
        kvc_tuple_set_free(set);
        return NULL;
    }
    return set;
}

void kvc_tuple_set_free(struct kvc_tuple_set *set)
{
    if (set != NULL) {
        free(set->tuple);
        free(set->slot);
        free(set);
    }
}

static uint64_t hash(const uint32_t *value, uint32_t axes)
{
    uint64_t state = 0;
    for (uint32_t i = 0; i < axes; i++) {
        state = kvc_mix64(state + value[i] + 1);
    }
    return state;
}

/* Returns the slot of the point, or the free one where it belongs. */
static uint32_t *slot_of(struct kvc_tuple_set *set, const uint32_t *value)
{
    uint32_t at = (uint32_t)hash(value, set->axes) & (set->slots - 1);
    while (set->slot[at] != 0 && memcmp(&set->tuple[(size_t)(set->slot[at] - 1) * set->axes], value,
                                        set->axes * sizeof(*value)) != 0) {
        at = (at + 1) & (set->slots - 1);
    }
    return &set->slot[at];
}

static void grow(struct kvc_tuple_set *set)
{
    set->room *= 2;
    set->slots *= 2;
    set->tuple = realloc(set->tuple, (size_t)set->room * set->axes * sizeof(*set->tuple));
    free(set->slot);
    set->slot = calloc(set->slots, sizeof(*set->slot));
    if (set->tuple == NULL || set->slot == NULL) {
        kvc_out_of_memory("a set of %u points", set->room);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        *slot_of(set, &set->tuple[(size_t)i * set->axes]) = i + 1;
    }
}

bool kvc_tuple_set_add(struct kvc_tuple_set *set, const uint32_t *value)
{
    if (*slot_of(set, value) != 0) {
        return false;
    }
    if (set->count == set->room) {
        grow(set);
    }
    memcpy(&set->tuple[(size_t)set->count * set->axes], value, set->axes * sizeof(*value));
    *slot_of(set, value) = ++set->count;
    return true;
}

/* Appends the value at a place of the range, 0 to 1, to the axis. */
static enum kvc_status append(const struct kvc_sweep_axis *range, double place, struct kvc_sweep_axis *axis,
                              struct kvc_diag *diag)
{
    double from = range->value[0].number, to = range->value[1].number;
    double number = range->is_log ? from * pow(to / from, place) : from + place * (to - from);
    char digits[40];
    snprintf(digits, sizeof(digits), "%.12g", number); /* Enough for any device, and short enough to read. */
    number = strtod(digits, NULL);
    number = fmin(fmax(range->is_whole ? round(number) : number, from), to);
    if ((axis->count & (axis->count - 1)) == 0) { /* The table is full at every power of two. */
        size_t room = axis->count == 0 ? 1 : 2 * (size_t)axis->count;
        void *grown = realloc(axis->value, room * sizeof(*axis->value));
        if (grown == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the values of %s", range->path);
        }
        axis->value = grown;
    }
    struct kvc_sweep_value value = {.number = number};
    kvc_quantity_print(number, range->unit, value.label, sizeof(value.label));
    enum kvc_status status = kvc_overrides_add(&value.set, range->path, value.label, diag);
    if (status == KVC_OK) {
        axis->value[axis->count++] = value;
    }
    return status;
}

void kvc_draws_init(struct kvc_draws *draws, const struct kvc_sweep *sweep, uint64_t seed)
{
    draws->sweep = sweep;
    for (uint32_t i = 0; i < sweep->count; i++) {
        kvc_rng_init(&draws->rng[i], seed, "sweep", i);
    }
}

enum kvc_status kvc_draws_next(struct kvc_draws *draws, struct kvc_sweep_axis *axis, uint32_t *value,
                               struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < draws->sweep->count; i++) {
        if (!draws->sweep->axis[i].is_drawn) {
            value[i] = (uint32_t)kvc_rng_below(&draws->rng[i], axis[i].count);
            continue;
        }
        value[i] = axis[i].count;
        enum kvc_status status = append(&draws->sweep->axis[i], kvc_rng_unit(&draws->rng[i]), &axis[i], diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

void kvc_draws_forget(struct kvc_draws *draws, struct kvc_sweep_axis *axis)
{
    for (uint32_t i = 0; i < draws->sweep->count; i++) {
        if (draws->sweep->axis[i].is_drawn && axis[i].count > 0) {
            kvc_overrides_clear(&axis[i].value[--axis[i].count].set);
        }
    }
}

/* Fills in a random permutation of 0 to count - 1 (Fisher and Yates). */
static void shuffle(struct kvc_rng *rng, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)kvc_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

enum kvc_status kvc_draw_latin_hypercube(const struct kvc_sweep *sweep, uint64_t seed,
                                         struct kvc_sweep_axis *axis, uint32_t **tuples,
                                         struct kvc_diag *diag)
{
    uint32_t count = sweep->draws;
    uint32_t *order = calloc(count, sizeof(*order));
    enum kvc_status status = KVC_OK;
    *tuples = calloc(count, sweep->count * sizeof(**tuples));
    if (order == NULL || *tuples == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u points", count);
    }
    for (uint32_t i = 0; i < sweep->count && status == KVC_OK; i++) {
        struct kvc_rng rng;
        kvc_rng_init(&rng, seed, "sweep", i);
        shuffle(&rng, order, count);
        for (uint32_t point = 0; point < count && status == KVC_OK; point++) {
            uint32_t *index = &(*tuples)[(size_t)point * sweep->count + i];
            if (sweep->axis[i].is_drawn) {
                double place = (order[point] + kvc_rng_unit(&rng)) / count;
                *index = axis[i].count;
                status = append(&sweep->axis[i], place, &axis[i], diag);
            } else {
                *index = (uint32_t)((uint64_t)order[point] * axis[i].count / count);
            }
        }
    }
    free(order);
    return status;
}
