/* The best point of a sweep, named only where it is apart from all others.
 *
 * The candidates are the points that meet the scenario's objectives, or all points if it states none. The
 * best of them has the least of what `plan.minimise` names; without a plan, the lowest latency at the highest
 * percentile that the `slo` bounds; without such a bound, the highest throughput. Candidates that lack this
 * value are left out and counted.
 *
 * A simulated value is apart from another one if their 95 % intervals do not overlap, so a value without an
 * interval is apart from none. Prices, numbers of nodes and closed forms are exact: equal ones tie. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_BEST_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_BEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/explore/sweep/row.h"
#include "scenarios/load/load.h"
#include "sim/base/diag.h"

/* The value by which points are compared. */
struct kvc_best_value {
    enum kvc_row_column column;
    const char *label, *unit; /* "p99 latency", "us". */
    bool highest;             /* The highest value is the best one, not the lowest. */
    bool is_exact;            /* A simulation has no interval of it, because chance does not move it. */
};

/* Returns the value by which the points of a scenario are compared. `plan` may be NULL. */
const struct kvc_best_value *kvc_best_value_of(const struct kvc_slo *slo,
                                               const struct kvc_plan_request *plan);

enum { KVC_BEST_SHOWN = 16 };

struct kvc_best {
    const struct kvc_best_value *by;
    bool by_closed_form;
    bool judged;              /* The scenario states objectives. */
    uint32_t candidates;      /* Points that meet the objectives, or all points. */
    uint32_t left_out;        /* Candidates that lack the value. */
    uint32_t leader;          /* Point with the best value, counted from 1; 0: there is none. */
    double value, half_width; /* Its value and half its interval; infinite: unknown. */
    uint32_t tied;            /* Points that are not apart from the leader, with itself; 1: it is the best. */
    uint32_t without_interval;      /* Those of them that have no interval. */
    uint32_t point[KVC_BEST_SHOWN]; /* The first of them, in their order. */
};

struct kvc_database;

/* Finds the best of the points that are stored. */
enum kvc_status kvc_best_find(struct kvc_database *database, struct kvc_best *best, struct kvc_diag *diag);

/* Writes it as a line, with the text for the values of the leader. */
void kvc_best_write(const struct kvc_best *best, const char *values, FILE *out);

/* Writes it as a JSON object: { by, highest, value, ci95, tied, points, left_out }; `points` are the first
 * KVC_BEST_SHOWN of those that are tied. */
void kvc_best_write_json(const struct kvc_best *best, FILE *out);

#endif
