/* The scenario of a result, built again from the parameters that the result states.
 *
 * A result has every resolved parameter, in the words of a scenario. Defaults are left out, so that they
 * follow from the program. The values of the hardware keep the sources that the result states. Not stated by
 * a result, and therefore refused: functions of the scenario, such as a power policy. A trace is looked for
 * where the result's command found it, beside its scenario. */
#ifndef KVC_SCENARIOS_OUTPUT_AGAIN_H
#define KVC_SCENARIOS_OUTPUT_AGAIN_H

#include <jansson.h>
#include <stdio.h>

#include "scenarios/load/load.h"
#include "sim/base/diag.h"

/* Loads the scenario of a result document that `file` has, with `set` (NULL: none) after its parameters.
 * Returns KVC_ERR_SCENARIO if a parameter is missing or refused, or if one is not what the result says once
 * the scenario is loaded, unless `set` may have changed it. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_again_load(const char *file, const json_t *document, const struct kvc_overrides *set,
                               struct kvc_loaded **out, struct kvc_diag *diag);

/* Writes a text as a Lua string, whatever its bytes. */
void kvc_again_write_text(const char *text, FILE *out);

#endif
