#include "sim/probes/noise.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"

/* Returns the time since the system started in which processors were neither idle nor waiting for a disk,
 * summed up from /proc/stat; NaN: unknown. */
static double busy_s(void)
{
    unsigned long long user, nice, system, idle, io_wait, irq, soft_irq, stolen;
    FILE *in = fopen("/proc/stat", "r");
    int found = in == NULL ? 0
                           : fscanf(in, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                                    &idle, &io_wait, &irq, &soft_irq, &stolen);
    if (in != NULL) {
        fclose(in);
    }
    if (found != 8) {
        return NAN;
    }
    return (double)(user + nice + system + irq + soft_irq + stolen) / (double)sysconf(_SC_CLK_TCK);
}

static double own_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return NAN;
    }
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void kvc_noise_begin(struct kvc_noise *noise)
{
    *noise = (struct kvc_noise){busy_s() - own_s(), kvc_clock_wall_s()};
}

double kvc_noise_frac(const struct kvc_noise *noise)
{
    double others_s = busy_s() - own_s() - noise->others_s, wall_s = kvc_clock_wall_s() - noise->wall_s;
    return (others_s < 0 ? 0 : others_s) / (wall_s * kvc_pin_cores());
}
