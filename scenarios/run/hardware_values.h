/* The numbers of a scenario's hardware: where each stands in the device's struct, so that a copy of the
 * scenario can have another value without being loaded again.
 *
 * A number is listed if a profile or the scenario states it with a source. Elements of a list have the same
 * numbers, such as the times of the points of a cost curve; those of one field are one parameter, because
 * they are what becomes faster together. Conditions that an element holds for are no parameters.
 *
 * The members of a cluster have these numbers, too, as they are or their own. They change by the same factor
 * as those of the scenario's node. A member's list of another length, such as the clocks of another GPU, has
 * no such counterparts and stays as it is. */
#ifndef KVC_SCENARIOS_RUN_HARDWARE_VALUES_H
#define KVC_SCENARIOS_RUN_HARDWARE_VALUES_H

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
    char path[KVC_PATH_MAX];       /* "node.gpu.launch", or of several elements "node.gpu.clocks.*.core". */
    const struct kvc_option *row;  /* REAL or COUNT. */
    const struct kvc_option *list; /* The list that they are elements of, or NULL. */
    uint32_t first, count;         /* Its numbers in `value`. */
};

struct kvc_hardware_values {
    const struct kvc_scenario *scenario; /* That they are of. */
    uint32_t count, parameter_count;
    struct kvc_hardware_value *value; /* In the order of the parameters. */
    struct kvc_hardware_parameter *parameter;
};

/* Lists the numbers of a loaded scenario's node, in the order of its devices. The scenario must outlive them.
 * If memory is short, the program ends. */
void kvc_hardware_values_of(const struct kvc_loaded *loaded, struct kvc_hardware_values *values);
void kvc_hardware_values_free(struct kvc_hardware_values *values);

/* Writes number `index` of a parameter into a copy of the scenario (models/model.h), and what it makes of
 * the members' numbers. A COUNT is rounded. A number beyond the range of the option becomes the end of the
 * range. Returns what was written to the node. */
double kvc_hardware_values_set(const struct kvc_hardware_values *values,
                               const struct kvc_hardware_parameter *parameter, uint32_t index, double number,
                               struct kvc_scenario *copy);

/* Returns whether a member of the cluster has the parameter, but as a list of another length, which stays as
 * it is. */
bool kvc_hardware_values_stays(const struct kvc_hardware_values *values,
                               const struct kvc_hardware_parameter *parameter, uint32_t member);

/* Writes the original numbers of a parameter back. */
void kvc_hardware_values_restore(const struct kvc_hardware_values *values,
                                 const struct kvc_hardware_parameter *parameter, struct kvc_scenario *copy);

/* Resolves a copy whose numbers were changed and checks it, and each class of nodes, as the loader does. */
enum kvc_status kvc_hardware_values_settle(struct kvc_scenario *copy, struct kvc_diag *diag);

#endif
