/* The data of a figure, as gnuplot reads it: blocks of points, each under its title. */
#ifndef KVC_PLOTS_FIGURE_H
#define KVC_PLOTS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plots/plot.h"
#include "sim/base/diag.h"

enum { KVC_AXIS_TEXT = 160 };

struct kvc_figure_data {
    FILE *data;
    uint32_t blocks; /* Blocks written so far. */
    char x_label[KVC_AXIS_TEXT];
    bool x_numeric; /* False when x only counts and labels name its values. */
};

/* Writes the text in double quotes for gnuplot's data reader, which has no escapes: double quotes in the text
 * become single ones, and control characters become blanks. */
void kvc_figure_put_quoted(const char *text, FILE *out);

/* Starts the next block. */
void kvc_figure_begin_block(struct kvc_figure_data *figure, const char *title);

/* Extracts the data of any kind of picture; for that of a platform, what dot reads. */
enum kvc_status kvc_figure_extract(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                   struct kvc_diag *diag);

/* Extracts a table of errors. Its columns are case, predicted, published or measured or both (each row fills
 * one of them), and optionally metric, which gives each metric its own block. The lines of a block are
 * "reference predicted case". */
enum kvc_status kvc_errors_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag);

/* Extracts the latency over the offered load. `path` is the folder of kvcast capacity or its capacity.json.
 * The first block has one line "low mean high" for the capacity. The other blocks are the lines of the
 * figure, "offered_mops latency_us low_us high_us served": the simulated mean, p50, p95 and p99 with their 95
 * % intervals, and the closed form's mean. */
enum kvc_status kvc_capacity_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag);

/* Extracts the Pareto front of a plan. `path` is the folder of kvcast plan or its plan.json. The x axis is
 * the price if every point has one, else the power, else the number of nodes. The blocks are the front and,
 * if there is one, the chosen point, each with lines "x latency_us watts". Latencies are the closed form's.
 */
enum kvc_status kvc_pareto_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag);

#endif
