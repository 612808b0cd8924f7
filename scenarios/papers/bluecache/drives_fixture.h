/* Drives of the hardware profiles at work, for tests that compare them with data sheets. */
#ifndef KVC_SCENARIOS_PAPERS_BLUECACHE_DRIVES_FIXTURE_H
#define KVC_SCENARIOS_PAPERS_BLUECACHE_DRIVES_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/flash/flash.h"

/* What a host does all the time. */
struct kvc_drive_load {
    uint32_t depth; /* Operations that it keeps outstanding. */
    uint32_t bytes; /* Of each of them: a sector, or a page. */
    double reads;   /* Share of reads; the others are writes. */
    bool random;    /* Anywhere, or in a row. */
    uint32_t count; /* Operations that are measured. */
};

/* Returns what a profile says of a drive. */
struct kvc_flash kvc_drive_of(const char *profile);

/* Opens a drive that is written in order, with `aged` also at random until its translation layer is in its
 * steady state. It is smaller than the whole one, with the same share of spare capacity. `flash` must outlive
 * it. */
void kvc_drive_open(const struct kvc_flash *flash, bool aged);
void kvc_drive_close(void);

/* Returns the operations a second of a load on the open drive. */
double kvc_drive_rate(const struct kvc_drive_load *load);

/* Returns how many sectors were programmed for each that the host wrote, since the drive was opened or aged.
 */
double kvc_drive_amplification(void);

/* Logs a prediction with its error and expects the error within bounds. */
void kvc_drive_expect(const char *what, double predicted, double published, double low, double high);

#endif
