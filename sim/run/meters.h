/** @file
 * Meters read the work and the energy of the platform's devices within the measured time.
 *
 * The monitor reads them when it first looks after the measured time has begun, and again at every later look
 * until that time is over. Between two readings, work and energy are SimGrid's own integrals. Their quotient
 * is the mean power, and the energy of a result is that power times the measured time. */
#ifndef KVC_SIM_RUN_METERS_H
#define KVC_SIM_RUN_METERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/metrics/recorder.h"
#include "sim/metrics/result.h"
#include "sim/platform.h"

/** One reading of a device. */
struct kvc_meter {
    double done;     /**< Work of a host [ns], or bytes that a link has carried. */
    double capacity; /**< Work or bytes that were possible in its performance states while it was on. */
    double joules;   /**< Energy [J]; NaN if the power is unknown. */
};

/** An entry of a result: a device, or all devices of a kind if there are more than KVC_DEVICES_MAX. */
struct kvc_meter_entry {
    const char *name;        /**< Name of the device, or its kind. */
    const char *kind;        /**< Kind of the devices. */
    struct kvc_meter growth; /**< Scratch: work of the devices since the measured time began. */
};

/** The meters of all hosts, followed by the meters of all links. A zeroed struct can be closed. */
struct kvc_meters {
    const struct kvc_platform *platform; /**< The devices. */
    uint32_t count;                      /**< Number of devices. */
    struct kvc_meter_entry *entry;       /**< The entries of a result. */
    uint32_t entries;                    /**< Number of entries. */
    uint32_t *entry_of;                  /**< Entry of each device. */
    struct kvc_meter *first;             /**< Readings at the start. */
    struct kvc_meter *last;              /**< Latest readings. */
    double first_ns;                     /**< Time of the first reading [ns]; negative: not read yet. */
    double last_ns;                      /**< Time of the latest reading [ns]. */
};

/** Prepares the meters of a platform. If memory is short, the program ends (kvc_out_of_memory). */
void kvc_meters_open(struct kvc_meters *meters, const struct kvc_platform *platform);

/** Frees the readings, not the struct. */
void kvc_meters_close(struct kvc_meters *meters);

/** Reads all meters at the current time. The first call marks the start of the measured time. */
void kvc_meters_read(struct kvc_meters *meters, double now_ns);

/** Samples the counters of utilization, power and energy by device, after kvc_recorder_sample_begin(). */
void kvc_meters_sample(const struct kvc_meters *meters, struct kvc_recorder *recorder);

/** Returns the energy from the start of the measured time to the latest reading, of all devices whose power
 * is known [J]. */
double kvc_meters_joules(const struct kvc_meters *meters);

/** Adds the kinds of devices that work but whose power the platform does not state. */
void kvc_platform_missing_watts(const struct kvc_platform *platform, char missing[KVC_MISSING_BYTES]);

/** Adds utilization, energy and power of every device to a result, and sets the result's `watts_mean` and
 * `joules` if at least one device has known watts. The result's `simulated_s` must be set. If there are more
 * than KVC_DEVICES_MAX devices, it adds one sum for each kind.
 */
void kvc_meters_report(const struct kvc_meters *meters, struct kvc_result *result);

#endif
