/** @file
 * Support for CPU benchmarks: a clock, medians, the limit that memory sets, and report lines that relate a
 * kernel to this limit. */
#ifndef KVC_KERNELS_BENCH_H
#define KVC_KERNELS_BENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the monotonic time [s]. */
double kvc_bench_now_s(void);

/** Returns the monotonic time minus the time that the kernel spent on this process [s]. It leaves out the
 * page faults of loops that fill fresh memory, because their cost depends on the system and not on the loop.
 */
double kvc_bench_own_s(void);

/** Returns the median of `count` values; sorts them. */
double kvc_bench_median(double *value, int count);

/** Prints a message to stderr and exits with status 3. */
void kvc_bench_die(const char *what) __attribute__((noreturn));

/** Returns zeroed memory on huge pages, to be freed with kvc_pages_free. Exits with status 3 if there is
 * none. */
void *kvc_bench_alloc(uint64_t bytes);

/** Pins the calling thread to a core, so that runs are comparable. A failure is ignored. */
void kvc_bench_pin(int core);

/** Prints the processor, the compiler, the state of huge pages, the commit and the date. */
void kvc_bench_print_machine(void);

/** Measures how fast one core reads random 64-byte lines from `bytes` of memory, a power of two: one
 * prefetched word of each line [million/s]. The result is the best of several prefetch distances and cache
 * levels, each a median of several runs. */
double kvc_bench_line_limit_mops(uint64_t bytes);

/** Returns the rate of 16 lines in turn from every random page of 4 KiB [million/s]. A result far above the
 * limit for random lines shows that address translation is the bottleneck, not memory: the huge pages of a
 * virtual machine may consist of small pages of its host. */
double kvc_bench_page_limit_mops(uint64_t bytes);

/** Measures how fast one core reads `bytes` of memory, a multiple of 64, in order [bytes/s]: a median of
 * several runs. */
double kvc_bench_scan_limit_bytes_per_s(uint64_t bytes);

/** Prints a line with a name, a rate and the time of an operation. If `lines`, the number of lines that an
 * operation touches, is above 0, it also prints them and the fraction of the limit [million lines/s] that is
 * reached. */
void kvc_bench_row(const char *name, double mops, double lines, double limit_mops);

#ifdef __cplusplus
}
#endif

#endif
