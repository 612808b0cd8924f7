#include "sim/probes/cores.h"

#include <criterion/criterion.h>
#include <sched.h>

#include "sim/probes/pin.h"

/* Every core of the process gets a speed, relative to the fastest core alone. */
Test(cores, speeds_are_shares_of_the_fastest)
{
    struct kvc_cores cores;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_cores_measure(&cores, &diag), KVC_OK);
    cr_assert_eq(cores.count, kvc_pin_cores());
    for (uint32_t core = 0; core < cores.count; core++) {
        cr_expect(cores.speed_frac[core] > 0 && cores.speed_frac[core] <= 1, "core %u: %g", core,
                  cores.speed_frac[core]);
    }
}

Test(cores, the_slowest_one_counts)
{
    const struct kvc_cores cores = {.count = 3, .speed_frac = {0.9, 0.6, 1}};
    cr_expect_eq(kvc_cores_slowest_frac(&cores), 0.6);
}
