/* Bob Jenkins' hash for table lookup, which picks a key's bucket.
 *
 * BlueCache sec. 3.3 names "the Jenkins hash function, also used in memcached": that is lookup3
 * ("hashlittle", B. Jenkins, 2006, public domain). Written here from its definition; the same value on every
 * machine. */
#ifndef KVC_KERNELS_BLUECACHE_JENKINS_HASH_H
#define KVC_KERNELS_BLUECACHE_JENKINS_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes `bytes` bytes (0 is allowed) of `key`. */
uint32_t kvc_jenkins_hash(const void *key, size_t bytes, uint32_t seed);

#endif
