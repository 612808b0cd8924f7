#include "sim/probes/pin.h"

#include <pthread.h>
#include <sched.h>

/* The cores that the process was started on. Pinning a thread changes the set that the system reports later.
 */
static cpu_set_t allowed;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void)
{
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) == 0) {
        CPU_SET(0, &allowed);
    }
}

void kvc_pin_core(uint32_t core)
{
    cpu_set_t set;
    pthread_once(&asked, ask);
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && core-- == 0) {
            CPU_SET(cpu, &set);
        }
    }
    if (CPU_COUNT(&set) > 0) {
        (void)sched_setaffinity(0, sizeof(set), &set);
    }
}

void kvc_pin_release(void)
{
    pthread_once(&asked, ask);
    (void)sched_setaffinity(0, sizeof(allowed), &allowed);
}

uint32_t kvc_pin_cores(void)
{
    pthread_once(&asked, ask);
    return (uint32_t)CPU_COUNT(&allowed);
}
