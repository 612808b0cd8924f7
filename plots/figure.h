/* The data of a figure, as gnuplot reads it: blocks of points, each under its title. */
#ifndef KVC_PLOTS_FIGURE_H
#define KVC_PLOTS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    KVC_AXIS_TEXT = 160,
    KVC_LEGEND_TEXT = 46,  /* Characters that the legend has room for, in one column of a paper */
    KVC_LEGEND_WIDE = 104, /* and in two. */
    KVC_LINES_MAX = 16,    /* Lines that plots/style.gp tells apart. */
    KVC_PANELS_MAX = 12,   /* Panels that one page holds. */
};

struct kvc_figure_data {
    FILE *data;
    uint32_t blocks; /* Blocks written so far. */
    char x_label[KVC_AXIS_TEXT];
    char y_label[KVC_AXIS_TEXT];
    bool x_numeric; /* Sweep: tics are round numbers, not the labels of the points. Pareto: colours show the
                       power. */
};

/* Starts the next block. */
void kvc_figure_begin_block(struct kvc_figure_data *figure, const char *title);

/* Writes the text in double quotes for gnuplot's data reader, which has no escapes: double quotes in the text
 * become single ones, and control characters become blanks. */
void kvc_figure_put_quoted(struct kvc_figure_data *figure, const char *text);

#endif
