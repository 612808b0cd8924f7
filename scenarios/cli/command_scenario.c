#include "scenarios/cli/command_scenario.h"

#include "plots/gnuplot.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/ranks/ranks.h"
#include "scenarios/run/answer.h"

enum kvc_status kvc_command_load(enum kvc_status status, const struct kvc_arguments *arguments,
                                 struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    if (status == KVC_OK) {
        status = kvc_scenario_load(arguments->positional[0], &arguments->set, loaded, diag);
    }
    status = kvc_ranks_agree(status, diag);
    if (status == KVC_OK && !arguments->quiet) {
        kvc_print_warnings(*loaded);
    }
    return status == KVC_OK ? kvc_ranks_check_loaded(*loaded, diag) : status;
}

enum kvc_status kvc_command_draw(enum kvc_status (*draw)(const char *folder, struct kvc_diag *diag),
                                 const char *folder, struct kvc_diag *diag)
{
    enum kvc_status status = draw(folder, diag);
    if (status == KVC_OK || (status == KVC_ERR_RUNTIME && kvc_gnuplot_is_installed())) {
        return status;
    }
    kvc_print_warning(diag);
    return KVC_OK;
}
