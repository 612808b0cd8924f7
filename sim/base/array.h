/** @file
 * Arrays that a simulation cannot continue without. If memory is short, these functions end the program
 * through kvc_out_of_memory. The caller frees the arrays with free(). */
#ifndef KVC_SIM_BASE_ARRAY_H
#define KVC_SIM_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/diag.h"

/** Allocates `count` entries of `size` bytes, all zero. */
static inline void *kvc_array_of(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (array == NULL) {
        kvc_out_of_memory("%zu entries of %zu bytes", count, size);
    }
    return array;
}

/** Resizes an array to `count` entries of `size` bytes. Additional entries are not initialized. */
static inline void *kvc_array_grown(void *array, size_t count, size_t size)
{
    void *larger = realloc(array, count * size);
    if (larger == NULL) {
        kvc_out_of_memory("%zu entries of %zu bytes", count, size);
    }
    return larger;
}

/** Returns a copy of the text. */
static inline char *kvc_array_of_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(kvc_array_of(bytes, 1), text, bytes);
}

#endif
