/* Result files -> pictures. Extracts what a figure shows into a table and lets gnuplot draw it. */
#ifndef KVC_PLOTS_PLOT_H
#define KVC_PLOTS_PLOT_H

#include <stdbool.h>

#include "sim/base/diag.h"

enum kvc_plot_kind {
    KVC_PLOT_CDF,        /* latency; results (JSON), one line each */
    KVC_PLOT_THROUGHPUT, /* over the first swept parameter; one sweep.csv, one line per value of the others */
    KVC_PLOT_TIMELINE,   /* throughput over time; results (JSON), one line each */
    KVC_PLOT_ERROR,      /* predicted against published or measured; one CSV: case, published and/or measured
                          * (one of them filled), predicted; optionally figure, held (1: an open point) */
};

/* Names of the kinds in their order, NULL-terminated. */
extern const char *const kvc_plot_kinds[];

struct kvc_plot_options {
    enum kvc_plot_kind kind;
    int input_count;
    const char *const *inputs;
    const char *output; /* ends in .svg, .pdf or .png */
    bool wide;          /* 17.5 cm instead of 8.5 cm */
};

/* Draws. An existing picture is replaced only by a whole one. KVC_ERR_SCENARIO: input or output is wrong;
 * KVC_ERR_RUNTIME: gnuplot is missing or failed. */
enum kvc_status kvc_plot_draw(const struct kvc_plot_options *plot, struct kvc_diag *diag);

#endif
