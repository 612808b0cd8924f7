/* Finds the place in a Lua file where a key was written.
 *
 * Lua tables do not know where they were written, so a small lexer reads the text and follows the braces:
 * "workload.dist.zipf" is `zipf =` or `["zipf"] =` inside `dist = {` inside `workload = {` inside the
 * returned table. Elements without a key count from 1, as in "node.gpu.clocks.2.core". Tables in variables
 * are found by the name of the variable (`local workload = {`) or by an assignment (`s.workload.keys = 3`).
 * Computed keys may be missed. The result is good enough to point at a line, but not to decide what is valid.
 */
#ifndef KVC_SCENARIOS_LOAD_LUA_LOCATE_H
#define KVC_SCENARIOS_LOAD_LUA_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

struct kvc_location {
    int line;      /* Counts from 1; 0 when no part of the path was found. */
    size_t offset; /* Offset of the key in the text [bytes]. */
    bool exact;    /* False when this is the place of the nearest ancestor. */
};

/* Finds a path. The empty path is the top-level `return`. */
struct kvc_location kvc_locate(const char *source, size_t bytes, const char *path);

/* Returns the line of a path in a scenario file, or 0 if it is not there or the file cannot be read. */
int kvc_locate_line(const char *file, const char *path);

/* Returns the line of the last `return` outside functions, or 0. */
int kvc_locate_return(const char *source, size_t bytes);

#endif
