/* Runs gnuplot on one of the .gp files in this folder. */
#ifndef KVC_PLOTS_GNUPLOT_H
#define KVC_PLOTS_GNUPLOT_H

#include <stdbool.h>

#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"

enum { KVC_GNUPLOT_ARGUMENTS_MAX = 16 };

/* Draws `picture` with `gnuplot -c script arguments...`. The list of arguments ends with NULL. The script
 * reads the descriptor `data` as /dev/stdin, as often as it likes, and writes a picture of the format to
 * /dev/stdout. Fails as kvc_program_draw says. */
enum kvc_status kvc_gnuplot_draw(const char *script, const char *const *arguments, int data,
                                 const char *format, struct kvc_partial_file *picture, struct kvc_diag *diag);

/* Returns whether there is a gnuplot. */
bool kvc_gnuplot_is_installed(void);

#endif
