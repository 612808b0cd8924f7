/** @file
 * Text that is safe to show on a terminal: one line of UTF-8 without control characters.
 *
 * Names in scenarios and files are written by strangers. A control character in a message could move the
 * cursor, retitle the window or forge a second line; a mark that changes the direction of text could make one
 * name look like another. */
#ifndef KVC_SIM_BASE_TEXT_PRINTABLE_H
#define KVC_SIM_BASE_TEXT_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Returns whether `bytes` bytes of text are valid UTF-8 without control characters (C0, DEL and C1), line
 * and paragraph separators, and marks of direction. */
bool kvc_is_printable(const char *text, size_t bytes);

/** Replaces every byte that kvc_is_printable() refuses by a question mark, or by a blank where it is white
 * space, up to the terminating zero. */
void kvc_make_printable(char *text);

/** Writes text within HTML or XML: its marks are escaped, and control characters become blanks. */
void kvc_put_html(const char *text, FILE *out);

#endif
