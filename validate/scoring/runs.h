/* The plan of a machine, the readings of a run, and the measured runs.
 *
 * plan.csv in the machine's folder has a line for each run to measure, with these columns:
 *
 *  - id.
 *  - scenario: a file relative to the folder.
 *  - load_frac: the load of an open loop, as a fraction of a capacity: Poisson arrivals at load_frac times
 *    the throughput of the run `of`. It is empty for a run whose load its scenario and overrides state.
 *  - of: the id of an earlier, saturating run of the same configuration, whose throughput is the capacity. A
 *    measurement takes the measured capacity, a simulation the simulated one. Both then run at the same
 *    utilization, which decides how long requests queue. It is empty without load_frac.
 *  - overrides: a list of key=value separated by semicolons, as for --set, without commas.
 *  - against: may be missing. A line that has it is no run but a pair: it is measured together with the same
 *    configuration after these further overrides (validate/scoring/pairs.h).
 *
 * runs.csv has a line for each run of the plan. It has the columns of the plan, repetitions, quiet_frac,
 * windows, core_speed_steps_per_ns, spread_frac, stalled_frac, the readings, bottleneck, memory_line_ns,
 * memory_latency_ns, memory_bytes_per_s, raw_latency_p99_us and stalls. A missing reading is an empty field.
 * Every run has a throughput and a bottleneck. Files of earlier measurements end with the bottleneck, or with
 * the memory. */
#ifndef KVC_VALIDATE_SCORING_RUNS_H
#define KVC_VALIDATE_SCORING_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/diag.h"
#include "sim/metrics/result.h"
#include "sim/probes/memory/memory_watch.h"

struct kvc_measuring_plan_line {
    char id[64];
    char scenario[160];
    double load_frac; /* Load as a fraction of the capacity; NaN when the scenario states the load. */
    size_t of;        /* Index of the run whose throughput is the capacity; unused without load_frac. */
    char overrides[512];
    int line; /* Line in plan.csv. */
};

/* Returns whether the line states its load as a fraction of a capacity. */
static inline bool kvc_measuring_plan_line_is_relative(const struct kvc_measuring_plan_line *line)
{
    return line->load_frac > 0;
}

/* Two configurations that are measured in turns. */
struct kvc_measuring_pair {
    struct kvc_measuring_plan_line a;
    char against[256]; /* Further overrides of the second one. */
};

struct kvc_measuring_plan {
    char path[512]; /* Path of plan.csv. */
    size_t count;   /* Runs. */
    struct kvc_measuring_plan_line *entry;
    size_t pairs;
    struct kvc_measuring_pair *pair;
};

void kvc_measuring_plan_free(struct kvc_measuring_plan *plan);

/* A malformed line is an error that names file and line, and a plan without runs is an error. On failure
 * nothing stays allocated. */
enum kvc_status kvc_measuring_plan_read(const char *path, struct kvc_measuring_plan *plan,
                                        struct kvc_diag *diag);

/* Returns the index of the run with this id, or -1. */
long kvc_measuring_plan_find(const struct kvc_measuring_plan *plan, const char *id);

/* Writes the cells load_frac and of of a line as they stand in plan.csv: "0.7,a", or ",". */
enum { KVC_MEASURING_PLAN_LOAD_BYTES = 96 };
void kvc_measuring_plan_describe_load(const struct kvc_measuring_plan *plan,
                                      const struct kvc_measuring_plan_line *line,
                                      char text[KVC_MEASURING_PLAN_LOAD_BYTES]);

/* Returns whether the run, or the pair, at this index is unseen: only `kvcast validate NAME --unseen`
 * forecasts and shows it, once a release. Every third one is unseen (the 3rd, 6th, 9th, ...). The rule is
 * fixed before anything is measured, so runs cannot be chosen. */
bool kvc_measuring_plan_unseen(size_t index);

/* Readings: the metrics that a measurement, a simulation and a closed form have in common. */
enum kvc_reading {
    KVC_READING_THROUGHPUT,
    KVC_READING_LATENCY_MEAN,
    KVC_READING_LATENCY_P99,
    KVC_READING_T_SEARCH, /* Time of one search launch. */
    KVC_READING_JOBS_PER_SEARCH,
    KVC_READING_T_INSERT,
    KVC_READING_JOBS_PER_INSERT,
    /* Time of search launches by job. A forecast has it at the measured number of jobs. */
    KVC_READING_SEARCH_JOB,
    KVC_READING_INSERT_JOB,
    KVC_READINGS,
};

/* "throughput_mops", ...: the columns of runs.csv. Readings of the store's model have the metric's name. */
extern const char *const kvc_reading_names[KVC_READINGS];

/* "throughput_half_frac", ...: half the width of the 95 % interval of a measured reading, relative to it, as
 * metric of a measurement and as column of runs.csv. NULL for readings that have no interval. */
extern const char *const kvc_reading_half_names[KVC_READINGS];

struct kvc_readings {
    double value[KVC_READINGS];     /* NaN when there is no such metric. */
    double half_frac[KVC_READINGS]; /* NaN when the interval is not known. */
    char bottleneck[KVC_NAME_MAX];
};

/* A closed form, which is a result without a histogram, has no p99. */
void kvc_readings_of(const struct kvc_result *result, struct kvc_readings *readings);

/* Takes the median of each reading over the repetitions that have it. The bottleneck names the stages that
 * more than half of the repetitions name, or is undecided (sim/metrics/bottleneck.h) if there are none.
 * *spread_frac becomes (largest - smallest) / median of the throughput. The interval of a median is the wider
 * of two: the interval of the means within the repetitions, and the interval between repetitions. */
void kvc_readings_median(const struct kvc_readings *repetitions, uint32_t count, struct kvc_readings *median,
                         double *spread_frac);

struct kvc_measured_run {
    uint32_t repetitions;           /* Number of repetitions; 0 before the run is read. */
    double quiet_frac;              /* Fraction of the windows that were quiet; NaN: unknown. */
    double windows;                 /* Windows of all repetitions; NaN: unknown. */
    double core_speed_steps_per_ns; /* Mean speed of the cores (sim/probes/core_watch.h); NaN: unknown. */
    double spread_frac;             /* (largest - smallest) / median of the throughput. */
    double stalled_frac;            /* Fraction of its time that the worst repetition lost to other work. */
    struct kvc_memory_rates memory;
    struct kvc_readings readings; /* Medians over the repetitions. */
    /* p99 of the latency in all windows [us]; NaN: unknown. */
    double raw_latency_p99_us;
    char stalls[KVC_STALLS_BYTES]; /* The stalls meanwhile, as overrides; empty: unknown, or none. */
};

/* Reads into runs[i] what was measured for plan->entry[i]. Errors, with file and line: a malformed line, a
 * run that is not in the plan or differs from it, and a planned run that is missing. */
enum kvc_status kvc_runs_read(const char *path, const struct kvc_measuring_plan *plan,
                              struct kvc_measured_run *runs, struct kvc_diag *diag);

/* Reads the same file with a line for each repetition, which lets an interrupted measurement
 * continue. `runs` has room for `repetitions` of every line: line i begins at runs[i * repetitions], and
 * repetitions that the file lacks have repetitions = 0. More repetitions than fit are an error. */
enum kvc_status kvc_runs_read_repetitions(const char *path, const struct kvc_measuring_plan *plan,
                                          uint32_t repetitions, struct kvc_measured_run *runs,
                                          struct kvc_diag *diag);
void kvc_runs_write_header(FILE *out);
void kvc_runs_write_line(FILE *out, const struct kvc_measuring_plan *plan, size_t line,
                         const struct kvc_measured_run *run);

/* Combines repetitions of a line: the medians of the readings, the means of the quiet fraction, the core
 * speed and the rates of the memory, all windows, and the largest stalled fraction. A repetition without
 * quiet windows counts only if there are no others. The p99 in all windows is the median (the lower one of
 * two), and the stalls are those of its repetition. */
void kvc_runs_combine(const struct kvc_measured_run *repetitions, uint32_t count,
                      struct kvc_measured_run *combined);

#endif
