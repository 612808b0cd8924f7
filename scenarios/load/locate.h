/* Where in a Lua file a key was written.
 *
 * Lua tables know no positions, so a small lexer walks over the text and follows braces: "workload.dist.zipf"
 * is `zipf =` (or ["zipf"] =) inside `dist = {` inside `workload = {` inside the table that is returned.
 * Elements without a key count from 1 ("node.gpu.clocks.2.core"). Tables that the file builds in variables
 * are found too, by the variable's name (`local workload = {`) or below it (`s.workload.keys = 3`). Heuristic
 * where keys are computed; good enough to point at a line, never to decide what is valid. */
#ifndef KVC_SCENARIOS_LOAD_LOCATE_H
#define KVC_SCENARIOS_LOAD_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

struct kvc_location {
    int line;      /* 1-based; 0: nothing on the path was found */
    size_t offset; /* of the key in the text */
    bool exact;    /* false: the line of the nearest ancestor that was found */
};

/* The empty path is the top-level `return`. */
struct kvc_location kvc_locate(const char *source, size_t bytes, const char *path);

/* Line of the last `return` outside functions, or 0. */
int kvc_locate_return(const char *source, size_t bytes);

#endif
