/* Reads one file of the hardware library: a device, or a machine with several of them.
 *
 * What the file may hold is described in hardware.h, which finds the file that a name stands for. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_PROFILE_READ_H
#define KVC_SCENARIOS_LOAD_DECODE_PROFILE_READ_H

#include <stdbool.h>

#include "scenarios/load/decode/decode.h"
#include "sim/devices/node.h"

/* A profile that is read in a sandbox of its own. */
struct kvc_profile_reading {
    const struct kvc_device_kind *kind; /* Kind that is wanted; NULL: whatever the file says. Result: the
                                           file's kind. */
    struct kvc_node *node;              /* Receives the devices. */
    struct kvc_loaded *loaded;          /* Receives parameters and provenance. */
    const char *prefix;                 /* Of the paths that are recorded: "node.cpu"; "" with any kind. */
    bool machine_only;                  /* A profile of the device alone is refused. */
    bool has_device;                    /* Result: the file has the device that is wanted. */
    const struct kvc_sandbox *sandbox;  /* While the file is read. */
    struct kvc_diag *diag;
};

enum kvc_status kvc_profile_read(const char *file, struct kvc_profile_reading *profile);

/* The kind of a machine file, which is not in the registry. Its values go to node->machine, and its devices
 * have the kinds of the registry. */
extern const struct kvc_device_kind kvc_machine_kind;

/* Runs the kind's own check. `path` is where the device stands in the file; `parent` goes in front of the
 * message, which starts with the kind's name. */
enum kvc_status kvc_profile_check_device(const struct kvc_decoder *decoder,
                                         const struct kvc_device_kind *kind, const char *path,
                                         const char *parent, const void *device);

#endif
