#include "scenarios/load/lua/sandbox_watch.h"

#include <criterion/criterion.h>
#include <lauxlib.h>
#include <stdlib.h>

#include "sim/base/diag.h"

static void end_script(lua_State *lua, lua_Debug *frame)
{
    (void)frame;
    luaL_error(lua, "time is up");
}

static int run_until_the_watch(const char *text, double seconds, struct kvc_sandbox_watch *watch)
{
    lua_State *lua = luaL_newstate();
    *watch = (struct kvc_sandbox_watch){.file = "a\n.lua", .lua = lua, .hook = end_script};
    cr_assert_eq(luaL_loadstring(lua, text), LUA_OK);
    cr_assert(kvc_sandbox_watch_start(watch, seconds));
    int status = lua_pcall(lua, 0, 0, 0);
    kvc_sandbox_watch_stop(watch);
    lua_close(lua);
    return status;
}

Test(sandbox_watch, ends_a_loop, .timeout = 30)
{
    struct kvc_sandbox_watch watch;
    cr_expect_eq(run_until_the_watch("while true do end", 0.02, &watch), LUA_ERRRUN);
    cr_expect_gt(watch.expired, 0);
    cr_expect_eq(run_until_the_watch("for i = 1, 10 do end", 2, &watch), LUA_OK);
    cr_expect_eq(watch.expired, 0);
    kvc_sandbox_watch_stop(&watch);
}

static int spin(lua_State *lua)
{
    (void)lua;
    for (volatile bool on = true; on;) {
        ;
    }
    return 0;
}

/* No instruction follows, so the process ends, as it would inside one operation of Lua. */
Test(sandbox_watch, ends_the_process_at_last, .exit_code = KVC_ERR_SCENARIO, .timeout = 30)
{
    lua_State *lua = luaL_newstate();
    struct kvc_sandbox_watch watch = {.file = "a\n.lua", .lua = lua, .hook = end_script};
    lua_pushcfunction(lua, spin);
    cr_assert(kvc_sandbox_watch_start(&watch, 0.02));
    lua_pcall(lua, 0, 0, 0);
}
