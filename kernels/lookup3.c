#include "kernels/lookup3.h"

uint64_t kvc_lookup3(const void *key, uint32_t bytes, uint32_t primary, uint32_t secondary)
{
    return kvc_lookup3_inline(key, bytes, primary, secondary);
}
