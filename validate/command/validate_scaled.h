/* Scenarios in which one number is larger by a factor, for elasticities. */
#ifndef KVC_VALIDATE_COMMAND_VALIDATE_SCALED_H
#define KVC_VALIDATE_COMMAND_VALIDATE_SCALED_H

#include <stdbool.h>

#include "scenarios/load/load.h"

/* Returns whether the parameter is a number of the hardware, the system, the cluster or the workload that is
 * not 0. How long and with what seed a scenario runs is no part of it. */
bool kvc_scaled_is_number(const struct kvc_parameter *parameter);

/* Loads a scenario with overrides, a list of key=value separated by semicolons, and parameter `index` of its
 * resolved values multiplied by `factor`. A whole number that may not become a fraction becomes the next
 * whole number or is doubled, and one that may not grow is divided by the factor; *ratio is the change. An
 * element of a list is scaled alone: the list is repeated with it. Returns false when the scenario takes none
 * of these; *out is then NULL. */
bool kvc_scaled_load(const char *path, const char *overrides, const struct kvc_parameters *resolved,
                     uint32_t index, double factor, struct kvc_loaded **out, double *ratio);

#endif
