#include "models/forecast.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static void add_host(struct kvc_platform *platform, const char *name, const char *device, uint32_t cores,
                     struct kvc_watts watts)
{
    struct kvc_platform_host host = {.device = device,
                                     .cores = cores,
                                     .pstates = 1,
                                     .pstate = {{.speed = 1, .watts = watts}},
                                     .can_fail = true};
    snprintf(host.name, sizeof(host.name), "%s", name);
    kvc_platform_add_host(platform, 0, &host);
}

/* Two sockets: a CPU of 8 cores with 20, 30 and 100 W, a GPU with 60 and 150 W; a server that draws 87 W; a
 * network card without watts. */
static struct kvc_power of_two_sockets(void)
{
    struct kvc_platform *platform = kvc_platform_create();
    kvc_platform_add_zone(platform, "node0");
    add_host(platform, "cpu0", "cpu", 8, (struct kvc_watts){20, 30, 100});
    add_host(platform, "cpu1", "cpu", 8, (struct kvc_watts){20, 30, 100});
    add_host(platform, "gpu0", "gpu", 1, (struct kvc_watts){60, 150, 150});
    add_host(platform, "gpu1", "gpu", 1, (struct kvc_watts){60, 150, 150});
    add_host(platform, "base", "server", 1, (struct kvc_watts){87, 87, 87});
    kvc_platform_add_link(platform, 0, &(struct kvc_platform_link){"rx", "nic", 1e9, 0, 0});
    struct kvc_power power = kvc_power_of(platform);
    kvc_platform_free(platform);
    return power;
}

Test(power, is_that_of_every_device_at_its_utilization)
{
    struct kvc_power power = of_two_sockets();
    const struct kvc_forecast_device half[] = {{"cpu", 0.5}, {"gpu", 0.5}};
    const struct kvc_forecast_device idle[] = {{"cpu", 0}, {"gpu", 0}};
    const struct kvc_forecast_device all[] = {{"cpu", 1}, {"gpu", 1.2}};
    const struct kvc_forecast_device one_core[] = {{"cpu", 1.0 / 8}, {"gpu", 0}};
    char missing[KVC_MISSING_BYTES] = "";
    cr_expect_float_eq(kvc_power_watts(&power, idle, 2, missing), 2 * (20 + 60) + 87, 1e-9);
    cr_expect_float_eq(kvc_power_watts(&power, one_core, 2, missing), 2 * (30 + 60) + 87, 1e-9);
    cr_expect_float_eq(kvc_power_watts(&power, half, 2, missing), 2 * (30 + 3 * 10 + 105) + 87, 1e-9);
    cr_expect_float_eq(kvc_power_watts(&power, all, 2, missing), 2 * (100 + 150) + 87, 1e-9);
    cr_expect_str_eq(missing, "nic");
}

Test(power, names_what_it_does_not_know)
{
    char missing[KVC_MISSING_BYTES] = "";
    struct kvc_power power = of_two_sockets();
    cr_expect_str_eq(power.missing, "nic");
    cr_expect_float_eq(kvc_power_watts(&power, NULL, 0, missing), 87, 1e-9,
                       "what draws the same all the time");
    cr_expect_str_eq(missing, "nic, cpu, gpu");
}
