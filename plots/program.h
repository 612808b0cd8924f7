/* Runs a drawing program, such as gnuplot or Graphviz's dot. */
#ifndef KVC_PLOTS_PROGRAM_H
#define KVC_PLOTS_PROGRAM_H

#include "sim/base/diag.h"

struct kvc_drawing_program {
    const char *name;    /* The program, which is searched in PATH. */
    const char *package; /* Debian's package that contains it. */
};

/* Runs the program without a shell and waits for its end. `arguments` begins with the program's name and ends
 * with NULL. KVC_ERR_RUNTIME if the program is missing or fails on `input`; the message contains the first
 * error that it printed. */
enum kvc_status kvc_program_run(const struct kvc_drawing_program *program, char *const *arguments,
                                const char *input, struct kvc_diag *diag);

#endif
