/* Runs a drawing program, such as gnuplot or Graphviz's dot.
 *
 * Such programs do not check their writes: on a full disk they leave half a picture and exit with success. So
 * the picture goes through a pipe, and every byte of it is checked here. */
#ifndef KVC_PLOTS_PROGRAM_H
#define KVC_PLOTS_PROGRAM_H

#include <stdbool.h>

#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"

struct kvc_drawing_program {
    const char *name;    /* The program, which is searched in PATH. */
    const char *package; /* Debian's package that contains it. */
};

struct kvc_drawing {
    char *const *arguments; /* The arguments begin with the program's name and end with NULL. */
    int input;              /* Descriptor that the program reads from its start, as stdin. */
    const char *format;     /* "svg", "pdf" or "png": the end of a picture is recognised by its format. */
    const char *what;       /* Name of the drawing in messages. */
};

/* Returns whether a program of this name is in PATH. */
bool kvc_program_is_installed(const char *name);

/* Runs the program without a shell and copies its stdout to the file. KVC_ERR_RUNTIME if the program is
 * missing or fails, with the first error that it printed, if the picture has no end, or if the file cannot be
 * written. */
enum kvc_status kvc_program_draw(const struct kvc_drawing_program *program, const struct kvc_drawing *drawing,
                                 struct kvc_partial_file *picture, struct kvc_diag *diag);

enum { KVC_GNUPLOT_ARGUMENTS_MAX = 16 };

/* Draws `picture` with `gnuplot -c script arguments...`, where the script is one of the .gp files in this
 * folder. The list of arguments ends with NULL. The script reads the descriptor `data` as /dev/stdin, any
 * number of times, and writes a picture of the format to /dev/stdout. Fails as kvc_program_draw does. */
enum kvc_status kvc_gnuplot_draw(const char *script, const char *const *arguments, int data,
                                 const char *format, struct kvc_partial_file *picture, struct kvc_diag *diag);

#endif
