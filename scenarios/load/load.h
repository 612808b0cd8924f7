/* From a scenario file to the plain structs that models take.
 *
 * The file is Lua 5.4, run in a sandbox (scenarios/load/sandbox.h), and returns one table: system, node,
 * cluster, workload, run, and optionally name, sweep and slo. Option tables say what each part may hold;
 * unknown keys are errors. Hardware named in `node` comes from the library (scenarios/load/hardware.h). Every
 * error carries file:line of the key it is about, or the place "--set". */
#ifndef KVC_SCENARIOS_LOAD_LOAD_H
#define KVC_SCENARIOS_LOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/scenario.h"

enum { KVC_PATH_MAX = 128 };

/* `--set path=value`, or one coordinate of a sweep point. */
struct kvc_override {
    char path[KVC_PATH_MAX];
    char value[KVC_TEXT_MAX]; /* a Lua number, true, false, or a text without quotes */
};

/* Applied in order; a zeroed struct is empty. */
struct kvc_overrides {
    uint32_t count;
    struct kvc_override *entry;
};

/* Adds a copy. KVC_ERR_SCENARIO when path or value is too long or the path is malformed. */
enum kvc_status kvc_overrides_add(struct kvc_overrides *overrides, const char *path, const char *value,
                                  struct kvc_diag *diag);
/* Adds "path=value". */
enum kvc_status kvc_overrides_parse(struct kvc_overrides *overrides, const char *assignment,
                                    struct kvc_diag *diag);
/* Frees the entries and leaves it empty; a copy of the struct shares them. */
void kvc_overrides_clear(struct kvc_overrides *overrides);

/* One resolved value. */
struct kvc_parameter {
    char path[KVC_PATH_MAX];   /* "system.cycle", "node.gpu.clocks.1.core" */
    char value[KVC_TEXT_MAX];  /* as a user would write it: 160us */
    bool bare;                 /* the value is a JSON number or boolean as it stands; else a text */
    char source[KVC_TEXT_MAX]; /* "default", "scenario", "--set", "preset ..."; what a profile states */
};

struct kvc_parameters {
    uint32_t count;
    struct kvc_parameter *entry;
};

struct kvc_sweep_axis {
    char path[KVC_PATH_MAX];
    uint32_t count;
    char (*value)[KVC_TEXT_MAX];
};

/* Axes in the order in which the file writes them; the first varies slowest. */
struct kvc_sweep {
    uint32_t count;
    struct kvc_sweep_axis *axis;
};

/* The objective of `kvcast plan`; NaN: not set. */
struct kvc_slo {
    double p50_ns, p95_ns, p99_ns;
    double mops;
};

struct kvc_loaded {
    struct kvc_scenario scenario;
    struct kvc_parameters parameters; /* all resolved values, for the echo */
    struct kvc_parameters provenance; /* those of the hardware, each with its source */
    struct kvc_sweep sweep;
    struct kvc_slo slo;
    uint32_t warning_count;
    char (*warning)[KVC_TEXT_MAX * 2]; /* "file:line: message": keys without effect */
};

void kvc_loaded_free(struct kvc_loaded *loaded); /* NULL is allowed */

/* Runs the file, applies `set` (NULL: none), decodes and checks everything, the values of the sweep included.
 * *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_scenario_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                                  struct kvc_diag *diag);

#endif
