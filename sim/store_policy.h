/** @file
 * The policy that a scenario brings along for its store: a function that looks at the running store from time
 * to time and sets some of its numbers, such as the limit of a batch.
 *
 * The store names what the function sees and what it may choose; the loader carries both to the function and
 * back (scenarios/load/lua/store_policy.h). A choice holds until the next one. */
#ifndef KVC_SIM_STORE_POLICY_H
#define KVC_SIM_STORE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

/** A number of the running store. */
struct kvc_store_number {
    const char *table;   /**< Table that it stands in, such as "batch"; NULL: it stands alone. */
    const char *element; /**< Name of the table's element, such as a stage; NULL: the table has none. */
    const char *name;    /**< Its own name, which ends in its unit. */
    double value;        /**< The number; NaN: unknown, so that the function does not see it. */
};

/** A number that the function may choose, and sees. */
struct kvc_store_choice {
    struct kvc_store_number number; /**< The number, with the value of the latest choice. */
    double min;                     /**< Smallest allowed value. */
    double max;                     /**< Largest allowed value. */
    bool is_whole;                  /**< Whether it is a whole number. */
};

/** What a store shows of itself, and what may be chosen. */
struct kvc_store_look {
    double at_s;                           /**< Simulated time [s]. */
    uint32_t numbers;                      /**< Entries of `number`. */
    const struct kvc_store_number *number; /**< What the function sees. */
    uint32_t choices;                      /**< Entries of `choice`. */
    struct kvc_store_choice *choice;       /**< What it may choose; those of a table, and of an element of it,
                                              follow each other. */
};

/** The function. A zeroed struct has none. */
struct kvc_store_policy {
    /** Looks at the store and sets the values of the choices. An error ends the run. NULL: there is no
     * function. */
    enum kvc_status (*choose)(void *data, const struct kvc_store_look *look, struct kvc_diag *diag);
    /** Fails because of several choices together: "system.policy: at 3 ms the function returned FOUND,
     * allowed: ALLOWED", with the place of the function. */
    enum kvc_status (*refuse)(void *data, const struct kvc_store_look *look, const char *found,
                              const char *allowed, struct kvc_diag *diag);
    void *data; /**< Handed to both functions; lives as long as the loaded scenario. */
};

#endif
