/* A row of a sweep: the numbers of one point, from a simulation or from the closed form. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_ROW_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "models/forecast.h"
#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"
#include "scenarios/output/verdict.h"

enum kvc_row_column {
    KVC_ROW_THROUGHPUT,
    KVC_ROW_THROUGHPUT_CI95,
    KVC_ROW_OFFERED,
    KVC_ROW_OFFERED_CI95,
    KVC_ROW_LOST,
    KVC_ROW_LOST_CI95,
    KVC_ROW_UNSERVED,
    KVC_ROW_HIT,
    KVC_ROW_HIT_CI95,
    KVC_ROW_MEAN,
    KVC_ROW_MEAN_CI95,
    KVC_ROW_P50,
    KVC_ROW_P50_CI95,
    KVC_ROW_P95,
    KVC_ROW_P95_CI95,
    KVC_ROW_P99,
    KVC_ROW_P99_CI95,
    KVC_ROW_P999,
    KVC_ROW_P999_CI95,
    KVC_ROW_COMPLETED,
    KVC_ROW_DROPPED,
    KVC_ROW_UTILIZATION,
    KVC_ROW_WATTS,
    KVC_ROW_WATTS_CI95,
    KVC_ROW_KOPS_PER_WATT,
    KVC_ROW_KOPS_PER_WATT_CI95,
    KVC_ROW_WINDOW,
    KVC_ROW_PRICE,
    KVC_ROW_NODES,
    KVC_ROW_COLUMNS,
};

/* Name of a column, which ends in its unit. */
struct kvc_row_kind {
    const char *name;
    bool simulated; /* Only simulated points have this column. */
};
extern const struct kvc_row_kind kvc_row_kinds[KVC_ROW_COLUMNS];

/* Columns of each tenant of a simulated load: "throughput_mops" and the other values that a run knows of a
 * tenant, each followed by half the width of its interval, such as "throughput_ci95_mops". Names of tenants
 * stand in front of them (kvc_tenant_value_name()). */
enum { KVC_ROW_TENANT_COLUMNS = 14 };

/* Writes the name of a tenant's column. */
void kvc_row_tenant_name(const struct kvc_tenant *tenant, int column, char name[KVC_TENANT_NAME_MAX]);

/* The struct has no pointers, so that a child process can send it. */
struct kvc_row {
    double number[KVC_ROW_COLUMNS]; /* By enum kvc_row_column; NaN: unknown. */
    char bottleneck_stage[KVC_NAME_MAX], bottleneck_device[KVC_NAME_MAX]; /* "" if unknown. */
    char watts_missing[KVC_MISSING_BYTES]; /* Devices without power, for which the watts are unknown. */
    char price_missing[KVC_MISSING_BYTES]; /* Devices without a price, for which the price is unknown. */
    uint32_t tenants;                      /* Used entries of `tenant`; 0: by the closed form. */
    double tenant[KVC_TENANTS_MAX][KVC_ROW_TENANT_COLUMNS]; /* NaN: unknown. */
};

/* A metric that not every point has. */
struct kvc_row_metric {
    uint32_t group; /* Index in kvc_row_groups. */
    char name[KVC_VALUE_NAME_MAX];
    double value;
};

/* "stage", "kernel", "model": the order of their columns. */
extern const char *const kvc_row_groups[];

/* Values of a simulated point besides its row. */
struct kvc_row_details {
    uint32_t count;
    struct kvc_row_metric *metric;
    const char *notes;    /* All notes, with "; " between them. */
    const char *document; /* The result document. */
};

/* Makes the row of a simulated point. */
void kvc_row_of_outcome(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome,
                        struct kvc_row *row);

/* Makes the row of a point by the closed form. */
void kvc_row_of_forecast(const struct kvc_forecast *forecast, struct kvc_row *row);

/* Judges a row by the scenario's objectives. */
struct kvc_slo_verdict kvc_row_verdict(const struct kvc_row *row, const struct kvc_slo *slo);

/* Returns whether the scenario states any objective. */
bool kvc_row_states_objectives(const struct kvc_slo *slo);

/* Packs metrics, notes and the document into one block from malloc. `document` need not end in a zero. */
void *kvc_row_pack(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome, const char *document,
                   size_t document_bytes, size_t *bytes);

/* Finds the parts of such a block, which must outlive `details`. */
void kvc_row_unpack(const void *block, struct kvc_row_details *details);

#endif
