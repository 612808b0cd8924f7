/* Drives of the hardware profiles at work, for tests that compare them with data sheets. */
#ifndef KVC_SCENARIOS_PAPERS_BLUECACHE_DRIVES_FIXTURE_H
#define KVC_SCENARIOS_PAPERS_BLUECACHE_DRIVES_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/flash/flash.h"

/* Steady load of a host. */
struct kvc_drive_load {
    uint32_t depth; /* Operations that it keeps outstanding. */
    uint32_t bytes; /* Bytes of each: a sector, or a page. */
    double reads;   /* Share of reads; the others are writes. */
    bool random;    /* Anywhere, or in a row. */
    uint32_t count; /* Operations that are measured. */
};

/* What a drive does meanwhile. */
struct kvc_drive_work {
    double per_s;                /* Operations a second. */
    double amplification;        /* Sectors that are programmed for each one that the host writes; 1: none. */
    double programs_bytes_per_s; /* What the chips program for the host and for garbage collection. */
    double chips_busy;           /* Share of the time for which a chip works, on average. */
};

/* Returns what a profile says of a drive. */
struct kvc_flash kvc_drive_of(const char *profile);

/* Opens a drive that is written in order, with `aged` also at random until its translation layer is in its
 * steady state. It is smaller than the whole one, with the same share of spare capacity. `flash` must outlive
 * it. */
void kvc_drive_open(const struct kvc_flash *flash, bool aged);
void kvc_drive_close(void);

/* Returns what the open drive does under a load. */
struct kvc_drive_work kvc_drive_run(const struct kvc_drive_load *load);

/* Logs a prediction with its error, which it returns. */
double kvc_drive_error(const char *what, double predicted, double published);

/* Logs a prediction with its error and expects the error within bounds. */
void kvc_drive_expect(const char *what, double predicted, double published, double low, double high);

#endif
