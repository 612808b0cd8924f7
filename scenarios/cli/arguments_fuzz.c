/* Fuzz target that takes the lines of its input as the arguments of a sub-command that has every kind of
 * option. Arguments that are refused have one message of one line on stderr and exit status 2. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/arguments.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ARGUMENTS_MAX = 300 };

static const struct kvc_flag flags[] = {
    {"--kind", "-k", "KIND", "a value"}, {"--switch", "-s", NULL, "a switch"}, {NULL, NULL, NULL, NULL}};

static const struct kvc_usage usage = {
    .command = "fuzz",
    .positional = "FILE...",
    .positional_min = 1,
    .positional_max = KVC_POSITIONAL_MAX,
    .help = "Tries arguments.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JOBS | KVC_TAKES_JSON |
             KVC_TAKES_OUT | KVC_TAKES_QUIET,
    .flags = flags,
};

static void check_accepted(const struct kvc_arguments *arguments)
{
    kvc_fuzz_check(arguments->positional_count >= usage.positional_min &&
                   arguments->positional_count <= KVC_POSITIONAL_MAX);
    for (int i = 0; i < arguments->positional_count; i++) {
        kvc_fuzz_check(arguments->positional[i] != NULL);
    }
    kvc_fuzz_check(arguments->jobs <= 1024);
}

/* Checks what was printed: a message in one line, or help. */
static void check_refused(int exit_status, char *said, const char *shown)
{
    kvc_fuzz_check(exit_status == 0 || exit_status == KVC_ERR_SCENARIO);
    kvc_fuzz_check((exit_status == 0) == (shown[0] != '\0'));
    if (exit_status != 0) {
        size_t last = strlen(said);
        kvc_fuzz_check(last > 0 && said[last - 1] == '\n');
        said[last - 1] = '\0';
        kvc_fuzz_check_line(said);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *argv[ARGUMENTS_MAX + 1] = {"fuzz"}, *rest, *said, *shown;
    size_t said_bytes, shown_bytes;
    int argc = 1, exit_status = 0;
    char *lines = strndup((const char *)data, bytes);
    FILE *err = stderr, *out = stdout;
    kvc_fuzz_check(lines != NULL);
    for (char *at = strtok_r(lines, "\n", &rest); at != NULL && argc < ARGUMENTS_MAX;
         at = strtok_r(NULL, "\n", &rest)) {
        argv[argc++] = at;
    }
    stderr = open_memstream(&said, &said_bytes);
    stdout = open_memstream(&shown, &shown_bytes);
    struct kvc_arguments arguments;
    bool goes_on = kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status);
    fclose(stderr);
    fclose(stdout);
    stderr = err;
    stdout = out;
    if (goes_on) {
        kvc_fuzz_check(said[0] == '\0');
        check_accepted(&arguments);
        kvc_arguments_free(&arguments);
    } else {
        check_refused(exit_status, said, shown);
    }
    free(said);
    free(shown);
    free(lines);
    return 0;
}
