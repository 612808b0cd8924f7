/* How the listing commands write: aligned columns, or JSON. */
#ifndef KVC_SCENARIOS_CLI_PRINT_H
#define KVC_SCENARIOS_CLI_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "scenarios/load/load.h"

/* Rows of cells, 16 columns at most; a zeroed struct with `columns` set is empty. */
struct kvc_grid {
    size_t columns, count; /* count: of cells */
    char **cell;
};

/* Appends a copy. Short memory ends in an empty cell. */
void kvc_grid_add(struct kvc_grid *grid, const char *text);
/* Writes all rows, `indent` blanks in front; every column but the last is padded. Then frees the cells. */
void kvc_grid_print(struct kvc_grid *grid, int indent, FILE *out);

/* Writes the document to a file, or to stdout for "-", and frees it. Returns the exit status. */
int kvc_print_json(json_t *document, const char *destination);

/* The message on stderr; returns the exit status. */
int kvc_print_failure(const struct kvc_diag *diag);

/* The collected warnings on stderr. */
void kvc_print_warnings(const struct kvc_loaded *loaded);

#endif
