/* Options that the sub-commands share, and their parsing.
 *
 * Options and positional arguments may be mixed; "--" ends the options; "--name=value" and "--name value" are
 * the same. What is wrong is told on stderr; --help goes to stdout. */
#ifndef KVC_SCENARIOS_CLI_ARGUMENTS_H
#define KVC_SCENARIOS_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/load.h"

/* Which common options a command takes. */
enum {
    KVC_TAKES_SET = 1,      /* --set PATH=VALUE, repeatable */
    KVC_TAKES_SEED = 2,     /* --seed N: --set run.seed=N */
    KVC_TAKES_REPLICAS = 4, /* --replicas N: --set run.replicas=N */
    KVC_TAKES_JOBS = 8,     /* --jobs N */
    KVC_TAKES_JSON = 16,    /* --json FILE|- */
    KVC_TAKES_OUT = 32,     /* --out DIR */
    KVC_TAKES_QUIET = 64,   /* --quiet */
};

/* An option of one command only. */
struct kvc_flag {
    const char *name;   /* "--kind" */
    const char *letter; /* "-k"; NULL: none */
    const char *value;  /* what its value is called in the help; NULL: a switch */
    const char *help;
};

enum { KVC_FLAGS_MAX = 16, KVC_POSITIONAL_MAX = 256 };

struct kvc_usage {
    const char *command;    /* "run" */
    const char *positional; /* "SCENARIO.lua"; "": none */
    int positional_min, positional_max;
    const char *help;             /* what the command does; full sentences */
    unsigned takes;               /* KVC_TAKES_... */
    const struct kvc_flag *flags; /* the last one's name is NULL; NULL: none */
};

struct kvc_arguments {
    struct kvc_overrides set;
    uint32_t jobs;    /* 0: not given */
    const char *json; /* NULL: not given */
    const char *out;  /* NULL: not given */
    bool quiet;
    const char *flag[KVC_FLAGS_MAX]; /* by position in usage->flags; NULL: not given; "": a switch that was */
    int positional_count;
    const char *positional[KVC_POSITIONAL_MAX];
};

void kvc_arguments_free(struct kvc_arguments *arguments);

/* True: go on, and free `arguments` afterwards. False: help or a message was printed, return *exit_status. */
bool kvc_arguments_parse(int argc, char **argv, const struct kvc_usage *usage,
                         struct kvc_arguments *arguments, int *exit_status);

#endif
