#include "scenarios/explore/space.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/space_draw.h"
#include "scenarios/load/lua/constraint.h"
#include "scenarios/load/lua/locate.h"

struct build {
    const struct kvc_loaded *loaded;
    struct kvc_space *space;
    uint32_t room;                         /* Points that `tuple` has room for. */
    const struct kvc_sweep_value **values; /* Of the point that the constraint is asked about. */
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
    for (; space->axis_count < sweep->count; space->axis_count++) {
        const struct kvc_sweep_axis *from = &sweep->axis[space->axis_count];
        struct kvc_sweep_axis *to = &space->axis[space->axis_count];
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
    struct kvc_tuple_set *seen = kvc_tuple_set_create(sweep->count, sweep->list_count);
    enum kvc_status status = seen != NULL ? KVC_OK : out_of_memory(build);
    for (uint32_t i = 0; i < sweep->list_count && status == KVC_OK; i++) {
        const uint32_t *value = &sweep->list[(size_t)i * sweep->count];
        if (kvc_tuple_set_add(seen, value)) {
            status = offer(build, value);
        }
    }
    kvc_tuple_set_free(seen);
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
    enum kvc_status status = kvc_draw_latin_hypercube(&build->loaded->sweep, build->loaded->scenario.run.seed,
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
    struct kvc_draws draws;
    enum kvc_status status = KVC_OK;
    uint64_t tries = (uint64_t)DRAWS_PER_POINT * sweep->draws;
    bool is_finite = !draws_from_ranges(sweep);
    if (is_finite && combinations(space) < sweep->draws) {
        return fail_too_few(build, (uint32_t)combinations(space));
    }
    struct kvc_tuple_set *seen = kvc_tuple_set_create(sweep->count, sweep->draws);
    if (seen == NULL) {
        return out_of_memory(build);
    }
    kvc_draws_init(&draws, sweep, build->loaded->scenario.run.seed);
    while (space->points < sweep->draws && tries-- > 0 && status == KVC_OK) {
        uint32_t before = space->points;
        status = kvc_draws_next(&draws, space->axis, value, build->diag);
        if (status == KVC_OK && (!is_finite || kvc_tuple_set_add(seen, value))) {
            status = offer(build, value);
        }
        if (space->points == before) {
            kvc_draws_forget(&draws, space->axis);
        }
    }
    kvc_tuple_set_free(seen);
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
