#include "validate/measure/pin.h"

#include <sched.h>
#include <unistd.h>

void kvc_pin_core(uint32_t core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((int)core, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

uint32_t kvc_pin_cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}
