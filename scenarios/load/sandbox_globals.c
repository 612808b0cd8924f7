#include "scenarios/load/sandbox_globals.h"

#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "scenarios/load/sandbox_limits.h"
#include "sim/base/option.h"

enum {
    LENGTH_MAX = 1 << 24, /* Longest table that a library function may walk through. */
    PATTERN_STEPS_MAX = 100000000,
};

/* Replaces pcall; it does not catch an exceeded limit. */
static int guarded_pcall(lua_State *lua)
{
    luaL_checkany(lua, 1);
    int status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
    if (status == LUA_ERRMEM) {
        return kvc_sandbox_limits_raise(lua, KVC_SANDBOX_MEMORY);
    }
    if (kvc_sandbox_limits_of(lua)->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        return luaL_error(lua, "limit");
    }
    lua_pushboolean(lua, status == LUA_OK);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

static int guarded_setmetatable(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    if (lua_type(lua, 2) == LUA_TTABLE) {
        lua_pushliteral(lua, "__gc");
        if (lua_rawget(lua, 2) != LUA_TNIL) {
            return luaL_error(lua, "metatables cannot have __gc in scenarios");
        }
        lua_pop(lua, 1);
    }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

/* Replaces tostring. Without __tostring it returns the type, as an address would differ between runs. */
static int stable_tostring(lua_State *lua)
{
    luaL_checkany(lua, 1);
    int type = lua_type(lua, 1);
    bool plain = type != LUA_TTABLE && type != LUA_TFUNCTION;
    if (plain || luaL_getmetafield(lua, 1, "__tostring") != LUA_TNIL) {
        luaL_tolstring(lua, 1, NULL);
    } else {
        lua_pushstring(lua, luaL_typename(lua, 1));
    }
    return 1;
}

/* Calls the library function in upvalue 1 with all arguments. */
static int call_original(lua_State *lua)
{
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

static int guarded_format(lua_State *lua)
{
    for (int i = 2; i <= lua_gettop(lua); i++) {
        if (lua_type(lua, i) == LUA_TTABLE || lua_type(lua, i) == LUA_TFUNCTION) {
            return luaL_argerror(lua, i, "a table or a function has no text; use tostring");
        }
    }
    const char *format = luaL_checkstring(lua, 1);
    for (const char *at = strchr(format, '%'); at != NULL; at = strchr(at, '%')) {
        at += 1 + strspn(at + 1, "-+ #0123456789.");
        if (*at == 'p') {
            return luaL_argerror(lua, 1, "%p shows an address, which differs between runs");
        }
        at += *at != '\0';
    }
    return call_original(lua);
}

static int guarded_rep(lua_State *lua)
{
    size_t length, separator = 0;
    luaL_checklstring(lua, 1, &length);
    lua_Integer count = luaL_checkinteger(lua, 2);
    luaL_optlstring(lua, 3, "", &separator);
    if (count > KVC_SANDBOX_MEMORY_MAX ||
        (double)count * (double)(length + separator) > KVC_SANDBOX_MEMORY_MAX) {
        return kvc_sandbox_limits_raise(lua, KVC_SANDBOX_MEMORY);
    }
    return call_original(lua);
}

/* Guards table.insert, remove, sort, concat and unpack, whose time grows with the length of the table. */
static int guarded_walk(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    if (luaL_len(lua, 1) > LENGTH_MAX) {
        return luaL_argerror(lua, 1, "the table is too long");
    }
    return call_original(lua);
}

static int guarded_move(lua_State *lua)
{
    if ((lua_Number)luaL_checkinteger(lua, 3) - (lua_Number)luaL_checkinteger(lua, 2) > LENGTH_MAX) {
        return luaL_argerror(lua, 3, "too many elements to move");
    }
    return call_original(lua);
}

/* Guards string.find, match, gmatch and gsub: a pattern with q repetitions takes up to length^(q+1) steps in
 * C. */
static int guarded_pattern(lua_State *lua)
{
    size_t length, pattern_bytes;
    luaL_checklstring(lua, 1, &length);
    const char *pattern = luaL_checklstring(lua, 2, &pattern_bytes);
    double steps = (double)length + 1;
    for (size_t i = 0; i < pattern_bytes; i++) {
        if (pattern[i] == '%') {
            i++;
        } else if (pattern[i] == '*' || pattern[i] == '+' || pattern[i] == '-') {
            steps *= (double)length + 1;
        } else if (pattern[i] == '?') {
            steps *= 2;
        }
    }
    if (steps > PATTERN_STEPS_MAX) {
        return luaL_argerror(lua, 2, "the pattern has too many repetitions for so long a string");
    }
    return call_original(lua);
}

static const char *const globals[] = {
    "assert",   "error",  "getmetatable", "ipairs", "math",         "pairs",  "pcall", "rawequal",
    "rawget",   "rawlen", "rawset",       "select", "setmetatable", "string", "table", "tonumber",
    "tostring", "type",   "utf8",         "_G",     "_VERSION",     NULL};

static const char *const removed[] = {"collectgarbage", "dofile", "load",   "loadfile", "next",
                                      "print",          "warn",   "xpcall", NULL};

static const char *const known_absent[] = {"collectgarbage", "coroutine", "debug", "dofile", "io",
                                           "load",           "loadfile",  "next",  "os",     "package",
                                           "print",          "require",   "warn",  "xpcall", NULL};

static int read_undefined(lua_State *lua)
{
    const char *library = lua_tostring(lua, lua_upvalueindex(1));
    const char *name = luaL_tolstring(lua, 2, NULL);
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
    return luaL_error(lua, "global \"%s\" is assigned; declare it local", luaL_tolstring(lua, 2, NULL));
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

/* Replaces field `name` of the table on top of the stack by `guard`, whose upvalue is the original function.
 */
static void guard_field(lua_State *lua, const char *name, lua_CFunction guard)
{
    lua_getfield(lua, -1, name);
    lua_pushcclosure(lua, guard, 1);
    lua_setfield(lua, -2, name);
}

static void drop_field(lua_State *lua, const char *name)
{
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
}

/* A `pairs` that visits booleans, then numbers, then strings in order. Lua's own order depends on addresses.
 */
static const char ordered_pairs[] =
    "local next, type, error, sort, rawget = ...\n"
    "local rank = { boolean = 1, number = 2, string = 3 }\n"
    "local function before(a, b)\n"
    "  local ra, rb = rank[type(a)], rank[type(b)]\n"
    "  if ra ~= rb then return ra < rb end\n"
    "  if ra == 1 then return b and not a end\n"
    "  return a < b\n"
    "end\n"
    "return function(t)\n"
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

static void install_pairs(lua_State *lua)
{
    if (luaL_loadbufferx(lua, ordered_pairs, sizeof(ordered_pairs) - 1, "=(pairs)", "t") != LUA_OK) {
        lua_error(lua);
    }
    lua_getglobal(lua, "next");
    lua_getglobal(lua, "type");
    lua_getglobal(lua, "error");
    lua_getglobal(lua, "table");
    lua_getfield(lua, -1, "sort");
    lua_remove(lua, -2);
    lua_getglobal(lua, "rawget");
    lua_call(lua, 5, 1);
    lua_setglobal(lua, "pairs");
}

static void restrict_libraries(lua_State *lua)
{
    static const char *const patterns[] = {"find", "match", "gmatch", "gsub"};
    static const char *const walks[] = {"insert", "remove", "sort", "concat", "unpack"};

    lua_getglobal(lua, "string");
    drop_field(lua, "dump");
    guard_field(lua, "rep", guarded_rep);
    guard_field(lua, "format", guarded_format);
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        guard_field(lua, patterns[i], guarded_pattern);
    }
    make_strict(lua, "string");

    lua_getglobal(lua, "table");
    for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++) {
        guard_field(lua, walks[i], guarded_walk);
    }
    guard_field(lua, "move", guarded_move);
    make_strict(lua, "table");

    lua_getglobal(lua, "math");
    drop_field(lua, "random");
    drop_field(lua, "randomseed");
    make_strict(lua, "math");

    lua_getglobal(lua, "utf8");
    make_strict(lua, "utf8");
    lua_pop(lua, 4);
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
    install_pairs(lua);
    restrict_libraries(lua);
    lua_pushglobaltable(lua);
    guard_field(lua, "setmetatable", guarded_setmetatable);
    lua_pushcfunction(lua, guarded_pcall);
    lua_setfield(lua, -2, "pcall");
    lua_pushcfunction(lua, stable_tostring);
    lua_setfield(lua, -2, "tostring");
    for (size_t i = 0; removed[i] != NULL; i++) {
        drop_field(lua, removed[i]);
    }
    make_strict(lua, NULL);
    lua_pop(lua, 1);
}
