#include "scenarios/explore/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/lua/functions.h"
#include "scenarios/load/lua/locate.h"
#include "sim/base/rng.h"

/* A set of points with the same number of axes. */
struct tuple_set {
    uint32_t axes, count, room, slots; /* `slots` is a power of two, at least twice the count. */
    uint32_t *tuple;                   /* The points in the order in which they were added. */
    uint32_t *slot;                    /* Number of a point plus 1; 0: free. */
};

static void tuple_set_free(struct tuple_set *set)
{
    if (set != NULL) {
        free(set->tuple);
        free(set->slot);
        free(set);
    }
}

/* Returns an empty set with room for about `expected` points; it grows. NULL when memory runs out. */
static struct tuple_set *tuple_set_create(uint32_t axes, uint32_t expected)
{
    struct tuple_set *set = calloc(1, sizeof(*set));
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
        tuple_set_free(set);
        return NULL;
    }
    return set;
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
static uint32_t *slot_of(struct tuple_set *set, const uint32_t *value)
{
    uint32_t at = (uint32_t)hash(value, set->axes) & (set->slots - 1);
    while (set->slot[at] != 0 && memcmp(&set->tuple[(size_t)(set->slot[at] - 1) * set->axes], value,
                                        set->axes * sizeof(*value)) != 0) {
        at = (at + 1) & (set->slots - 1);
    }
    return &set->slot[at];
}

static void grow(struct tuple_set *set)
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

/* Adds a copy of the point. Returns false if the set has it already. */
static bool tuple_set_add(struct tuple_set *set, const uint32_t *value)
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

/* Independent draws of points from the axes of a sweep. */
struct draws {
    const struct kvc_sweep *sweep;
    struct kvc_rng rng[KVC_SWEEP_AXES_MAX]; /* A stream for each axis. */
};

static void draws_init(struct draws *draws, const struct kvc_sweep *sweep, uint64_t seed)
{
    draws->sweep = sweep;
    for (uint32_t i = 0; i < sweep->count; i++) {
        kvc_rng_init(&draws->rng[i], seed, "sweep", i);
    }
}

/* Draws a point. Values from ranges are appended to their axes. */
static enum kvc_status draws_next(struct draws *draws, struct kvc_sweep_axis *axis, uint32_t *value,
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

/* Removes the values that the last draw appended. */
static void draws_forget(struct draws *draws, struct kvc_sweep_axis *axis)
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

/* Draws the points of a Latin hypercube, and the values of its ranges, into an array that the caller frees.
 */
static enum kvc_status draw_latin_hypercube(const struct kvc_sweep *sweep, uint64_t seed,
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

struct build {
    const struct kvc_loaded *loaded;
    struct kvc_space *space;
    uint32_t room;                         /* Points that `tuple` has room for. */
    const struct kvc_sweep_value **values; /* Values of the point for which the constraint is called. */
    struct kvc_diag *diag;
};

void kvc_space_free(struct kvc_space *space)
{
    if (space == NULL) {
        return;
    }
    for (uint32_t i = 0; i < space->axis_count; i++) {
        kvc_sweep_axis_free(&space->axis[i]);
    }
    free(space->axis);
    free(space->tuple);
    free(space);
}

void kvc_space_point(const struct kvc_space *space, uint32_t point, uint32_t *value)
{
    if (space->tuple != NULL) {
        memcpy(value, &space->tuple[(size_t)point * space->axis_count], space->axis_count * sizeof(*value));
        return;
    }
    for (uint32_t i = space->axis_count; i-- > 0;) {
        value[i] = point % space->axis[i].count;
        point /= space->axis[i].count;
    }
}

void kvc_space_show(const struct kvc_space *space, uint32_t point, char *text, size_t size)
{
    enum { SHOWN = 60 };
    uint32_t value[KVC_SWEEP_AXES_MAX];
    size_t used = 0;
    kvc_space_point(space, point, value);
    text[0] = '\0';
    for (uint32_t i = 0; i < space->axis_count && used < size; i++) {
        const char *label = space->axis[i].value[value[i]].label;
        used += (size_t)snprintf(text + used, size - used, "%s%s = %.*s%s", i > 0 ? ", " : "",
                                 space->axis[i].path, SHOWN, label, strlen(label) > SHOWN ? "..." : "");
    }
}

enum kvc_status kvc_space_set(const struct kvc_space *space, uint32_t point, struct kvc_overrides *set,
                              struct kvc_diag *diag)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    enum kvc_status status = KVC_OK;
    kvc_space_point(space, point, value);
    for (uint32_t i = 0; i < space->axis_count && status == KVC_OK; i++) {
        status = kvc_overrides_join(set, &space->axis[i].value[value[i]].set, diag);
    }
    return status;
}

static enum kvc_status out_of_memory(const struct build *build)
{
    return kvc_diag_fail(build->diag, KVC_ERR_RUNTIME, "out of memory for the points of the sweep");
}

static enum kvc_status fail(const struct build *build, const char *path, const char *message)
{
    const char *file = build->loaded->scenario.file;
    return kvc_diag_fail_at(build->diag, KVC_ERR_SCENARIO, file, kvc_locate_line(file, path), "%s", message);
}

static enum kvc_status fail_too_many(const struct build *build)
{
    char message[96];
    snprintf(message, sizeof(message), "the sweep has more points than the limit of %d",
             KVC_SPACE_POINTS_MAX);
    return fail(build, "sweep", message);
}

/* Copies the axes. A range that the design draws from has no values yet. */
static enum kvc_status copy_axes(const struct build *build)
{
    const struct kvc_sweep *sweep = &build->loaded->sweep;
    struct kvc_space *space = build->space;
    space->axis = calloc(sweep->count, sizeof(*space->axis));
    if (space->axis == NULL) {
        return out_of_memory(build);
    }
    while (space->axis_count < sweep->count) {
        const struct kvc_sweep_axis *from = &sweep->axis[space->axis_count];
        /* The axis is counted before it has values, so that kvc_space_free() frees what there is of it. */
        struct kvc_sweep_axis *to = &space->axis[space->axis_count++];
        uint32_t count = from->is_drawn ? 0 : from->count;
        *to = *from;
        to->count = 0;
        to->value = calloc(count + 1, sizeof(*to->value));
        if (to->value == NULL) {
            return out_of_memory(build);
        }
        for (; to->count < count; to->count++) {
            struct kvc_sweep_value *value = &to->value[to->count];
            *value = from->value[to->count];
            value->set = (struct kvc_overrides){0};
            if (kvc_overrides_join(&value->set, &from->value[to->count].set, build->diag) != KVC_OK) {
                return build->diag->status;
            }
        }
    }
    return KVC_OK;
}

/* Appends a point if it meets the constraint. */
static enum kvc_status offer(struct build *build, const uint32_t *value)
{
    struct kvc_space *space = build->space;
    struct kvc_constraint *where = build->loaded->sweep.where;
    bool allowed = true;
    enum kvc_status status = KVC_OK;
    if (where != NULL) {
        for (uint32_t i = 0; i < space->axis_count; i++) {
            build->values[i] = &space->axis[i].value[value[i]];
        }
        status = kvc_constraint_allows(where, space->axis, space->axis_count, build->values, &allowed,
                                       build->diag);
    }
    if (status != KVC_OK || !allowed) {
        return status;
    }
    if (space->points == build->room) {
        build->room = build->room > 0 ? 2 * build->room : 64;
        void *grown = realloc(space->tuple, (size_t)build->room * space->axis_count * sizeof(*space->tuple));
        if (grown == NULL) {
            return out_of_memory(build);
        }
        space->tuple = grown;
    }
    memcpy(&space->tuple[(size_t)space->points++ * space->axis_count], value,
           space->axis_count * sizeof(*value));
    return KVC_OK;
}

/* Returns the number of combinations, or one more than the limit if there are too many. */
static uint64_t combinations(const struct kvc_space *space)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < space->axis_count && count <= KVC_SPACE_POINTS_MAX; i++) {
        count *= space->axis[i].count;
    }
    return count <= KVC_SPACE_POINTS_MAX ? count : (uint64_t)KVC_SPACE_POINTS_MAX + 1;
}

static enum kvc_status make_grid(struct build *build)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    const struct kvc_space grid = {.axis_count = build->space->axis_count, .axis = build->space->axis};
    uint64_t count = combinations(&grid);
    enum kvc_status status = KVC_OK;
    if (count > KVC_SPACE_POINTS_MAX) {
        return fail_too_many(build);
    }
    if (build->loaded->sweep.where == NULL) {
        build->space->points = (uint32_t)count;
        return KVC_OK;
    }
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        kvc_space_point(&grid, i, value);
        status = offer(build, value);
    }
    return status;
}

static enum kvc_status make_list(struct build *build)
{
    const struct kvc_sweep *sweep = &build->loaded->sweep;
    struct tuple_set *seen = tuple_set_create(sweep->count, sweep->list_count);
    enum kvc_status status = seen != NULL ? KVC_OK : out_of_memory(build);
    for (uint32_t i = 0; i < sweep->list_count && status == KVC_OK; i++) {
        const uint32_t *value = &sweep->list[(size_t)i * sweep->count];
        if (tuple_set_add(seen, value)) {
            status = offer(build, value);
        }
    }
    tuple_set_free(seen);
    return status;
}

/* Offers the points that were drawn in advance. */
static enum kvc_status offer_all(struct build *build, const uint32_t *tuples, uint32_t count)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < count && status == KVC_OK; i++) {
        status = offer(build, &tuples[(size_t)i * build->space->axis_count]);
    }
    return status;
}

static enum kvc_status make_latin_hypercube(struct build *build)
{
    uint32_t count = build->loaded->sweep.draws;
    uint32_t *tuples = NULL;
    enum kvc_status status = draw_latin_hypercube(&build->loaded->sweep, build->loaded->scenario.run.seed,
                                                  build->space->axis, &tuples, build->diag);
    if (status == KVC_OK) {
        status = offer_all(build, tuples, count);
    }
    free(tuples);
    return status;
}

static bool draws_from_ranges(const struct kvc_sweep *sweep)
{
    bool found = false;
    for (uint32_t i = 0; i < sweep->count && !found; i++) {
        found = sweep->axis[i].is_drawn;
    }
    return found;
}

static enum kvc_status fail_too_few(const struct build *build, uint32_t found)
{
    char message[160];
    snprintf(message, sizeof(message),
             "sweep.points: found %u different points for random = %u, allowed: fewer, or the grid without "
             "points",
             found, build->loaded->sweep.draws);
    return fail(build, "sweep.points", message);
}

/* Draws until there are enough points. Where all axes are lists, the points may run out. */
static enum kvc_status make_random(struct build *build)
{
    enum { DRAWS_PER_POINT = 1000 };
    const struct kvc_sweep *sweep = &build->loaded->sweep;
    struct kvc_space *space = build->space;
    uint32_t value[KVC_SWEEP_AXES_MAX];
    struct draws draws;
    enum kvc_status status = KVC_OK;
    uint64_t tries = (uint64_t)DRAWS_PER_POINT * sweep->draws;
    bool is_finite = !draws_from_ranges(sweep);
    if (is_finite && combinations(space) < sweep->draws) {
        return fail_too_few(build, (uint32_t)combinations(space));
    }
    struct tuple_set *seen = tuple_set_create(sweep->count, sweep->draws);
    if (seen == NULL) {
        return out_of_memory(build);
    }
    draws_init(&draws, sweep, build->loaded->scenario.run.seed);
    while (space->points < sweep->draws && tries-- > 0 && status == KVC_OK) {
        uint32_t before = space->points;
        status = draws_next(&draws, space->axis, value, build->diag);
        if (status == KVC_OK && (!is_finite || tuple_set_add(seen, value))) {
            status = offer(build, value);
        }
        if (space->points == before) {
            draws_forget(&draws, space->axis);
        }
    }
    tuple_set_free(seen);
    if (status == KVC_OK && space->points < sweep->draws && space->points > 0) {
        status = fail_too_few(build, space->points);
    }
    return status;
}

static enum kvc_status make_points(struct build *build)
{
    switch (build->loaded->sweep.design) {
    case KVC_SWEEP_LIST:
        return make_list(build);
    case KVC_SWEEP_RANDOM:
        return make_random(build);
    case KVC_SWEEP_LATIN_HYPERCUBE:
        return make_latin_hypercube(build);
    case KVC_SWEEP_GRID:
        break;
    }
    return make_grid(build);
}

enum kvc_status kvc_space_create(const struct kvc_loaded *loaded, struct kvc_space **out,
                                 struct kvc_diag *diag)
{
    struct kvc_diag unused;
    const struct kvc_sweep_value *values[KVC_SWEEP_AXES_MAX];
    struct build build = {.loaded = loaded, .values = values, .diag = diag != NULL ? diag : &unused};
    *out = NULL;
    if (loaded->sweep.count == 0) {
        return fail(&build, "sweep",
                    "the scenario has no sweep table with values, such as "
                    "sweep = { [\"workload.set\"] = { 0.05, 0.5 } }");
    }
    build.space = calloc(1, sizeof(*build.space));
    enum kvc_status status = build.space != NULL ? copy_axes(&build) : out_of_memory(&build);
    if (status == KVC_OK) {
        status = make_points(&build);
    }
    if (status == KVC_OK && build.space->points == 0) {
        status = fail(&build, "sweep.where",
                      "sweep.where: no point of the sweep meets the constraint, allowed: a function that "
                      "returns true for at least one");
    }
    if (status != KVC_OK) {
        kvc_space_free(build.space);
        return status;
    }
    *out = build.space;
    return KVC_OK;
}
