#include "scenarios/load/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "scenarios/load/locate.h"
#include "sim/base/option.h"

enum {
    FILE_MAX = 1 << 20,
    MEMORY_MAX = 64 << 20,
    DECODE_MEMORY_MAX = 256 << 20, /* copies of paths that overrides change, beside what the script holds */
    HOOK_EVERY = 200,
    INSTRUCTIONS_MAX = 50000000,
    SECONDS_MAX = 10,
    LENGTH_MAX = 1 << 24, /* of tables that library functions walk */
    PATTERN_STEPS_MAX = 100000000,
    TRACE_MAX = 4,
};

/* Lua's own message prefix; the real name may be longer than Lua keeps. */
#define CHUNK "(scenario)"

enum limit { LIMIT_NONE, LIMIT_MEMORY, LIMIT_INSTRUCTIONS, LIMIT_SECONDS };

struct kvc_sandbox {
    lua_State *lua;
    char *file;
    char *source;
    size_t bytes;
    size_t used, used_max;
    size_t failed; /* size of the request that was refused last; Lua collects garbage and asks once more */
    uint64_t instructions;
    double start_s;
    enum limit limit;                  /* the first that was hit */
    int line;                          /* where that, or the error, was */
    int trace[TRACE_MAX], trace_count; /* lines of the callers */
};

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Lines of the active functions of the script, innermost first. Reads the call stack only, so it may be used
 * from the allocator too. */
static void note_lines(struct kvc_sandbox *sandbox)
{
    lua_Debug frame;
    sandbox->line = 0;
    sandbox->trace_count = 0;
    for (int level = 0; sandbox->lua != NULL && lua_getstack(sandbox->lua, level, &frame); level++) {
        if (!lua_getinfo(sandbox->lua, "Sl", &frame) || frame.currentline <= 0 ||
            strcmp(frame.short_src, CHUNK) != 0) {
            continue;
        }
        if (sandbox->line == 0) {
            sandbox->line = frame.currentline;
        } else if (sandbox->trace_count < TRACE_MAX) {
            sandbox->trace[sandbox->trace_count++] = frame.currentline;
        }
    }
}

static void hit_limit(struct kvc_sandbox *sandbox, enum limit limit)
{
    if (sandbox->limit != LIMIT_NONE) {
        return;
    }
    note_lines(sandbox);
    sandbox->limit = limit;
}

static void *allocate(void *data, void *block, size_t old_bytes, size_t bytes)
{
    struct kvc_sandbox *sandbox = data;
    size_t had = block != NULL ? old_bytes : 0;
    if (bytes == 0) {
        free(block);
        sandbox->used -= had;
        return NULL;
    }
    if (bytes > had && sandbox->used - had + bytes > sandbox->used_max) {
        if (sandbox->failed == bytes) {
            hit_limit(sandbox, LIMIT_MEMORY);
        }
        sandbox->failed = bytes;
        return NULL;
    }
    void *moved = realloc(block, bytes);
    if (moved == NULL) {
        return NULL;
    }
    sandbox->used = sandbox->used - had + bytes;
    if (bytes > had) {
        sandbox->failed = 0;
    }
    return moved;
}

static struct kvc_sandbox *sandbox_of(lua_State *lua)
{
    void *data;
    lua_getallocf(lua, &data);
    return data;
}

static int raise_limit(lua_State *lua, enum limit limit)
{
    hit_limit(sandbox_of(lua), limit);
    return luaL_error(lua, "limit");
}

static void count_hook(lua_State *lua, lua_Debug *frame)
{
    struct kvc_sandbox *sandbox = sandbox_of(lua);
    (void)frame;
    sandbox->instructions += HOOK_EVERY;
    if (sandbox->instructions > INSTRUCTIONS_MAX) {
        raise_limit(lua, LIMIT_INSTRUCTIONS);
    }
    if (thread_seconds() - sandbox->start_s > SECONDS_MAX) {
        raise_limit(lua, LIMIT_SECONDS);
    }
    if (sandbox->limit != LIMIT_NONE) {
        luaL_error(lua, "limit");
    }
}

/* pcall that lets limits through. */
static int guarded_pcall(lua_State *lua)
{
    luaL_checkany(lua, 1);
    int status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
    if (status == LUA_ERRMEM) {
        return raise_limit(lua, LIMIT_MEMORY);
    }
    if (sandbox_of(lua)->limit != LIMIT_NONE) {
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

/* Without __tostring, only the type: an address would differ from run to run. */
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
            return luaL_argerror(lua, i, "a table or function has no text; use tostring");
        }
    }
    const char *format = luaL_checkstring(lua, 1);
    for (const char *at = strchr(format, '%'); at != NULL; at = strchr(at, '%')) {
        at += 1 + strspn(at + 1, "-+ #0123456789.");
        if (*at == 'p') {
            return luaL_argerror(lua, 1, "%p shows an address, which differs from run to run");
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
    if (count > MEMORY_MAX || (double)count * (double)(length + separator) > MEMORY_MAX) {
        return raise_limit(lua, LIMIT_MEMORY);
    }
    return call_original(lua);
}

/* table.insert, remove, sort, concat, unpack: bounded by the length that they take. */
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

/* string.find, match, gmatch, gsub: a pattern with q repetitions takes up to length^(q+1) steps inside C. */
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

/* Gives the table on top a metatable that refuses unknown names. `library` NULL: the globals. */
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

/* Replaces field `name` of the table on top by `guard`, which has the original as its upvalue. */
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

/* Keys in order: numbers, then texts. The order of Lua's own table is seeded by addresses. */
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

static void open_libraries(lua_State *lua)
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

/* The message handler: notes where the error was while the stack still stands. */
static int note_error(lua_State *lua)
{
    struct kvc_sandbox *sandbox = sandbox_of(lua);
    if (sandbox->limit == LIMIT_NONE) {
        note_lines(sandbox);
    }
    return 1;
}

/* Opens the libraries, compiles and runs. Leaves the result, or raises. */
static int run_source(lua_State *lua)
{
    struct kvc_sandbox *sandbox = sandbox_of(lua);
    open_libraries(lua);
    if (luaL_loadbufferx(lua, sandbox->source, sandbox->bytes, "=" CHUNK, "t") != LUA_OK) {
        return lua_error(lua);
    }
    sandbox->start_s = thread_seconds();
    lua_sethook(lua, count_hook, LUA_MASKCOUNT, HOOK_EVERY);
    lua_call(lua, 0, 1);
    lua_sethook(lua, NULL, 0, 0);
    return 1;
}

static enum kvc_status fail_limit(const struct kvc_sandbox *sandbox, struct kvc_diag *diag)
{
    if (sandbox->limit == LIMIT_MEMORY) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, sandbox->line,
                                "the script needs more memory than the limit of %d MiB", MEMORY_MAX >> 20);
    }
    if (sandbox->limit == LIMIT_SECONDS) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, sandbox->line,
                                "the script runs longer than the limit of %d s; an endless loop?",
                                SECONDS_MAX);
    }
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, sandbox->file, sandbox->line,
        "the script runs longer than the limit of %d million instructions; an endless loop?",
        INSTRUCTIONS_MAX / 1000000);
}

/* Lua prefixes messages with "(scenario):12: "; the number is more exact than the innermost line. */
static enum kvc_status fail_error(const struct kvc_sandbox *sandbox, struct kvc_diag *diag)
{
    char text[700], trace[128] = "";
    const char *message = lua_tostring(sandbox->lua, -1);
    int line = sandbox->line;
    size_t used = 0;
    if (message == NULL) {
        snprintf(text, sizeof(text), "error object is a %s", luaL_typename(sandbox->lua, -1));
        message = text;
    } else if (strncmp(message, CHUNK ":", sizeof(CHUNK)) == 0) {
        char *end;
        line = (int)strtol(message + sizeof(CHUNK), &end, 10);
        message = end + strspn(end, ": ");
    }
    if (message != text) {
        snprintf(text, sizeof(text), "%s", message);
    }
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ') {
            *at = ' ';
        }
    }
    for (int i = 0; i < sandbox->trace_count; i++) {
        used += (size_t)snprintf(trace + used, sizeof(trace) - used, "%s%d",
                                 i == 0 ? " (called from line " : ", line ", sandbox->trace[i]);
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file, line, "%s%s%s", text, trace,
                            used > 0 ? ")" : "");
}

static enum kvc_status run(struct kvc_sandbox *sandbox, struct kvc_diag *diag)
{
    lua_State *lua = sandbox->lua;
    lua_pushcfunction(lua, note_error);
    lua_pushcfunction(lua, run_source);
    int status = lua_pcall(lua, 0, 1, 1);
    lua_sethook(lua, NULL, 0, 0);
    if (sandbox->limit != LIMIT_NONE) {
        return fail_limit(sandbox, diag);
    }
    if (status == LUA_ERRMEM) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, sandbox->file, 0, "out of memory");
    }
    if (status != LUA_OK) {
        return fail_error(sandbox, diag);
    }
    if (!lua_istable(lua, -1)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, sandbox->file,
                                kvc_locate_return(sandbox->source, sandbox->bytes),
                                "the file must return a table, found %s", luaL_typename(lua, -1));
    }
    lua_remove(lua, 1);
    sandbox->used_max = DECODE_MEMORY_MAX;
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
    if (sandbox->lua != NULL) {
        lua_State *lua = sandbox->lua;
        sandbox->lua = NULL;
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
    sandbox->used_max = MEMORY_MAX;
    enum kvc_status status = KVC_OK;
    if (sandbox->file == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    if (status == KVC_OK) {
        status = read_source(sandbox, diag);
    }
    if (status == KVC_OK) {
        sandbox->lua = lua_newstate(allocate, sandbox);
        if (sandbox->lua == NULL) {
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
    lua_State *lua = sandbox->lua;
    lua_pushcfunction(lua, call_protected);
    lua_pushvalue(lua, 1);
    lua_pushlightuserdata(lua, &call);
    if (lua_pcall(lua, 2, 0, 0) != LUA_OK) {
        lua_settop(lua, 1);
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, sandbox->file, 0, "out of memory while it was read");
    }
    return call.status;
}

const char *kvc_sandbox_file(const struct kvc_sandbox *sandbox)
{
    return sandbox->file;
}

const char *kvc_sandbox_source(const struct kvc_sandbox *sandbox, size_t *bytes)
{
    *bytes = sandbox->bytes;
    return sandbox->source;
}
