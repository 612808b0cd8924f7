#include "scenarios/load/lua/sandbox_globals.h"

#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "scenarios/load/lua/sandbox_guards.h"
#include "scenarios/load/lua/sandbox_limits.h"
#include "sim/base/text/option.h"

static const char *const globals[] = {
    "assert",   "error",  "getmetatable", "ipairs", "math",         "pairs",  "pcall", "rawequal",
    "rawget",   "rawlen", "rawset",       "select", "setmetatable", "string", "table", "tonumber",
    "tostring", "type",   "utf8",         "_G",     "_VERSION",     NULL};

static const char *const removed[] = {"collectgarbage", "dofile", "load",   "loadfile", "next",
                                      "print",          "warn",   "xpcall", NULL};

static const char *const known_absent[] = {"collectgarbage", "coroutine", "debug", "dofile", "io",
                                           "load",           "loadfile",  "next",  "os",     "package",
                                           "print",          "require",   "warn",  "xpcall", NULL};

/* Returns the text of argument 2; what has none shows its type, not its address. */
static const char *name_of(lua_State *lua)
{
    return lua_isstring(lua, 2) ? lua_tostring(lua, 2) : luaL_typename(lua, 2);
}

static int read_undefined(lua_State *lua)
{
    const char *library = lua_tostring(lua, lua_upvalueindex(1)), *name = name_of(lua);
    if (library != NULL) {
        return luaL_error(lua, "%s.%s is not available in scenarios", library, name);
    }
    for (size_t i = 0; known_absent[i] != NULL; i++) {
        if (strcmp(known_absent[i], name) == 0) {
            return luaL_error(lua, "\"%s\" is not available in scenarios", name);
        }
    }
    const char *nearest = kvc_nearest_name(name, globals);
    if (nearest != NULL) {
        return luaL_error(lua, "undefined global \"%s\"; did you mean \"%s\"?", name, nearest);
    }
    return luaL_error(lua, "undefined global \"%s\"", name);
}

static int write_undefined(lua_State *lua)
{
    return luaL_error(lua, "global \"%s\" is assigned; declare it local", name_of(lua));
}

static int write_library(lua_State *lua)
{
    return luaL_error(lua, "%s is read-only", lua_tostring(lua, lua_upvalueindex(1)));
}

/* Gives the table on top of the stack a metatable that refuses unknown names. `library` is NULL for the
 * globals. */
static void make_strict(lua_State *lua, const char *library)
{
    lua_createtable(lua, 0, 3);
    lua_pushstring(lua, library);
    lua_pushcclosure(lua, read_undefined, 1);
    lua_setfield(lua, -2, "__index");
    lua_pushstring(lua, library);
    lua_pushcclosure(lua, library != NULL ? write_library : write_undefined, 1);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
}

static void drop_field(lua_State *lua, const char *name)
{
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
}

/* A table.sort that gives the same order in every run, also where the comparison leaves it open: it merges,
 * so it keeps the order of equal elements. Lua's own chooses pivots by the time of day, and compares long
 * strings without the limits seeing it. And a `pairs` that visits booleans, then numbers, then strings in
 * order. Lua's own order depends on addresses. */
static const char own_functions[] =
    "local next, type, error, rawget = ...\n"
    "local function sort(t, before)\n"
    "  if type(t) ~= 'table' then error('sort: a table is needed, found ' .. type(t), 2) end\n"
    "  if before ~= nil and type(before) ~= 'function' then\n"
    "    error('sort: a function is needed, found ' .. type(before), 2)\n"
    "  end\n"
    "  before = before or function(a, b) return a < b end\n"
    "  local from, to, count, width = {}, {}, #t, 1\n"
    "  for i = 1, count do from[i] = t[i] end\n"
    "  while width < count do\n"
    "    for low = 1, count, 2 * width do\n"
    "      local a, b, k = low, low + width, low\n"
    "      local a_end, b_end = low + width, low + 2 * width\n"
    "      if a_end > count then a_end = count + 1 end\n"
    "      if b_end > count then b_end = count + 1 end\n"
    "      while a < a_end and b < b_end do\n"
    "        if before(from[b], from[a]) then to[k] = from[b] b = b + 1\n"
    "        else to[k] = from[a] a = a + 1 end\n"
    "        k = k + 1\n"
    "      end\n"
    "      while a < a_end do to[k] = from[a] a = a + 1 k = k + 1 end\n"
    "      while b < b_end do to[k] = from[b] b = b + 1 k = k + 1 end\n"
    "    end\n"
    "    from, to, width = to, from, 2 * width\n"
    "  end\n"
    "  for i = 1, count do t[i] = from[i] end\n"
    "end\n"
    "local rank = { boolean = 1, number = 2, string = 3 }\n"
    "local function before(a, b)\n"
    "  local ra, rb = rank[type(a)], rank[type(b)]\n"
    "  if ra ~= rb then return ra < rb end\n"
    "  if ra == 1 then return b and not a end\n"
    "  return a < b\n"
    "end\n"
    "return sort, function(t)\n"
    "  if type(t) ~= 'table' then error('pairs: a table is needed, found ' .. type(t), 2) end\n"
    "  local keys, count, at = {}, 0, 0\n"
    "  for k in next, t do\n"
    "    if not rank[type(k)] then error('pairs: keys of type ' .. type(k) .. ' have no order', 2) end\n"
    "    count = count + 1\n"
    "    keys[count] = k\n"
    "  end\n"
    "  sort(keys, before)\n"
    "  return function()\n"
    "    while at < count do\n"
    "      at = at + 1\n"
    "      local v = rawget(t, keys[at])\n"
    "      if v ~= nil then return keys[at], v end\n"
    "    end\n"
    "  end\n"
    "end\n";

static void install_own_functions(lua_State *lua)
{
    if (luaL_loadbufferx(lua, own_functions, sizeof(own_functions) - 1, "=" KVC_SANDBOX_OWN_CHUNK, "t") !=
        LUA_OK) {
        lua_error(lua);
    }
    lua_getglobal(lua, "next");
    lua_getglobal(lua, "type");
    lua_getglobal(lua, "error");
    lua_getglobal(lua, "rawget");
    lua_call(lua, 4, 2);
    lua_setglobal(lua, "pairs");
    lua_getglobal(lua, "table");
    lua_insert(lua, -2);
    lua_setfield(lua, -2, "sort");
    lua_pop(lua, 1);
}

static void restrict_libraries(lua_State *lua)
{
    lua_getglobal(lua, "string");
    drop_field(lua, "dump");
    make_strict(lua, "string");
    lua_getglobal(lua, "table");
    make_strict(lua, "table");
    lua_getglobal(lua, "math");
    drop_field(lua, "random");
    drop_field(lua, "randomseed");
    make_strict(lua, "math");
    lua_getglobal(lua, "utf8");
    make_strict(lua, "utf8");
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 6);
}

void kvc_sandbox_globals_open(lua_State *lua)
{
    static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                         {LUA_TABLIBNAME, luaopen_table},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_UTF8LIBNAME, luaopen_utf8}};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
        lua_pop(lua, 1);
    }
    install_own_functions(lua);
    kvc_sandbox_guards_install(lua);
    restrict_libraries(lua);
    lua_pushglobaltable(lua);
    for (size_t i = 0; removed[i] != NULL; i++) {
        drop_field(lua, removed[i]);
    }
    make_strict(lua, NULL);
    lua_pop(lua, 1);
}
