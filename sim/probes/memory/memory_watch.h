/* Watches how fast the memory of this machine is while a store is measured. A core's clock says nothing about
 * it: on a machine that is shared, the rates of the memory change from minute to minute, and a virtual
 * machine moves between cores that share a cache and cores that do not.
 *
 * Between two turns of a run (sim/probes/watched.h), neighbouring cores (0 and 1, 2 and 3) hand a line to
 * each other and back. Then all threads read the same buffer at once for about a millisecond: random lines
 * that do not depend on each other, random lines whose address the line before gives, and lines in order.
 * Each ends with some arithmetic, which a busy sibling thread slows. */
#ifndef KVC_SIM_PROBES_MEMORY_MEMORY_WATCH_H
#define KVC_SIM_PROBES_MEMORY_MEMORY_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

/* The rates of the memory, as one thread sees them while the others do the same. NaN: not measured. */
struct kvc_memory_rates {
    double line_ns;     /* A random line, of several that are read at the same time [ns]. */
    double latency_ns;  /* A random line whose address the line before gives [ns]. */
    double bytes_per_s; /* Lines in order [bytes/s]. */
    double handoff_ns;  /* A line that one core has written and its neighbour reads and writes [ns]. */
    double step_ns;     /* A step of arithmetic, which a busy sibling lengthens (kvc_speed_measure) [ns]. */
};

/* Returns the time of a random line of a zeroed buffer if 256 lines are prefetched before the first of them
 * is read, as stores with batches do, and of a random line whose address the line before gives [ns]. They
 * read for half a millisecond at most; `first` chooses the lines. */
double kvc_memory_prefetched_ns(const uint8_t *buffer, uint64_t bytes, uint64_t first);
double kvc_memory_latency_ns(const uint8_t *buffer, uint64_t bytes, uint64_t first);

/* Size of the buffer of a watch [bytes]. */
extern const uint64_t kvc_memory_watch_bytes;

struct kvc_memory_watch {
    uint8_t *buffer;                /* On small pages, which every system has. */
    uint32_t cores, room;           /* Cores, and readings of each that fit. */
    uint32_t *count;                /* Readings, by core. */
    struct kvc_memory_rates *rates; /* Reading i of core c is rates[c * room + i]. */
    struct kvc_memory_baton *baton; /* By pair of neighbours: the line that they hand to each other. */
};

/* Prepares `room` readings of each core. All watches have a buffer of 512 MiB, far beyond the caches, so that
 * a calibration and a run can be compared. KVC_ERR_RUNTIME: memory is short. It must be closed even then. */
enum kvc_status kvc_memory_watch_open(struct kvc_memory_watch *watch, uint32_t cores, uint32_t room,
                                      struct kvc_diag *diag);
void kvc_memory_watch_close(struct kvc_memory_watch *watch); /* A zeroed one is allowed. */

/* Takes a reading on a core, by the thread that is pinned to it. */
void kvc_memory_watch_read(struct kvc_memory_watch *watch, uint32_t core);

/* Notes a reading without rates for a core that sleeps. */
void kvc_memory_watch_skip(struct kvc_memory_watch *watch, uint32_t core);

/* What makes the state of a machine: independent lines, handoffs, or both. */
enum kvc_memory_state { KVC_MEMORY_LINES = 1, KVC_MEMORY_HANDOFFS = 2, KVC_MEMORY_STATE = 3 };

/* Sets usual[i] for each reading i < room: whether it resembles the reading that most others resemble. Two
 * readings do if the times that make the state differ by a factor of at most 1.25, on all but a quarter of
 * the cores. The threads must have ended. */
void kvc_memory_watch_usual(const struct kvc_memory_watch *watch, enum kvc_memory_state state, bool *usual);

/* Returns the median over a core's usual readings of the time of an independent line [ns]; NaN if there is
 * none. */
double kvc_memory_watch_line_ns(const struct kvc_memory_watch *watch, const bool *usual, uint32_t core);

/* Returns the lower quartiles over all cores and readings of all times; bytes_per_s is NaN, and so is what no
 * reading has. */
struct kvc_memory_rates kvc_memory_watch_fast(const struct kvc_memory_watch *watch);

/* Returns the means over the cores of the medians of their usual readings. The threads must have ended. */
struct kvc_memory_rates kvc_memory_watch_rates(const struct kvc_memory_watch *watch, const bool *usual);

#endif
