/* The loader turns a scenario file into the plain structs that models take.
 *
 * The file is Lua 5.4. It runs in a sandbox (scenarios/load/lua/sandbox.h) and returns one table: system,
 * node, cluster, workload, run, and optionally name, sweep and slo. Option tables say what each part may
 * hold, and unknown keys are errors. Hardware that `node` names comes from the library
 * (scenarios/load/decode/hardware.h). Every error carries file and line of its key, or the place "--set". */
#ifndef KVC_SCENARIOS_LOAD_LOAD_H
#define KVC_SCENARIOS_LOAD_LOAD_H

#include <stdbool.h>

#include "scenarios/load/loaded.h"

/* Frees the scenario with its devices. NULL is allowed. */
void kvc_loaded_free(struct kvc_loaded *loaded);

/* Runs the file, applies `set` (NULL: none), decodes and checks everything, the values of the sweep included.
 * *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_scenario_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                                  struct kvc_diag *diag);

/* Loads one point of a sweep that was loaded before, like kvc_scenario_load, but leaves out the sweep, whose
 * values need no second check. */
enum kvc_status kvc_scenario_load_point(const char *path, const struct kvc_overrides *set,
                                        struct kvc_loaded **out, struct kvc_diag *diag);

/* A session loads many variants of one scenario. The script runs once; each variant decodes its table anew,
 * or only a section of it, or a single value.
 *
 * A session decodes and checks exactly what kvc_scenario_load_point() does with the same overrides, including
 * the places of messages. The steps are separate, so that a caller can leave out those whose result it knows.
 */

struct kvc_load_session;

/* Runs the script. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_load_session_open(const char *path, struct kvc_load_session **out, struct kvc_diag *diag);

/* Decodes the scenario with the overrides `set`, without resolving and checking it; the result has no
 * parameters, provenance and warnings. With `section`, "system",
 * "cluster", "workload" or "run", it decodes only that section, which must not change the store; the other
 * sections stay empty. */
enum kvc_status kvc_load_session_decode(struct kvc_load_session *session, const struct kvc_overrides *set,
                                        const char *section, struct kvc_loaded **out, struct kvc_diag *diag);

/* Decodes the scenario with the overrides `set`, resolves it and checks everything. */
enum kvc_status kvc_load_session_point(struct kvc_load_session *session, const struct kvc_overrides *set,
                                       struct kvc_loaded **out, struct kvc_diag *diag);

/* Decodes the text of an override into the field that `row` describes, with the checks of the loader. Returns
 * whether the loader accepts it. */
bool kvc_load_session_value(struct kvc_load_session *session, const struct kvc_option *row, const char *text,
                            void *field);

/* Resolves a decoded scenario and checks everything but the devices of its simulation
 * (kvc_scenario_check_devices()). `set` gives the places of messages. */
enum kvc_status kvc_load_session_check(struct kvc_load_session *session, struct kvc_loaded *loaded,
                                       const struct kvc_overrides *set, struct kvc_diag *diag);

/* NULL is allowed. */
void kvc_load_session_close(struct kvc_load_session *session);

#endif
