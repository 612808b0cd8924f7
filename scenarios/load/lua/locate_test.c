#include "scenarios/load/lua/locate.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kvc_location locate(const char *source, const char *path)
{
    return kvc_locate(source, strlen(source), path);
}

static void expect(const char *source, const char *path, int line, bool exact)
{
    struct kvc_location found = locate(source, path);
    cr_expect(found.line == line && found.exact == exact, "%s: line %d%s, expected %d%s", path, found.line,
              found.exact ? "" : " (ancestor)", line, exact ? "" : " (ancestor)");
}

static const char scenario[] = "-- workload = { keys = 1 }\n"
                               "--[[ system = {\n"
                               "  cycle = 1 } ]]\n"
                               "return {\n"
                               "  name = \"a = { b\", note = [[ run = {\n"
                               "    duration = 1 } ]],\n"
                               "  system = { kind = 'megakv',\n"
                               "    cycle = \"160us\" }, run = {\n"
                               "    duration = \"1ms\"; seed = 3,\n"
                               "  },\n"
                               "  [\"workload\"] = {\n"
                               "    dist = { zipf = 0.99 },\n"
                               "    arrival = { curve = {\n"
                               "      { time = \"0us\", rate = 1 },\n"
                               "      { time = \"1us\",\n"
                               "        rate = 2 } } },\n"
                               "  },\n"
                               "  sweep = { [\"system.cycle\"] = { \"1us\",\n"
                               "    \"2us\" }, [\"run.seed\"] = { 1 } },\n"
                               "}\n";

Test(locate, finds_keys_of_nested_tables)
{
    expect(scenario, "name", 5, true);
    expect(scenario, "system", 7, true);
    expect(scenario, "system.cycle", 8, true);
    expect(scenario, "run.duration", 9, true);
    expect(scenario, "run.seed", 9, true);
    expect(scenario, "workload", 11, true);
    expect(scenario, "workload.dist.zipf", 12, true);
}

Test(locate, counts_elements_and_takes_keys_with_dots)
{
    expect(scenario, "workload.arrival.curve.1.rate", 14, true);
    expect(scenario, "workload.arrival.curve.2", 15, true);
    expect(scenario, "workload.arrival.curve.2.rate", 16, true);
    expect(scenario, "sweep.system.cycle", 18, true);
    expect(scenario, "sweep.system.cycle.2", 19, true);
    expect(scenario, "sweep.run.seed", 19, true);
    cr_expect_lt(locate(scenario, "sweep.system.cycle").offset, locate(scenario, "sweep.run.seed").offset);
}

Test(locate, falls_back_to_the_nearest_ancestor)
{
    expect(scenario, "system.delay", 7, false);
    expect(scenario, "workload.dist.exponent", 12, false);
    expect(scenario, "cluster.nodes", 4, false);
    expect(scenario, "", 4, true);
}

Test(locate, follows_variables_and_later_assignments)
{
    static const char source[] = "local system = {\n"
                                 "  kind = 'megakv',\n"
                                 "}\n"
                                 "local s = { workload = {\n"
                                 "  keys = 5 } }\n"
                                 "s.workload.value = 3\n"
                                 "if true then s.run = { seed = 4 } end\n"
                                 "return s\n";
    expect(source, "system.kind", 2, true);
    expect(source, "workload.keys", 5, true);
    expect(source, "workload.value", 6, true);
    expect(source, "run.seed", 7, true);
    expect(source, "", 8, true);
}

Test(locate, prefers_the_returned_table)
{
    static const char source[] = "local node = { sockets = 1 }\n"
                                 "return {\n"
                                 "  node = { sockets = 2 },\n"
                                 "}\n";
    expect(source, "node.sockets", 3, true);
}

Test(locate, looks_past_functions_and_calls)
{
    static const char source[] =
        "local function make(t)\n"
        "  local workload = 3\n"
        "  return { keys = workload }\n"
        "end\n"
        "return {\n"
        "  workload = make({\n"
        "    keys = 4 }), run = (function() local a, seed = 1, { x = 2 } return { seed = seed } end)(),\n"
        "  node = {\n"
        "    sockets = 1 == 1 and 2 }\n"
        "}\n";
    expect(source, "workload.keys", 7, true);
    expect(source, "node.sockets", 9, true);
    expect(source, "node", 8, true);
}

Test(locate, survives_broken_text)
{
    static const char *const sources[] = {
        "return { a = {{{{", "}}})end end", "return { a = \"unfinished", "--[[ unfinished", "x = [==[ y ]=]",
        "return { [",        "1e+ 0x '\\",  "repeat until until {"};
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        cr_expect_leq(locate(sources[i], "a.b.c").line, 1);
    }
}

Test(locate, survives_deep_nesting)
{
    enum { DEPTH = 5000 };
    char *source = malloc(2 * DEPTH + 64);
    size_t at = (size_t)sprintf(source, "return {");
    memset(source + at, '{', DEPTH);
    at += DEPTH;
    memset(source + at, '}', DEPTH);
    at += DEPTH;
    strcpy(source + at, ",\n last = 1 }");
    expect(source, "last", 2, true);
    free(source);
}
