/* Draws result files: extracts the data of a figure into a table and lets gnuplot draw it, or Graphviz where
 * the figure is a graph. */
#ifndef KVC_PLOTS_PLOT_H
#define KVC_PLOTS_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plots/figure.h"
#include "sim/base/diag.h"

/* Every input is a file (plots/document.h), or the folder in which --out left it. */
enum kvc_plot_kind {
    KVC_PLOT_CDF,        /* Latency distribution; one line per result. */
    KVC_PLOT_SWEEP,      /* A metric over a swept value of one sweep.csv (plots/sweep.h). */
    KVC_PLOT_TIMELINE,   /* Throughput over time; one line per result. */
    KVC_PLOT_ERROR,      /* Predicted over published or measured values; one table. */
    KVC_PLOT_CAPACITY,   /* Latency over the offered load; one capacity. */
    KVC_PLOT_PARETO,     /* Price, power and latency of a plan's front; one plan. */
    KVC_PLOT_TAIL,       /* Share of requests that take longer, on a logarithmic axis; one line per result. */
    KVC_PLOT_MISS_RATIO, /* GETs that an LRU cache misses over its size; one line per trace. */
    KVC_PLOT_CRITICAL, /* Where requests spend their time, and what faster resources change; one analysis. */
    KVC_PLOT_DAY,      /* Load, latency and power over the hours; one day. */
    KVC_PLOT_PLATFORM, /* The simulated machine; one result with its platform.xml. */
    KVC_PLOT_PIPELINE, /* The stages of the store; one result. */
};

/* The names of the kinds, by enum kvc_plot_kind; NULL-terminated. */
extern const char *const kvc_plot_kinds[];

/* Returns whether Graphviz draws the kind, and not gnuplot. */
bool kvc_plot_is_graph(enum kvc_plot_kind kind);

struct kvc_plot_options {
    enum kvc_plot_kind kind;
    int input_count;
    const char *const *inputs;
    const char *output;     /* Ends in .svg, .pdf or .png. */
    FILE *stream;           /* Takes the picture instead, unless NULL; `output` then tells the format. */
    const char *x, *y, *by; /* KVC_PLOT_SWEEP reads them as struct kvc_sweep_view says. */
    bool wide;              /* Width 17.5 cm instead of 8.5 cm. */
    bool in_folder;         /* The picture belongs to an output folder (kvc_partial_file_replace). */
};

/* Extracts the data of any kind of picture; for a graph, what dot reads. If it returns KVC_OK
 * and `diag` has a message, that is a warning: the picture leaves out a part of its input. */
enum kvc_status kvc_figure_extract(const struct kvc_plot_options *plot, struct kvc_figure_data *figure,
                                   struct kvc_diag *diag);

/* Draws the picture, which replaces an existing one only when it is complete. KVC_ERR_SCENARIO if input or
 * output is wrong, KVC_ERR_RUNTIME if gnuplot or dot is missing or fails, or if the picture cannot be written
 * to its last byte. `diag` may have a warning, as of kvc_figure_extract(). */
enum kvc_status kvc_plot_draw(const struct kvc_plot_options *plot, struct kvc_diag *diag);

#endif
