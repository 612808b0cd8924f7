#include "kernels/bench.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kernels/hash.h"
#include "kernels/pages.h"

#ifndef KVC_COMMIT
#define KVC_COMMIT "unknown"
#endif

enum {
    LIMIT_RUNS = 5,
    LIMIT_READS = 4 << 20,
    LINE_WORDS = 8,
    PAGE_LINES = 64, /* lines of a page of 4 KiB */
};

double kvc_bench_now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double kvc_bench_own_s(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return kvc_bench_now_s() - (double)usage.ru_stime.tv_sec - 1e-6 * (double)usage.ru_stime.tv_usec;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double kvc_bench_median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof(*value), compare_doubles);
    return value[count / 2];
}

void kvc_bench_die(const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s\n", what);
    exit(3);
}

void *kvc_bench_alloc(uint64_t bytes)
{
    void *memory = kvc_pages_alloc(bytes);
    if (memory == NULL) {
        kvc_bench_die("out of memory");
    }
    return memory;
}

void kvc_bench_pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof(set), &set); /* without permission, times are noisier */
}

/* Copies the rest of the first line of a file that begins with `key`, or "unknown" if there is none. */
static void read_field(const char *path, const char *key, char *value, size_t bytes)
{
    char line[512];
    FILE *file = fopen(path, "r");
    snprintf(value, bytes, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(value, bytes, "%s", line + strlen(key));
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

void kvc_bench_print_machine(void)
{
    char cpu[256], pages[128], date[32];
    time_t now = time(NULL);
    read_field("/proc/cpuinfo", "model name\t: ", cpu, sizeof(cpu));
    read_field("/sys/kernel/mm/transparent_hugepage/enabled", "", pages, sizeof(pages));
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime(&now));
    printf("# %s; gcc %s; huge pages %s; commit %s; %s\n", cpu, __VERSION__, pages, KVC_COMMIT, date);
}

/* Reads the lines, prefetching them into the second-level cache only if `to_far`. It is inlined so that
 * `ahead` and `to_far` are constants. */
static inline __attribute__((always_inline)) uint64_t
read_lines(const uint64_t *table, uint64_t mask, const uint64_t *at, uint32_t ahead, int to_far)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i + ahead < LIMIT_READS; i++) {
        if (to_far) {
            __builtin_prefetch(&table[(at[i + ahead] & mask) * LINE_WORDS], 0, 2);
        } else {
            __builtin_prefetch(&table[(at[i + ahead] & mask) * LINE_WORDS], 0, 3);
        }
        sum += table[(at[i] & mask) * LINE_WORDS];
    }
    return sum;
}

/* `together` is the number of lines read in turn from a page. */
static double limit_mops(uint64_t bytes, uint64_t together)
{
    uint64_t mask = bytes / 64 - 1;
    uint64_t *table = kvc_bench_alloc(bytes);
    uint64_t *at = kvc_bench_alloc(sizeof(*at) * LIMIT_READS);
    volatile uint64_t keep = 0;
    double best = 0;
    for (uint64_t i = 0; i < bytes / 8; i += LINE_WORDS) {
        table[i] = i;
    }
    for (int way = 0; way < 4; way++) {
        double seconds[LIMIT_RUNS];
        for (int run = 0; run < LIMIT_RUNS; run++) {
            for (uint64_t i = 0; i < LIMIT_READS; i++) {
                uint64_t number = i + (uint64_t)(way * LIMIT_RUNS + run + 1) * LIMIT_READS;
                at[i] = kvc_mix_64(number / together) * PAGE_LINES + kvc_mix_64(~number) % PAGE_LINES;
            }
            double start = kvc_bench_now_s();
            keep += way == 0   ? read_lines(table, mask, at, 32, 0)
                    : way == 1 ? read_lines(table, mask, at, 16, 0)
                    : way == 2 ? read_lines(table, mask, at, 64, 1)
                               : read_lines(table, mask, at, 128, 1);
            seconds[run] = kvc_bench_now_s() - start;
        }
        double mops = LIMIT_READS / kvc_bench_median(seconds, LIMIT_RUNS) / 1e6;
        best = mops > best ? mops : best;
    }
    (void)keep; /* its writes keep the reads */
    kvc_pages_free(table, bytes);
    kvc_pages_free(at, sizeof(*at) * LIMIT_READS);
    return best;
}

double kvc_bench_line_limit_mops(uint64_t bytes)
{
    return limit_mops(bytes, 1);
}

double kvc_bench_page_limit_mops(uint64_t bytes)
{
    return limit_mops(bytes, 16);
}

double kvc_bench_scan_limit_bytes_per_s(uint64_t bytes)
{
    uint64_t *memory = kvc_bench_alloc(bytes);
    volatile uint64_t keep = 0;
    double seconds[LIMIT_RUNS];
    for (uint64_t i = 0; i < bytes / 8; i += LINE_WORDS) {
        memory[i] = i;
    }
    for (int run = 0; run < LIMIT_RUNS; run++) {
        uint64_t sum[LINE_WORDS] = {0};
        double start = kvc_bench_now_s();
        for (uint64_t i = 0; i < bytes / 8; i += LINE_WORDS) {
            for (int word = 0; word < LINE_WORDS; word++) {
                sum[word] += memory[i + (uint64_t)word];
            }
        }
        seconds[run] = kvc_bench_now_s() - start;
        for (int word = 0; word < LINE_WORDS; word++) {
            keep += sum[word];
        }
    }
    (void)keep; /* Its writes keep the reads. */
    kvc_pages_free(memory, bytes);
    return (double)bytes / kvc_bench_median(seconds, LIMIT_RUNS);
}

void kvc_bench_row(const char *name, double mops, double lines, double limit_mops)
{
    printf("%-46s %7.1f M/s %7.2f ns", name, mops, 1e3 / mops);
    if (lines > 0) {
        printf(" %6.2f lines %6.2f of limit", lines, mops * lines / limit_mops);
    }
    printf("\n");
    fflush(stdout);
}
