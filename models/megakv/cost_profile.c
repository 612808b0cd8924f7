#include "models/megakv/cost_profile.h"

#include <math.h>
#include <stddef.h>

static const struct kvc_option point_rows[] = {
    {.name = "size",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_cost_point, size),
     .min = 0,
     .max = 1e12,
     .help = "requests of a frame, bytes of an item, or jobs of a launch"},
    {.name = "footprint",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_cost_point, footprint_bytes),
     .unit = KVC_UNIT_BYTES,
     .min = 0,
     .max = 1e15,
     .by_default = "0B",
     .help = "memory that was used uniformly at random; 0: it does not matter"},
    {.name = "threads",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_megakv_cost_point, threads),
     .min = 1,
     .max = 1024,
     .by_default = "1",
     .help = "threads that did the same work at the same time, or streams of a launch"},
    {.name = "time",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_megakv_cost_point, ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e12,
     .help = "time of one frame, item or launch"},
};

static const struct kvc_option_table point_options = {.name = "points",
                                                      .rows = point_rows,
                                                      .count = sizeof(point_rows) / sizeof(*point_rows),
                                                      .size = sizeof(struct kvc_megakv_cost_point),
                                                      .max_list = KVC_MEGAKV_COST_POINTS_MAX};

#define CURVE(field, text)                                                                                   \
    {                                                                                                        \
        .name = #field, .type = KVC_OPTION_LIST,                                                             \
        .offset = offsetof(struct kvc_megakv_cost_profile, field.point), .element = &point_options,          \
        .count_offset = offsetof(struct kvc_megakv_cost_profile, field.count), .help = text                  \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_megakv_cost_profile, name),
     .by_default = "",
     .help = "origin of the costs"},
    CURVE(receive, "a frame of GETs at a receiver, by its requests"),
    CURVE(write, "what a SET that evicts costs its receiver beyond a GET, by the item's bytes"),
    CURVE(pass, "one step of the CLOCK hand over an item that was read"),
    CURVE(read, "a GET at its sender, by the item's bytes (whole lines if it has several); 0 bytes: a miss"),
    CURVE(read_checked, "as read, when the item's own reference bit must be looked at"),
    CURVE(read_half_marked, "as read, when that bit is clear for a random half of the reads"),
    CURVE(read_marked, "as read, when that bit is clear and must be set"),
    CURVE(read_half_missed, "as read, when a random half of the reads are misses"),
    CURVE(read_slowest, "as read, on the slowest of the senders' cores"),
    CURVE(compare,
          "the part of a GET's time at its sender that compares the keys, by the item's bytes; without "
          "it, no difference was measured: get and getk cost the sender the same"),
    CURVE(search, "a launch of searches for keys that are there, by its jobs in each stream"),
    CURVE(search_miss, "a launch of searches for missing keys, by its jobs in each stream"),
    CURVE(search_high_load, "as search, at a load factor of 0.739 instead of 0.493"),
    CURVE(drain, "the scheduler's time to collect the jobs of a launch of inserts and deletes, by the jobs"),
    CURVE(insert, "a launch of inserts and deletes, by its jobs"),
    CURVE(insert_high_load, "as insert, at a load factor of 0.739 instead of 0.493"),
};

static const struct kvc_option_table options = {.name = "megakv_costs",
                                                .rows = rows,
                                                .count = sizeof(rows) / sizeof(*rows),
                                                .size = sizeof(struct kvc_megakv_cost_profile)};

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    return kvc_megakv_cost_profile_check(device, diag);
}

const struct kvc_device_kind kvc_megakv_cost_profile_kind = {
    .name = "megakv_costs",
    .help = "Measured costs of Mega-KV's own code on one machine, as kvcast calibrate writes them",
    .options = &options,
    .check = check,
};

/* The values of one coordinate in rising order. */
struct axis {
    uint32_t count;
    double value[KVC_MEGAKV_COST_POINTS_MAX];
};

static void add(struct axis *axis, double value)
{
    uint32_t at = 0;
    while (at < axis->count && axis->value[at] < value) {
        at++;
    }
    if (at < axis->count && axis->value[at] == value) {
        return;
    }
    for (uint32_t i = axis->count++; i > at; i--) {
        axis->value[i] = axis->value[i - 1];
    }
    axis->value[at] = value;
}

struct grid {
    const struct kvc_megakv_cost_curve *cost_curve;
    struct axis size, footprint, threads;
};

static struct grid grid_of(const struct kvc_megakv_cost_curve *cost_curve)
{
    struct grid grid = {.cost_curve = cost_curve};
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        add(&grid.size, cost_curve->point[i].size);
        add(&grid.footprint, cost_curve->point[i].footprint_bytes);
        add(&grid.threads, (double)cost_curve->point[i].threads);
    }
    return grid;
}

/* Returns the time of one point of the grid, or NaN if it is missing. */
static double at(const struct grid *grid, uint32_t size, uint32_t footprint, uint32_t threads)
{
    for (uint32_t i = 0; i < grid->cost_curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &grid->cost_curve->point[i];
        if (point->size == grid->size.value[size] &&
            point->footprint_bytes == grid->footprint.value[footprint] &&
            (double)point->threads == grid->threads.value[threads]) {
            return point->ns;
        }
    }
    return NAN;
}

/* Interpolates between the measured numbers of threads; outside of them the nearest one counts. */
static double at_threads(const struct grid *grid, uint32_t size, uint32_t footprint, double threads)
{
    uint32_t right = 0;
    while (right < grid->threads.count - 1 && grid->threads.value[right] < threads) {
        right++;
    }
    double right_ns = at(grid, size, footprint, right);
    if (right == 0 || grid->threads.value[right] <= threads) {
        return right_ns;
    }
    double left_ns = at(grid, size, footprint, right - 1), left = grid->threads.value[right - 1];
    return left_ns + (right_ns - left_ns) * (threads - left) / (grid->threads.value[right] - left);
}

/* Returns the mean cost of accesses of which share[i] reach back over at most footprint i. */
static double at_shares(const struct grid *grid, uint32_t size, double threads, const double *share)
{
    const double *footprint = grid->footprint.value;
    double below = at_threads(grid, size, 0, threads), cost = below * share[0], marginal = below;
    for (uint32_t i = 1; i < grid->footprint.count; i++) {
        double above = at_threads(grid, size, i, threads);
        marginal = (footprint[i] * above - footprint[i - 1] * below) / (footprint[i] - footprint[i - 1]);
        cost += marginal * (share[i] - share[i - 1]);
        below = above;
    }
    return cost + marginal * (1 - share[grid->footprint.count - 1]);
}

uint32_t kvc_megakv_cost_footprints(const struct kvc_megakv_cost_curve *cost_curve,
                                    double footprint_bytes[KVC_CURVE_POINTS_MAX])
{
    struct grid grid = grid_of(cost_curve);
    for (uint32_t i = 0; i < grid.footprint.count; i++) {
        footprint_bytes[i] = grid.footprint.value[i];
    }
    return grid.footprint.count;
}

struct kvc_curve kvc_megakv_cost_curve_by_size(const struct kvc_megakv_cost_curve *cost_curve, double threads,
                                               const double *share)
{
    struct grid grid = grid_of(cost_curve);
    struct kvc_curve curve = {.count = grid.size.count};
    for (uint32_t i = 0; i < curve.count; i++) {
        curve.x[i] = grid.size.value[i];
        curve.y[i] = share != NULL ? at_shares(&grid, i, threads, share)
                                   : at_threads(&grid, i, grid.footprint.count - 1, threads);
    }
    return curve;
}

struct kvc_megakv_cost_range kvc_megakv_cost_range_of(const struct kvc_megakv_cost_curve *cost_curve)
{
    struct grid grid = grid_of(cost_curve);
    if (cost_curve->count == 0) {
        return (struct kvc_megakv_cost_range){0};
    }
    return (struct kvc_megakv_cost_range){
        grid.size.value[0],      grid.size.value[grid.size.count - 1],
        grid.footprint.value[0], grid.footprint.value[grid.footprint.count - 1],
        grid.threads.value[0],   grid.threads.value[grid.threads.count - 1],
    };
}

static enum kvc_status check_cost_curve(const char *name, const struct kvc_megakv_cost_curve *cost_curve,
                                        struct kvc_diag *diag)
{
    struct grid grid = grid_of(cost_curve);
    if (grid.size.count > KVC_CURVE_POINTS_MAX || grid.footprint.count > KVC_CURVE_POINTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "megakv_costs.%s: found %u sizes and %u footprints, allowed: %d", name,
                             grid.size.count, grid.footprint.count, KVC_CURVE_POINTS_MAX);
    }
    if ((uint64_t)grid.size.count * grid.footprint.count * grid.threads.count != cost_curve->count) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "megakv_costs.%s: found %u points, %u sizes, %u footprints and %u numbers of threads need %u",
            name, cost_curve->count, grid.size.count, grid.footprint.count, grid.threads.count,
            grid.size.count * grid.footprint.count * grid.threads.count);
    }
    for (uint32_t i = 0; i < grid.size.count; i++) {
        for (uint32_t j = 0; j < grid.footprint.count; j++) {
            for (uint32_t k = 0; k < grid.threads.count; k++) {
                if (isnan(at(&grid, i, j, k))) {
                    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                         "megakv_costs.%s: no point of size %g, footprint %g, %g threads",
                                         name, grid.size.value[i], grid.footprint.value[j],
                                         grid.threads.value[k]);
                }
            }
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_megakv_cost_profile_check(const struct kvc_megakv_cost_profile *profile,
                                              struct kvc_diag *diag)
{
    const struct {
        const char *name;
        const struct kvc_megakv_cost_curve *cost_curve;
    } cost_curves[] = {
        {"receive", &profile->receive},
        {"write", &profile->write},
        {"pass", &profile->pass},
        {"read", &profile->read},
        {"read_checked", &profile->read_checked},
        {"read_half_marked", &profile->read_half_marked},
        {"read_marked", &profile->read_marked},
        {"read_half_missed", &profile->read_half_missed},
        {"read_slowest", &profile->read_slowest},
        {"compare", &profile->compare},
        {"search", &profile->search},
        {"search_miss", &profile->search_miss},
        {"search_high_load", &profile->search_high_load},
        {"insert", &profile->insert},
        {"insert_high_load", &profile->insert_high_load},
        {"drain", &profile->drain},
    };
    for (size_t i = 0; i < sizeof(cost_curves) / sizeof(*cost_curves); i++) {
        bool given = cost_curves[i].cost_curve->count > 0;
        bool optional = cost_curves[i].cost_curve == &profile->compare;
        if (given != kvc_megakv_cost_profile_is_measured(profile) && (given || !optional)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "megakv_costs.%s is %s: allowed are all cost curves or none",
                                 cost_curves[i].name, given ? "given, megakv_costs.read is not" : "missing");
        }
        enum kvc_status status = check_cost_curve(cost_curves[i].name, cost_curves[i].cost_curve, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}
