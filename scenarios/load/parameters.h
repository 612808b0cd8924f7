/* A list of resolved values, each with its path and its source, in the order in which they were recorded.
 *
 * Only the functions of this header change a list, because they keep an index of the paths: a calibrated
 * machine has thousands of them. */
#ifndef KVC_SCENARIOS_LOAD_PARAMETERS_H
#define KVC_SCENARIOS_LOAD_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text/option.h"

enum { KVC_PATH_MAX = 128 };

/* The ends of an interval; both are NaN if there is none. */
struct kvc_bounds {
    double low, high;
};

/* One resolved value of a scenario. */
struct kvc_parameter {
    char path[KVC_PATH_MAX];    /* "system.cycle", "node.gpu.clocks.1.core". */
    uint64_t path_hash;         /* kvc_name_hash(path), which kvc_parameters_put() computes. */
    char value[KVC_TEXT_MAX];   /* Value as a user would write it: 160us. */
    bool bare;                  /* The value is a JSON number or boolean as it stands, not a text. */
    char source[KVC_TEXT_MAX];  /* "default", "scenario", "--set", "preset ...", or the source that a profile
                                   states. */
    struct kvc_bounds interval; /* The 95 % interval that a profile states, in the base unit of its option. */
};

/* A zeroed struct is an empty list. */
struct kvc_parameters {
    uint32_t count;
    struct kvc_parameter *entry;
    uint32_t slots; /* Size of the index: a power of two, or 0 before the first value. */
    uint32_t *slot; /* The index, by the hash of the path: number of an entry, from 1; 0: free. */
};

/* Adds a copy of the value, or replaces the value of the same path. Returns false if memory is short. */
bool kvc_parameters_put(struct kvc_parameters *list, const struct kvc_parameter *parameter);

/* Puts copies of all values of `more`. Returns false if memory is short. */
bool kvc_parameters_join(struct kvc_parameters *list, const struct kvc_parameters *more);

/* Finds the value of a path. Returns NULL if there is none. */
const struct kvc_parameter *kvc_parameters_find(const struct kvc_parameters *list, const char *path);

/* Removes all values below a path, as "run.seed" lies below "run". */
void kvc_parameters_forget_below(struct kvc_parameters *list, const char *path);

/* Removes the value of a path and all values below it. */
void kvc_parameters_forget(struct kvc_parameters *list, const char *path);

/* Returns a hash of all paths and values. */
uint64_t kvc_parameters_hash(const struct kvc_parameters *list);

/* Frees the values and leaves the list empty. */
void kvc_parameters_clear(struct kvc_parameters *list);

#endif
