/* Runs gnuplot on one of the .gp files in this folder. */
#ifndef KVC_PLOTS_GNUPLOT_H
#define KVC_PLOTS_GNUPLOT_H

#include "sim/base/diag.h"

enum { KVC_GNUPLOT_ARGUMENTS_MAX = 16 };

/* Runs `gnuplot -c script arguments...` without a shell and waits for its end. The list of arguments ends
 * with NULL. KVC_ERR_RUNTIME if gnuplot is missing or fails; the message contains the first error that
 * gnuplot printed. */
enum kvc_status kvc_gnuplot_run(const char *script, const char *const *arguments, struct kvc_diag *diag);

#endif
