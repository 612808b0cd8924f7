#include "sim/run/too_long.h"

#include <criterion/criterion.h>
#include <string.h>

/* Checks what is said of a run with these times [ms] that needs four of two days. */
static void says(double warmup_ms, double duration_ms, const char *option, const char *fits)
{
    struct kvc_diag diag = {0};
    double day_s = 86400;
    cr_expect_eq(
        kvc_run_too_long(warmup_ms * 1e6, duration_ms * 1e6, "it needs", 4 * day_s, 2 * day_s, &diag),
        KVC_ERR_SCENARIO);
    cr_expect_eq(strncmp(diag.message, option, strlen(option)), 0, "%s", diag.message);
    cr_expect(strstr(diag.message, "it needs 4 days of wall-clock time, allowed: 2") != NULL, "%s",
              diag.message);
    cr_expect(strstr(diag.message, fits) != NULL, "%s", diag.message);
}

Test(too_long, names_the_longer_one_and_what_fits_beside_the_other)
{
    says(0, 100, "run.duration: ", "a duration of at most 50 ms");
    says(-1, 100, "run.duration: ", "a duration of at most 50 ms");
    says(20, 100, "run.duration: ", "a duration of at most 40 ms");
    says(100, 20, "run.warmup: ", "a warm-up of at most 40 ms");
}

Test(too_long, shrinks_the_longer_one_in_proportion_if_both_are_too_long)
{
    says(100, 100, "run.duration: ", "a duration of at most 50 ms");
}
