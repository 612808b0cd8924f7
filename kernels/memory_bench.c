/* Measures what the memory of this machine allows one core: random lines and a scan in order. The line that
 * it prints is the limit that other benchmarks stay below.
 *
 *   memory_bench [MIB]       a power of two; default: 512 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/bench.h"

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long long mib = argc > 1 ? strtoull(argv[1], &end, 10) : 512;
    if (argc > 2 || (end != NULL && *end != '\0') || mib == 0 || mib > 65536 || (mib & (mib - 1)) != 0) {
        fputs("usage: memory_bench [MIB]; MIB is a power of two up to 65536\n", stderr);
        return 2;
    }
    uint64_t bytes = (uint64_t)mib << 20;
    kvc_bench_pin(0);
    kvc_bench_print_machine();
    double lines_mops = kvc_bench_line_limit_mops(bytes);
    printf("memory: %.1f M random lines/s, %.2f GB/s in order, in %llu MiB\n", lines_mops,
           kvc_bench_scan_limit_bytes_per_s(bytes) * 1e-9, mib);
    return 0;
}
