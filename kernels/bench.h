/* What CPU benchmarks share: a clock, medians, the limit that memory sets, rows that say how near to it a
 * kernel is. */
#ifndef KVC_KERNELS_BENCH_H
#define KVC_KERNELS_BENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

double kvc_bench_now_s(void);

/* As kvc_bench_now_s, less the time that the system worked for this program: what fills fresh memory is
 * interrupted by page faults, and how long those take is the system's affair. */
double kvc_bench_own_s(void);

/* Sorts `value`. */
double kvc_bench_median(double *value, int count);

/* SplitMix64's finaliser: a bijection. */
static inline uint64_t kvc_bench_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Says what failed and leaves with status 3. */
void kvc_bench_die(const char *what) __attribute__((noreturn));

/* Zeroed, on huge pages; dies if there is no memory. Freed with kvc_pages_free. */
void *kvc_bench_alloc(uint64_t bytes);

/* Keeps to one core, so that runs compare. */
void kvc_bench_pin(int core);

/* Processor, compiler, commit, huge pages. */
void kvc_bench_print_machine(void);

/* Millions of random 64-byte lines a second that one core reads from `bytes` (a power of two) of memory: one
 * word a line, prefetched, the best of several prefetch distances and cache levels; median of several runs.
 */
double kvc_bench_line_limit_mops(uint64_t bytes);

/* The same with 16 lines in turn out of every random 4-KiB page. Far above the limit, it tells that finding
 * the page limits random lines, not memory: below a guest's huge pages there may be small ones. */
double kvc_bench_page_limit_mops(uint64_t bytes);

/* name, M/s, ns; with `lines` above 0 also the lines each operation touches and lines a second over the
 * limit. */
void kvc_bench_row(const char *name, double mops, double lines, double limit_mops);

#ifdef __cplusplus
}
#endif

#endif
