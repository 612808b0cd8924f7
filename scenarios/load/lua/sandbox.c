#include "scenarios/load/lua/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>

#include "scenarios/load/lua/locate.h"
#include "scenarios/load/lua/sandbox_globals.h"
#include "scenarios/load/lua/sandbox_guards.h"
#include "scenarios/load/lua/sandbox_limits.h"

enum {
    FILE_MAX = 1 << 20,
    /* The compiler reads the file in pieces, between which the limits hold. */
    PIECE_BYTES = 64,
    /* While the table is decoded, copies of the paths that overrides change join what the script holds. */
    DECODE_MEMORY_MAX = KVC_SANDBOX_MEMORY_MAX + (16 << 20),
};

struct kvc_sandbox {
    char *file;
    char *source;
    size_t bytes;    /* Length of the source. */
    size_t compiled; /* What the compiler has read of it. */
    bool compiles;
    double calls_s; /* Processor time of all calls so far [s]. */
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
    kvc_sandbox_globals_open(lua);
    sandbox->compiles = true;
    if (lua_load(lua, read_piece, sandbox, "=" KVC_SANDBOX_CHUNK, "t") != LUA_OK) {
        return lua_error(lua);
    }
    sandbox->compiles = false;
    lua_call(lua, 0, 1);
    kvc_sandbox_guards_seal(lua);
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
 * innermost active line. The error object stays what it is: converting it could raise the next error. */
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

const char *kvc_sandbox_source(const struct kvc_sandbox *sandbox, size_t *bytes)
{
    *bytes = sandbox->bytes;
    return sandbox->source;
}
