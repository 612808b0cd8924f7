/* A loaded scenario: the plain structs that models take, and the sweep, objectives and plan of the file.
 *
 * The loader (scenarios/load/load.h) fills them; overrides replace values of the file. */
#ifndef KVC_SCENARIOS_LOAD_LOADED_H
#define KVC_SCENARIOS_LOAD_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/parameters.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/scenario.h"

/* One `--set path=value`, or one coordinate of a sweep point. */
struct kvc_override {
    char path[KVC_PATH_MAX];
    char value[KVC_TEXT_MAX]; /* A Lua number, true, false, or a text without quotes. */
};

/* Overrides in the order in which they are applied. A zeroed struct is empty. */
struct kvc_overrides {
    uint32_t count;
    struct kvc_override *entry;
};

/* Adds a copy of path and value. Returns KVC_ERR_SCENARIO if one of them is too long or the path is
 * malformed. */
enum kvc_status kvc_overrides_add(struct kvc_overrides *overrides, const char *path, const char *value,
                                  struct kvc_diag *diag);
/* Adds an assignment "path=value". */
enum kvc_status kvc_overrides_parse(struct kvc_overrides *overrides, const char *assignment,
                                    struct kvc_diag *diag);
/* Adds a list of assignments that semicolons separate. */
enum kvc_status kvc_overrides_parse_list(struct kvc_overrides *overrides, const char *text,
                                         struct kvc_diag *diag);
/* Adds copies of all entries of `more`, which may be NULL. */
enum kvc_status kvc_overrides_join(struct kvc_overrides *overrides, const struct kvc_overrides *more,
                                   struct kvc_diag *diag);
/* Appends " --set path=value" for each entry to a command line. A text that does not fit is cut off. NULL is
 * allowed. */
void kvc_overrides_append(const struct kvc_overrides *overrides, char *text, size_t size);
/* Frees the entries, which copies of the struct share, and leaves the struct empty. */
void kvc_overrides_clear(struct kvc_overrides *overrides);

/* One value of an axis: a scalar, or a whole sub-table as several overrides. */
struct kvc_sweep_value {
    char label[KVC_TEXT_MAX]; /* Label in tables and files: 160us, or tesla-k40c{memory=24GB}. */
    double number;            /* Number in the base unit of its axis; NaN: a text. */
    uint64_t resolved_hash;   /* Hash of everything that the scenario resolves to with it, files included. */
    char trace[KVC_TEXT_MAX]; /* The trace file that the scenario replays with it, or "". */
    struct kvc_overrides set; /* Overrides, in the order in which they are applied. */
};

struct kvc_sweep_axis {
    char path[KVC_PATH_MAX];
    size_t offset;      /* Offset of the path in the scenario's text, by which axes are ordered [bytes]. */
    bool numeric;       /* Every value is a number. */
    enum kvc_unit unit; /* Dimension of the numbers. */
    uint32_t count;
    struct kvc_sweep_value *value; /* The values; for a range without steps, its two ends. */
    bool is_drawn;                 /* A range without steps: the design draws its values. */
    bool is_log;                   /* A range without steps: uniform in the logarithm. */
    bool is_whole;                 /* A range without steps: whole numbers. */
};

/* Method of choosing the points of a sweep from the values of its axes. */
enum kvc_sweep_design {
    KVC_SWEEP_GRID,            /* Every combination. */
    KVC_SWEEP_LIST,            /* The points that the scenario lists. */
    KVC_SWEEP_RANDOM,          /* Independent draws. */
    KVC_SWEEP_LATIN_HYPERCUBE, /* Draws that put the same number of points into each part of each axis. */
};

enum { KVC_SWEEP_AXES_MAX = 16 };

struct kvc_constraint;

/* Axes in the order in which the file writes them. In a grid, the first one varies slowest. */
struct kvc_sweep {
    uint32_t count;
    struct kvc_sweep_axis *axis;
    uint32_t settings; /* Number of paths that all values of all axes set together. */
    enum kvc_sweep_design design;
    uint32_t draws;      /* Number of points of a random design or Latin hypercube. */
    uint32_t list_count; /* Number of points in the list. */
    uint32_t *list;      /* For each listed point, the index of its value on each axis. */
    uint32_t replicas;   /* Replicas of every point; 0: run.replicas. */
    struct kvc_constraint
        *where; /* Constraint that every point meets, or NULL (scenarios/load/lua/functions.h). */
};

/* Frees the values of an axis. */
void kvc_sweep_axis_free(struct kvc_sweep_axis *axis);

/* The service-level objective of a scenario; NaN: not set. scenarios/output/verdict.h judges answers by it.
 */
struct kvc_slo {
    double p50_ns, p95_ns, p99_ns, p999_ns; /* Percentiles of the latency, at most. */
    double mops;                            /* Throughput, at least [million/s]. */
    double loss_frac;                       /* Share of the offered requests that is not served, at most. */
    double hit_frac;                        /* Hit ratio of GETs, at least. */
    double watts;                           /* Mean power of the cluster, at most [W]. */
    double price_usd;                       /* Price of the cluster, at most [US dollars]. */
    double window_ns;                       /* Length of the windows over which the objectives hold, too. */
    const struct kvc_workload
        *workload; /* The load, whose tenants may have objectives too; NULL: none has. */
};

/* No objective. */
extern const struct kvc_slo kvc_slo_none;

/* Quantity that a plan minimises. Among equal candidates, the lower price comes first (for the price itself,
 * the lower power by closed form), and then the lower number. */
enum kvc_plan_objective { KVC_PLAN_BY_PRICE, KVC_PLAN_BY_WATTS, KVC_PLAN_BY_NODES };

/* "price", "watts", "nodes", by enum kvc_plan_objective; NULL-terminated. */
extern const char *const kvc_plan_objective_names[];

/* Goals of a plan among the points of the sweep (scenarios/explore/plan/plan.h). */
struct kvc_plan_request {
    bool is_stated;    /* The scenario has a table `plan`. */
    int minimise;      /* enum kvc_plan_objective */
    uint64_t replicas; /* Largest number of replicas of a candidate. */
    uint64_t ahead;    /* Candidates that are simulated at the same time. */
    double confidence; /* Probability that the decisions on a candidate are right. */
};

enum { KVC_DAY_POINTS_MAX = 96, KVC_DAY_WINDOWS_MAX = 288 };

/* One point of the curve of a day. */
struct kvc_day_point {
    double hour;      /* Time of the day, 0 to 24 [h]. */
    double rate_mops; /* Request rate of all nodes [million/s]. */
};

/* A day of 24 hours (scenarios/explore/day/day.h). */
struct kvc_day {
    uint64_t windows;   /* Windows of equal length. */
    double usd_per_kwh; /* Price of electricity [US dollars/kWh]; NaN: not stated. */
    struct kvc_day_point curve[KVC_DAY_POINTS_MAX]; /* Rates, with ascending hours. */
    uint32_t points;                                /* Used entries of `curve`; 0: the scenario has no day. */
};

/* A loaded scenario. */
struct kvc_loaded {
    struct kvc_scenario scenario;
    struct kvc_parameters parameters; /* All resolved values, for the echo in results. */
    struct kvc_parameters provenance; /* Values of the hardware, each with its source. */
    struct kvc_overrides set;         /* Overrides, in whose paths elements of lists have their numbers. */
    struct kvc_overrides calibrated;  /* Values that figures of the store's paper determine. */
    char calibrated_source[KVC_TEXT_MAX];
    struct kvc_sweep sweep;
    struct kvc_slo slo;
    struct kvc_policy_function *function; /* The power policy that the file has written in Lua, or NULL. */
    struct kvc_store_function *store_function; /* Its function system.policy, or NULL. */
    struct kvc_plan_request plan;
    struct kvc_day day;
    uint32_t warning_count;
    char (*warning)[KVC_TEXT_MAX * 2]; /* Keys without effect: "file:line: message". */
};

/* Frees the contents of a scenario, except the Lua functions that outlive loading. */
void kvc_loaded_clear(struct kvc_loaded *loaded);

#endif
