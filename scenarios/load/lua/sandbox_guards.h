/* Guards around functions of Lua's libraries that could run without a limit in C, show an address, or hide an
 * exceeded limit from the sandbox. */
#ifndef KVC_SCENARIOS_LOAD_LUA_SANDBOX_GUARDS_H
#define KVC_SCENARIOS_LOAD_LUA_SANDBOX_GUARDS_H

#include <lua.h>

/* Puts the guards into the globals, whose libraries are open. */
void kvc_sandbox_guards_install(lua_State *lua);

/* Takes __mode out of every metatable that the script has set, so that no collection of garbage outside the
 * limits on time has weak tables to visit. Lua visits a chain of them in a time that grows with the square of
 * its length. */
void kvc_sandbox_guards_seal(lua_State *lua);

#endif
