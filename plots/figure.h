/* What the extraction of a picture leaves for gnuplot: blocks of points, each headed by its title. */
#ifndef KVC_PLOTS_FIGURE_H
#define KVC_PLOTS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/diag.h"

enum { KVC_AXIS_TEXT = 160 };

struct kvc_figure_data {
    FILE *data;
    uint32_t blocks;
    char x_label[KVC_AXIS_TEXT];
    bool x_numeric;
};

/* Inside double quotes for gnuplot's data reader, which knows no escapes. */
void kvc_figure_put_quoted(const char *text, FILE *out);

void kvc_figure_begin_block(struct kvc_figure_data *figure, const char *title);

/* Fills the figure of a CSV file with the columns case, predicted, published and/or measured (one of them
 * filled), and optionally figure (one block each) and held (1: held out): "reference predicted case held". */
enum kvc_status kvc_errors_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag);

#endif
