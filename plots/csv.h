/* Reads a small comma-separated table with a header row; cells may be quoted. */
#ifndef KVC_PLOTS_CSV_H
#define KVC_PLOTS_CSV_H

#include <stddef.h>

#include "sim/base/diag.h"

struct kvc_csv {
    size_t columns, rows; /* rows: the header excluded */
    char **cell;          /* (rows + 1) * columns, the header first */
    char *text;           /* what the cells point into */
};

void kvc_csv_free(struct kvc_csv *csv);

/* KVC_ERR_SCENARIO when the file cannot be read, has no rows, or a row is too short or long (with its line).
 */
enum kvc_status kvc_csv_read(const char *path, struct kvc_csv *csv, struct kvc_diag *diag);

/* Index of a column by its name, or -1. */
long kvc_csv_column(const struct kvc_csv *csv, const char *name);

/* Cell of a data row. */
const char *kvc_csv_cell(const struct kvc_csv *csv, size_t row, size_t column);

#endif
