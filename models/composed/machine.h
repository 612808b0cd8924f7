/* The simulated machines of a composed store, and their power in closed form. */
#ifndef KVC_MODELS_COMPOSED_MACHINE_H
#define KVC_MODELS_COMPOSED_MACHINE_H

#include "sim/devices/socket.h"
#include "sim/metrics/result.h"
#include "sim/platform.h"
#include "sim/scenario.h"

/* The parts of a SmartNIC, or of a card with an FPGA. */
enum {
    KVC_COMPOSED_PART_CORES,
    KVC_COMPOSED_PART_FPGA,
    KVC_COMPOSED_PART_MEMORY,
    KVC_COMPOSED_PART_DMA, /* Engines that read and write host memory. */
    KVC_COMPOSED_PARTS
};

/* Numbers of a socket's hosts in the platform. */
struct kvc_composed_devices {
    struct kvc_socket socket;
    int32_t part[KVC_COMPOSED_PARTS]; /* Those of its card, or KVC_SOCKET_NONE. */
};

/* Adds the machines of a resolved scenario; `devices` gets an entry for each socket of all nodes, or is NULL.
 */
void kvc_composed_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                          struct kvc_composed_devices *devices);

/* Sets the power of a prediction whose stages have their utilization. The GPU, host memory and flash are busy
 * for a share of the time. */
void kvc_composed_set_power(const struct kvc_scenario *scenario, double gpu_frac, double memory_frac,
                            double flash_frac, struct kvc_result *result);

#endif
