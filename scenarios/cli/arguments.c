#include "scenarios/cli/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scenarios/cli/manual.h"
#include "sim/base/text/option.h"

/* Prints a message about the arguments in one line, even if they contain line breaks. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(const struct kvc_usage *usage, const char *format,
                                                         ...)
{
    char text[sizeof(((struct kvc_diag *)NULL)->message)];
    struct kvc_diag diag = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    kvc_diag_fail(&diag, KVC_ERR_SCENARIO, "kvcast %s: %s", usage->command, text);
    kvc_diag_print(&diag, stderr);
    fputc('\n', stderr);
    return false;
}

static bool refuse_unknown(const struct kvc_usage *usage, const char *name)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    const char *names[KVC_USAGE_FLAGS_MAX + 1];
    int count = kvc_usage_flags(usage, flags, NULL);
    for (int i = 0; i < count; i++) {
        names[i] = flags[i]->name;
    }
    names[count] = NULL;
    const char *nearest = kvc_nearest_name(name, names);
    return refuse(usage, "unknown option %s%s%s%s; see kvcast %s --help", name,
                  nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "?" : "", usage->command);
}

static bool parse_whole(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
    char *end;
    errno = 0;
    unsigned long found = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || found < least || found > most) {
        return false;
    }
    *value = (uint32_t)found;
    return true;
}

enum kvc_status kvc_arguments_whole(const char *command, const char *option, const char *text, uint32_t least,
                                    uint32_t most, uint32_t *value, struct kvc_diag *diag)
{
    return text == NULL || parse_whole(text, least, most, value)
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "%s: %s: found \"%.40s\", allowed: a whole number from %u to %u", command,
                               option, text, least, most);
}

static bool apply_shared(const struct kvc_usage *usage, struct kvc_arguments *arguments, unsigned takes,
                         const char *value)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = KVC_OK;
    switch (takes) {
    case KVC_TAKES_SET:
        status = kvc_overrides_parse(&arguments->set, value, &diag);
        break;
    case KVC_TAKES_SEED:
        status = kvc_overrides_add(&arguments->set, "run.seed", value, &diag);
        break;
    case KVC_TAKES_REPLICAS:
        status = kvc_overrides_add(&arguments->set, "run.replicas", value, &diag);
        break;
    case KVC_TAKES_JOBS:
        if (!parse_whole(value, 1, 1024, &arguments->jobs)) {
            return refuse(usage, "--jobs: found \"%s\", allowed: a whole number from 1 to 1024", value);
        }
        break;
    case KVC_TAKES_JSON:
        arguments->json = value;
        break;
    case KVC_TAKES_OUT:
        arguments->out = value;
        break;
    case KVC_TAKES_FORCE:
        arguments->is_forced = true;
        break;
    case KVC_TAKES_LONG:
        arguments->is_long = true;
        break;
    default:
        arguments->quiet = true;
    }
    if (status != KVC_OK) {
        fprintf(stderr, "kvcast %s: ", usage->command);
        kvc_diag_print(&diag, stderr);
        fputc('\n', stderr);
    }
    return status == KVC_OK;
}

enum { LONG_FIRST = 256 /* What getopt_long() returns for the first long option. */ };

/* The options of a command, for getopt_long(). */
struct options {
    const struct kvc_flag *flag[KVC_USAGE_FLAGS_MAX];
    unsigned takes[KVC_USAGE_FLAGS_MAX];
    struct option name[KVC_USAGE_FLAGS_MAX + 1];
    char letters[2 * KVC_USAGE_FLAGS_MAX + 3];
};

/* Arguments that are no options are returned where they stand, and a missing value is told from an unknown
 * option. */
static void list_options(const struct kvc_usage *usage, struct options *options)
{
    int count = kvc_usage_flags(usage, options->flag, options->takes);
    char *letter = stpcpy(options->letters, "-:");
    for (int i = 0; i < count; i++) {
        const struct kvc_flag *flag = options->flag[i];
        int has_value = flag->value != NULL ? required_argument : no_argument;
        options->name[i] = (struct option){flag->name + 2, has_value, NULL, LONG_FIRST + i};
        if (flag->letter != NULL) {
            letter = stpcpy(stpcpy(letter, flag->letter + 1), has_value != no_argument ? ":" : "");
        }
    }
}

/* Returns the position of the flag that getopt_long() names by this number, or -1. */
static int flag_of(const struct options *options, int number)
{
    if (number >= LONG_FIRST) {
        return number - LONG_FIRST;
    }
    for (int i = 0; options->name[i].name != NULL; i++) {
        const char *letter = options->flag[i]->letter;
        if (letter != NULL && letter[1] == number) {
            return i;
        }
    }
    return -1;
}

/* Returns whether a long option is written out: what is unique today need not be so tomorrow. */
static bool is_whole(const char *text, const struct kvc_flag *flag)
{
    return strcspn(text, "=") == strlen(flag->name);
}

/* Applies what getopt_long() found in `text`. */
static bool apply_option(const struct kvc_usage *usage, const struct options *options, int code,
                         const char *text, struct kvc_arguments *arguments)
{
    bool failed = code == '?' || code == ':';
    int number = failed ? optopt : code, found = flag_of(options, number);
    if (found < 0 || (number >= LONG_FIRST && !is_whole(text, options->flag[found]))) {
        char name[64], letter[] = {'-', (char)number, '\0'};
        bool is_letter = number > 0 && number < LONG_FIRST;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), is_letter ? letter : text);
        return refuse_unknown(usage, name);
    }
    const struct kvc_flag *flag = options->flag[found];
    if (failed) {
        return code == ':' ? refuse(usage, "%s needs a value: %s", flag->name, flag->value)
                           : refuse(usage, "%s takes no value", flag->name);
    }
    if (flag->value != NULL && optarg[0] == '\0') {
        return refuse(usage, "%s: found an empty text, allowed: %s", flag->name, flag->value);
    }
    if (found < kvc_usage_own_flags(usage)) {
        arguments->flag[found] = flag->value != NULL ? optarg : "";
        return true;
    }
    return apply_shared(usage, arguments, options->takes[found], optarg);
}

static bool add_positional(const struct kvc_usage *usage, struct kvc_arguments *arguments, const char *text)
{
    if (arguments->positional_count == usage->positional_max ||
        arguments->positional_count == KVC_POSITIONAL_MAX) {
        return usage->positional_max > 1
                   ? refuse(usage, "found more than %d arguments with \"%s\", allowed: up to %d %s",
                            arguments->positional_count, text, arguments->positional_count, usage->positional)
                   : refuse(usage, "\"%s\" is an unexpected argument; see kvcast %s --help", text,
                            usage->command);
    }
    if (text[0] == '\0') {
        return refuse(usage, "found an empty text, allowed: %s", usage->positional);
    }
    arguments->positional[arguments->positional_count++] = text;
    return true;
}

static bool parse_all(int argc, char **argv, const struct kvc_usage *usage, struct kvc_arguments *arguments)
{
    struct options options = {.letters = ""};
    int code, at = 1;
    bool good = true;
    list_options(usage, &options);
    opterr = 0;
    optind = 0; /* Forgets the arguments before. */
    while (good && (code = getopt_long(argc, argv, options.letters, options.name, NULL)) != -1) {
        good = code == 1 ? add_positional(usage, arguments, optarg)
                         : apply_option(usage, &options, code, argv[at], arguments);
        at = optind;
    }
    for (at = optind; good && at < argc; at++) { /* After "--". */
        good = add_positional(usage, arguments, argv[at]);
    }
    if (good && arguments->positional_count < usage->positional_min) {
        return refuse(usage, "%s is missing; see kvcast %s --help", usage->positional, usage->command);
    }
    return good;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Returns whether two outputs would take each other's place; devices take any number. */
static bool is_same_output(const char *a, const char *b)
{
    struct stat found;
    return is_same_file(a, b) || (strcmp(a, b) == 0 && (stat(a, &found) != 0 || !S_ISCHR(found.st_mode)));
}

/* Refuses to write a file over one that the command reads, or writes for another option. */
static bool spare_files(const struct kvc_usage *usage, const struct kvc_arguments *arguments)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    unsigned takes[KVC_USAGE_FLAGS_MAX];
    const char *written[KVC_USAGE_FLAGS_MAX], *by[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, takes), own = kvc_usage_own_flags(usage), outputs = 0;
    for (int i = 0; i < count; i++) {
        bool is_own_file = i < own && flags[i]->value != NULL && strncmp(flags[i]->value, "FILE", 4) == 0;
        const char *output = is_own_file                              ? arguments->flag[i]
                             : i >= own && takes[i] == KVC_TAKES_JSON ? arguments->json
                             : i >= own && takes[i] == KVC_TAKES_OUT  ? arguments->out
                                                                      : NULL;
        for (int j = 0; output != NULL && j < outputs; j++) {
            if (is_same_output(output, written[j])) {
                fprintf(stderr, "kvcast %s: %s: found \"%s\", which %s writes; allowed: another file\n",
                        usage->command, flags[i]->name, output, by[j]);
                return false;
            }
        }
        if (output != NULL) {
            written[outputs] = output;
            by[outputs++] = flags[i]->name;
        }
        for (int j = 0; output != NULL && j < arguments->positional_count; j++) {
            if (is_same_file(output, arguments->positional[j])) {
                fprintf(stderr,
                        "kvcast %s: %s: found \"%s\", which the command reads; allowed: another file\n",
                        usage->command, flags[i]->name, output);
                return false;
            }
        }
    }
    return true;
}

void kvc_arguments_free(struct kvc_arguments *arguments)
{
    kvc_overrides_clear(&arguments->set);
}

bool kvc_arguments_parse(int argc, char **argv, const struct kvc_usage *usage,
                         struct kvc_arguments *arguments, int *exit_status)
{
    *arguments = (struct kvc_arguments){0};
    *exit_status = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            kvc_usage_print(usage, stdout);
            return false;
        }
        if (strncmp(argv[i], "--help=", 7) == 0) {
            *exit_status = kvc_manual_print_command(usage, argv[i] + 7);
            return false;
        }
    }
    if (parse_all(argc, argv, usage, arguments) && spare_files(usage, arguments)) {
        return true;
    }
    kvc_arguments_free(arguments);
    *exit_status = KVC_ERR_SCENARIO;
    return false;
}
