/* The globals that a script in the sandbox sees: a subset of Lua's libraries, guarded where a library
 * function could run without limit or give different answers in different runs. sandbox.h lists them. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_GLOBALS_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_GLOBALS_H

#include <lua.h>

/* Opens the libraries in a fresh state. Raises a Lua error when memory runs out. */
void kvc_sandbox_globals_open(lua_State *lua);

#endif
