/* Runs one Lua 5.4 file that returns a table, without letting it touch or hold up anything else.
 *
 * Open: base, table, string, math, utf8. Left out: everything that loads code or does I/O (load, loadfile,
 * dofile, require, print, warn, collectgarbage, io, os, debug, package), string.dump, math.random and
 * randomseed, next (its order differs from run to run), coroutine and xpcall (a message handler runs where no
 * limit reaches it). Changed: `pairs` goes through the keys in order; reading an undefined global and writing
 * any global are errors; tostring shows no addresses; metatables have no __gc; pcall does not catch a limit.
 * Limits: 64 MiB of memory, 50 million instructions, 10 s of processor time, text chunks, a file of 1 MiB.
 * Library functions that would loop in C over sizes which the script makes up are bounded beforehand. */
#ifndef KVC_SCENARIOS_LOAD_SANDBOX_H
#define KVC_SCENARIOS_LOAD_SANDBOX_H

#include <stddef.h>

#include "sim/base/diag.h"

struct lua_State;
struct kvc_sandbox;

void kvc_sandbox_free(struct kvc_sandbox *sandbox); /* NULL is allowed */

/* Reads and runs the file. On KVC_OK the returned table is all that is on the Lua stack; else *out is NULL.
 */
enum kvc_status kvc_sandbox_run(const char *file, struct kvc_sandbox **out, struct kvc_diag *diag);

/* Calls `function` with the sandbox's Lua state where a Lua error (short memory) cannot escape, and gives
 * back its status. The table is at stack index 1. No Lua code may be run there: the script's time is over. */
enum kvc_status kvc_sandbox_protect(struct kvc_sandbox *sandbox,
                                    enum kvc_status (*function)(struct lua_State *lua, void *data),
                                    void *data, struct kvc_diag *diag);

const char *kvc_sandbox_file(const struct kvc_sandbox *sandbox);

/* The text of the file and its length. */
const char *kvc_sandbox_source(const struct kvc_sandbox *sandbox, size_t *bytes);

#endif
