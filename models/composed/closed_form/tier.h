/* The share of the GETs that the hot tier of a composed store answers. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_TIER_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_TIER_H

#include "models/composed/config.h"

/* How GETs whose items the tier lacks bring these there. */
struct kvc_composed_copying {
    double takes_ns; /* Time from the look into the tier until the copy is there [ns]. */
    double every_ns; /* Time between batches, whose requests look at the same time; 0: each by itself [ns]. */
};

/* Requests for a key with about the same popularity, in units of its own requests. */
struct kvc_composed_tier_key {
    double taken, changed; /* Share of the requests that would copy it, and that change it. */
    double takes, every;   /* Requests for it in the times of struct kvc_composed_copying. */
};

/* Returns the share of its lookups that find a key in the tier if only changes take it out. */
double kvc_composed_tier_present(const struct kvc_composed_tier_key *key);

/* Returns the share of the GETs that the tier answers within the measured time of sockets that each serve
 * per_ns requests, of whose GETs hit_frac hit. `copying` may be NULL: copies are there at once. */
double kvc_composed_hot_frac(const struct kvc_scenario *scenario, double hit_frac, double per_ns,
                             const struct kvc_composed_copying *copying);

#endif
