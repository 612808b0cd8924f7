#include "validate/scoring/facts_fixture.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/files/data_dir.h"

#define HEADER "fact,value,low,high,unit,section,cases,reason\n"

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    cr_assert(out != NULL);
    fputs(text, out);
    cr_assert(fclose(out) == 0);
}

static char path[] = "/tmp/kvcast-facts-XXXXXX";

static void make_path(void)
{
    strcpy(path, "/tmp/kvcast-facts-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(facts, .init = make_path, .fini = remove_path);

Test(facts, reads_its_columns)
{
    struct kvc_facts facts;
    struct kvc_diag diag = {0};
    write_file(path, HEADER "p.a,180,,,Mops,\"sec. 4, fig. 3\",x;y,\np.b,,3,9,us,sec. 5,,"
                            "not modelled: heat, dust\np.c,2,,,us,sec. 5,,duplicate: p.a in clocks\n");
    cr_assert_eq(kvc_facts_read(path, &facts, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(facts.count, 3);
    cr_expect_eq(facts.entry[0].value, 180);
    cr_expect_str_eq(facts.entry[0].section, "sec. 4, fig. 3");
    cr_expect_str_eq(facts.entry[0].cases, "x;y");
    cr_expect_eq(facts.entry[0].reason, KVC_FACT_SCORED);
    cr_expect(isnan(facts.entry[1].value));
    cr_expect_eq(facts.entry[1].high, 9);
    cr_expect_eq(facts.entry[1].reason, KVC_FACT_NOT_MODELLED);
    cr_expect_str_eq(facts.entry[1].text, "heat, dust");
    cr_expect_eq(kvc_facts_find(&facts, "p.c: at 2 us"), 2);
    cr_expect_eq(kvc_facts_find(&facts, "p"), -1);
    kvc_facts_free(&facts);
}

Test(facts, names_the_bad_line)
{
    static const struct {
        char text[160], message[64];
    } bad[] = {
        {HEADER "p.a,180,,,Mops,,,\n", "neither cases nor a reason"},
        {HEADER "p.a,180,,,Mops,,x,input: y\n", "cases and a reason"},
        {HEADER "p.a,,,,Mops,,x,\n", "neither a value nor a bound"},
        {HEADER "p.a,180,,,Mops,,,because\n", "found the reason \"because\""},
        {HEADER "p.a,180,,,Mops,,,input: \n", "found the reason \"input: \""},
        {HEADER "p.a,180,,,Mops,,,duplicate: p.b\n", "expected another fact"},
        {HEADER "p.a,180,,,Mops,,,contradicts: p.a\n", "expected another fact"},
        {HEADER "p.a,180,,,Mops,,x,\np.a,180,,,Mops,,x,\n", "twice"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct kvc_facts facts;
        struct kvc_diag diag = {0};
        write_file(path, bad[i].text);
        cr_expect_eq(kvc_facts_read(path, &facts, &diag), KVC_ERR_SCENARIO, "%zu", i);
        cr_expect(strstr(diag.message, bad[i].message) != NULL, "%s", diag.message);
    }
}

Test(facts, cases_and_facts_name_each_other)
{
    struct kvc_fact entries[] = {{.id = "p.a", .cases = "x;y"},
                                 {.id = "p.b", .reason = KVC_FACT_INPUT, .text = "z"}};
    struct kvc_case scored[] = {{.id = "x", .fact = "p.a"},
                                {.id = "y", .fact = "p.a: at 2 us", .role = KVC_CASE_EQUATION},
                                {.id = "shown", .fact = "for the ratio", .role = KVC_CASE_INPUT}};
    struct kvc_facts facts = {2, entries};
    struct kvc_cases cases = {3, scored};
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_facts_check(&facts, &cases, &diag), KVC_OK, "%s", diag.message);
    strcpy(scored[1].fact, "p.b");
    cr_expect_eq(kvc_facts_check(&facts, &cases, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "case y: fact p.b does not list it (input)");
    strcpy(scored[1].fact, "sec. 4");
    cr_expect_eq(kvc_facts_check(&facts, &cases, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "case y: found the fact \"sec. 4\"") != NULL, "%s", diag.message);
    cases.count = 1;
    cr_expect_eq(kvc_facts_check(&facts, &cases, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "fact p.a: found 2 cases (x;y), of which 1 are scored and name it");
}

/* Returns whether a profile may cite a fact, because the cases that score it take another profile:
 * machine-cross has mysql-bg-machine. */
static bool is_apart(const char *profile, const char *fact)
{
    return strstr(profile, "/mysql-bg.lua") != NULL && strcmp(fact, "bluecache.exp1.cross") == 0;
}

/* Fails if a profile cites a fact that cases score: a prediction would return its own input. */
static void expect_no_input_scored(const struct kvc_facts *facts, const char *profile)
{
    static char line[4096];
    FILE *in = fopen(profile, "r");
    cr_assert(in != NULL, "%s", profile);
    while (fgets(line, sizeof(line), in) != NULL) {
        for (size_t i = 0; i < facts->count; i++) {
            const struct kvc_fact *fact = &facts->entry[i];
            const char *at = strstr(line, fact->id);
            size_t length = strlen(fact->id);
            bool whole = at != NULL && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
                         !(at[length] == '.' && isalnum((unsigned char)at[length + 1]));
            cr_expect(!whole || fact->reason != KVC_FACT_SCORED || is_apart(profile, fact->id),
                      "%s uses %s, which %s score", profile, fact->id, fact->cases);
        }
    }
    fclose(in);
}

static void expect_profiles_unscored(const struct kvc_facts *facts)
{
    char folder[PATH_MAX], profile[PATH_MAX + 256];
    struct dirent **found;
    kvc_data_path("scenarios/hardware", folder);
    int count = scandir(folder, &found, NULL, alphasort);
    cr_assert_gt(count, 2, "%s", folder);
    for (int i = 0; i < count; i++) {
        if (found[i]->d_name[0] != '.') {
            snprintf(profile, sizeof(profile), "%s/%s", folder, found[i]->d_name);
            expect_no_input_scored(facts, profile);
        }
        free(found[i]);
    }
    free(found);
}

/* An input's reason begins with the file that uses it. */
static void expect_inputs_named(const struct kvc_facts *facts)
{
    char file[sizeof(facts->entry->text)], place[PATH_MAX];
    for (size_t i = 0; i < facts->count; i++) {
        const struct kvc_fact *fact = &facts->entry[i];
        snprintf(file, sizeof(file), "%.*s", (int)strcspn(fact->text, " ,:;"), fact->text);
        kvc_data_path(file, place);
        cr_expect(fact->reason != KVC_FACT_INPUT || access(place, R_OK) == 0, "fact %s: no file %s", fact->id,
                  file);
    }
}

static void expect_complete(const char *name)
{
    struct kvc_facts facts = {0};
    struct kvc_cases cases = {0};
    struct kvc_diag diag = {0};
    char relative[128], place[PATH_MAX];
    snprintf(relative, sizeof(relative), "validate/papers/%s/facts.csv", name);
    kvc_data_path(relative, place);
    cr_assert_eq(kvc_facts_read(place, &facts, &diag), KVC_OK, "%s:%d: %s", place, diag.line, diag.message);
    snprintf(relative, sizeof(relative), "validate/papers/%s/cases.csv", name);
    kvc_data_path(relative, place);
    cr_assert_eq(kvc_cases_read(place, &cases, &diag), KVC_OK, "%s:%d: %s", place, diag.line, diag.message);
    cr_expect_eq(kvc_facts_check(&facts, &cases, &diag), KVC_OK, "%s: %s", name, diag.message);
    expect_profiles_unscored(&facts);
    expect_inputs_named(&facts);
    kvc_facts_free(&facts);
    kvc_cases_free(&cases);
}

Test(facts, every_published_number_has_a_case_or_a_reason)
{
    expect_complete("bluecache");
    expect_complete("kvdirect");
    expect_complete("megakv");
    expect_complete("memcachedgpu");
}
