/** @file
 * Copies a text into an array of fixed size. Closed forms name their stages for thousands of points, and
 * snprintf() would be a large part of their time. */
#ifndef KVC_SIM_BASE_TEXT_COPY_H
#define KVC_SIM_BASE_TEXT_COPY_H

#include <stddef.h>
#include <string.h>

/** Copies a text, cut to the array's `size` bytes of at least 1, with the terminating zero. */
static inline void kvc_text_copy(char *to, size_t size, const char *from)
{
    size_t bytes = strnlen(from, size - 1);
    memcpy(to, from, bytes);
    to[bytes] = '\0';
}

#endif
