#include "scenarios/cli/arguments.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

static const struct kvc_flag flags[] = {
    {"--kind", "-k", "KIND", "which picture"},
    {"--all", NULL, NULL, "everything"},
    {NULL, NULL, NULL, NULL},
};

static const struct kvc_usage usage = {
    .command = "test",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 2,
    .help = "Helps.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_QUIET,
    .flags = flags,
};

enum { WORDS_MAX = 32 };

static bool parse(const char *words, const struct kvc_usage *of, struct kvc_arguments *arguments,
                  int *exit_status)
{
    static char text[256];
    static char *argv[WORDS_MAX];
    int argc = 0;
    snprintf(text, sizeof(text), "test %s", words);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    return kvc_arguments_parse(argc, argv, of, arguments, exit_status);
}

Test(arguments, reads_all_options_in_any_place)
{
    struct kvc_arguments arguments;
    int exit_status;
    cr_assert(parse("--set a.b=1 one --seed 3 --jobs=4 -k cdf --json - --replicas 5 --out dir -q two --all",
                    &usage, &arguments, &exit_status));
    cr_expect_eq(arguments.set.count, 3);
    cr_expect_str_eq(arguments.set.entry[0].path, "a.b");
    cr_expect_str_eq(arguments.set.entry[1].path, "run.seed");
    cr_expect_str_eq(arguments.set.entry[1].value, "3");
    cr_expect_str_eq(arguments.set.entry[2].path, "run.replicas");
    cr_expect_eq(arguments.jobs, 4);
    cr_expect_str_eq(arguments.json, "-");
    cr_expect_str_eq(arguments.out, "dir");
    cr_expect(arguments.quiet);
    cr_expect_str_eq(arguments.flag[0], "cdf");
    cr_expect_str_eq(arguments.flag[1], "");
    cr_assert_eq(arguments.positional_count, 2);
    cr_expect_str_eq(arguments.positional[1], "two");
    kvc_arguments_free(&arguments);
}

Test(arguments, keeps_values_with_equals_signs)
{
    struct kvc_arguments arguments;
    int exit_status;
    cr_assert(parse("--set=node.cpu=a=b one", &usage, &arguments, &exit_status));
    cr_expect_str_eq(arguments.set.entry[0].path, "node.cpu");
    cr_expect_str_eq(arguments.set.entry[0].value, "a=b");
    cr_expect_eq(arguments.jobs, 0);
    cr_expect_null(arguments.flag[0]);
    kvc_arguments_free(&arguments);
    cr_assert(parse("-- --set", &usage, &arguments, &exit_status));
    cr_expect_str_eq(arguments.positional[0], "--set");
    kvc_arguments_free(&arguments);
}

Test(arguments, reads_letters_together_and_values_beside_them)
{
    struct kvc_arguments arguments;
    int exit_status;
    cr_assert(parse("-qj2 -kcdf one", &usage, &arguments, &exit_status));
    cr_expect(arguments.quiet);
    cr_expect_eq(arguments.jobs, 2);
    cr_expect_str_eq(arguments.flag[0], "cdf");
    cr_expect_str_eq(arguments.positional[0], "one");
    kvc_arguments_free(&arguments);
}

static void refuses(const char *words, const struct kvc_usage *of, const char *message)
{
    struct kvc_arguments arguments;
    int exit_status = -1;
    cr_redirect_stderr();
    cr_expect_not(parse(words, of, &arguments, &exit_status));
    fflush(stderr);
    cr_expect_eq(exit_status, 2);
    cr_expect_stderr_eq_str(message);
}

Test(arguments, suggests_the_nearest_option)
{
    refuses("one --jsn x", &usage,
            "kvcast test: unknown option --jsn; did you mean --json?; see kvcast test --help\n");
}

/* An abbreviation may become ambiguous with the next version. */
Test(arguments, wants_whole_names)
{
    refuses("one --jso=x", &usage,
            "kvcast test: unknown option --jso; did you mean --json?; see kvcast test --help\n");
}

Test(arguments, names_the_letter_that_is_unknown)
{
    refuses("one -qz", &usage, "kvcast test: unknown option -z; see kvcast test --help\n");
}

Test(arguments, wants_the_value_of_the_last_letter)
{
    refuses("one -qj", &usage, "kvcast test: --jobs needs a value: N\n");
}

Test(arguments, knows_only_what_the_command_takes)
{
    struct kvc_usage plain = usage;
    plain.takes = 0;
    plain.flags = NULL;
    refuses("one --json x", &plain, "kvcast test: unknown option --json; see kvcast test --help\n");
}

Test(arguments, wants_values)
{
    refuses("one --seed", &usage, "kvcast test: --seed needs a value: N\n");
}

Test(arguments, gives_switches_none)
{
    refuses("one --quiet=yes", &usage, "kvcast test: --quiet takes no value\n");
}

Test(arguments, refuses_bad_jobs)
{
    refuses("one --jobs 0", &usage,
            "kvcast test: --jobs: found \"0\", allowed: a whole number from 1 to 1024\n");
}

Test(arguments, refuses_bad_assignments)
{
    refuses("one --set x", &usage,
            "kvcast test: --set: found \"x\", allowed: PATH=VALUE, such as run.duration=20ms\n");
}

Test(arguments, counts_what_is_left)
{
    refuses("", &usage, "kvcast test: FILE is missing; see kvcast test --help\n");
}

Test(arguments, refuses_one_too_many)
{
    refuses("a b c", &usage, "kvcast test: found more than 2 arguments with \"c\", allowed: up to 2 FILE\n");
}

Test(arguments, refuses_two_outputs_in_one_file)
{
    refuses("a --json x --out x", &usage,
            "kvcast test: --out: found \"x\", which --json writes; allowed: another file\n");
}

Test(arguments, helps_on_stdout)
{
    struct kvc_arguments arguments;
    int exit_status = -1;
    char text[2048] = "";
    cr_redirect_stdout();
    cr_expect_not(parse("one --help", &usage, &arguments, &exit_status));
    fflush(stdout);
    cr_expect_eq(exit_status, 0);
    size_t got = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stdout());
    cr_assert_gt(got, 0);
    cr_expect(strncmp(text, "usage: kvcast test [options] FILE\n", 34) == 0);
    cr_expect(strstr(text, "-k, --kind KIND") != NULL && strstr(text, "--set PATH=VALUE") != NULL);
}
