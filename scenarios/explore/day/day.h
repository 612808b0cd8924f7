/* A day of 24 hours as a schedule of representative windows: what its load costs in energy and money, and
 * when it is worst.
 *
 * The table `day` of a scenario has a curve of rates over the hours, linear between its points and going on
 * from the last one to the first of the next day. The day is cut into windows of equal length. Each stands
 * for its hours with the mean rate of the curve in them, as a steady load of the scenario's own kind: a
 * Poisson process, at equal distances, or with bursts. It is simulated as a run of its own, with its own
 * warm-up, for run.duration. Windows of the same rate share a run.
 *
 * The energy of a window is the mean power of its run times its hours. A run has the same seed as `kvcast
 * run` with that rate, so that the energy of the day is the sum of single runs. Not modelled: what a window
 * leaves to the next one, such as a backlog or a colder cache, and how clocks change between windows. */
#ifndef KVC_SCENARIOS_EXPLORE_DAY_DAY_H
#define KVC_SCENARIOS_EXPLORE_DAY_DAY_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/sweep/row.h"
#include "scenarios/load/load.h"
#include "scenarios/output/verdict.h"
#include "sim/base/diag.h"

struct kvc_day_options {
    const char *path;                /* Path of the scenario. */
    const struct kvc_overrides *set; /* The user's overrides. */
    const struct kvc_loaded *loaded; /* The scenario with these. */
    bool predict;                    /* Evaluate the closed form of each window instead of simulating it. */
    uint32_t jobs;                   /* Runs at the same time; 0 for one per processor. */
    const struct kvc_progress *progress;
};

struct kvc_day_window {
    double from_hour, to_hour;
    double rate_mops; /* Load that it is simulated with [million/s]. */
    uint32_t run;     /* Its run, counted from 0. */
    struct kvc_slo_verdict verdict;
    double kwh, usd; /* Energy and its cost; NaN: unknown. */
};

/* The answer about a day. */
struct kvc_day_answer {
    uint32_t runs, count; /* Runs, and windows. */
    struct kvc_row *run;
    struct kvc_day_window *window;
    double requests; /* Requests that are served in the day. */
    double kwh,
        kwh_ci95; /* Energy, and the sum of the windows' intervals, which bounds its own; NaN: unknown. */
    double usd;   /* Cost of the energy; NaN: unknown. */
    double missed_hours; /* Hours of the windows that miss an objective. */
    uint32_t worst; /* The window with the smallest margin of an objective, or without one, with the highest
                       p99 latency; where that is unknown, with the highest rate. */
};

/* Returns the mean rate of a day's curve between two hours [million/s]. */
double kvc_day_rate_mops(const struct kvc_day *day, double from_hour, double to_hour);

/* Returns the smallest margin of a window's objectives; NaN: none is known. */
double kvc_day_margin_frac(const struct kvc_slo_verdict *verdict);

/* Answers a day. Returns KVC_ERR_SCENARIO if the scenario has none or a load without a rate. */
enum kvc_status kvc_day_make(const struct kvc_day_options *options, struct kvc_day_answer *answer,
                             struct kvc_diag *diag);

/* Frees what an answer has. A zeroed struct is allowed. */
void kvc_day_free(struct kvc_day_answer *answer);

#endif
