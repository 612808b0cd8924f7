/* Man pages, shell completion and the reference, made from the tables of --help and `kvcast describe`.
 *
 * `kvcast --help=FORMAT` and `kvcast COMMAND --help=FORMAT` print them; the build and packagers use that
 * (scenarios/cli/generate.sh). Formats of the program: "man", "bash", "zsh", "fish", "markdown" and
 * "commands" (one name per line). Formats of a command: the first five. "bash", "zsh" and "fish" then print
 * only the command's part of the program's completion. */
#ifndef KVC_SCENARIOS_CLI_MANUAL_H
#define KVC_SCENARIOS_CLI_MANUAL_H

#include <stddef.h>
#include <stdio.h>

#include "scenarios/cli/usage.h"
#include "scenarios/run/ranks/ranks.h"

/* One line of the table of sub-commands. */
struct kvc_command {
    const char *name;
    const char *help; /* A few words. */
    int (*function)(int argc, char **argv);
    enum kvc_ranks_use ranks; /* The command's use of several ranks. */
};

/* Prints the --help of the program with its sub-commands. */
void kvc_manual_print_help(const struct kvc_command *commands, size_t count, FILE *out);

/* Prints the program's page in a format. Returns the exit status: KVC_ERR_SCENARIO for an unknown format. */
int kvc_manual_print_program(const struct kvc_command *commands, size_t count, const char *format);

/* Prints one command's page in a format. Returns the exit status. */
int kvc_manual_print_command(const struct kvc_usage *usage, const char *format);

/* Prints the reference of systems, sections, devices and presets, in Markdown. Returns the exit status. */
int kvc_reference_print(FILE *out);

#endif
