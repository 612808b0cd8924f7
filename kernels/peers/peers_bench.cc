/* Compares Mega-KV's index and slab store with well-known hash tables on the same keys in the same run.
 *
 * Keys and values have 8 bytes. There are as many keys as fill 0.75 of the slots of our index, and every
 * request hits. Everything runs on one core, and every table gets huge pages; the report says how much of all
 * memory is on them. The runs of each peer alternate with ours. Rates are medians, and inserts leave page
 * faults out. Peers whose library was missing at build time are named and left out; MICA and memcached's
 * table are our own implementations. The peers are C++ libraries, so this folder is written in C++. */
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "kernels/peers/megakv.hh"
#include "kernels/peers/peers.hh"
#include "kernels/peers/report.hh"
#include "kernels/peers/workload.hh"

namespace kvc::peers
{

namespace
{

const double target_insert_mops = 15;
const double target_index_of_limit = 0.75;

/* A table to compare with. */
struct peer {
    const char *name;
    std::unique_ptr<table> (*create)(uint64_t slots); /* NULL: the library was missing at build time. */
    const char *package;                              /* Package of the library. */
    /* Ratios that our rate has to reach; 0: any. */
    double target_get_one, target_get_many, target_mix;
    double forgotten; /* Largest fraction of keys that the table may forget. */
};

#ifndef KVC_PEER_RTE_HASH
constexpr auto create_rte_hash = nullptr;
#endif
#ifndef KVC_PEER_BOOST
constexpr auto create_boost_flat_map = nullptr;
#endif
#ifndef KVC_PEER_LIBCUCKOO
constexpr auto create_libcuckoo = nullptr;
#endif

/* clang-format off */
const peer all_peers[] = {
    {"DPDK rte_hash (lookup_bulk_data)", create_rte_hash, "libdpdk-dev", 1, 2.2, 2, 0},
    {"Boost unordered_flat_map", create_boost_flat_map, "libboost1.81-dev", 0, 1.25, 0, 0},
    {"libcuckoo, without locks", create_libcuckoo, "libcuckoo-dev", 1, 0, 0, 0},
    {"MICA, lossy", create_mica, nullptr, 1, 0, 0, 0.03},
    {"memcached's chained table", create_memcached, nullptr, 1, 0, 0, 0},
};

const requests all_requests[] = {
    {"GET, batches of 1", 1, 0},
    {"GET, batches of 32", 32, 0},
    {"GET, batches of 256", 256, 0},
    {"95:5 GET:SET, batches of 32", 32, 5},
};
/* clang-format on */

/* Data that all comparisons share. */
struct comparison {
    uint64_t slots, keys;
    drawn_keys drawn;
    double insert_mops;     /* Insert rate of our table [million/s]. */
    double limit_mops;      /* Random lines in memory of the size of our index [million/s]. */
    double item_limit_mops; /* Random lines in memory of the size of our items [million/s]. */
    double get_limit_mops;  /* GET rate that memory allows our table [million/s]. */
};

/* Runs the peer and our table in turn, and prints a line for each kind of requests. */
void compare(const peer &with, megakv_table &own, const comparison &with_all)
{
    std::unique_ptr<table> theirs_table = with.create(with_all.slots);
    double insert = fill(*theirs_table, with_all.keys);
    verify(*theirs_table, with_all.drawn[0], with.name, with.forgotten);
    std::printf("%s (%.2f of all memory on huge pages)\n", with.name, huge_share());
    print_ratio("insert to load 0.75", insert, with_all.insert_mops, 0, 0);
    for (const requests &what : all_requests) {
        double mine[runs], theirs[runs];
        for (int run = 0; run < runs; run++) {
            theirs[run] = run_once(*theirs_table, what, with_all.drawn[run]);
            mine[run] = run_once(own, what, with_all.drawn[(run + 1) % runs]);
        }
        double target = what.sets_percent > 0 ? with.target_mix
                        : what.batch == 1     ? with.target_get_one
                                              : with.target_get_many;
        print_ratio(what.name, kvc_bench_median(theirs, runs), kvc_bench_median(mine, runs), target,
                    what.batch > 1 ? with_all.get_limit_mops : 0);
    }
}

void bench_own(megakv_table &own, const comparison &all)
{
    kvc_bench_row("insert to load 0.75, index and slab", all.insert_mops, 0, all.limit_mops);
    std::printf("  of %.1f M/s%s\n", target_insert_mops, verdict(all.insert_mops, target_insert_mops));
    for (uint32_t batch : {1u, 32u, batch_max}) {
        double mops[runs];
        char name[64];
        for (int run = 0; run < runs; run++) {
            double start = kvc_bench_now_s();
            for (uint64_t i = 0; i < run_keys; i += batch) {
                own.search(&all.drawn[run][i], batch);
            }
            mops[run] = static_cast<double>(run_keys) / (kvc_bench_now_s() - start) / 1e6;
        }
        double median = kvc_bench_median(mops, runs);
        std::snprintf(name, sizeof(name), "index search alone, batches of %u", batch);
        kvc_bench_row(name, median, own.lines_per_search(), all.limit_mops);
        if (batch > 1) {
            double reached = median * own.lines_per_search() / all.limit_mops;
            std::printf("  of %.2f of limit%s\n", target_index_of_limit,
                        verdict(reached, target_index_of_limit));
        }
    }
}

void measure_limits(comparison &all)
{
    all.limit_mops = kvc_bench_line_limit_mops(all.slots * 8);
    all.item_limit_mops = kvc_bench_line_limit_mops(all.slots * 32);
    double page_mops = kvc_bench_page_limit_mops(all.slots * 32);
    std::printf("%llu keys of 8 B, values of 8 B; random lines: %.1f M/s in %llu MiB (index), %.1f in %llu "
                "MiB (items; %.1f with 16 lines in turn from a page of 4 KiB)\n",
                static_cast<unsigned long long>(all.keys), all.limit_mops,
                static_cast<unsigned long long>(all.slots * 8 >> 20), all.item_limit_mops,
                static_cast<unsigned long long>(all.slots * 32 >> 20), page_mops);
}

void bench_all(uint64_t slots)
{
    comparison all = {};
    all.slots = slots;
    all.keys = slots / 4 * 3;
    measure_limits(all);
    all.drawn = draw(all.keys);
    megakv_table own(slots);
    all.insert_mops = fill(own, all.keys);
    verify(own, all.drawn[0], "ours", 0);
    bench_own(own, all);
    /* The items take most of the memory that a GET touches, and the index takes the rest. */
    double lines = own.lines_per_search() + 1;
    all.get_limit_mops = all.item_limit_mops / lines;
    std::printf("GET: %.2f lines at %.1f M/s: at most %.1f M/s\n", lines, all.item_limit_mops,
                all.get_limit_mops);
    for (const peer &each : all_peers) {
        if (each.create != nullptr) {
            compare(each, own, all);
        } else {
            std::printf("%s: missing at build time (%s)\n", each.name, each.package);
        }
    }
}

} // namespace

} // namespace kvc::peers

int main(int argc, char **argv)
{
    uint64_t slots = UINT64_C(1) << 26;
    int option;
    while ((option = getopt(argc, argv, "c:")) != -1) {
        char *end;
        unsigned long long log2 = std::strtoull(optarg != nullptr ? optarg : "", &end, 10);
        if (option != 'c' || *end != '\0' || log2 < 16 || log2 > 28) {
            std::fprintf(stderr, "usage: peers_bench [-c LOG2_SLOTS]; LOG2_SLOTS is 16 to 28\n");
            return 2;
        }
        slots = UINT64_C(1) << log2;
    }
    kvc_bench_print_machine();
#ifdef KVC_PEER_RTE_HASH
    kvc::peers::rte_hash_start();
#endif
    kvc_bench_pin(0);
    kvc::peers::bench_all(slots);
    return 0;
}
