#include "scenarios/cli/arguments.h"

#include <errno.h>
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

static bool matches(const struct kvc_flag *flag, const char *name)
{
    return strcmp(flag->name, name) == 0 || (flag->letter != NULL && strcmp(flag->letter, name) == 0);
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

/* Returns the position of the flag called `name` in kvc_usage_flags, or -1. */
static int find_flag(const struct kvc_usage *usage, const char *name,
                     const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX], unsigned takes[KVC_USAGE_FLAGS_MAX])
{
    int count = kvc_usage_flags(usage, flags, takes);
    for (int i = 0; i < count; i++) {
        if (matches(flags[i], name)) {
            return i;
        }
    }
    return -1;
}

static bool parse_jobs(const char *text, uint32_t *jobs)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 || value > 1024) {
        return false;
    }
    *jobs = (uint32_t)value;
    return true;
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
        if (!parse_jobs(value, &arguments->jobs)) {
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

/* Parses argv[*at], an option, and its value. */
static bool parse_option(int argc, char **argv, int *at, const struct kvc_usage *usage,
                         struct kvc_arguments *arguments)
{
    char name[64];
    const char *text = argv[*at], *value = NULL, *equals = strchr(text, '=');
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    unsigned takes[KVC_USAGE_FLAGS_MAX];
    bool is_long = text[1] == '-';
    snprintf(name, sizeof(name), "%.*s", equals != NULL && is_long ? (int)(equals - text) : (int)strlen(text),
             text);
    int found = find_flag(usage, name, flags, takes);
    if (found < 0) {
        return refuse_unknown(usage, name);
    }
    const struct kvc_flag *flag = flags[found];
    if (equals != NULL && is_long) {
        value = equals + 1;
    } else if (flag->value != NULL && *at + 1 < argc) {
        value = argv[++*at];
    }
    if ((value == NULL) != (flag->value == NULL)) {
        return flag->value != NULL ? refuse(usage, "%s needs a value: %s", flag->name, flag->value)
                                   : refuse(usage, "%s takes no value", flag->name);
    }
    if (value != NULL && value[0] == '\0') {
        return refuse(usage, "%s: found an empty text, allowed: %s", flag->name, flag->value);
    }
    if (found < kvc_usage_own_flags(usage)) {
        arguments->flag[found] = value != NULL ? value : "";
        return true;
    }
    return apply_shared(usage, arguments, takes[found], value);
}

static bool parse_all(int argc, char **argv, const struct kvc_usage *usage, struct kvc_arguments *arguments)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!parse_option(argc, argv, &i, usage, arguments)) {
                return false;
            }
        } else if (arguments->positional_count == usage->positional_max ||
                   arguments->positional_count == KVC_POSITIONAL_MAX) {
            return refuse(usage, "\"%s\" is an unexpected argument; see kvcast %s --help", argv[i],
                          usage->command);
        } else if (argv[i][0] == '\0') {
            return refuse(usage, "found an empty text, allowed: %s", usage->positional);
        } else {
            arguments->positional[arguments->positional_count++] = argv[i];
        }
    }
    if (arguments->positional_count < usage->positional_min) {
        return refuse(usage, "%s is missing; see kvcast %s --help", usage->positional, usage->command);
    }
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Refuses to write a file over one that the command reads. */
static bool spare_inputs(const struct kvc_usage *usage, const struct kvc_arguments *arguments)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    unsigned takes[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, takes), own = kvc_usage_own_flags(usage);
    for (int i = 0; i < count; i++) {
        bool is_own_file = i < own && flags[i]->value != NULL && strncmp(flags[i]->value, "FILE", 4) == 0;
        const char *output = is_own_file                              ? arguments->flag[i]
                             : i >= own && takes[i] == KVC_TAKES_JSON ? arguments->json
                                                                      : NULL;
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
    if (parse_all(argc, argv, usage, arguments) && spare_inputs(usage, arguments)) {
        return true;
    }
    kvc_arguments_free(arguments);
    *exit_status = KVC_ERR_SCENARIO;
    return false;
}
