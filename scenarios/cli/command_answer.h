/* The first and the last step of every command that answers a scenario, on one rank or many. */
#ifndef KVC_SCENARIOS_CLI_COMMAND_ANSWER_H
#define KVC_SCENARIOS_CLI_COMMAND_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "scenarios/cli/arguments.h"
#include "scenarios/load/load.h"
#include "scenarios/run/answer.h"
#include "sim/base/diag.h"

/* Parses the arguments of a command that takes --long, and lifts the time limit if they have it. Returns
 * false as kvc_arguments_parse() does. */
bool kvc_command_begin(int argc, char **argv, const struct kvc_usage *usage, struct kvc_arguments *arguments,
                       int *exit_status);

/* Returns whether a path names a scenario rather than an answer: it ends in ".lua". */
bool kvc_command_is_scenario(const char *path);

/* Loads the scenario that the arguments name, prints its warnings, and checks that all ranks have loaded the
 * same. `status` says whether the command's own arguments are right; otherwise nothing is loaded, and all
 * ranks agree to fail. */
enum kvc_status kvc_command_load(enum kvc_status status, const struct kvc_arguments *arguments,
                                 struct kvc_loaded **loaded, struct kvc_diag *diag);

/* Prints what an answer says although it succeeded: where an older result is now. */
void kvc_command_tell(enum kvc_status status, const struct kvc_arguments *arguments, struct kvc_diag *diag);

/* An answer that is a JSON document, and how its other forms are written. */
struct kvc_document_forms {
    const json_t *document;
    const char *what; /* The document's name in a failure. */
    void (*csv)(const json_t *document, FILE *out);
    void (*table)(const json_t *document, bool color,
                  FILE *out); /* For people, with escapes if `color` is set. */
};

/* Writes the answer's files, and its table or document to stdout, as kvc_answer_files_write() does. */
enum kvc_status kvc_command_write(struct kvc_answer_files *files, const struct kvc_document_forms *forms,
                                  struct kvc_diag *diag);

/* Measures the ratio of another scenario, or of this one with changes, to a loaded scenario (kvcast measure
 * --against), and writes the answer. `pairs` is the number of pairs as text, or NULL. */
enum kvc_status kvc_command_pair(const struct kvc_arguments *arguments, const struct kvc_loaded *loaded,
                                 const char *against, const char *pairs, struct kvc_diag *diag);

/* Returns what a command makes of the status of its pictures. Without gnuplot, or if there is nothing to
 * draw, such as latencies of a store that answered no request, it only prints a warning, because the files
 * have the numbers. */
enum kvc_status kvc_command_drawn(enum kvc_status status, const struct kvc_diag *diag);

/* Draws the pictures of a folder, and returns what kvc_command_drawn() makes of that. */
enum kvc_status kvc_command_draw(enum kvc_status (*draw)(const char *folder, struct kvc_diag *diag),
                                 const char *folder, struct kvc_diag *diag);

#endif
