/* The usage of a sub-command: its flags, its positional arguments, its help. One table serves the parser
 * (scenarios/cli/arguments.h), --help, the man pages and the shells' completion (scenarios/cli/manual.h). */
#ifndef KVC_SCENARIOS_CLI_USAGE_H
#define KVC_SCENARIOS_CLI_USAGE_H

#include <stdio.h>

/* Common options; a command says which of them it takes. */
enum {
    KVC_TAKES_SET = 1,      /* --set PATH=VALUE, repeatable */
    KVC_TAKES_SEED = 2,     /* --seed N, short for --set run.seed=N */
    KVC_TAKES_REPLICAS = 4, /* --replicas N, short for --set run.replicas=N */
    KVC_TAKES_JOBS = 8,     /* --jobs N */
    KVC_TAKES_JSON = 16,    /* --json FILE|- */
    KVC_TAKES_OUT = 32,     /* --out DIR */
    KVC_TAKES_QUIET = 64,   /* --quiet */
    KVC_TAKES_LONG = 128,   /* --long */
    KVC_TAKES_FORCE = 256,  /* --force */
};

struct kvc_flag {
    const char *name;   /* "--kind" */
    const char *letter; /* "-k", or NULL */
    const char *value;  /* Name of the value in the help; NULL for a switch. */
    const char *help;
};

enum { KVC_FLAGS_MAX = 16, KVC_POSITIONAL_MAX = 256, KVC_USAGE_FLAGS_MAX = KVC_FLAGS_MAX + 10 };

struct kvc_usage {
    const char *command;    /* "run" */
    const char *positional; /* "SCENARIO.lua"; empty if the command takes no positional argument. */
    int positional_min, positional_max;
    const char *help;             /* Description of the command, in full sentences. */
    unsigned takes;               /* KVC_TAKES_... */
    const struct kvc_flag *flags; /* Flags of this command alone, ended by a NULL name; or NULL. */
};

/* Returns the number of flags that belong to this command alone. */
int kvc_usage_own_flags(const struct kvc_usage *usage);

/* Lists every flag of the command: its own, those that it shares with others, and --help. The `takes` of each
 * shared flag goes to `takes` (0 for all others) unless that is NULL. Returns their number. */
int kvc_usage_flags(const struct kvc_usage *usage, const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX],
                    unsigned takes[KVC_USAGE_FLAGS_MAX]);

/* Prints the text of --help. */
void kvc_usage_print(const struct kvc_usage *usage, FILE *out);

#endif
