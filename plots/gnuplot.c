#include "plots/gnuplot.h"

#include <stddef.h>

#include "plots/program.h"

static const struct kvc_drawing_program gnuplot = {"gnuplot", "gnuplot-nox"};

bool kvc_gnuplot_is_installed(void)
{
    return kvc_program_is_installed(&gnuplot);
}

enum kvc_status kvc_gnuplot_draw(const char *script, const char *const *arguments, int data,
                                 const char *format, struct kvc_partial_file *picture, struct kvc_diag *diag)
{
    char *list[KVC_GNUPLOT_ARGUMENTS_MAX + 4] = {"gnuplot", "-c", (char *)script};
    for (int i = 0; arguments[i] != NULL; i++) {
        if (i == KVC_GNUPLOT_ARGUMENTS_MAX) {
            KVC_BUG("more than %d arguments for %s", KVC_GNUPLOT_ARGUMENTS_MAX, script);
        }
        list[3 + i] = (char *)arguments[i];
    }
    const struct kvc_drawing drawing = {.arguments = list, .input = data, .format = format, .what = script};
    return kvc_program_draw(&gnuplot, &drawing, picture, diag);
}
