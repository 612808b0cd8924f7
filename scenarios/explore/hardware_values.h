/* The numbers of a scenario's hardware: where each stands in the device's struct, so that a copy of the
 * scenario can have another value without being loaded again.
 *
 * A number is listed if a profile or the scenario states it with a source. Elements of a list have the same
 * numbers, such as the times of the points of a cost curve; those of one field are one parameter, because
 * they are what becomes faster together. Conditions that an element holds for are no parameters. */
#ifndef KVC_SCENARIOS_EXPLORE_HARDWARE_VALUES_H
#define KVC_SCENARIOS_EXPLORE_HARDWARE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

/* One number. */
struct kvc_hardware_value {
    const struct kvc_parameter *origin; /* Path, source and interval. */
    uint32_t device;                    /* Position in node.device. */
    size_t offset;                      /* In the device's struct [bytes]. */
    double number;                      /* In the base unit of its option. */
};

/* The numbers of one field: one, or one for each element of a list. */
struct kvc_hardware_parameter {
    char path[KVC_PATH_MAX];      /* "node.gpu.launch", or of several elements "node.gpu.clocks.*.core". */
    const struct kvc_option *row; /* REAL or COUNT. */
    uint32_t first, count;        /* Its numbers in `value`. */
};

struct kvc_hardware_values {
    uint32_t count, parameter_count;
    struct kvc_hardware_value *value; /* In the order of the parameters. */
    struct kvc_hardware_parameter *parameter;
};

/* Lists the numbers of a loaded scenario's node, in the order of its devices. If memory is short, the program
 * ends. */
void kvc_hardware_values_of(const struct kvc_loaded *loaded, struct kvc_hardware_values *values);
void kvc_hardware_values_free(struct kvc_hardware_values *values);

/* Writes number `index` of a parameter into a copy of the scenario (models/resource.h). A COUNT is rounded. A
 * number beyond the range of the option becomes the end of the range. Returns what was written. */
double kvc_hardware_values_set(const struct kvc_hardware_values *values,
                               const struct kvc_hardware_parameter *parameter, uint32_t index, double number,
                               struct kvc_scenario *copy);

/* Writes the original numbers of a parameter back. */
void kvc_hardware_values_restore(const struct kvc_hardware_values *values,
                                 const struct kvc_hardware_parameter *parameter, struct kvc_scenario *copy);

/* Resolves a copy whose numbers were changed and checks it as the loader does. */
enum kvc_status kvc_hardware_values_settle(struct kvc_scenario *copy, struct kvc_diag *diag);

#endif
