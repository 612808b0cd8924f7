#include "models/dido/presets.h"

#include <stddef.h>

#include "kernels/megakv/slab.h"

#define MIB (1ull << 20)

/* "We store as many key-value objects as possible with an upper limit of the data set size to be 1,908 MB":
 * what the index leaves is divided into slabs. The index is the smallest power of two that is at most nine
 * tenths full with these keys, as system.index = "auto" takes it:
 *
 *     K8    512 MiB index, 653 slabs of 65536 items of 32 bytes:  42.8 million keys, 64 % full
 *     K16   256 MiB index, 781 slabs of 21845 items of 96 bytes:  17.1 million keys, 51 % full
 *     K32    64 MiB index, 877 slabs of 6553 items of 320 bytes:   5.7 million keys, 69 % full
 *     K128   16 MiB index, 901 slabs of 1638 items of 1280 bytes:  1.5 million keys, 70 % full
 *
 * presets_test.c compares the sizes with those of the kernels and of the configuration. */
#define SHARED_BYTES 1908000000ull
#define KEYS(index_mib, item_bytes)                                                                          \
    ((SHARED_BYTES - (index_mib)*MIB) / KVC_MEGAKV_SLAB_BYTES * (KVC_MEGAKV_SLAB_BYTES / (item_bytes)))

#define WORKLOAD(name_, popular, exponent, get, key, value, count)                                           \
    {                                                                                                        \
        .name = (name_), .source = "DIDO, ICDE 2017, sec. V.A", KVC_PRESET_FIXED_SIZES(key, value),          \
        KVC_PRESET_MIX(get, 1 - (get)), .has_popularity = true, .popularity = (popular),                     \
        .zipf_s = (exponent), .keys = (count)                                                                \
    }
#define POPULARITIES(name_, get, key, value, count)                                                          \
    WORKLOAD(name_ "-U", KVC_POPULARITY_UNIFORM, 0, get, key, value, count),                                 \
        WORKLOAD(name_ "-S", KVC_POPULARITY_ZIPF, 0.99, get, key, value, count)
#define MIXES(set, key, value, count)                                                                        \
    POPULARITIES(set "-G100", 1.0, key, value, count), POPULARITIES(set "-G95", 0.95, key, value, count),    \
        POPULARITIES(set "-G50", 0.5, key, value, count)

const struct kvc_workload_preset kvc_dido_presets[] = {
    MIXES("K8", 8, 8, KEYS(512, 32)),
    MIXES("K16", 16, 64, KEYS(256, 96)),
    MIXES("K32", 32, 256, KEYS(64, 320)),
    MIXES("K128", 128, 1024, KEYS(16, 1280)),
    {.name = NULL},
};
