/* Output of the commands besides reports: aligned columns, JSON, messages, and progress. */
#ifndef KVC_SCENARIOS_CLI_PRINT_H
#define KVC_SCENARIOS_CLI_PRINT_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "models/model.h"
#include "scenarios/load/load.h"

/* A table of at most 16 columns. It starts as a zeroed struct with `columns` set. */
struct kvc_grid {
    size_t columns, count; /* `count` is the number of cells. */
    char **cell;
};

/* Appends a copy of the text as the next cell. When memory runs out, the cell stays empty. */
void kvc_grid_add(struct kvc_grid *grid, const char *text);

/* Appends the formatted value, or "-" for NaN. */
void kvc_grid_add_number(struct kvc_grid *grid, const char *format, double value);

/* Writes all rows, each after `indent` blanks, pads every column but the last, and frees the cells. */
void kvc_grid_print(struct kvc_grid *grid, int indent, FILE *out);

/* Writes the document to a file, or to stdout when `destination` is "-", and frees it. Returns the exit
 * status. */
int kvc_print_json(json_t *document, const char *destination);

/* Prints the error on stderr and returns the exit status. */
int kvc_print_failure(const struct kvc_diag *diag);

/* Prints on stderr a failure that does not affect the answer. */
void kvc_print_warning(const struct kvc_diag *diag);

/* Prints the warnings of the loaded scenario on stderr. */
void kvc_print_warnings(const struct kvc_loaded *loaded);

/* Progress on stderr: the step, how much is done, and the time left at the present rate.
 *
 * It appears within a second when the work takes longer, whether the work reports anything or not: on a
 * terminal as a bar, which moves and is erased at the end, elsewhere as a line whenever the time has doubled,
 * and every ten seconds at least. */

struct kvc_progress_bar {
    struct kvc_progress progress;
    double started_s, drawn_s;    /* Wall clock [s]. */
    double step_s, step_fraction; /* Wall clock [s] and progress at the start of the step. */
    double fraction;
    char step[96];
    bool terminal, color, visible;
    bool ticks, over; /* A thread draws while nothing is reported; it has to end. */
    pthread_t ticker;
    pthread_mutex_t mutex;  /* The work and the ticker hold it while they read or change the bar. */
    pthread_cond_t changed; /* `ticks` or `over` became true. */
};

/* Returns the listener to pass on, or NULL when `quiet` is set. */
const struct kvc_progress *kvc_progress_bar_open(struct kvc_progress_bar *bar, bool quiet);

/* Erases the bar. */
void kvc_progress_bar_close(struct kvc_progress_bar *bar);

#endif
