/* Arrays that a simulation cannot do without: they abort where there is no memory. To be freed with free().
 */
#ifndef KVC_SIM_BASE_ARRAY_H
#define KVC_SIM_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#include "sim/base/diag.h"

/* `count` zeroed entries of `size` bytes. */
static inline void *kvc_array_of(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (array == NULL) {
        kvc_out_of_memory("%zu entries of %zu bytes", count, size);
    }
    return array;
}

/* The same entries in room for `count`; what is added is not set. */
static inline void *kvc_array_grown(void *array, size_t count, size_t size)
{
    void *larger = realloc(array, count * size);
    if (larger == NULL) {
        kvc_out_of_memory("%zu entries of %zu bytes", count, size);
    }
    return larger;
}

#endif
