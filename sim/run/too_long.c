#include "sim/run/too_long.h"

#include <math.h>
#include <stdbool.h>

enum kvc_status kvc_run_too_long(double warmup_ns, double duration_ns, const char *what, double needed_s,
                                 double limit_s, struct kvc_diag *diag)
{
    static const double day_s = 86400;
    bool is_warmup = warmup_ns > duration_ns;
    double longer_ns = fmax(warmup_ns, duration_ns), other_ns = fmax(0, fmin(warmup_ns, duration_ns));
    double fits_ns = (longer_ns + other_ns) * limit_s / needed_s - other_ns;
    if (fits_ns <= 0) { /* The run does not fit even without the longer one, so both must shrink. */
        fits_ns = longer_ns * limit_s / needed_s;
    }
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "run.%s: %s %.3g days of wall-clock time, allowed: %.3g; use a %s of at most %.3g ms, or --long",
        is_warmup ? "warmup" : "duration", what, needed_s / day_s, limit_s / day_s,
        is_warmup ? "warm-up" : "duration", fits_ns * 1e-6);
}
