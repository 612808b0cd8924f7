/* Hardware profiles that this process has decoded before.
 *
 * A profile is a script that runs in a sandbox of its own; a sweep names the same few again and again. The
 * cache knows a file by its path and by what stat() says of it, and it does not keep a file that has changed
 * within the last second, because another change could then go unnoticed. Failures are not kept. The oldest
 * profiles give way when there are more than KVC_PROFILE_CACHE_MAX, or more than 64 MiB of them. */
#ifndef KVC_SCENARIOS_LOAD_PROFILE_CACHE_H
#define KVC_SCENARIOS_LOAD_PROFILE_CACHE_H

#include <stdbool.h>

#include "scenarios/load/parameters.h"
#include "sim/devices/node.h"

struct stat;

enum { KVC_PROFILE_CACHE_MAX = 128 };

/* A device as its profile states it. */
struct kvc_profile {
    const struct kvc_device_kind *kind; /* Kind that the caller wanted. */
    bool of_machine;                    /* The file is a machine file, which `machine` describes. */
    struct kvc_machine machine;
    void *values; /* The device; NULL if the machine file has none of this kind. */
    struct kvc_parameters parameters, provenance;
};

/* Finds the device of a kind in a file. Returns NULL if it has not been decoded or the file has changed. The
 * result is valid until the next kvc_profile_cache_keep(). */
const struct kvc_profile *kvc_profile_cache_find(const char *file, const struct kvc_device_kind *kind);

/* Keeps a profile of the file, if possible, and then owns the memory that the profile points to. `seen` is
 * the state of the file before it was read. Returns whether the profile was kept. */
bool kvc_profile_cache_keep(const char *file, const struct stat *seen, const struct kvc_profile *profile);

/* Frees the memory that a profile points to. */
void kvc_profile_clear(struct kvc_profile *profile);

/* Forgets all profiles. */
void kvc_profile_cache_clear(void);

#endif
