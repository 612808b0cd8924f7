#include "scenarios/load/sandbox_limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

enum { HOOK_EVERY = 200 }; /* Instructions between two calls of the hook. */

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void kvc_sandbox_limits_note_lines(struct kvc_sandbox_limits *limits)
{
    lua_Debug frame;
    limits->line = 0;
    limits->trace_count = 0;
    for (int level = 0; limits->lua != NULL && lua_getstack(limits->lua, level, &frame); level++) {
        if (!lua_getinfo(limits->lua, "Sl", &frame) || frame.currentline <= 0 ||
            strcmp(frame.short_src, KVC_SANDBOX_CHUNK) != 0) {
            continue;
        }
        if (limits->line == 0) {
            limits->line = frame.currentline;
        } else if (limits->trace_count < KVC_SANDBOX_TRACE_MAX) {
            limits->trace[limits->trace_count++] = frame.currentline;
        }
    }
}

static void hit_limit(struct kvc_sandbox_limits *limits, enum kvc_sandbox_limit limit)
{
    if (limits->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        return;
    }
    kvc_sandbox_limits_note_lines(limits);
    limits->exceeded = limit;
}

void *kvc_sandbox_limits_allocate(void *data, void *block, size_t old_bytes, size_t bytes)
{
    struct kvc_sandbox_limits *limits = data;
    size_t had = block != NULL ? old_bytes : 0;
    if (bytes == 0) {
        free(block);
        limits->used -= had;
        return NULL;
    }
    if (bytes > had && limits->used - had + bytes > limits->used_max) {
        if (limits->failed == bytes) {
            hit_limit(limits, KVC_SANDBOX_MEMORY);
        }
        limits->failed = bytes;
        return NULL;
    }
    void *moved = realloc(block, bytes);
    if (moved == NULL) {
        return NULL;
    }
    limits->used = limits->used - had + bytes;
    if (bytes > had) {
        limits->failed = 0;
    }
    return moved;
}

struct kvc_sandbox_limits *kvc_sandbox_limits_of(lua_State *lua)
{
    void *data;
    lua_getallocf(lua, &data);
    return data;
}

int kvc_sandbox_limits_raise(lua_State *lua, enum kvc_sandbox_limit limit)
{
    hit_limit(kvc_sandbox_limits_of(lua), limit);
    return luaL_error(lua, "limit");
}

static void count_hook(lua_State *lua, lua_Debug *frame)
{
    struct kvc_sandbox_limits *limits = kvc_sandbox_limits_of(lua);
    (void)frame;
    limits->instructions += HOOK_EVERY;
    if (limits->instructions > KVC_SANDBOX_INSTRUCTIONS_MAX) {
        kvc_sandbox_limits_raise(lua, KVC_SANDBOX_INSTRUCTIONS);
    }
    if (limits->used_s + thread_seconds() - limits->start_s > KVC_SANDBOX_SECONDS_MAX) {
        kvc_sandbox_limits_raise(lua, KVC_SANDBOX_SECONDS);
    }
    if (limits->exceeded != KVC_SANDBOX_WITHIN_LIMITS) {
        luaL_error(lua, "limit");
    }
}

void kvc_sandbox_limits_start(lua_State *lua)
{
    kvc_sandbox_limits_of(lua)->start_s = thread_seconds();
    lua_sethook(lua, count_hook, LUA_MASKCOUNT, HOOK_EVERY);
}

void kvc_sandbox_limits_resume(lua_State *lua)
{
    kvc_sandbox_limits_of(lua)->instructions = 0;
    kvc_sandbox_limits_start(lua);
}

void kvc_sandbox_limits_stop(lua_State *lua)
{
    struct kvc_sandbox_limits *limits = kvc_sandbox_limits_of(lua);
    if (lua_gethook(lua) != NULL) {
        limits->used_s += thread_seconds() - limits->start_s;
    }
    lua_sethook(lua, NULL, 0, 0);
}
