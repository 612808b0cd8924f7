#include "sim/devices/group.h"

#include <math.h>

static bool is_stated(const void *device, const struct kvc_option *row)
{
    const char *field = (const char *)device + row->offset;
    return row->type == KVC_OPTION_COUNT ? *(const uint64_t *)(const void *)field > 0
                                         : !isnan(*(const double *)(const void *)field);
}

enum kvc_status kvc_group_check(const struct kvc_option_table *options, const void *device, size_t first,
                                size_t end, bool *stated, struct kvc_diag *diag)
{
    const struct kvc_option *present = NULL, *missing = NULL;
    for (size_t i = first; i < end; i++) {
        const struct kvc_option **found = is_stated(device, &options->rows[i]) ? &present : &missing;
        *found = *found != NULL ? *found : &options->rows[i];
    }
    *stated = present != NULL;
    if (present != NULL && missing != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "%s.%s is missing: the profile states %s, and both belong to one group (%s)",
                             options->name, missing->name, present->name, missing->help);
    }
    return KVC_OK;
}
