/* Output of the listing commands: aligned columns, JSON, messages. */
#ifndef KVC_SCENARIOS_CLI_PRINT_H
#define KVC_SCENARIOS_CLI_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "scenarios/load/load.h"

/* A table of at most 16 columns. It starts as a zeroed struct with `columns` set. */
struct kvc_grid {
    size_t columns, count; /* `count` is the number of cells. */
    char **cell;
};

/* Appends a copy of the text as the next cell. When memory runs out, the cell stays empty. */
void kvc_grid_add(struct kvc_grid *grid, const char *text);

/* Writes all rows behind `indent` blanks, pads every column but the last, and frees the cells. */
void kvc_grid_print(struct kvc_grid *grid, int indent, FILE *out);

/* Writes the document to a file, or to stdout when `destination` is "-", and frees it. Returns the exit
 * status. */
int kvc_print_json(json_t *document, const char *destination);

/* Prints the error on stderr and returns the exit status. */
int kvc_print_failure(const struct kvc_diag *diag);

/* Prints on stderr what went wrong without consequences for the answer. */
void kvc_print_warning(const struct kvc_diag *diag);

/* Prints the warnings of the loaded scenario on stderr. */
void kvc_print_warnings(const struct kvc_loaded *loaded);

#endif
