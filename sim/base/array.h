/** @file
 * Arrays that a simulation cannot continue without. If memory is short, these functions end the program
 * through kvc_out_of_memory. The caller frees the arrays with free(). */
#ifndef KVC_SIM_BASE_ARRAY_H
#define KVC_SIM_BASE_ARRAY_H

#include <math.h>
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

enum {
    /** Size from which on an array has a mapping of its own, in which only touched pages take memory [bytes]
       (scenarios/run/limits.h). */
    KVC_ARRAY_MAPPED_BYTES = 128 << 10,
};

/** Returns the memory of an array that was not cleared and of which `used` entries of `size` bytes are
 * touched [bytes]: whole pages. */
static inline double kvc_array_touched_bytes(double used, size_t size)
{
    static const double page_bytes = 4096;
    return ceil(used * (double)size / page_bytes) * page_bytes;
}

/** Returns the memory that kvc_array_of() takes for `room` entries of `size` bytes of which `used` are
 * touched [bytes]. A small array is cleared and so takes memory for all its room. */
static inline double kvc_array_memory_bytes(double room, double used, size_t size)
{
    double room_bytes = room * (double)size;
    return room_bytes < KVC_ARRAY_MAPPED_BYTES ? room_bytes : kvc_array_touched_bytes(fmin(used, room), size);
}

#endif
