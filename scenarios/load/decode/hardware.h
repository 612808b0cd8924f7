/* The hardware library holds Lua files that return { kind = "cpu", field = { value, source = "..." }, ... }.
 *
 * Profiles lie in scenarios/hardware of the data folder (sim/base/files/data_dir.h). A node names a profile
 * by its file name without ".lua", names a path that ends in ".lua" (relative to the scenario), or overrides
 * fields of a profile: { base = "tesla-k40c", memory = "24GB" }. Every number of a profile must state its
 * source, in its own braces or in its list's; ", quartiles 1 .. 2 ns" continues the source of the list, as
 * any source that begins with a comma. A profile may name another one of its kind as its `base`, whose values
 * and sources it takes where it states none; that one has no base itself. The registry (models/registry.h)
 * lists the kinds.
 *
 * A machine file holds several devices, { kind = "machine", name = ..., date = ..., cpu = { ... }, gpu = {
 * ... }, ... }, as `kvcast calibrate` writes it. It may stand wherever one of its devices is asked for, and
 * node.machine names one for all devices that the node does not name. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_HARDWARE_H
#define KVC_SCENARIOS_LOAD_DECODE_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/load/decode/decode.h"
#include "sim/devices/node.h"

/* The folder of the library. */
const char *kvc_hardware_dir(void);

enum { KVC_PROFILES_MAX = 256, KVC_PROFILE_NAME_MAX = 64 };

struct kvc_profiles {
    size_t count;
    char name[KVC_PROFILES_MAX][KVC_PROFILE_NAME_MAX];
};

/* Fills in the names of the library, sorted. There are none if the folder cannot be read. */
void kvc_hardware_list(struct kvc_profiles *profiles);

/* Reads one profile on its own, for `describe` and `list`.
 *
 * *kind becomes the profile's kind; for a machine file it is a kind of that name outside the registry. *node
 * receives the devices, and the caller frees it with kvc_node_free whatever the status. The values of the
 * file go to loaded->parameters and loaded->provenance. */
enum kvc_status kvc_hardware_read(const char *file, const struct kvc_device_kind **kind,
                                  struct kvc_node *node, struct kvc_loaded *loaded, struct kvc_diag *diag);

/* Adds one device to the node, from the Lua value at the top of the stack: a profile's name, or a table. Nil
 * stands for the machine file `machine`, or for the profile `by_default` if `machine` is empty or has no such
 * device. Without `by_default`, a table must name its base, and a machine file may lack the device. */
enum kvc_status kvc_hardware_decode(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                    const char *by_default, const char *machine, struct kvc_node *node);

#endif
