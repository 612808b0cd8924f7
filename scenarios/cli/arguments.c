#include "scenarios/cli/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/option.h"

struct common {
    unsigned takes;
    struct kvc_flag flag;
};

static const struct common commons[] = {
    {KVC_TAKES_SET,
     {"--set", NULL, "PATH=VALUE", "change one value of the scenario, e.g. system.cycle=120us; repeatable"}},
    {KVC_TAKES_SEED, {"--seed", NULL, "N", "same as --set run.seed=N"}},
    {KVC_TAKES_REPLICAS, {"--replicas", NULL, "N", "same as --set run.replicas=N"}},
    {KVC_TAKES_JOBS, {"--jobs", "-j", "N", "processes at a time; results do not depend on it"}},
    {KVC_TAKES_JSON, {"--json", NULL, "FILE|-", "write JSON to FILE, or to stdout instead of the table"}},
    {KVC_TAKES_OUT, {"--out", "-o", "DIR", "write everything into this folder"}},
    {KVC_TAKES_QUIET, {"--quiet", "-q", NULL, "no progress and no warnings"}},
};

enum { COMMONS = sizeof(commons) / sizeof(*commons) };

static int flag_count(const struct kvc_usage *usage)
{
    int count = 0;
    while (usage->flags != NULL && usage->flags[count].name != NULL) {
        count++;
    }
    return count;
}

static void print_flag(const struct kvc_flag *flag)
{
    char left[64];
    snprintf(left, sizeof(left), "%s%s%s%s%s", flag->letter != NULL ? flag->letter : "",
             flag->letter != NULL ? ", " : "", flag->name, flag->value != NULL ? " " : "",
             flag->value != NULL ? flag->value : "");
    printf("  %-24s %s\n", left, flag->help);
}

static void print_help(const struct kvc_usage *usage)
{
    printf("usage: kvcast %s [options]%s%s\n\n%s\n\noptions:\n", usage->command,
           usage->positional[0] != '\0' ? " " : "", usage->positional, usage->help);
    for (int i = 0; i < flag_count(usage); i++) {
        print_flag(&usage->flags[i]);
    }
    for (int i = 0; i < COMMONS; i++) {
        if (usage->takes & commons[i].takes) {
            print_flag(&commons[i].flag);
        }
    }
    print_flag(&(struct kvc_flag){"--help", "-h", NULL, "show this"});
}

static bool matches(const struct kvc_flag *flag, const char *name)
{
    return strcmp(flag->name, name) == 0 || (flag->letter != NULL && strcmp(flag->letter, name) == 0);
}

/* The flag called `name`: an own one (*own is its position) or a common one (*common). */
static const struct kvc_flag *find_flag(const struct kvc_usage *usage, const char *name, int *own,
                                        const struct common **common)
{
    *own = -1;
    *common = NULL;
    for (int i = 0; i < flag_count(usage); i++) {
        if (matches(&usage->flags[i], name)) {
            *own = i;
            return &usage->flags[i];
        }
    }
    for (int i = 0; i < COMMONS; i++) {
        if ((usage->takes & commons[i].takes) && matches(&commons[i].flag, name)) {
            *common = &commons[i];
            return &commons[i].flag;
        }
    }
    return NULL;
}

static void report_unknown(const struct kvc_usage *usage, const char *name)
{
    const char *names[KVC_FLAGS_MAX + COMMONS + 2];
    int count = 0;
    for (int i = 0; i < flag_count(usage); i++) {
        names[count++] = usage->flags[i].name;
    }
    for (int i = 0; i < COMMONS; i++) {
        if (usage->takes & commons[i].takes) {
            names[count++] = commons[i].flag.name;
        }
    }
    names[count++] = "--help";
    names[count] = NULL;
    const char *nearest = kvc_nearest_name(name, names);
    fprintf(stderr, "kvcast %s: unknown option %s%s%s%s; see kvcast %s --help\n", usage->command, name,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "", usage->command);
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

static bool apply_common(const struct kvc_usage *usage, struct kvc_arguments *arguments, unsigned takes,
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
            fprintf(stderr, "kvcast %s: --jobs: found \"%s\", allowed: a whole number from 1 to 1024\n",
                    usage->command, value);
            return false;
        }
        break;
    case KVC_TAKES_JSON:
        arguments->json = value;
        break;
    case KVC_TAKES_OUT:
        arguments->out = value;
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

/* Takes argv[*at], an option, and its value. */
static bool parse_option(int argc, char **argv, int *at, const struct kvc_usage *usage,
                         struct kvc_arguments *arguments)
{
    char name[64];
    const char *text = argv[*at], *value = NULL, *equals = strchr(text, '=');
    const struct common *common;
    int own;
    bool is_long = text[1] == '-';
    snprintf(name, sizeof(name), "%.*s", equals != NULL && is_long ? (int)(equals - text) : (int)strlen(text),
             text);
    const struct kvc_flag *flag = find_flag(usage, name, &own, &common);
    if (flag == NULL) {
        report_unknown(usage, name);
        return false;
    }
    if (equals != NULL && is_long) {
        value = equals + 1;
    } else if (flag->value != NULL && *at + 1 < argc) {
        value = argv[++*at];
    }
    if ((value == NULL) != (flag->value == NULL)) {
        fprintf(stderr,
                flag->value != NULL ? "kvcast %s: %s needs a value: %s\n"
                                    : "kvcast %s: %s takes no value%s\n",
                usage->command, flag->name, flag->value != NULL ? flag->value : "");
        return false;
    }
    if (own >= 0) {
        arguments->flag[own] = value != NULL ? value : "";
        return true;
    }
    return apply_common(usage, arguments, common->takes, value);
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
            fprintf(stderr, "kvcast %s: \"%s\" is one argument too many; see kvcast %s --help\n",
                    usage->command, argv[i], usage->command);
            return false;
        } else {
            arguments->positional[arguments->positional_count++] = argv[i];
        }
    }
    if (arguments->positional_count < usage->positional_min) {
        fprintf(stderr, "kvcast %s: %s is missing; see kvcast %s --help\n", usage->command, usage->positional,
                usage->command);
        return false;
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
            print_help(usage);
            return false;
        }
    }
    if (parse_all(argc, argv, usage, arguments)) {
        return true;
    }
    kvc_arguments_free(arguments);
    *exit_status = KVC_ERR_SCENARIO;
    return false;
}
