/* The identity of a sweep: what must be the same for points of two runs to belong to one sweep.
 *
 * It is a list of named texts: the version of kvcast, the command, the seed, the parameters that the scenario
 * resolves to, its objectives, the axes with what their values resolve to, the design, the points, and the
 * contents of the traces. A comment or a new order of the keys does not make another sweep. */
#ifndef KVC_SCENARIOS_EXPLORE_SWEEP_IDENTITY_H
#define KVC_SCENARIOS_EXPLORE_SWEEP_IDENTITY_H

#include <stdbool.h>

#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"

enum { KVC_IDENTITY_MAX = 16 };

struct kvc_identity_entry {
    const char *key;  /* Name in the database. */
    const char *noun; /* In messages; NULL: for information, not compared. */
    char *text;
};

/* A zeroed struct is empty. */
struct kvc_identity {
    uint32_t count;
    struct kvc_identity_entry entry[KVC_IDENTITY_MAX];
};

void kvc_identity_free(struct kvc_identity *identity);

/* Describes the sweep of a loaded scenario, evaluated with the user's overrides `set`. Returns
 * KVC_ERR_SCENARIO if a file cannot be read. */
enum kvc_status kvc_identity_of(const struct kvc_loaded *loaded, const struct kvc_overrides *set,
                                const struct kvc_space *space, bool predict, struct kvc_identity *identity,
                                struct kvc_diag *diag);

#endif
