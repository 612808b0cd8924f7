/* Processor time that a thread lost: it was ready to run, but the system let another thread run, or, where
 * the hypervisor says so, another machine. */
#ifndef KVC_SIM_PROBES_LOST_H
#define KVC_SIM_PROBES_LOST_H

#include <stdbool.h>

/* The clocks of the calling thread at one moment. */
struct kvc_lost {
    double wall_s; /* Wall clock [s]. */
    double cpu_s;  /* Processor time of the thread [s]. */
    long sleeps;   /* How often it had gone to sleep by itself. */
};

/* Reads the clocks of the calling thread, which takes about a microsecond. */
void kvc_lost_begin(struct kvc_lost *lost);

/* Returns the time that the calling thread has lost since then [s]; 0 if it went to sleep by itself, as one
 * does that waits for a GPU, because its lost time cannot be told from its sleep. */
double kvc_lost_s(const struct kvc_lost *since);

/* Returns the sum of all times that kvc_lost_s has returned to any thread of this process [s]. */
double kvc_lost_total_s(void);

/* Notes a repetition of a calibration in this process, and tells what part of them was quiet; 1 before any.
 */
void kvc_lost_note_repetition(bool quiet);
double kvc_lost_quiet_frac(void);

#endif
