#include "plots/gnuplot.h"

#include <stddef.h>

#include "plots/program.h"

enum kvc_status kvc_gnuplot_run(const char *script, const char *const *arguments, struct kvc_diag *diag)
{
    static const struct kvc_drawing_program gnuplot = {"gnuplot", "gnuplot-nox"};
    char *list[KVC_GNUPLOT_ARGUMENTS_MAX + 4] = {"gnuplot", "-c", (char *)script};
    for (int i = 0; arguments[i] != NULL; i++) {
        if (i == KVC_GNUPLOT_ARGUMENTS_MAX) {
            KVC_BUG("more than %d arguments for %s", KVC_GNUPLOT_ARGUMENTS_MAX, script);
        }
        list[3 + i] = (char *)arguments[i];
    }
    return kvc_program_run(&gnuplot, list, script, diag);
}
