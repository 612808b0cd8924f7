/* The verdict on an answer: how much of its load it serves, and which of the scenario's objectives (SLO) it
 * meets.
 *
 * Requests that are lost or stay behind are not served. A latency or a throughput of the others says nothing
 * about them, so an objective for either also allows no unserved request, unless slo.loss allows a share.
 *
 * A tenant may have an objective for the 99th percentile of its own requests, which is judged like the
 * others.
 *
 * Every objective bounds one value: latency percentiles, watts and price from above, throughput and hit ratio
 * from below. Watts and price cover the whole cluster. The margin is the distance from the bound relative to
 * the bound, positive where the objective is met. An objective stays unknown if the answer lacks its value,
 * as a closed form may lack a percentile. */
#ifndef KVC_SCENARIOS_OUTPUT_VERDICT_H
#define KVC_SCENARIOS_OUTPUT_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "scenarios/output/outcome.h"

enum { KVC_TENANT_NAME_MAX = KVC_TEXT_MAX + 48 /* Bytes of the name of a tenant's value. */ };

/* The objectives in the order of the option table. */
enum kvc_objective {
    KVC_OBJECTIVE_P50,
    KVC_OBJECTIVE_P95,
    KVC_OBJECTIVE_P99,
    KVC_OBJECTIVE_P999,
    KVC_OBJECTIVE_MOPS,
    KVC_OBJECTIVE_LOSS,
    KVC_OBJECTIVE_HIT,
    KVC_OBJECTIVE_WATTS,
    KVC_OBJECTIVE_PRICE,
    KVC_OBJECTIVES,
};

/* Names and units of the values, by enum kvc_objective: "latency_p99_us", "us". */
struct kvc_objective_kind {
    const char *key;   /* Key in the scenario: "p99". */
    const char *name;  /* Name of the value, which ends in its unit. */
    const char *label; /* Label in tables: "p99 latency". */
    const char *unit;  /* Unit in tables. */
    bool at_least;     /* A bound from below. */
};
extern const struct kvc_objective_kind kvc_objective_kinds[KVC_OBJECTIVES];

/* The bounded values of an answer, by enum kvc_objective and in the unit of its name; NaN: unknown. */
struct kvc_slo_values {
    double value[KVC_OBJECTIVES];
    double half_width[KVC_OBJECTIVES]; /* Half the width of the value's 95 % interval; NaN: unknown. */
    struct kvc_interval tenant_p99_us[KVC_TENANTS_MAX]; /* 99th percentile of each tenant's latency. */
    double window_margin_frac; /* Smallest margin in any window (scenarios/output/windows.h); NaN: unknown. */
};

enum kvc_slo_state { KVC_SLO_UNKNOWN, KVC_SLO_MET, KVC_SLO_MISSED };

/* The verdict on one objective. */
struct kvc_judged {
    enum kvc_objective objective;
    const char *tenant;              /* Name of the tenant whose objective it is; NULL: of all requests. */
    bool is_stated;                  /* The scenario states it; otherwise other objectives imply it. */
    double bound, found, half_width; /* Values in the unit of the objective. */
    enum kvc_slo_state state;
    bool is_sure;       /* The bound lies outside the interval of the value, which is known. */
    double margin_frac; /* NaN: unknown. */
};

struct kvc_slo_verdict {
    uint32_t count; /* Objectives that the scenario states. */
    struct kvc_judged judged[KVC_OBJECTIVES + KVC_TENANTS_MAX];
    enum kvc_slo_state state; /* Missed if one is missed, over the run or in a window; else unknown if one is
                                 unknown; else met. */
};

/* Returns the bound of a tenant's 99th percentile [us]; NaN: none. */
double kvc_slo_tenant_us(const struct kvc_slo *slo, uint32_t tenant);

/* Returns the number of tenants of the load; 0: it has none. */
uint32_t kvc_slo_tenants(const struct kvc_slo *slo);

/* Returns the bound in the unit of the value, 0 for a loss that other objectives imply; NaN: none. */
double kvc_slo_bound(const struct kvc_slo *slo, enum kvc_objective objective);

/* Returns whether the scenario bounds a value that windows have: a latency, throughput, loss or hit ratio. */
bool kvc_slo_bounds_windows(const struct kvc_slo *slo);

/* Judges the 99th percentile of a tenant [us]. Without an objective, it is unknown. */
struct kvc_judged kvc_judged_tenant(const struct kvc_slo *slo, uint32_t tenant,
                                    const struct kvc_interval *p99_us);

/* Writes the name of a tenant's value: "tenant_web_latency_p99_us". */
void kvc_tenant_value_name(const char *tenant, const char *value, char name[KVC_TENANT_NAME_MAX]);

/* Writes the name of a value of the requests whose objective it is: `value`, or that of a tenant. */
void kvc_judged_name(const struct kvc_judged *judged, const char *value, char name[KVC_TENANT_NAME_MAX]);

/* Judges one value, which is unknown if it is NaN. A bound of NaN is never missed. */
struct kvc_judged kvc_judged_of(enum kvc_objective objective, double bound, double found, double half_width);

/* Judges an answer. */
struct kvc_slo_verdict kvc_slo_verdict_of(const struct kvc_slo *slo, const struct kvc_slo_values *values);

/* How much of its load an answer serves. */
struct kvc_service {
    double offered_mops;  /* Offered load; NaN: clients wait for answers, or its rate changes [million/s]. */
    double served_mops;   /* Throughput [million/s]. */
    double lost_frac;     /* Share of the offered requests that were lost; a closed form has none. */
    double growth_frac;   /* Share of them by which the backlog grew; a closed form has none. */
    double unserved_frac; /* Share of them that is not served: both together; NaN: unknown. */
    double behind_frac;   /* Share that stays behind: growth_frac, or unserved_frac by the closed form. */
};

struct kvc_service kvc_service_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome);

/* Returns the bounded values of an outcome of `loaded`, without those of windows. */
struct kvc_slo_values kvc_slo_values_of(const struct kvc_loaded *loaded, const struct kvc_outcome *outcome);

/* Returns the member `slo` of a result document, or NULL if the scenario states no objective. */
json_t *kvc_slo_verdict_json(const struct kvc_slo_verdict *verdict);

/* Writes the verdict after `heading`, and a line for each objective if there are several; nothing if there is
 * none. What is not met stands between the terminal escapes `warn` and `plain`. */
void kvc_slo_verdict_write(const struct kvc_slo_verdict *verdict, const char *heading, const char *warn,
                           const char *plain, FILE *out);

#endif
