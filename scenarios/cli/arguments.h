/* The parser of a sub-command's arguments.
 *
 * Options and positional arguments may be mixed. "--" ends the options; "--name=value" and "--name value"
 * mean the same. Mistakes are reported on stderr; --help goes to stdout. */
#ifndef KVC_SCENARIOS_CLI_ARGUMENTS_H
#define KVC_SCENARIOS_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/cli/usage.h"
#include "scenarios/load/load.h"

/* The arguments that the user gave. */
struct kvc_arguments {
    struct kvc_overrides set;
    uint32_t jobs;    /* 0 if not given. */
    const char *json; /* NULL if not given. */
    const char *out;  /* NULL if not given. */
    bool quiet;
    bool is_forced;                  /* Results of other runs are replaced, not kept. */
    bool is_long;                    /* A run that needs more than a day may start. */
    const char *flag[KVC_FLAGS_MAX]; /* By position in usage->flags; NULL if not given, "" for a switch. */
    int positional_count;
    const char *positional[KVC_POSITIONAL_MAX];
};

void kvc_arguments_free(struct kvc_arguments *arguments);

/* Parses the arguments. If it returns true, the command continues and frees `arguments` afterwards. If it
 * returns false, help or a message was printed, and the command returns *exit_status. */
bool kvc_arguments_parse(int argc, char **argv, const struct kvc_usage *usage,
                         struct kvc_arguments *arguments, int *exit_status);

/* Reads the whole number of a command's option into *value, which does not change if the option is not given
 * (NULL). */
enum kvc_status kvc_arguments_whole(const char *command, const char *option, const char *text, uint32_t least,
                                    uint32_t most, uint32_t *value, struct kvc_diag *diag);

#endif
