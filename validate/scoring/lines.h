/* Reads the CSV files of this folder: a fixed header, no quotes, and every mistake told with file:line. */
#ifndef KVC_VALIDATE_SCORING_LINES_H
#define KVC_VALIDATE_SCORING_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

enum { KVC_COLUMNS_MAX = 16 };

struct kvc_lines {
    const char *header;        /* "id,error_frac": also says how many columns there are */
    bool last_may_have_commas; /* the last column is free text */
    /* Called for every line that is not empty. A failure gets the line's place. */
    enum kvc_status (*take)(void *data, char *const *column, int line, struct kvc_diag *diag);
    void *data;
};

enum kvc_status kvc_lines_read(const char *path, const struct kvc_lines *lines, struct kvc_diag *diag);

/* What columns hold; each fails with what was found and what is expected. */
enum kvc_status kvc_column_text(const char *text, char *to, size_t size, struct kvc_diag *diag);
enum kvc_status kvc_column_number(const char *text, double *value, struct kvc_diag *diag); /* "": NaN */

#endif
