/* Exports of a sweep's database: CSV and JSON with one row per point that is done, in the order of the
 * points, whatever order they were stored in. The columns are those of the table `points`, then the metrics
 * that some point has, then the notes; an unknown value is empty in CSV and null in JSON. No two columns have
 * one name: a stage or metric whose name another column has gets the prefix stage_, kernel_ or model_. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_EXPORT_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_EXPORT_H

#include <stdio.h>

#include "scenarios/explore/sweep/database.h"

/* Writes CSV. Write errors stay in the stream (ferror). */
enum kvc_status kvc_export_csv(struct kvc_database *database, FILE *out, struct kvc_diag *diag);

/* Writes a JSON document of the schema "kvcast.sweep/1": { schema, version, scenario, command, points: [...]
 * }. */
enum kvc_status kvc_export_json(struct kvc_database *database, FILE *out, struct kvc_diag *diag);

/* The best point so far. */
struct kvc_best {
    uint32_t point; /* Counted from 1; 0: there is none. */
    double throughput_mops;
    bool judged;  /* The scenario states objectives. */
    uint32_t met; /* Number of points that meet the objectives; 0 if the scenario states none. */
};

/* Finds the point with the highest throughput among those that meet the objectives; among all if the scenario
 * states none or no point meets them. */
enum kvc_status kvc_export_best(struct kvc_database *database, struct kvc_best *best, struct kvc_diag *diag);

#endif
