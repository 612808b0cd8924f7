#include "models/megakv/cost_profile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct kvc_option point_rows[] = {
    KVC_REAL_ROW(kvc_megakv_cost_point, "size", size, KVC_UNIT_NONE, 0, 1e12, NULL,
                 "requests of a frame, bytes of an item, or jobs of a launch", .is_condition = true),
    KVC_REAL_ROW(kvc_megakv_cost_point, "key", key_bytes, KVC_UNIT_BYTES, 0, 255, "0B",
                 "length of the keys; 0: any", .is_condition = true),
    KVC_REAL_ROW(kvc_megakv_cost_point, "load", load_frac, KVC_UNIT_NONE, 0, 1, "0",
                 "load factor of the index; 0: any", .is_condition = true),
    KVC_REAL_ROW(kvc_megakv_cost_point, "footprint", footprint_bytes, KVC_UNIT_BYTES, 0, 1e15, "0B",
                 "memory that was accessed uniformly at random; 0: any", .is_condition = true),
    KVC_COUNT_ROW(kvc_megakv_cost_point, "threads", threads, 1, 1024, "1",
                  "threads that did this work concurrently, or streams of a launch", .is_condition = true),
    KVC_REAL_ROW(kvc_megakv_cost_point, "time", ns, KVC_UNIT_NS, 0, 1e12, NULL,
                 "time of one frame, item or launch"),
};

static const struct kvc_option_table point_options =
    KVC_OPTION_TABLE(kvc_megakv_cost_point, point_rows, "points", .max_list = KVC_MEGAKV_COST_POINTS_MAX);

#define CURVE(field, text)                                                                                   \
    KVC_LIST_ROW(kvc_megakv_cost_profile, #field, field.point, field.count, &point_options, text)

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_megakv_cost_profile, "name", name, "", "origin of the costs"),
    CURVE(receive,
          "a frame of GETs at a receiver, by its requests and the length of the keys; the footprint is the "
          "memory of the batches that its core fills in turn"),
    CURVE(write, "extra cost of a SET into a free place over a GET at its receiver, by the length of the "
                 "key and the item's bytes"),
    CURVE(evict, "as write, when the SET must evict an item"),
    CURVE(evict_half_marked,
          "as evict, when a random half of the items that the CLOCK hand passes were read; if it is "
          "missing, such items cost only their `pass`"),
    CURVE(pass, "one step of the CLOCK hand over an item that was read"),
    CURVE(
        mix,
        "extra cost of every request at its receiver if a random half of them are SETs; if it is missing, 0"),
    CURVE(read, "a GET at its sender, by the length of the key and the item's bytes (whole lines if it has "
                "several); 0 bytes: a miss"),
    CURVE(read_checked, "as read, when the item's own reference bit must be checked"),
    CURVE(read_half_marked, "as read, when that bit is clear for a random half of the reads"),
    CURVE(read_marked, "as read, when that bit is clear and must be set"),
    CURVE(read_half_missed, "as read, when a random half of the reads are misses"),
    CURVE(read_slowest, "as read, on the slowest of the senders' cores"),
    CURVE(read_batch,
          "a GET that hits at its sender, by the memory of the batches that a receiver's core fills in "
          "turn; the other curves hold for the smallest; if it is missing, this memory does not affect "
          "senders"),
    CURVE(compare,
          "the part of a GET's time at its sender that compares the keys, by the same sizes; if it is "
          "missing, no difference was measured, and get and getk cost the sender the same"),
    CURVE(search, "a launch of searches for stored keys, by its jobs in each stream and the load"),
    CURVE(search_miss, "a launch of searches for missing keys, by its jobs in each stream and the load"),
    CURVE(search_half_missed,
          "the same for both, half of each in random order; without it, a mix costs what its "
          "parts cost"),
    CURVE(insert, "a launch of inserts of new keys, by its jobs and the load"),
    CURVE(replace, "a launch of inserts of stored keys, by its jobs and the load"),
    CURVE(insert_half_replaced,
          "the same for both, half of each in random order; without it, a mix costs what "
          "its parts cost"),
    CURVE(erase, "a launch of deletes, by its jobs and the load"),
    CURVE(erase_miss, "a launch of deletes of items whose key has a newer location; if it is missing, they "
                      "cost as much as other deletes"),
    CURVE(erase_half_missed, "the same for both, half of each in random order"),
    CURVE(drain, "the scheduler's time to collect the jobs of a launch of inserts and deletes, by the jobs"),
};

static const struct kvc_option_table options =
    KVC_OPTION_TABLE(kvc_megakv_cost_profile, rows, "megakv_costs");

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

/* The points of one length of keys. */
struct grid {
    const struct kvc_megakv_cost_curve *cost_curve;
    double key_bytes;
    struct axis size, load, footprint, threads;
};

static struct grid grid_of(const struct kvc_megakv_cost_curve *cost_curve, double key_bytes)
{
    struct grid grid = {.cost_curve = cost_curve, .key_bytes = key_bytes};
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &cost_curve->point[i];
        if (point->key_bytes != key_bytes) {
            continue;
        }
        add(&grid.size, point->size);
        add(&grid.load, point->load_frac);
        add(&grid.footprint, point->footprint_bytes);
        add(&grid.threads, (double)point->threads);
    }
    return grid;
}

static struct axis keys_of(const struct kvc_megakv_cost_curve *cost_curve)
{
    struct axis keys = {0};
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        add(&keys, cost_curve->point[i].key_bytes);
    }
    return keys;
}

/* A point of the grid, by the indices of its coordinates. */
struct place {
    uint32_t size, load, footprint, threads;
};

/* Returns the time of one point of the grid, or NaN if it is missing. */
static double at(const struct grid *grid, struct place place)
{
    for (uint32_t i = 0; i < grid->cost_curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &grid->cost_curve->point[i];
        if (point->key_bytes == grid->key_bytes && point->size == grid->size.value[place.size] &&
            point->load_frac == grid->load.value[place.load] &&
            point->footprint_bytes == grid->footprint.value[place.footprint] &&
            (double)point->threads == grid->threads.value[place.threads]) {
            return point->ns;
        }
    }
    return NAN;
}

/* Finds the first value of the axis that is not below `value`, or the last one. Returns the weight of the
 * value to its left: 0 if it is the first, or if `value` lies at or beyond it. */
static double find(const struct axis *axis, double value, uint32_t *right)
{
    *right = 0;
    while (*right < axis->count - 1 && axis->value[*right] < value) {
        ++*right;
    }
    if (*right == 0 || axis->value[*right] <= value) {
        return 0;
    }
    double left = axis->value[*right - 1];
    return (axis->value[*right] - value) / (axis->value[*right] - left);
}

/* Position of a query in a curve: between two loads and two numbers of threads. */
struct between {
    uint32_t load, threads;         /* Indexes of the right ends. */
    double left_load, left_threads; /* Weights of the left ends. */
};

static struct between between(const struct grid *grid, double load_frac, double threads)
{
    struct between between;
    between.left_load = find(&grid->load, load_frac, &between.load);
    between.left_threads = find(&grid->threads, threads, &between.threads);
    return between;
}

static double at_load(const struct grid *grid, struct place place, const struct between *between)
{
    place.load = between->load;
    double right_ns = at(grid, place);
    if (between->left_load <= 0) {
        return right_ns;
    }
    place.load--;
    return between->left_load * at(grid, place) + (1 - between->left_load) * right_ns;
}

/* Interpolates between the measured loads and numbers of threads. */
static double at_between(const struct grid *grid, uint32_t size, uint32_t footprint,
                         const struct between *between)
{
    struct place place = {.size = size, .footprint = footprint, .threads = between->threads};
    double right_ns = at_load(grid, place, between);
    if (between->left_threads <= 0) {
        return right_ns;
    }
    place.threads--;
    return between->left_threads * at_load(grid, place, between) + (1 - between->left_threads) * right_ns;
}

/* Returns the mean cost of accesses of which share[i] reach back over at most footprint i. */
static double at_shares(const struct grid *grid, uint32_t size, const struct between *between,
                        const double *share)
{
    const double *footprint = grid->footprint.value;
    double below = at_between(grid, size, 0, between), cost = below * share[0], marginal = below;
    for (uint32_t i = 1; i < grid->footprint.count; i++) {
        double above = at_between(grid, size, i, between);
        marginal = (footprint[i] * above - footprint[i - 1] * below) / (footprint[i] - footprint[i - 1]);
        cost += marginal * (share[i] - share[i - 1]);
        below = above;
    }
    return cost + marginal * (1 - share[grid->footprint.count - 1]);
}

uint32_t kvc_megakv_cost_footprints(const struct kvc_megakv_cost_curve *cost_curve,
                                    double footprint_bytes[KVC_CURVE_POINTS_MAX])
{
    struct grid grid = grid_of(cost_curve, keys_of(cost_curve).value[0]);
    memcpy(footprint_bytes, grid.footprint.value, grid.footprint.count * sizeof(*footprint_bytes));
    return grid.footprint.count;
}

uint32_t kvc_megakv_cost_keys(const struct kvc_megakv_cost_curve *cost_curve,
                              double key_bytes[KVC_MEGAKV_COST_KEYS_MAX])
{
    struct axis keys = keys_of(cost_curve);
    memcpy(key_bytes, keys.value, keys.count * sizeof(*key_bytes));
    return keys.count;
}

static double nearest(const struct axis *axis, double value)
{
    double found = axis->value[0];
    for (uint32_t i = 1; i < axis->count; i++) {
        if (fabs(axis->value[i] - value) < fabs(found - value)) {
            found = axis->value[i];
        }
    }
    return found;
}

struct kvc_curve kvc_megakv_cost_curve_by_size(const struct kvc_megakv_cost_curve *cost_curve,
                                               double key_bytes, double load_frac, double threads,
                                               const double *share)
{
    struct axis keys = keys_of(cost_curve);
    struct grid grid = grid_of(cost_curve, nearest(&keys, key_bytes));
    struct between where = between(&grid, load_frac, threads);
    struct kvc_curve curve = {.count = grid.size.count};
    for (uint32_t i = 0; i < curve.count; i++) {
        curve.x[i] = grid.size.value[i];
        curve.y[i] = share != NULL ? at_shares(&grid, i, &where, share)
                                   : at_between(&grid, i, grid.footprint.count - 1, &where);
    }
    return curve;
}

struct kvc_megakv_cost_range kvc_megakv_cost_range_of(const struct kvc_megakv_cost_curve *cost_curve)
{
    struct axis size = {0}, key = {0}, load = {0}, footprint = {0}, threads = {0};
    if (cost_curve->count == 0) {
        return (struct kvc_megakv_cost_range){0};
    }
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &cost_curve->point[i];
        add(&size, point->size);
        add(&key, point->key_bytes);
        add(&load, point->load_frac);
        add(&footprint, point->footprint_bytes);
        add(&threads, (double)point->threads);
    }
    return (struct kvc_megakv_cost_range){
        size.value[0],      size.value[size.count - 1],
        key.value[0],       key.value[key.count - 1],
        load.value[0],      load.value[load.count - 1],
        footprint.value[0], footprint.value[footprint.count - 1],
        threads.value[0],   threads.value[threads.count - 1],
    };
}

static double coordinate_of(const struct kvc_megakv_cost_point *point, enum kvc_megakv_coordinate coordinate)
{
    const double values[KVC_MEGAKV_COORDINATES] = {
        [KVC_MEGAKV_BY_SIZE] = point->size,
        [KVC_MEGAKV_BY_KEY] = point->key_bytes,
        [KVC_MEGAKV_BY_LOAD] = point->load_frac,
        [KVC_MEGAKV_BY_FOOTPRINT] = point->footprint_bytes,
        [KVC_MEGAKV_BY_THREADS] = (double)point->threads,
    };
    return values[coordinate];
}

/* Returns the mean of the logarithm of the cost over the points at a value of a coordinate. */
static double mean_log_ns(const struct kvc_megakv_cost_curve *cost_curve,
                          enum kvc_megakv_coordinate coordinate, double value)
{
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &cost_curve->point[i];
        if (coordinate_of(point, coordinate) == value && point->ns > 0) {
            sum += log(point->ns) - (coordinate == KVC_MEGAKV_BY_SIZE ? log(value) : 0);
            count++;
        }
    }
    return sum / count;
}

double kvc_megakv_cost_beyond_frac(const struct kvc_megakv_cost_curve *cost_curve,
                                   enum kvc_megakv_coordinate coordinate, double value)
{
    struct axis axis = {0};
    for (uint32_t i = 0; i < cost_curve->count; i++) {
        double measured = coordinate_of(&cost_curve->point[i], coordinate);
        if (measured > 0) {
            add(&axis, measured);
        }
    }
    if (axis.count == 0 || (value >= axis.value[0] && value <= axis.value[axis.count - 1])) {
        return 0;
    }
    bool above = value > axis.value[0];
    double edge = axis.value[above ? axis.count - 1 : 0], slope = 1;
    if (axis.count > 1) {
        double inner = axis.value[above ? axis.count - 2 : 1];
        slope = (mean_log_ns(cost_curve, coordinate, edge) - mean_log_ns(cost_curve, coordinate, inner)) /
                log(edge / inner);
    }
    return fabs(pow(value / edge, slope) - 1);
}

/* Checks the points of one length of keys. Adds their number to *points. */
static enum kvc_status check_grid(const char *name, const struct grid *grid, uint64_t *points,
                                  struct kvc_diag *diag)
{
    if (grid->size.count > KVC_CURVE_POINTS_MAX || grid->footprint.count > KVC_CURVE_POINTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "megakv_costs.%s: found %u sizes and %u footprints, allowed: %d", name,
                             grid->size.count, grid->footprint.count, KVC_CURVE_POINTS_MAX);
    }
    uint32_t loads = grid->load.count, footprints = grid->footprint.count, threads = grid->threads.count,
             count = grid->size.count * loads * footprints * threads;
    for (uint32_t i = 0; i < count; i++) {
        struct place place = {i / threads / footprints / loads, i / threads / footprints % loads,
                              i / threads % footprints, i % threads};
        if (isnan(at(grid, place))) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "megakv_costs.%s: no point of size %g, key %g, load %g, footprint %g, %g "
                                 "threads",
                                 name, grid->size.value[place.size], grid->key_bytes,
                                 grid->load.value[place.load], grid->footprint.value[place.footprint],
                                 grid->threads.value[place.threads]);
        }
    }
    *points += count;
    return KVC_OK;
}

/* Compares the footprints of two lengths of keys: shares are computed once for all of them. */
static bool same_footprints(const struct grid *one, const struct grid *other)
{
    return one->footprint.count == other->footprint.count &&
           memcmp(one->footprint.value, other->footprint.value,
                  one->footprint.count * sizeof(*one->footprint.value)) == 0;
}

static enum kvc_status check_cost_curve(const char *name, const struct kvc_megakv_cost_curve *cost_curve,
                                        struct kvc_diag *diag)
{
    struct axis keys = keys_of(cost_curve);
    struct grid first = grid_of(cost_curve, keys.value[0]);
    uint64_t points = 0;
    if (keys.count > KVC_MEGAKV_COST_KEYS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "megakv_costs.%s: found %u lengths of keys, allowed: %d",
                             name, keys.count, KVC_MEGAKV_COST_KEYS_MAX);
    }
    for (uint32_t k = 0; k < keys.count; k++) {
        struct grid grid = grid_of(cost_curve, keys.value[k]);
        if (!same_footprints(&first, &grid)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "megakv_costs.%s: keys of %g and %g bytes have different footprints", name,
                                 first.key_bytes, grid.key_bytes);
        }
        enum kvc_status status = check_grid(name, &grid, &points, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return points == cost_curve->count
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "megakv_costs.%s: found %u points, the full grid has %llu", name,
                               cost_curve->count, (unsigned long long)points);
}

static enum kvc_status check_batches(const struct kvc_megakv_cost_curve *receive, struct kvc_diag *diag)
{
    double batch_bytes[KVC_CURVE_POINTS_MAX];
    uint32_t batches = receive->count > 0 ? kvc_megakv_cost_footprints(receive, batch_bytes) : 0;
    return batches <= KVC_MEGAKV_COST_BATCHES_MAX
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "megakv_costs.receive: found %u footprints, allowed: %d", batches,
                               KVC_MEGAKV_COST_BATCHES_MAX);
}

enum kvc_status kvc_megakv_cost_profile_check(const struct kvc_megakv_cost_profile *profile,
                                              struct kvc_diag *diag)
{
    const struct {
        const char *name;
        const struct kvc_megakv_cost_curve *cost_curve;
        bool optional;
    } cost_curves[] = {
        {"receive", &profile->receive, false},
        {"write", &profile->write, false},
        {"evict", &profile->evict, false},
        {"evict_half_marked", &profile->evict_half_marked, true},
        {"pass", &profile->pass, false},
        {"mix", &profile->mix, true},
        {"read", &profile->read, false},
        {"read_checked", &profile->read_checked, false},
        {"read_half_marked", &profile->read_half_marked, false},
        {"read_marked", &profile->read_marked, false},
        {"read_half_missed", &profile->read_half_missed, false},
        {"read_slowest", &profile->read_slowest, false},
        {"read_batch", &profile->read_batch, true},
        {"compare", &profile->compare, true},
        {"search", &profile->search, false},
        {"search_miss", &profile->search_miss, false},
        {"search_half_missed", &profile->search_half_missed, true},
        {"insert", &profile->insert, false},
        {"replace", &profile->replace, false},
        {"insert_half_replaced", &profile->insert_half_replaced, true},
        {"erase", &profile->erase, false},
        {"erase_miss", &profile->erase_miss, true},
        {"erase_half_missed", &profile->erase_half_missed, true},
        {"drain", &profile->drain, false},
    };
    for (size_t i = 0; i < sizeof(cost_curves) / sizeof(*cost_curves); i++) {
        bool given = cost_curves[i].cost_curve->count > 0;
        if (given != kvc_megakv_cost_profile_is_measured(profile) && (given || !cost_curves[i].optional)) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "megakv_costs.%s is %s: allowed are all cost curves or none; kvcast calibrate "
                "writes all of them",
                cost_curves[i].name, given ? "given, megakv_costs.read is not" : "missing");
        }
        enum kvc_status status = check_cost_curve(cost_curves[i].name, cost_curves[i].cost_curve, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    if ((profile->erase_miss.count > 0) != (profile->erase_half_missed.count > 0)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "megakv_costs.%s is missing: allowed are erase_miss and erase_half_missed together",
            profile->erase_miss.count > 0 ? "erase_half_missed" : "erase_miss");
    }
    return check_batches(&profile->receive, diag);
}
