/* Costs of requests on BlueCache's devices: bytes on PCIe and on links, and time in the card's DRAM.
 *
 * Source: the published program of the authors (github.com/xushuotao/fpgamemcached). Requests and
 * responses have memcached's binary header; a GET sends its key, a SET key and value, and a hit returns
 * the value. The DRAM serves one access after another. Each access to a new place opens a row: a read
 * takes the measured time of a random access, and a write additionally takes the extra time in which its
 * row closes. Lines that follow in order take the time of their bytes. An index entry is read with its
 * bucket and written back; an item in DRAM also has a timestamp or header that is written; a pair for
 * flash goes to the write buffer in order. */
#ifndef KVC_MODELS_BLUECACHE_COSTS_H
#define KVC_MODELS_BLUECACHE_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/bluecache/config.h"
#include "sim/workload/batch.h"

/* Return the bytes of a request and of its response. */
uint32_t kvc_bluecache_request_bytes(enum kvc_op op, uint32_t key_bytes, uint32_t value_bytes);
uint32_t kvc_bluecache_response_bytes(enum kvc_op op, bool hit, uint32_t value_bytes);

/* Returns the time for which a request occupies the card's DRAM [ns]. `place` is an enum
 * kvc_bluecache_place: where a GET looks, or where a SET puts its pair. */
double kvc_bluecache_dram_ns(const struct kvc_bluecache_config *config, enum kvc_op op, uint8_t place,
                             uint32_t key_bytes, uint32_t value_bytes);

/* Returns the pages of a pair on flash. */
uint32_t kvc_bluecache_pages(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                             uint32_t value_bytes);

/* Returns the bytes that a GET fetches of each page of a pair: the sectors of its record, or whole pages
 * if the pair has several pages or the card has no sectors. */
double kvc_bluecache_fetched_bytes(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                                   uint32_t value_bytes);

/* Return the time for which bytes occupy PCIe, to and from the card, or the links between two cards [ns]. */
double kvc_bluecache_in_ns(const struct kvc_bluecache_config *config, double bytes);
double kvc_bluecache_out_ns(const struct kvc_bluecache_config *config, double bytes);
double kvc_bluecache_edge_ns(const struct kvc_bluecache_config *config, double bytes);

/* Return the latency of a hop for a request or its response, besides its bytes [ns]. A message with a
 * payload is agreed on first. A GET's request is a header alone, because its key is compared where the
 * value arrives. */
double kvc_bluecache_request_hop_ns(const struct kvc_bluecache_config *config, enum kvc_op op);
double kvc_bluecache_response_hop_ns(const struct kvc_bluecache_config *config, enum kvc_op op, bool hit);

#endif
