/** @file
 * Changes of devices at given times of a run: another performance state, or an outage.
 *
 * Each change is an actor of its own. Times count from the start of the measured time, so that a change means
 * the same whether the warm-up has a fixed length or ends by itself. Only hosts that can fail are turned off:
 * a host at which transfers begin or end cannot be, because SimGrid ends the transfers with the host. Links
 * can always be turned off. A store whose simulation does not draw on a device does not notice changes of it.
 */
#ifndef KVC_SIM_RUN_CHANGES_H
#define KVC_SIM_RUN_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/platform.h"
#include "sim/scenario.h"

struct kvc_changes;

/** One change, ready to happen. */
struct kvc_change_actor {
    const struct kvc_changes *changes; /**< The changes of its run. */
    const struct kvc_change *change;   /**< The change. */
};

/** The changes of a replica. A zeroed struct has none. */
struct kvc_changes {
    const struct kvc_platform *platform;                /**< The devices. */
    uint32_t count;                                     /**< Used entries of `actor`. */
    struct kvc_change_actor actor[KVC_RUN_CHANGES_MAX]; /**< The changes in the order of the scenario. */
    double from_ns;                                     /**< Start of the measured time [ns]. */
    bool started;                                       /**< Whether the actors exist. */
};

/** Checks the changes of a run against its platform. Returns KVC_ERR_SCENARIO, with a message that begins
 * with the option's path ("run.changes.1.device"), if a device does not exist or cannot change like this, a
 * change is not within the measured time, or changes of one device contradict each other. */
enum kvc_status kvc_changes_check(const struct kvc_run *run, const struct kvc_platform *platform,
                                  struct kvc_diag *diag);

/** Prepares the changes of a run. The run and the platform must outlive them; kvc_changes_check() has
 * accepted them. */
void kvc_changes_open(struct kvc_changes *changes, const struct kvc_run *run,
                      const struct kvc_platform *platform);

/** Starts the actors of the changes, once the start of the measured time is known. Later calls do nothing. */
void kvc_changes_start(struct kvc_changes *changes, double from_ns);

#endif
