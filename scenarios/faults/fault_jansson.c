/* Jansson writes documents with calls of its own, which fault injection cannot see. Its allocations are ours
 * (scenarios/cli/main.c). */
#include <errno.h>
#include <jansson.h>

#include "sim/base/fault.h"
#include "sim/base/fault_wrapped.h"

KVC_FAULT_WRAPPED(json_dumpf);

int __wrap_json_dumpf(const json_t *document, FILE *out, size_t flags)
{
    if (kvc_fault_strikes(KVC_FAULT_WRITE, "json_dumpf")) {
        errno = ENOSPC;
        return -1;
    }
    return __real_json_dumpf(document, out, flags);
}
