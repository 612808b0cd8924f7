/* Creates the tables of the peers. A peer exists only if its library was found at build time; the macros
 * KVC_PEER_RTE_HASH, KVC_PEER_BOOST and KVC_PEER_LIBCUCKOO tell. */
#ifndef KVC_KERNELS_PEERS_PEERS_HH
#define KVC_KERNELS_PEERS_PEERS_HH

#include <memory>

#include "kernels/peers/table.hh"

namespace kvc::peers
{

/* Each function creates a table for 0.75 * slots keys. */
#ifdef KVC_PEER_RTE_HASH
std::unique_ptr<table> create_rte_hash(uint64_t slots);
/* Starts DPDK without devices and without reserved memory. Must come before the process is pinned to a core.
 */
void rte_hash_start();
#endif
#ifdef KVC_PEER_BOOST
std::unique_ptr<table> create_boost_flat_map(uint64_t slots);
#endif
#ifdef KVC_PEER_LIBCUCKOO
std::unique_ptr<table> create_libcuckoo(uint64_t slots);
#endif
std::unique_ptr<table> create_mica(uint64_t slots);
std::unique_ptr<table> create_memcached(uint64_t slots);

} // namespace kvc::peers

#endif
