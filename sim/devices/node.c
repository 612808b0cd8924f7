#include "sim/devices/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kvc_option stall_rows[] = {
    KVC_REAL_ROW(kvc_node_stall, "length", length_ns, KVC_UNIT_NS, 1, 1e10, NULL, "length of such a stall"),
    KVC_REAL_ROW(kvc_node_stall, "every", every_ns, KVC_UNIT_NS, 1e3, 1e14, NULL,
                 "mean time from one such stall of a core to the next; a longer time disturbs less"),
};

static const struct kvc_option_table stall_options =
    KVC_OPTION_TABLE(kvc_node_stall, stall_rows, "stalls", .max_list = KVC_NODE_STALLS_MAX);

static const struct kvc_option node_rows[] = {
    KVC_COUNT_ROW(kvc_node, "sockets", sockets, 1, 8, "2",
                  "CPU sockets per node, each with its own GPU, NIC ports, memory and shard of the keys"),
    KVC_REAL_ROW(
        kvc_node, "cpu_clock", cpu_clock_hz, KVC_UNIT_HZ, 1e8, 1e10, "auto",
        "clock of the CPUs, one of their P-states; auto: the fastest; a slower one needs less power and "
        "serves fewer requests",
        .auto_word = "auto", .auto_value = 0),
    KVC_LIST_ROW(kvc_node, "stalls", stalls, stall_count, &stall_options,
                 "times in which the machine takes a core away, which kvcast measure reports in this form; "
                 "simulations have them at random times on each core"),
    KVC_REAL_ROW(
        kvc_node, "co_runner", co_runner_bytes_per_s, KVC_UNIT_BYTES_PER_S, 0, 1e13, NULL,
        "bandwidth of a socket's memory that a co-runner takes on cores that the store does not use; more of "
        "it slows random lines, as measured in node.dram.contention; kvcast measure runs it; left out: none",
        .optional = true),
    KVC_COUNT_ROW(kvc_node, "co_runner_cores", co_runner_cores, 1, 1024, "1",
                  "cores on which the co-runner of a measurement runs; more of them can take more bandwidth",
                  .optional = true),
    KVC_BOOL_ROW(
        kvc_node, "huge_pages", huge_pages, "true",
        "whether a store's memory is on huge pages; without them, random lines miss the TLB and cost more, as "
        "measured in node.dram.pages; kvcast measure obeys it",
        .optional = true),
    KVC_REAL_ROW(
        kvc_node, "price", price_usd, KVC_UNIT_NONE, 0, 1e9, NULL,
        "price in US dollars of the rest of a node, besides the devices with a price: chassis, boards, "
        "power supplies, and devices whose price is set to 0 because this one includes them; left out: 0",
        .optional = true),
    KVC_REAL_ROW(
        kvc_node, "power", rest_watts, KVC_UNIT_WATTS, 0, 1e6, NULL,
        "constant power of a node besides its devices: board, fans, drives, losses; more of it lowers the "
        "requests per joule; left out: unknown, and only devices are metered",
        .optional = true),
};

const struct kvc_option_table kvc_node_option_table = KVC_OPTION_TABLE(kvc_node, node_rows, "node");

static const struct kvc_option machine_rows[] = {
    KVC_TEXT_ROW(kvc_machine, "name", name, NULL, "machine that was measured"),
    KVC_TEXT_ROW(kvc_machine, "date", date, NULL, "day of the measurement, as in 2026-11-21"),
    KVC_TEXT_ROW(kvc_machine, "compiler", compiler, NULL, "compiler of the kernels that were timed"),
    KVC_TEXT_ROW(kvc_machine, "commit", commit, NULL, "version of kvcast that measured"),
};

const struct kvc_option_table kvc_machine_option_table =
    KVC_OPTION_TABLE(kvc_machine, machine_rows, "machine");

/* Returns the values of the node's device of a kind, which it adds without setting them. */
static void *device_of(struct kvc_node *node, const struct kvc_device_kind *kind)
{
    struct kvc_device *device = node->device;
    while (device->kind != NULL && device->kind != kind) {
        device++;
    }
    if (device == node->device + KVC_NODE_DEVICES_MAX) {
        KVC_BUG("node has more than %d devices", KVC_NODE_DEVICES_MAX);
    }
    if (device->kind == NULL) {
        *device = (struct kvc_device){.kind = kind, .values = malloc(kind->options->size)};
        if (device->values == NULL) {
            kvc_out_of_memory("a device of the node");
        }
    }
    return device->values;
}

void *kvc_node_add(struct kvc_node *node, const struct kvc_device_kind *kind)
{
    void *values = device_of(node, kind);
    memset(values, 0, kind->options->size);
    kvc_option_table_set_defaults(kind->options, values);
    return values;
}

void kvc_node_add_copy(struct kvc_node *node, const struct kvc_device_kind *kind, const void *values)
{
    memcpy(device_of(node, kind), values, kind->options->size);
}

void kvc_node_free(struct kvc_node *node)
{
    if (node == NULL) {
        return;
    }
    for (struct kvc_device *device = node->device; device->kind != NULL; device++) {
        free(device->values);
        *device = (struct kvc_device){.kind = NULL};
    }
}

static bool is_stated(const void *device, const struct kvc_option *row)
{
    const char *field = (const char *)device + row->offset;
    return row->type == KVC_OPTION_COUNT ? *(const uint64_t *)(const void *)field > 0
                                         : !isnan(*(const double *)(const void *)field);
}

enum kvc_status kvc_group_check(const struct kvc_option_table *options, const void *device, size_t first,
                                size_t end, bool *stated, struct kvc_diag *diag)
{
    const struct kvc_option *present = NULL, *missing = NULL;
    for (size_t i = first; i < end; i++) {
        const struct kvc_option **found = is_stated(device, &options->rows[i]) ? &present : &missing;
        *found = *found != NULL ? *found : &options->rows[i];
    }
    *stated = present != NULL;
    if (present != NULL && missing != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "%s.%s is missing: the profile states %s, and both belong to one group (%s)",
                             options->name, missing->name, present->name, missing->help);
    }
    return KVC_OK;
}
