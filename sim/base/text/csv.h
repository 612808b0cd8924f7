/** @file
 * Reads a small table of comma-separated values (CSV) with a header line into memory.
 *
 * A cell may be quoted as in RFC 4180: "a, ""b""" is the cell a, "b". Quoted cells may contain line breaks.
 * Lines end in LF or CR LF; empty lines are skipped. Every row has the number of cells of the header. Every
 * error names the file, the line, what was found and what is allowed.
 *
 * The whole file is held in memory, up to 64 MiB. Request traces have a streaming reader of their own,
 * sim/workload/trace/trace.h. */
#ifndef KVC_SIM_BASE_TEXT_CSV_H
#define KVC_SIM_BASE_TEXT_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

/** Required format of a file. A zeroed struct allows any table, even one without rows. */
struct kvc_csv_format {
    const char *header;   /**< The exact header line, such as "id,error_frac"; NULL allows any. */
    bool last_has_commas; /**< The last cell of a row is free text and may contain unquoted commas. */
    bool needs_rows;      /**< A table without rows is an error. */
};

/** A table in memory. */
struct kvc_csv {
    size_t columns; /**< Cells per row. */
    size_t rows;    /**< Rows below the header. */
    char **cell;    /**< The cells row by row, (rows + 1) * columns of them; the header comes first. */
    int *line;      /**< Line number of each row in the file, the header first. */
    char *text;     /**< The memory that the cells point into. */
};

/** Handles one row. `cell` has one entry per column. Returns a status other than KVC_OK to stop. */
typedef enum kvc_status (*kvc_csv_row_fn)(void *data, char *const *cell, int line, struct kvc_diag *diag);

/** Frees the table's memory, not the struct. A zeroed struct is allowed. */
void kvc_csv_free(struct kvc_csv *csv);

/** Reads a table. Returns KVC_ERR_SCENARIO if the file cannot be read or violates `format`, and
 * KVC_ERR_RUNTIME if memory is short; `csv` is then empty. */
enum kvc_status kvc_csv_read(const char *path, const struct kvc_csv_format *format, struct kvc_csv *csv,
                             struct kvc_diag *diag);

/** Reads a table and passes each row to `take`, from top to bottom, until one fails. The failure is reported
 * with the file and line of its row. */
enum kvc_status kvc_csv_visit(const char *path, const struct kvc_csv_format *format, kvc_csv_row_fn take,
                              void *data, struct kvc_diag *diag);

/** Returns the index of the column `name`, or -1 if there is none. */
long kvc_csv_column(const struct kvc_csv *csv, const char *name);

/** Returns a cell. Row 0 is the first row below the header. */
const char *kvc_csv_cell(const struct kvc_csv *csv, size_t row, size_t column);

/** Finds out whether the file at `path` has a column of this name. */
enum kvc_status kvc_csv_has_column(const char *path, const char *name, bool *has, struct kvc_diag *diag);

/** Returns the line number of a row in the file. Row 0 is the first row below the header. */
int kvc_csv_line(const struct kvc_csv *csv, size_t row);

/** Copies a cell to `to`, which has room for `size` bytes. A longer cell is an error (KVC_ERR_SCENARIO). */
enum kvc_status kvc_csv_copy(const char *cell, char *to, size_t size, struct kvc_diag *diag);

/** Converts a cell to a finite number. An empty cell becomes NaN; other text is an error (KVC_ERR_SCENARIO).
 */
enum kvc_status kvc_csv_number(const char *cell, double *value, struct kvc_diag *diag);

#endif
