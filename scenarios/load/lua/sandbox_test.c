#include <criterion/criterion.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/load/lua/sandbox.h"
#include "scenarios/load/lua/sandbox_limits.h"
#include "sim/base/diag.h"

static char file[] = "/tmp/kvc_sandbox_XXXXXX";

static void write_file(const char *bytes, size_t count)
{
    int descriptor = mkstemp(file);
    cr_assert_geq(descriptor, 0);
    cr_assert_eq(write(descriptor, bytes, count), (ssize_t)count);
    close(descriptor);
}

static enum kvc_status run(const char *source, struct kvc_sandbox **sandbox, struct kvc_diag *diag)
{
    memset(diag, 0, sizeof(*diag));
    strcpy(file, "/tmp/kvc_sandbox_XXXXXX");
    write_file(source, strlen(source));
    enum kvc_status status = kvc_sandbox_run(file, sandbox, diag);
    unlink(file);
    return status;
}

/* Checks that the script fails at `line` with a message that contains `part`. */
static void refuses(const char *source, int line, const char *part)
{
    struct kvc_sandbox *sandbox;
    struct kvc_diag diag;
    cr_expect_eq(run(source, &sandbox, &diag), KVC_ERR_SCENARIO, "%s ran", source);
    cr_expect_null(sandbox);
    cr_expect(diag.line == line && strstr(diag.message, part) != NULL,
              "%s\nfound line %d: %s\nexpected line %d: %s", source, diag.line, diag.message, line, part);
    cr_expect_str_eq(diag.file, file);
}

static enum kvc_status copy_text(lua_State *lua, void *out)
{
    lua_rawgeti(lua, 1, 1);
    snprintf(out, 256, "%s", lua_tostring(lua, -1));
    return KVC_OK;
}

/* Checks the first element of the returned table. */
static void returns(const char *source, const char *expected)
{
    struct kvc_sandbox *sandbox;
    struct kvc_diag diag;
    char text[256] = "";
    cr_assert_eq(run(source, &sandbox, &diag), KVC_OK, "%s: line %d: %s", source, diag.line, diag.message);
    cr_expect_eq(kvc_sandbox_protect(sandbox, copy_text, text, &diag), KVC_OK);
    cr_expect_str_eq(text, expected);
    kvc_sandbox_free(sandbox);
}

Test(sandbox, runs_plain_lua)
{
    returns("local t = {}\nfor i = 1, 3 do t[i] = i * 2 end\nreturn { table.concat(t, ' ') }", "2 4 6");
    returns("return { (('120us'):gsub('us', 'ms')) }", "120ms");
    returns("return { string.format('%d %s', 3, 'x') .. ('ab'):rep(2) }", "3 xabab");
    returns("local ok, why = pcall(error, 'no', 0)\nreturn { tostring(ok) .. why }", "falseno");
    returns("return { tostring(math.floor(2.5)) .. utf8.char(228) }", "2\xc3\xa4");
}

Test(sandbox, pairs_goes_in_order)
{
    returns("local s = ''\n"
            "for k, v in pairs({ zeta = 1, alpha = 2, [10] = 3, [2] = 4, mid = 5, [true] = 6 }) do\n"
            "  s = s .. tostring(k) .. v .. ' '\n"
            "end\n"
            "return { s }",
            "true6 24 103 alpha2 mid5 zeta1 ");
    refuses("local t = {}\nt[t] = 1\nfor k in pairs(t) do end\nreturn {}", 3,
            "keys of type table have no order");
    refuses("\nfor k in pairs(nil) do end", 2, "pairs: a table is needed, found nil");
}

Test(sandbox, shows_no_addresses)
{
    returns("return { tostring({}) .. tostring(tostring) }", "tablefunction");
    refuses("return { string.format('%p', 'x') }", 1, "shows an address");
    refuses("return { string.format('\\0%-5p', 'x') }", 1, "shows an address");
    refuses("return _G[{}]", 1, "undefined global \"table\"");
    refuses("return { string.format('%s', {}) }", 1, "has no text");
}

Test(sandbox, leaves_out_what_reaches_outside)
{
    static const char *const names[] = {"io",        "os",     "debug", "package", "require",        "load",
                                        "loadfile",  "dofile", "print", "warn",    "collectgarbage", "next",
                                        "coroutine", "xpcall"};
    char source[128], part[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(source, sizeof(source), "local a = 1\nlocal b = %s\nreturn {}", names[i]);
        snprintf(part, sizeof(part), "\"%s\" is not available in scenarios", names[i]);
        refuses(source, 2, part);
    }
    refuses("return { string.dump(function() end) }", 1, "string.dump is not available");
    refuses("return { math.random() }", 1, "math.random is not available");
}

Test(sandbox, keeps_globals_strict)
{
    refuses("local a = 1\nreturn { a = tabel }", 2, "undefined global \"tabel\"; did you mean \"table\"?");
    refuses("\n\nfoo = 3\nreturn {}", 3, "global \"foo\" is assigned; declare it local");
    refuses("function helper() end\nreturn {}", 1, "global \"helper\" is assigned");
    refuses("string.ripe = 3\nreturn {}", 1, "string is read-only");
    refuses("getmetatable('').__index = nil", 1, "attempt to index a boolean value");
}

Test(sandbox, reports_errors_with_their_line)
{
    refuses("return {\n  a = 1\n  b = 2,\n}", 3, "'}' expected");
    refuses("local t\nreturn { a = t.x }", 2, "attempt to index a nil value");
    refuses("local function f()\n  error('bad load')\nend\nf()\nreturn {}", 2,
            "bad load (called from line 4)");
    refuses("error({})", 1, "error object is a table");
    refuses("local t = setmetatable({}, { __gc = function() end })\nreturn t", 1, "cannot have __gc");
    refuses("return {}, 1 +", 1, "unexpected symbol");
    refuses("local t = setmetatable({}, { __mode = 'k' })\nreturn t", 1, "cannot have __mode");
    refuses("error(12.5)", 1, "12.5");
}

Test(sandbox, wants_a_table)
{
    refuses("local a = 1\n\nreturn a", 3, "the file must return a table, found a number");
    refuses("local a = 1\n", 1, "the file must return a table, found nothing");
    refuses("", 1, "the file must return a table, found nothing");
}

Test(sandbox, ends_endless_loops, .timeout = 30)
{
    refuses("local a\nwhile true do\n  a = 1\nend", 3, "does a loop never end?");
    refuses("local function f()\n  while true do end\nend\nlocal ok = pcall(f)\nreturn {}", 2,
            "does a loop never end?");
    refuses("while true do pcall(function() while true do end end) end", 1, "does a loop never end?");
    /* On one line, because the limit may be met in the recursion or in the loop around it. */
    refuses("local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) "
            "while true do pcall(function() return t[1] end) end",
            1, "does a loop never end?");
}

Test(sandbox, bounds_loops_inside_library_functions, .timeout = 30)
{
    refuses("return { (''):rep(1 << 60) }", 1, "limit of 64 MiB");
    refuses("table.move({}, 1, 1 << 60, 2)", 1, "the table is too long");
    refuses("table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)", 1, "__len");
    refuses("table.concat(setmetatable({}, {}), '', 1, 20000)", 1, "too long for one with a metatable");
    refuses("return { ('('):rep(1 << 16):find('%b()') }", 1, "too many repetitions");
    refuses("return { ('a'):rep(1 << 16):find('[' .. ('b'):rep(1 << 16) .. ']') }", 1,
            "too many repetitions");
    refuses("local s = ('a'):rep(30000)\nreturn { s:find(('.-'):rep(20) .. 'b') }", 2,
            "too many repetitions");
}

Test(sandbox, lets_ordinary_patterns_pass)
{
    returns("return { (('  key = value  '):rep(10):gsub('^%s*(.-)%s*$', '%1'):sub(1, 11)) }", "key = value");
    returns("local n = 0\nfor x in (('1,22,'):rep(1000)):gmatch('([^,]+)') do n = n + x end\nreturn { n }",
            "23000");
    returns("return { (('a'):rep(1 << 20)):find('b', 1, true) or 'none' }", "none");
    returns("return { ('[]]'):match('[]]') .. ('x^'):match('[%^]') .. ('f(a(b))'):match('%b()') }",
            "]^(a(b))");
}

Test(sandbox, sorts_the_same_in_every_run)
{
    returns("local t = { 5, 3, 9, 1, 7 }\ntable.sort(t)\nreturn { table.concat(t, ' ') }", "1 3 5 7 9");
    returns("local t = {}\nfor i = 1, 200 do t[i] = { key = i % 3, place = i } end\n"
            "table.sort(t, function(a, b) return a.key < b.key end)\n"
            "return { t[1].place .. ' ' .. t[66].place .. ' ' .. t[67].place .. ' ' .. t[200].place }",
            "3 198 1 200");
    refuses("table.sort({ 1, 'x' })", 1, "attempt to compare");
    refuses("table.sort({ 2, 1 }, 3)", 1, "sort: a function is needed, found number");
}

/* Names that are looked for in every function around take a time that grows with the square of the text. */
static char *nested_names(int levels, int names)
{
    char *text = malloc(1 << 20), *at = text;
    for (int level = 0; level < levels; level++) {
        at += sprintf(at, "local a%d", level);
        for (int i = 0; i < 180; i++) {
            at += sprintf(at, ",b%d_%d", level, i);
        }
        at += sprintf(at, "\nreturn function()\n");
    }
    for (int i = 0; i < names; i++) {
        at += sprintf(at, "x()");
    }
    for (int level = 0; level < levels; level++) {
        at += sprintf(at, " end");
    }
    return text;
}

Test(sandbox, limits_the_time_of_compilation, .timeout = 30)
{
    char *text = nested_names(50, 290000);
    refuses(text, 101, "longer than the limit of 1 s");
    free(text);
    refuses(
        "return {\n{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"
        "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
        2, "C stack overflow");
}

Test(sandbox, ends_recursion)
{
    refuses("local function f() return 1 + f() end\nreturn f()", 1, "limit of 64 MiB");
    refuses(
        "local t = setmetatable({}, {})\ngetmetatable(t).__index = function(t, k) return t[k .. 'x'] end\n"
        "return t.a",
        2, "C stack overflow");
}

Test(sandbox, runs_no_closing_code_beyond_a_limit)
{
    refuses("local mt = { __close = function() while true do end end }\n"
            "local a <close> = setmetatable({}, mt)\nlocal b <close> = setmetatable({}, mt)\n"
            "while true do end",
            4, "does a loop never end?");
}

/* Calls the function that the file returns, the hundredth time with true. */
static enum kvc_status call_first(lua_State *lua, void *data)
{
    lua_rawgeti(lua, 1, 1);
    lua_pushboolean(lua, ++*(int *)data == 100);
    lua_call(lua, 1, 0);
    return KVC_OK;
}

Test(sandbox, limits_every_call)
{
    struct kvc_sandbox *sandbox;
    struct kvc_diag diag;
    int calls = 0;
    cr_assert_eq(run("return { function(last)\n  while last do end\nend }", &sandbox, &diag), KVC_OK);
    while (calls < 99) {
        cr_assert_eq(kvc_sandbox_call(sandbox, call_first, &calls, &diag), KVC_OK);
    }
    cr_expect_eq(kvc_sandbox_call(sandbox, call_first, &calls, &diag), KVC_ERR_SCENARIO);
    cr_expect(diag.line == 2 && strstr(diag.message, "million instructions") != NULL, "%s", diag.message);
    kvc_sandbox_free(sandbox);
}

Test(sandbox, limits_memory, .timeout = 30)
{
    refuses("local s = ('x'):rep(1 << 24)\nreturn { string.pack('s8s8s8s8', s, s, s, s) }", 2,
            "limit of 64 MiB");
    refuses("local s = 'x'\nreturn { s:rep(1e9) }", 2, "limit of 64 MiB");
    refuses("local t = {}\nfor i = 1, 1e9 do\n  t[i] = { i }\nend\nreturn t", 3, "limit of 64 MiB");
    refuses("local s = 'x'\nwhile true do\n  s = s .. s\nend", 3, "limit of 64 MiB");
    refuses("local t = {}\nlocal function f()\n  while true do t[#t + 1] = { #t } end\nend\n"
            "while true do pcall(f) t = {} end",
            3, "limit of 64 MiB");
    refuses("local ok = pcall(string.rep, 'x', 1e9)\nreturn {}", 1, "limit of 64 MiB");
}

Test(sandbox, refuses_files_that_are_not_lua_text)
{
    struct kvc_sandbox *sandbox;
    struct kvc_diag diag = {0};
    refuses("\x1bLuaT\x00", 0, "is a compiled Lua chunk");
    cr_expect_eq(kvc_sandbox_run("/tmp", &sandbox, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "is a directory, not a Lua file");
    cr_expect_eq(kvc_sandbox_run("/tmp/no/such.lua", &sandbox, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "cannot be opened: No such file or directory");
    cr_expect_str_eq(diag.file, "/tmp/no/such.lua");
    char *large = malloc(3 << 20);
    memset(large, ' ', 3 << 20);
    large[(3 << 20) - 1] = '\0';
    refuses(large, 0, "is larger than the limit of 1 MiB");
    free(large);
}

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
