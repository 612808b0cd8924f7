/* Measures this machine and collects a machine file for scenarios. */
#ifndef KVC_SCENARIOS_RUN_CALIBRATE_H
#define KVC_SCENARIOS_RUN_CALIBRATE_H

#include <stdbool.h>

#include "sim/base/progress.h"
#include "sim/probes/machine.h"

struct kvc_calibration_options {
    bool quick; /* Small tables and working sets: seconds instead of minutes, and the costs of smaller stores.
                 */
    const char *version; /* Version of kvcast, for the machine file. */
};

struct kvc_calibrated {
    struct kvc_probed_machine machine;
    struct kvc_steadiness steadiness; /* Steadiness of the machine meanwhile. */
    struct kvc_profile *profile;      /* The machine file and its summary. */
};

/* Probes the machine, then lets every store that calibrates itself add its values. The calling thread stays
 * on its first core afterwards. KVC_ERR_RUNTIME: too little memory, no threads, or times that no line fits.
 * Free `calibrated` even after an error. */
enum kvc_status kvc_calibrate(const struct kvc_calibration_options *options,
                              const struct kvc_progress *progress, struct kvc_calibrated *calibrated,
                              struct kvc_diag *diag);
void kvc_calibrated_free(struct kvc_calibrated *calibrated); /* a zeroed one is allowed */

#endif
