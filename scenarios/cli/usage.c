#include "scenarios/cli/usage.h"

#include <stddef.h>

static const struct {
    unsigned takes;
    struct kvc_flag flag;
} shared[] = {
    {KVC_TAKES_SET,
     {"--set", NULL, "PATH=VALUE", "set a value of the scenario, such as run.duration=10ms; repeatable"}},
    {KVC_TAKES_SEED, {"--seed", NULL, "N", "short for --set run.seed=N"}},
    {KVC_TAKES_REPLICAS, {"--replicas", NULL, "N", "short for --set run.replicas=N"}},
    {KVC_TAKES_JOBS, {"--jobs", "-j", "N", "run up to N processes at a time; results do not depend on N"}},
    {KVC_TAKES_JSON,
     {"--json", NULL, "FILE|-", "write JSON to FILE, or with - to stdout instead of the table"}},
    {KVC_TAKES_OUT, {"--out", "-o", "DIR", "write all files into this folder"}},
    {KVC_TAKES_FORCE,
     {"--force", NULL, NULL, "replace another result in DIR instead of keeping it in DIR/older-1"}},
    {KVC_TAKES_QUIET, {"--quiet", "-q", NULL, "show no progress and no warnings"}},
    {KVC_TAKES_LONG, {"--long", NULL, NULL, "start even a run that needs more than a day"}},
};

enum { SHARED = sizeof(shared) / sizeof(*shared) };

static const struct kvc_flag help_flag = {"--help", "-h", NULL, "show this help"};

int kvc_usage_own_flags(const struct kvc_usage *usage)
{
    int count = 0;
    while (usage->flags != NULL && usage->flags[count].name != NULL) {
        count++;
    }
    return count;
}

int kvc_usage_flags(const struct kvc_usage *usage, const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX],
                    unsigned takes[KVC_USAGE_FLAGS_MAX])
{
    unsigned ignored[KVC_USAGE_FLAGS_MAX];
    int count = 0;
    takes = takes != NULL ? takes : ignored;
    for (int own = kvc_usage_own_flags(usage); count < own; count++) {
        flags[count] = &usage->flags[count];
        takes[count] = 0;
    }
    for (int i = 0; i < SHARED; i++) {
        if (usage->takes & shared[i].takes) {
            flags[count] = &shared[i].flag;
            takes[count++] = shared[i].takes;
        }
    }
    flags[count] = &help_flag;
    takes[count++] = 0;
    return count;
}

static void print_flag(const struct kvc_flag *flag, FILE *out)
{
    char left[64];
    snprintf(left, sizeof(left), "%s%s%s%s%s", flag->letter != NULL ? flag->letter : "",
             flag->letter != NULL ? ", " : "", flag->name, flag->value != NULL ? " " : "",
             flag->value != NULL ? flag->value : "");
    fprintf(out, "  %-24s %s\n", left, flag->help);
}

void kvc_usage_print(const struct kvc_usage *usage, FILE *out)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, NULL);
    fprintf(out, "usage: kvcast %s [options]%s%s\n\n%s\n\noptions:\n", usage->command,
            usage->positional[0] != '\0' ? " " : "", usage->positional, usage->help);
    for (int i = 0; i < count; i++) {
        print_flag(flags[i], out);
    }
}
