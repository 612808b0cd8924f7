#include "kernels/peers/report.hh"

#include <cstdio>

namespace kvc::peers
{

double huge_share()
{
    double resident = 0, huge = 0, kib;
    char line[256];
    FILE *file = std::fopen("/proc/self/smaps_rollup", "r");
    while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
        if (std::sscanf(line, "Rss: %lf", &kib) == 1) {
            resident = kib;
        } else if (std::sscanf(line, "AnonHugePages: %lf", &kib) == 1) {
            huge = kib;
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return resident > 0 ? huge / resident : 0;
}

const char *verdict(double reached, double target)
{
    return target <= 0 ? "" : reached >= target ? "  ok" : "  MISSED";
}

void print_ratio(const char *what, double theirs, double mine, double target, double limit_mops)
{
    std::printf("  %-30s %8.1f M/s, ours %8.1f M/s: %5.2f times", what, theirs, mine, mine / theirs);
    if (target > 0) {
        std::printf(" of %4.2f%s", target, verdict(mine / theirs, target));
        if (limit_mops > 0) {
            std::printf(" (limit %.2f)", limit_mops / theirs);
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace kvc::peers
