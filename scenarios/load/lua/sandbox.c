#include "scenarios/load/lua/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/load/lua/locate.h"
#include "scenarios/load/lua/sandbox_limits.h"
#include "sim/base/text/option.h"

enum {
    /* Longest table that a library function may walk through; the memory allows no longer one. */
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

static void seal_metatables(lua_State *lua)
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

/* Returns the place after the set that begins at `at`, such as [%a_]. */
static size_t behind_set(const char *pattern, size_t at, size_t bytes)
{
    at += at + 1 < bytes && pattern[at + 1] == '^' ? 2 : 1;
    do { /* A ] in the first place is one of the set. */
        at += at < bytes && pattern[at] == '%' ? 2 : 1;
    } while (at < bytes && pattern[at] != ']');
    return at + 1;
}

/* Returns the largest number of steps that a pattern takes. Every repetition can match any length up to the
 * string's, a pattern without anchor can start at any place, and each choice tries all of the rest. */
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
        /* These items scan the rest of the string. */
        if (escaped == 'b' || (escaped >= '0' && escaped <= '9')) {
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

/* Guards string.find, match, gmatch and gsub. Upvalue 2 says whether it is find, whose argument 4 switches
 * off the special characters of the pattern. */
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

/* Replaces field `name` of the table on top of the stack by `guard`, whose upvalues are the original function
 * and `detail`. */
static void guard_field(lua_State *lua, const char *name, lua_CFunction guard, int detail)
{
    lua_getfield(lua, -1, name);
    lua_pushinteger(lua, detail);
    lua_pushcclosure(lua, guard, 2);
    lua_setfield(lua, -2, name);
}

static void install_guards(lua_State *lua)
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

static const char *const globals[] = {
    "assert",   "error",  "getmetatable", "ipairs", "math",         "pairs",  "pcall", "rawequal",
    "rawget",   "rawlen", "rawset",       "select", "setmetatable", "string", "table", "tonumber",
    "tostring", "type",   "utf8",         "_G",     "_VERSION",     NULL};

static const char *const removed[] = {"collectgarbage", "dofile", "load",   "loadfile", "next",
                                      "print",          "warn",   "xpcall", NULL};

static const char *const known_absent[] = {"collectgarbage", "coroutine", "debug", "dofile", "io",
                                           "load",           "loadfile",  "next",  "os",     "package",
                                           "print",          "require",   "warn",  "xpcall", NULL};

/* Returns the text of argument 2, or its type if it has no text; an address would differ between runs. */
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

/* Replacements of two functions. This table.sort merges, so that it keeps the order of equal elements and
 * gives the same order in every run; Lua's own chooses pivots by the time of day, and compares long strings
 * out of sight of the limits. This `pairs` visits booleans, then numbers, then strings, each in order; the
 * order of Lua's own depends on addresses. */
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

static void open_globals(lua_State *lua)
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
    install_guards(lua);
    restrict_libraries(lua);
    lua_pushglobaltable(lua);
    for (size_t i = 0; removed[i] != NULL; i++) {
        drop_field(lua, removed[i]);
    }
    make_strict(lua, NULL);
    lua_pop(lua, 1);
}

enum {
    FILE_MAX = 1 << 20,
    /* The compiler reads the file in pieces, between which the limits hold. */
    PIECE_BYTES = 64,
    /* While the table is decoded, copies of the paths that overrides change add to the script's memory. */
    DECODE_MEMORY_MAX = KVC_SANDBOX_MEMORY_MAX + (16 << 20),
};

struct kvc_sandbox {
    char *file;
    char *source;
    size_t bytes;    /* Length of the source. */
    size_t compiled; /* Bytes of the source that the compiler has read. */
    bool compiles;
    double calls_s; /* Processor time of all kvc_sandbox_call() so far [s]. */
    struct kvc_sandbox_limits limits;
};

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The message handler: it notes where the error was while the stack still exists. */
static int note_error(lua_State *lua)
{
    struct kvc_sandbox_limits *limits = kvc_sandbox_limits_of(lua);
    if (limits->exceeded == KVC_SANDBOX_WITHIN_LIMITS) {
        kvc_sandbox_limits_note_lines(limits);
    }
    return 1;
}

/* Gives the compiler the next piece of the source. Nothing that a piece makes it do takes long, but all
 * pieces together can. */
static const char *read_piece(lua_State *lua, void *data, size_t *bytes)
{
    struct kvc_sandbox *sandbox = data;
    size_t left = sandbox->bytes - sandbox->compiled;
    if (sandbox->limits.watch.expired > 0) {
        kvc_sandbox_limits_raise(lua, KVC_SANDBOX_SECONDS);
    }
    const char *piece = sandbox->source + sandbox->compiled;
    *bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
    sandbox->compiled += *bytes;
    return piece;
}

/* Returns the line of the piece that the compiler read last. */
static int compiled_line(const struct kvc_sandbox *sandbox)
{
    int line = 1;
    for (size_t i = 0; i + PIECE_BYTES < sandbox->compiled; i++) {
        line += sandbox->source[i] == '\n';
    }
    return line;
}

/* Opens the libraries, then compiles and runs the sandbox that is its argument. Returns the script's result
 * or raises a Lua error. */
static int run_source(lua_State *lua)
{
    struct kvc_sandbox *sandbox = lua_touserdata(lua, 1);
    lua_settop(lua, 0);
    open_globals(lua);
    sandbox->compiles = true;
    if (lua_load(lua, read_piece, sandbox, "=" KVC_SANDBOX_CHUNK, "t") != LUA_OK) {
        return lua_error(lua);
    }
    sandbox->compiles = false;
    lua_call(lua, 0, 1);
    seal_metatables(lua);
    return 1;
}

static enum kvc_status fail_limit(const struct kvc_sandbox *sandbox, int line, struct kvc_diag *diag)
{
    if (sandbox->limits.exceeded == KVC_SANDBOX_MEMORY) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line,
                                "the script needs more memory than the limit of %d MiB",
                                KVC_SANDBOX_MEMORY_MAX >> 20);
    }
    if (sandbox->limits.exceeded == KVC_SANDBOX_INSTRUCTIONS) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, sandbox->file, line,
            "the script runs longer than the limit of %d million instructions; does a loop never end?",
            KVC_SANDBOX_INSTRUCTIONS_MAX / 1000000);
    }
    if (sandbox->calls_s > KVC_SANDBOX_CALLS_SECONDS_MAX) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line,
                                "the calls of the script's functions take longer than the limit of %d s, all "
                                "together",
                                KVC_SANDBOX_CALLS_SECONDS_MAX);
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line,
                            "the script runs longer than the limit of %d s; does a loop never end?",
                            KVC_SANDBOX_SECONDS_MAX);
}

/* Reports a Lua error. Lua puts "(scenario):12: " in front of messages; that line is more exact than the
 * innermost active line. The error object is not converted, because that could raise another error. */
static enum kvc_status fail_error(const struct kvc_sandbox *sandbox, int line, struct kvc_diag *diag)
{
    lua_State *lua = sandbox->limits.lua;
    char text[64], trace[128] = "";
    const char *message = text;
    size_t used = 0;
    if (lua_type(lua, -1) == LUA_TNUMBER) {
        snprintf(text, sizeof(text), "%.14g", lua_tonumber(lua, -1));
    } else if (lua_type(lua, -1) != LUA_TSTRING) {
        snprintf(text, sizeof(text), "the error object is a %s", luaL_typename(lua, -1));
    } else {
        message = lua_tostring(lua, -1);
        char *end;
        if (strncmp(message, KVC_SANDBOX_CHUNK ":", sizeof(KVC_SANDBOX_CHUNK)) == 0) {
            line = (int)strtol(message + sizeof(KVC_SANDBOX_CHUNK), &end, 10);
            message = end + strspn(end, ": ");
        } else if (strncmp(message, KVC_SANDBOX_OWN_CHUNK ":", sizeof(KVC_SANDBOX_OWN_CHUNK)) == 0) {
            strtol(message + sizeof(KVC_SANDBOX_OWN_CHUNK), &end, 10);
            message = end + strspn(end, ": ");
        }
    }
    if (message[0] == '\0') {
        message = "the script raises an error without a text";
    }
    for (int i = 0; i < sandbox->limits.trace_count; i++) {
        used += (size_t)snprintf(trace + used, sizeof(trace) - used, "%s%d",
                                 i == 0 ? " (called from line " : ", line ", sandbox->limits.trace[i]);
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line, "%.700s%s%s", message, trace,
                            used > 0 ? ")" : "");
}

/* Reports why a protected call failed; its error object is on top of the stack. */
static enum kvc_status fail(struct kvc_sandbox *sandbox, int status, struct kvc_diag *diag)
{
    int line = sandbox->limits.line == 0 && sandbox->compiles ? compiled_line(sandbox) : sandbox->limits.line;
    if (status == LUA_ERRMEM && sandbox->limits.refused &&
        sandbox->limits.exceeded == KVC_SANDBOX_WITHIN_LIMITS) {
        sandbox->limits.exceeded = KVC_SANDBOX_MEMORY; /* Refused where Lua does not try again. */
    }
    if (sandbox->limits.exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        return fail_limit(sandbox, line, diag);
    }
    return status == LUA_ERRMEM ? kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, sandbox->file, 0, "out of memory")
                                : fail_error(sandbox, line, diag);
}

static enum kvc_status fail_watch(struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the time of the script cannot be watched: %s",
                         strerror(errno));
}

static enum kvc_status run(struct kvc_sandbox *sandbox, struct kvc_diag *diag)
{
    lua_State *lua = sandbox->limits.lua;
    lua_pushcfunction(lua, note_error);
    lua_pushcfunction(lua, run_source);
    lua_pushlightuserdata(lua, sandbox);
    if (!kvc_sandbox_limits_start(&sandbox->limits, KVC_SANDBOX_SECONDS_MAX)) {
        return fail_watch(diag);
    }
    int status = lua_pcall(lua, 1, 1, 1);
    kvc_sandbox_limits_stop(&sandbox->limits);
    if (status != LUA_OK || sandbox->limits.exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        return fail(sandbox, status, diag);
    }
    if (!lua_istable(lua, -1)) {
        int line = kvc_locate_return(sandbox->source, sandbox->bytes);
        bool returns = !lua_isnil(lua, -1);
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line > 0 ? line : 1,
                                "the file must return a table, found %s%s", returns ? "a " : "nothing",
                                returns ? luaL_typename(lua, -1) : "");
    }
    lua_remove(lua, 1);
    sandbox->limits.used_max = DECODE_MEMORY_MAX;
    return KVC_OK;
}

static enum kvc_status read_open_file(struct kvc_sandbox *sandbox, int descriptor, struct kvc_diag *diag)
{
    struct stat info;
    if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 0, "is a directory, not a Lua file");
    }
    sandbox->source = malloc(FILE_MAX + 1);
    if (sandbox->source == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    for (;;) {
        ssize_t got = read(descriptor, sandbox->source + sandbox->bytes, FILE_MAX + 1 - sandbox->bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 0, "cannot be read: %s",
                                    strerror(errno));
        }
        if (got == 0) {
            break;
        }
        sandbox->bytes += (size_t)got;
        if (sandbox->bytes > FILE_MAX) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 0,
                                    "is larger than the limit of 1 MiB");
        }
    }
    size_t blank = 0;
    while (blank < sandbox->bytes && strchr(" \t\r\n", sandbox->source[blank]) != NULL) {
        blank++;
    }
    if (blank < sandbox->bytes && sandbox->source[blank] == '{') {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 1,
                                "found JSON or a bare table, allowed: a Lua file with \"return { ... }\"");
    }
    if (sandbox->bytes > 0 && sandbox->source[0] == LUA_SIGNATURE[0]) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 0,
                                "is a compiled Lua chunk; only Lua text is accepted");
    }
    return KVC_OK;
}

static enum kvc_status read_source(struct kvc_sandbox *sandbox, struct kvc_diag *diag)
{
    int descriptor = open(sandbox->file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, 0, "cannot be opened: %s",
                                strerror(errno));
    }
    enum kvc_status status = read_open_file(sandbox, descriptor, diag);
    close(descriptor);
    return status;
}

void kvc_sandbox_free(struct kvc_sandbox *sandbox)
{
    if (sandbox == NULL) {
        return;
    }
    if (sandbox->limits.lua != NULL) {
        lua_State *lua = sandbox->limits.lua;
        sandbox->limits.lua = NULL;
        lua_close(lua);
    }
    free(sandbox->file);
    free(sandbox->source);
    free(sandbox);
}

enum kvc_status kvc_sandbox_run(const char *file, struct kvc_sandbox **out, struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_sandbox *sandbox = calloc(1, sizeof(*sandbox));
    if (sandbox == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    sandbox->file = strdup(file);
    sandbox->limits.watch.file = sandbox->file;
    sandbox->limits.used_max = KVC_SANDBOX_MEMORY_MAX;
    enum kvc_status status = KVC_OK;
    if (sandbox->file == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    if (status == KVC_OK) {
        status = read_source(sandbox, diag);
    }
    if (status == KVC_OK) {
        sandbox->limits.lua = lua_newstate(kvc_sandbox_limits_allocate, &sandbox->limits);
        if (sandbox->limits.lua == NULL) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
        }
    }
    if (status == KVC_OK) {
        status = run(sandbox, diag);
    }
    if (status != KVC_OK) {
        kvc_sandbox_free(sandbox);
        return status;
    }
    *out = sandbox;
    return KVC_OK;
}

struct protected_call {
    enum kvc_status (*function)(lua_State *lua, void *data);
    void *data;
    enum kvc_status status;
};

static int call_protected(lua_State *lua)
{
    struct protected_call *call = lua_touserdata(lua, 2);
    lua_settop(lua, 1);
    call->status = call->function(lua, call->data);
    return 0;
}

enum kvc_status kvc_sandbox_protect(struct kvc_sandbox *sandbox,
                                    enum kvc_status (*function)(lua_State *lua, void *data), void *data,
                                    struct kvc_diag *diag)
{
    struct protected_call call = {function, data, KVC_OK};
    lua_State *lua = sandbox->limits.lua;
    lua_pushcfunction(lua, call_protected);
    lua_pushvalue(lua, 1);
    lua_pushlightuserdata(lua, &call);
    if (lua_pcall(lua, 2, 0, 0) != LUA_OK) {
        lua_settop(lua, 1);
        if (sandbox->limits.refused) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, sandbox->file, kvc_locate_return(sandbox->source, sandbox->bytes),
                "the returned table needs more memory than the limit of %d MiB", DECODE_MEMORY_MAX >> 20);
        }
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, sandbox->file, 0,
                                "out of memory while the scenario is decoded");
    }
    return call.status;
}

enum kvc_status kvc_sandbox_call(struct kvc_sandbox *sandbox,
                                 enum kvc_status (*function)(lua_State *lua, void *data), void *data,
                                 struct kvc_diag *diag)
{
    struct protected_call call = {function, data, KVC_OK};
    struct kvc_sandbox_limits *limits = &sandbox->limits;
    lua_State *lua = limits->lua;
    double start_s = thread_seconds(), left_s = fmax(0, KVC_SANDBOX_CALLS_SECONDS_MAX - sandbox->calls_s);
    lua_pushcfunction(lua, note_error);
    lua_pushcfunction(lua, call_protected);
    lua_pushvalue(lua, 1);
    lua_pushlightuserdata(lua, &call);
    limits->used_max = KVC_SANDBOX_MEMORY_MAX;
    if (!kvc_sandbox_limits_start(limits, fmin(left_s, KVC_SANDBOX_SECONDS_MAX))) {
        kvc_sandbox_limits_stop(limits);
        lua_settop(lua, 1);
        return fail_watch(diag);
    }
    int status = lua_pcall(lua, 2, 0, 2);
    kvc_sandbox_limits_stop(limits);
    sandbox->calls_s += thread_seconds() - start_s;
    limits->used_max = DECODE_MEMORY_MAX;
    if (status != LUA_OK || limits->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        call.status = fail(sandbox, status, diag);
    }
    lua_settop(lua, 1);
    return call.status;
}

const char *kvc_sandbox_file(const struct kvc_sandbox *sandbox)
{
    return sandbox->file;
}

int kvc_sandbox_folder_bytes(const struct kvc_sandbox *sandbox)
{
    const char *slash = strrchr(sandbox->file, '/');
    bool has_place = strncmp(sandbox->file, "/proc/self/fd/", strlen("/proc/self/fd/")) != 0 &&
                     strncmp(sandbox->file, "/dev/", strlen("/dev/")) != 0;
    return slash != NULL && has_place ? (int)(slash + 1 - sandbox->file) : 0;
}

const char *kvc_sandbox_source(const struct kvc_sandbox *sandbox, size_t *bytes)
{
    *bytes = sandbox->bytes;
    return sandbox->source;
}
