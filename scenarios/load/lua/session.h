/* A session loads many variants of one scenario. The script runs once; each variant decodes its table anew,
 * or only a section of it, or a single value.
 *
 * What a session decodes and checks equals what kvc_scenario_load_point() does with the same overrides,
 * places of messages included; only the parts are separate, so that a caller can leave out those that it
 * knows. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SESSION_H
#define KVC_SCENARIOS_LOAD_LUA_SESSION_H

#include <stdbool.h>

#include "scenarios/load/load.h"

struct kvc_load_session;

/* Runs the script. *out is NULL unless KVC_OK is returned. */
enum kvc_status kvc_load_session_open(const char *path, struct kvc_load_session **out, struct kvc_diag *diag);

/* Decodes the scenario with the overrides `set`, without resolving and checking it. With `section`, "system",
 * "cluster", "workload" or "run", it decodes that section alone, which must not change the store; the others
 * stay empty. */
enum kvc_status kvc_load_session_decode(struct kvc_load_session *session, const struct kvc_overrides *set,
                                        const char *section, struct kvc_loaded **out, struct kvc_diag *diag);

/* Decodes the text of an override into the field that `row` describes, with the checks of the loader. Returns
 * whether the loader would take it. */
bool kvc_load_session_value(struct kvc_load_session *session, const struct kvc_option *row, const char *text,
                            void *field);

/* Resolves a decoded scenario and checks everything but the devices of its simulation
 * (kvc_scenario_check_devices()). `set` gives the places of messages. */
enum kvc_status kvc_load_session_check(struct kvc_load_session *session, struct kvc_loaded *loaded,
                                       const struct kvc_overrides *set, struct kvc_diag *diag);

/* NULL is allowed. */
void kvc_load_session_close(struct kvc_load_session *session);

#endif
