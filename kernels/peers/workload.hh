/* The workload of every table under test: filling it, random hits, and checks of the results. */
#ifndef KVC_KERNELS_PEERS_WORKLOAD_HH
#define KVC_KERNELS_PEERS_WORKLOAD_HH

#include <vector>

#include "kernels/peers/table.hh"

namespace kvc::peers
{

constexpr int runs = 5;
constexpr uint64_t run_keys = 2 << 20;

/* The keys of each run: run_keys random keys out of those that fill() inserts. */
using drawn_keys = std::vector<std::vector<uint64_t>>;

/* A kind of requests. */
struct requests {
    const char *name;
    uint32_t batch;
    uint32_t sets_percent; /* SETs among the requests [percent]. */
};

/* Draws the keys of all runs out of `keys` keys. */
drawn_keys draw(uint64_t keys);

/* Inserts `keys` keys and returns the rate without page faults [million/s]. */
double fill(table &into, uint64_t keys);

/* Runs run_keys requests and returns the rate [million/s]. */
double run_once(table &on, const requests &what, const std::vector<uint64_t> &keys);

/* Checks that every value found is right and that at most a fraction `forgotten` of the keys is missing;
 * otherwise the program exits with status 1. */
void verify(table &on, const std::vector<uint64_t> &keys, const char *name, double forgotten);

} // namespace kvc::peers

#endif
