/** @file
 * A node is one machine: its sockets and the devices that each socket has.
 *
 * The loader adds the devices that a store uses; models read them through the typed accessors of the
 * devices' headers, such as kvc_nic_of(). Code that needs a device often keeps the pointer, because every
 * access by kind searches the list. A node built by hand may point to devices that live elsewhere:
 *
 *     struct kvc_nic nic = {.ports = 1, ...};
 *     struct kvc_node node = {.sockets = 1, .device = {{&kvc_nic_kind, &nic}}};
 */
#ifndef KVC_SIM_DEVICES_NODE_H
#define KVC_SIM_DEVICES_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/devices/device.h"

/** Origin of a calibrated profile. All texts are empty if the node uses none. */
struct kvc_machine {
    char name[KVC_TEXT_MAX];     /**< Machine that was measured: "2 cores, Intel Xeon". */
    char date[KVC_TEXT_MAX];     /**< Day of the measurement in ISO 8601: "2026-11-21". */
    char compiler[KVC_TEXT_MAX]; /**< Compiler of the kernels: "gcc 12.2.0". */
    char commit[KVC_TEXT_MAX];   /**< Version of kvcast that measured. */
};

/** One device of a node. */
struct kvc_device {
    const struct kvc_device_kind *kind; /**< Kind of the device. */
    void *values;                       /**< Struct that the kind's options describe. */
};

enum { KVC_NODE_DEVICES_MAX = 16 };

enum { KVC_NODE_STALLS_MAX = 16 /**< Kinds of stalls. */ };

/** A kind of stall: a time in which the machine takes a core away from a store's thread. */
struct kvc_node_stall {
    double length_ns; /**< Its length [ns]. */
    double every_ns;  /**< Mean time from one to the next on a core [ns]. */
};

/** One machine. A copy of the struct shares the devices. */
struct kvc_node {
    uint64_t sockets;     /**< Sockets, each with devices of its own. */
    double cpu_clock_hz;  /**< Clock of the CPUs; 0: their fastest. See kvc_cpu_pstate_of(). */
    uint32_t stall_count; /**< Used entries of `stalls`. */
    struct kvc_node_stall stalls[KVC_NODE_STALLS_MAX]; /**< Stalls of each core. */
    double co_runner_bytes_per_s; /**< Bandwidth of the memory that something else takes; NaN or 0: none. */
    uint64_t co_runner_cores;     /**< Cores on which it runs in a measurement. */
    bool huge_pages;              /**< The memory of the stores is on huge pages. */
    double price_usd;  /**< Price of all parts that are not priced as devices: chassis, boards [US dollars];
                          NaN: 0. */
    double rest_watts; /**< Power of all but the devices: board, fans, drives, losses; NaN or 0: unknown. */
    struct kvc_machine
        machine; /**< The machine that the profiles were calibrated on; empty if there is none. */
    struct kvc_device
        device[KVC_NODE_DEVICES_MAX + 1]; /**< At most one of a kind; kind NULL ends the list. */
};

extern const struct kvc_option_table
    kvc_node_option_table; /**< The plain fields: sockets, cpu_clock, price, power. */
extern const struct kvc_option_table kvc_machine_option_table; /**< The options of struct kvc_machine. */

/** Finds the values of the node's device of a kind. Returns NULL if the node has no such device. */
static inline void *kvc_node_device(const struct kvc_node *node, const struct kvc_device_kind *kind)
{
    for (const struct kvc_device *device = node->device; device->kind != NULL; device++) {
        if (device->kind == kind) {
            return device->values;
        }
    }
    return NULL;
}

/** Adds a device whose options have their defaults and whose other fields are zero.
 *
 * Resets the device if the node already has one of this kind. Returns its values, which kvc_node_free()
 * frees. Exits with status 3 if memory is short. */
void *kvc_node_add(struct kvc_node *node, const struct kvc_device_kind *kind);

/** Adds a device with a copy of the values of another one of its kind, or replaces the one that the node has.
 * Otherwise like kvc_node_add(). */
void kvc_node_add_copy(struct kvc_node *node, const struct kvc_device_kind *kind, const void *values);

/** Frees the devices that these functions allocated and empties the list. NULL is allowed. */
void kvc_node_free(struct kvc_node *node);

/** Checks a group of options, which is stated as a whole or not at all: the rows [first, end) of the table,
 * which are optional (see kvc_option), must all be stated in `device`, or none of them.
 *
 * *stated becomes true if all are. Otherwise the message names the first row that is missing and the first
 * one that is stated, as in "dram.tRC is missing: the profile states channels, ...". Returns
 * KVC_ERR_SCENARIO if only some are stated. */
enum kvc_status kvc_group_check(const struct kvc_option_table *options, const void *device, size_t first,
                                size_t end, bool *stated, struct kvc_diag *diag);

#endif
