/* Runs gnuplot on one of the .gp files of this folder. */
#ifndef KVC_PLOTS_GNUPLOT_H
#define KVC_PLOTS_GNUPLOT_H

#include "sim/base/diag.h"

enum { KVC_GNUPLOT_ARGUMENTS_MAX = 16 };

/* Runs `gnuplot -c script arguments...`, NULL-terminated, without a shell, and waits. KVC_ERR_RUNTIME when
 * gnuplot is missing or fails; the message holds its first complaint. */
enum kvc_status kvc_gnuplot_run(const char *script, const char *const *arguments, struct kvc_diag *diag);

#endif
