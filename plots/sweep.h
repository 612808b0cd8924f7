/* The data for a picture of a sweep, which shows one metric over one swept value. Each combination of the
 * `by` values has a line, and each combination of the remaining swept values has a panel. */
#ifndef KVC_PLOTS_SWEEP_H
#define KVC_PLOTS_SWEEP_H

#include "plots/figure.h"
#include "sim/base/diag.h"

/* What to draw. NULL chooses: the first swept value as x, the throughput as y, and the first swept value that
 * is not x for the lines. */
struct kvc_sweep_view {
    const char *x;  /* Swept value, such as "system.cycle". */
    const char *y;  /* Column with numbers, such as "latency_p99_us". */
    const char *by; /* Swept values, separated by commas, whose combinations are the lines. */
};

/* Extracts the sweep.csv at `path`. The first block has the title of the legend and a line "title is_bounded
 * objective words" for each panel. The others are the lines of the first panel, of the second and so on, "x
 * label y half_width" in the units of the axes. An objective for the metric is bounded if all points of the
 * panel have the same. */
enum kvc_status kvc_sweep_extract(const char *path, const struct kvc_sweep_view *view,
                                  struct kvc_figure_data *figure, struct kvc_diag *diag);

#endif
