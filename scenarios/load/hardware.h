/* The hardware library: Lua files that return { kind = "cpu", field = { value, source = "..." }, ... }.
 *
 * Profiles lie in scenarios/hardware of the source tree, or in $KVCAST_HARDWARE. A node names one by its file
 * name without ".lua", by a path that ends in ".lua" (relative to the scenario), or overrides fields of one:
 * { base = "tesla-k40c", memory = "24GB" }. Every number of a profile must state its source.
 *
 * A machine file has them all, { kind = "machine", name = ..., date = ..., cpu = { ... }, gpu = { ... }, ...
 * }, as `kvcast calibrate` writes it. It serves wherever one of its devices is asked for, and node.machine
 * names one for all devices that the node does not name itself. */
#ifndef KVC_SCENARIOS_LOAD_HARDWARE_H
#define KVC_SCENARIOS_LOAD_HARDWARE_H

#include <stddef.h>

#include "scenarios/load/decode.h"

/* One kind of device that a node has. */
struct kvc_device_kind {
    const char *name; /* "cpu": the `kind` of a profile and the key in `node` */
    const struct kvc_option_table *options;
    size_t node_offset; /* of its struct in struct kvc_node */
    /* What the options cannot say of a profile; its message starts with "NAME.". NULL: nothing. */
    enum kvc_status (*check)(const void *device, struct kvc_diag *diag);
};

enum { KVC_DEVICE_KINDS_MAX = 16 };

/* All kinds; the last one's name is NULL. */
extern const struct kvc_device_kind kvc_device_kinds[];

const char *kvc_hardware_dir(void);

enum { KVC_PROFILES_MAX = 256, KVC_PROFILE_NAME_MAX = 64 };

struct kvc_profiles {
    size_t count;
    char name[KVC_PROFILES_MAX][KVC_PROFILE_NAME_MAX];
};

/* The names in the library, sorted. A folder that cannot be read has none. */
void kvc_hardware_list(struct kvc_profiles *profiles);

/* Decodes a profile on its own, for `describe`: its kind (of a machine file, one that is not in the list),
 * its devices, and what it states in loaded->provenance and parameters. */
enum kvc_status kvc_hardware_read(const char *file, const struct kvc_device_kind **kind,
                                  struct kvc_node *node, struct kvc_loaded *loaded, struct kvc_diag *diag);

/* Fills one device of the node from the Lua value at the top of the stack (nil: from `machine`, the machine
 * file of the node, or where that is empty or has none, the profile `by_default`). */
enum kvc_status kvc_hardware_decode(const struct kvc_decoder *decoder, const struct kvc_device_kind *kind,
                                    const char *by_default, const char *machine, struct kvc_node *node);

#endif
