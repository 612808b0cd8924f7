#include "scenarios/load/lua/sandbox_guards.h"

#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

#include "scenarios/load/lua/sandbox_limits.h"

enum {
    /* Longest table that a library function may walk through: as long as the memory allows. */
    LENGTH_MAX = 1 << 22,
    /* With a metatable, every missing element may cost a walk through 2000 tables. */
    INDEXED_LENGTH_MAX = 10000,
};

/* Steps that a pattern may take in the worst case; about half a second. */
static const double PATTERN_STEPS_MAX = 5e8;

static const char metatables_key = 0; /* Its address names a table of the registry. */

/* Calls the library function in upvalue 1 with all arguments. */
static int call_original(lua_State *lua)
{
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

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

/* Pushes the table whose keys are the metatables that the script has set. It is weak, so that it does not
 * keep them. */
static void push_metatables(lua_State *lua)
{
    if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &metatables_key) == LUA_TTABLE) {
        return;
    }
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "k");
    lua_setfield(lua, -2, "__mode");
    lua_setmetatable(lua, -2);
    lua_pushvalue(lua, -1);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &metatables_key);
}

static int guarded_setmetatable(lua_State *lua)
{
    static const char *const refused[] = {"__gc", "__mode"};
    luaL_checktype(lua, 1, LUA_TTABLE);
    if (lua_type(lua, 2) == LUA_TTABLE) {
        for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
            lua_pushstring(lua, refused[i]);
            if (lua_rawget(lua, 2) != LUA_TNIL) {
                return luaL_error(lua, "metatables cannot have %s in scenarios", refused[i]);
            }
            lua_pop(lua, 1);
        }
        push_metatables(lua);
        lua_pushvalue(lua, 2);
        lua_pushboolean(lua, true);
        lua_rawset(lua, -3);
        lua_pop(lua, 1);
    }
    return call_original(lua);
}

void kvc_sandbox_guards_seal(lua_State *lua)
{
    push_metatables(lua);
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        lua_pushliteral(lua, "__mode");
        lua_pushnil(lua);
        lua_rawset(lua, -4);
    }
    lua_pop(lua, 1);
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

static int guarded_format(lua_State *lua)
{
    size_t bytes;
    for (int i = 2; i <= lua_gettop(lua); i++) {
        if (lua_type(lua, i) == LUA_TTABLE || lua_type(lua, i) == LUA_TFUNCTION) {
            return luaL_argerror(lua, i, "a table or a function has no text; use tostring");
        }
    }
    const char *format = luaL_checklstring(lua, 1, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (format[i] != '%') {
            continue;
        }
        i += 1 + strspn(format + i + 1, "-+ #0123456789.");
        if (i < bytes && format[i] == 'p') {
            return luaL_argerror(lua, 1, "%p shows an address, which differs between runs");
        }
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

/* Checks that the table `argument` lets a library function visit `count` elements. */
static void check_walk(lua_State *lua, int argument, double count)
{
    if (luaL_getmetafield(lua, argument, "__len") != LUA_TNIL) {
        luaL_argerror(lua, argument, "a table with __len has no fixed length");
    }
    bool indexed = lua_getmetatable(lua, argument);
    lua_settop(lua, lua_gettop(lua) - indexed);
    if (count > (indexed ? INDEXED_LENGTH_MAX : LENGTH_MAX)) {
        luaL_argerror(lua, argument,
                      indexed ? "the table is too long for one with a metatable" : "the table is too long");
    }
}

/* Returns how many elements arguments `first` and the next one name, or 0 if they are absent. */
static double named_range(lua_State *lua, int first)
{
    return lua_isnoneornil(lua, first + 1)
               ? 0
               : (double)luaL_checkinteger(lua, first + 1) - (double)luaL_optinteger(lua, first, 1) + 1;
}

/* Guards table.insert and table.remove, whose time grows with the length of the table. */
static int guarded_shift(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    check_walk(lua, 1, (double)lua_rawlen(lua, 1));
    return call_original(lua);
}

/* Guards table.concat and table.unpack; upvalue 2 is the argument that begins the range. */
static int guarded_range(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    double length = (double)lua_rawlen(lua, 1);
    double range = named_range(lua, (int)lua_tointeger(lua, lua_upvalueindex(2)));
    check_walk(lua, 1, range > length ? range : length);
    return call_original(lua);
}

static int guarded_move(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkinteger(lua, 3);
    double range = named_range(lua, 2);
    check_walk(lua, 1, range);
    if (!lua_isnoneornil(lua, 5)) {
        luaL_checktype(lua, 5, LUA_TTABLE);
        check_walk(lua, 5, range);
    }
    return call_original(lua);
}

/* Returns the place behind the set that begins at `at`, as in [%a_]. */
static size_t behind_set(const char *pattern, size_t at, size_t bytes)
{
    at += at + 1 < bytes && pattern[at + 1] == '^' ? 2 : 1;
    do { /* A ] in the first place is one of the set. */
        at += at < bytes && pattern[at] == '%' ? 2 : 1;
    } while (at < bytes && pattern[at] != ']');
    return at + 1;
}

/* Returns how many steps a pattern takes at most: every repetition, and a start that is not anchored, can
 * match as many lengths as the string has, and for each of them all that follows is tried. */
static double pattern_steps(const char *pattern, size_t bytes, double length)
{
    bool anchored = bytes > 0 && pattern[0] == '^';
    double steps = (anchored ? 1 : length + 1) * (double)(bytes + 1);
    for (size_t at = anchored; at < bytes;) {
        char item = pattern[at], escaped = item == '%' && at + 1 < bytes ? pattern[at + 1] : '\0';
        if (item == '[') {
            at = behind_set(pattern, at, bytes);
        } else {
            at += item != '%' ? 1 : escaped == 'b' ? 4 : 2;
        }
        if (escaped == 'b' || (escaped >= '0' && escaped <= '9')) { /* It looks through the rest. */
            steps *= length + 1;
        }
        if (at < bytes && strchr("*+-", pattern[at]) != NULL && pattern[at] != '\0') {
            steps *= length + 1;
            at++;
        } else if (at < bytes && pattern[at] == '?') {
            steps *= 2;
            at++;
        }
    }
    return steps;
}

/* Guards string.find, match, gmatch and gsub; upvalue 2 says whether it is find, which can be told to take
 * the pattern as it is. */
static int guarded_pattern(lua_State *lua)
{
    size_t length, bytes, replacement = 0;
    luaL_checklstring(lua, 1, &length);
    const char *pattern = luaL_checklstring(lua, 2, &bytes);
    bool is_find = lua_tointeger(lua, lua_upvalueindex(2)) != 0;
    double steps = is_find && lua_toboolean(lua, 4) ? ((double)length + 1) * ((double)bytes + 1)
                                                    : pattern_steps(pattern, bytes, (double)length);
    if (!is_find && lua_type(lua, 3) == LUA_TSTRING) {
        const char *text = lua_tolstring(lua, 3, &replacement);
        if (memchr(text, '%', replacement) != NULL) { /* gsub reads it for every match. */
            steps += ((double)length + 1) * (double)replacement;
        }
    }
    if (steps > PATTERN_STEPS_MAX) {
        return luaL_argerror(lua, 2, "the pattern has too many repetitions for so long a string");
    }
    return call_original(lua);
}

/* Replaces field `name` of the table on top of the stack by `guard`, whose first upvalue is the original
 * function, and whose second one is `detail`. */
static void guard_field(lua_State *lua, const char *name, lua_CFunction guard, int detail)
{
    lua_getfield(lua, -1, name);
    lua_pushinteger(lua, detail);
    lua_pushcclosure(lua, guard, 2);
    lua_setfield(lua, -2, name);
}

void kvc_sandbox_guards_install(lua_State *lua)
{
    lua_getglobal(lua, "string");
    guard_field(lua, "rep", guarded_rep, 0);
    guard_field(lua, "format", guarded_format, 0);
    guard_field(lua, "find", guarded_pattern, true);
    guard_field(lua, "match", guarded_pattern, false);
    guard_field(lua, "gmatch", guarded_pattern, false);
    guard_field(lua, "gsub", guarded_pattern, false);
    lua_getglobal(lua, "table");
    guard_field(lua, "insert", guarded_shift, 0);
    guard_field(lua, "remove", guarded_shift, 0);
    guard_field(lua, "concat", guarded_range, 3);
    guard_field(lua, "unpack", guarded_range, 2);
    guard_field(lua, "move", guarded_move, 0);
    lua_pushglobaltable(lua);
    guard_field(lua, "setmetatable", guarded_setmetatable, 0);
    lua_pushcfunction(lua, guarded_pcall);
    lua_setfield(lua, -2, "pcall");
    lua_pushcfunction(lua, stable_tostring);
    lua_setfield(lua, -2, "tostring");
    lua_pop(lua, 3);
}
