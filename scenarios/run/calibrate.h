/* Measures this machine, for a hardware profile. */
#ifndef KVC_SCENARIOS_RUN_CALIBRATE_H
#define KVC_SCENARIOS_RUN_CALIBRATE_H

#include <stdbool.h>

#include "validate/probes/machine.h"

struct kvc_calibration_options {
    bool quick; /* small tables and working sets: seconds instead of a minute, and values of smaller stores */
    const char *version; /* of kvcast */
};

/* Fills `report`. KVC_ERR_RUNTIME: too little memory, or times that are none. The calling thread stays on
 * its first core afterwards. */
enum kvc_status kvc_calibrate(const struct kvc_calibration_options *calibration,
                              const struct kvc_progress *progress, struct kvc_machine_report *report,
                              struct kvc_diag *diag);

#endif
