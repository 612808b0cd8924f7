/* A sandbox runs one Lua 5.4 file that returns a table, without access to anything else on the machine.
 *
 * Libraries: base, table, string, math and utf8. Missing are all functions that load code or do I/O (load,
 * loadfile, dofile, require, print, warn, collectgarbage, io, os, debug, package), string.dump, math.random,
 * math.randomseed, next (its order differs between runs), coroutine, and xpcall (no limit reaches its message
 * handler).
 *
 * Differences from plain Lua: `pairs` visits the keys in order, table.sort is stable, reading an undefined
 * global and assigning to any global are errors, nothing shows an address, metatables cannot have __gc or
 * __mode, the other functions of `table` take tables without metatables, the metatable of strings is hidden,
 * and pcall does not catch an exceeded limit.
 *
 * Limits: 64 MiB of memory, 20 million instructions, 1 s of processor time, compilation included, and a text
 * file of at most 1 MiB. Library functions that loop in C first check the length of the loop. If a script
 * stays inside one operation of Lua itself despite these limits, the process ends with status
 * KVC_ERR_SCENARIO (sandbox_limits.h says why), and no function returns. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_H

#include <stddef.h>

#include "sim/base/diag.h"

struct lua_State;
struct kvc_sandbox;

void kvc_sandbox_free(struct kvc_sandbox *sandbox); /* NULL is allowed. */

/* Reads and runs the file. On KVC_OK the Lua stack holds only the returned table; otherwise *out is NULL. */
enum kvc_status kvc_sandbox_run(const char *file, struct kvc_sandbox **out, struct kvc_diag *diag);

/* Calls `function` with the Lua state and returns its status. The table is at stack index 1. A Lua error
 * inside the function, which lack of memory can cause, ends the call. The function must not run Lua code,
 * because no limit on time applies. */
enum kvc_status kvc_sandbox_protect(struct kvc_sandbox *sandbox,
                                    enum kvc_status (*function)(struct lua_State *lua, void *data),
                                    void *data, struct kvc_diag *diag);

/* Like kvc_sandbox_protect, but the function may run Lua code, and an error of that code is reported with its
 * line. Every call has the limits of a script, and all calls together take at most 10 s of processor time. */
enum kvc_status kvc_sandbox_call(struct kvc_sandbox *sandbox,
                                 enum kvc_status (*function)(struct lua_State *lua, void *data), void *data,
                                 struct kvc_diag *diag);

const char *kvc_sandbox_file(const struct kvc_sandbox *sandbox);

/* Returns how many bytes of that path are the folder from which the file names others, with its "/"; 0: the
 * working folder, as for a file that has no place, such as a pipe or a file in memory. */
int kvc_sandbox_folder_bytes(const struct kvc_sandbox *sandbox);

/* Returns the text of the file and its length. */
const char *kvc_sandbox_source(const struct kvc_sandbox *sandbox, size_t *bytes);

#endif
