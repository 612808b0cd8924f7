#include "validate/scoring/identified.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/kvcast-identified-XXXXXX";

static void make_path(void)
{
    strcpy(path, "/tmp/kvcast-identified-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(identified, .init = make_path, .fini = remove_path);

static struct kvc_case entries[] = {
    {.id = "a", .scenario = "x/table5.lua", .published = 1, .low = NAN, .high = NAN},
    {.id = "b", .scenario = "x/table5.lua", .published = 1, .low = NAN, .high = NAN},
    {.id = "c", .scenario = "x/fig4.lua", .published = 1, .low = NAN, .high = NAN},
    {.id = "bound", .published = NAN, .low = 1, .high = NAN},
    {.id = "ratio", .mode = KVC_CASE_RATIO, .scenario = "a/b", .published = 1, .low = NAN, .high = NAN}};
static const struct kvc_cases cases = {5, entries};

static void write_rows(const char *header, const char *rows)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    fprintf(file, "%s\n%s\n", header, rows);
    fclose(file);
}

static void expect_refused(const char *row, const char *message)
{
    struct kvc_identified identified;
    struct kvc_diag diag = {0};
    write_rows("system,scenarios,parameter,low,high,figures,source", row);
    cr_expect_eq(kvc_identified_read(path, &cases, &identified, &diag), KVC_ERR_SCENARIO, "%s", row);
    cr_expect_eq(diag.line, 2, "%s", row);
    cr_expect(strstr(diag.message, message) != NULL, "%s: %s", row, diag.message);
}

static void read_two(struct kvc_identified *identified)
{
    write_rows(
        "system,scenarios,parameter,low,high,figures,source",
        "mica,*,system.cost,2us,80us,a b,a data sheet, page 3\nfarm,f*.lua,node.nic.delay,1,4,b c,another");
    cr_assert_eq(kvc_identified_read(path, &cases, identified, NULL), KVC_OK);
}

Test(identified, a_parameter_concerns_cases_by_system_scenario_and_overrides)
{
    static const struct kvc_case fig4 = {.scenario = "x/fig4.lua", .overrides = "node.gpu=titan"},
                                 table5 = {.scenario = "x/table5.lua"};
    struct kvc_identified identified;
    read_two(&identified);
    cr_expect(kvc_identified_concerns(&identified.parameter[0], "mica", &table5));
    cr_expect_not(kvc_identified_concerns(&identified.parameter[0], "farm", &table5));
    cr_expect(kvc_identified_concerns(&identified.parameter[1], "farm", &fig4));
    cr_expect_not(kvc_identified_concerns(&identified.parameter[1], "farm", &table5));
    strcpy(identified.parameter[0].scenarios, "fig4.lua*titan");
    cr_expect(kvc_identified_concerns(&identified.parameter[0], "mica", &fig4));
    cr_expect_not(kvc_identified_concerns(&identified.parameter[0], "mica", &table5));
}

Test(identified, overrides_of_a_case_win)
{
    struct kvc_case asked = {.scenario = "x/fig4.lua", .overrides = "node.gpu=titan"};
    static const double value[] = {3, 2};
    struct kvc_identified identified;
    char text[KVC_IDENTIFIED_TEXT];
    read_two(&identified);
    cr_expect(kvc_identified_overrides(&identified, value, &asked, "mica", text));
    cr_expect_str_eq(text, "node.gpu=titan;system.cost=3us");
    strcpy(asked.overrides, "system.cost_of=2;system.cost=5us");
    cr_expect_not(kvc_identified_overrides(&identified, value, &asked, "mica", text));
    cr_expect_str_eq(text, asked.overrides);
}

Test(identified, a_missing_file_asks_for_nothing)
{
    struct kvc_identified identified = {.count = 7};
    cr_expect_eq(kvc_identified_read("/nowhere/identified.csv", &cases, &identified, NULL), KVC_OK);
    cr_expect_eq(identified.count, 0);
}

Test(identified, parameters_share_figures)
{
    struct kvc_identified identified;
    read_two(&identified);
    cr_assert_eq(identified.count, 2);
    cr_expect_eq(identified.parameter[0].low, 2);
    cr_expect_eq(identified.parameter[0].high, 80);
    cr_expect_str_eq(identified.parameter[0].unit, "us");
    cr_expect_str_eq(identified.parameter[0].source, "a data sheet, page 3");
    cr_expect_str_eq(identified.parameter[1].unit, "");
    cr_expect(identified.parameter[1].is_whole && !identified.parameter[0].is_whole);
    cr_expect_eq(identified.figures, 3);
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 1), 1);
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 3), -1);
}

Test(identified, refuse_wrong_rows)
{
    expect_refused("mica,*,system.cost,2us,80us,nosuch,x", "found figure \"nosuch\"");
    expect_refused("mica,*,system.cost,2us,80us,bound,x", "found figure \"bound\"");
    expect_refused("mica,*,system.cost,2us,80us,,x", "no figures that determine system.cost");
    expect_refused("mica,*,system.cost,0us,80us,a,x", "found the bound \"0us\"");
    expect_refused("mica,*,system.cost,fast,80us,a,x", "found the bound \"fast\"");
    expect_refused("mica,*,system.cost,2us,80ns,a,x", "in the same unit");
    expect_refused("mica,*,system.cost,80us,2us,a,x", "a lower and a higher one");
}

Test(identified, no_figure_is_predicted_with_a_value_that_saw_it)
{
    struct kvc_identified identified, read;
    read_two(&identified);
    read = identified;
    identified.value[0] = (struct kvc_identified_value){
        .value = 22.5, .low = 20, .high = 25, .facts = 12, .condition = 1.5, .without = {30, 15, 22.5}};
    identified.value[1] = (struct kvc_identified_value){
        .value = 3, .low = 2, .high = NAN, .facts = NAN, .condition = INFINITY, .dropped = "wide, of course"};
    cr_assert_eq(kvc_identification_write(path, &cases, &identified, NULL), KVC_OK);
    cr_assert_eq(kvc_identification_read(path, &cases, &read, NULL), KVC_OK);
    cr_expect_eq(kvc_identified_used(&read), 1);
    cr_expect_eq(read.value[0].facts, 12);
    cr_expect_eq(read.value[0].condition, 1.5);
    cr_expect_str_eq(read.value[1].dropped, "wide, of course");
    static const double expected[] = {30, 15, 22.5, 22.5};
    double value[KVC_IDENTIFIED_MAX];
    for (size_t i = 0; i < 4; i++) {
        kvc_identified_unseen(&read, &cases, i, value);
        cr_expect_eq(value[0], expected[i], "case %zu", i);
        cr_expect(isnan(value[1]), "a dropped parameter is not used");
    }
}

Test(identified, parts_of_a_figure_are_predicted_without_it)
{
    struct kvc_identified identified;
    write_rows("system,scenarios,parameter,low,high,figures,source", "mica,*,system.cost,2us,80us,ratio c,x");
    cr_assert_eq(kvc_identified_read(path, &cases, &identified, NULL), KVC_OK);
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 0), 0, "a is the ratio's numerator");
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 1), 0);
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 2), 1);
    cr_expect_eq(kvc_identified_figure(&identified, &cases, 3), -1);
}

Test(identified, a_parameter_without_figures_left_keeps_the_value_of_the_scenario)
{
    struct kvc_identified identified;
    double value[KVC_IDENTIFIED_MAX];
    write_rows("system,scenarios,parameter,low,high,figures,source", "mica,*,system.cost,2us,80us,a,x");
    cr_assert_eq(kvc_identified_read(path, &cases, &identified, NULL), KVC_OK);
    write_rows("system,scenarios,parameter,left_out,value,low,high,facts,condition,dropped",
               "mica,*,system.cost,,9us,8us,10us,,1,\nmica,*,system.cost,a,,,,,,");
    cr_assert_eq(kvc_identification_read(path, &cases, &identified, NULL), KVC_OK);
    kvc_identified_unseen(&identified, &cases, 0, value);
    cr_expect(isnan(value[0]));
    kvc_identified_unseen(&identified, &cases, 1, value);
    cr_expect_eq(value[0], 9);
}

Test(identified, refuse_wrong_values)
{
    static const struct {
        const char *row, *message;
    } wrong[] = {
        {"mica,*,system.cost,,9,8us,10us,,1,", "found \"9\", allowed: a number in us"},
        {"mica,*,system.cost,,,,,,,", "found no value of system.cost"},
        {"mica,*,system.other,,9us,,,,,", "does not ask for"},
        {"mica,*,system.cost,nosuch,9us,,,,,", "no figure of identified.csv"},
        {"mica,*,system.cost,,9us,8us,10us,,1,", "node.nic.delay of farm is missing"},
    };
    struct kvc_identified identified;
    struct kvc_diag diag;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        read_two(&identified);
        diag = (struct kvc_diag){0};
        write_rows("system,scenarios,parameter,left_out,value,low,high,facts,condition,dropped",
                   wrong[i].row);
        cr_expect_eq(kvc_identification_read(path, &cases, &identified, &diag), KVC_ERR_SCENARIO);
        cr_expect(strstr(diag.message, wrong[i].message) != NULL, "%s: %s", wrong[i].row, diag.message);
    }
}
