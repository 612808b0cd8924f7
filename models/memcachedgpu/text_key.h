/* Keys as memcached's ASCII protocol allows them: without spaces and control characters. */
#ifndef KVC_MODELS_MEMCACHEDGPU_TEXT_KEY_H
#define KVC_MODELS_MEMCACHEDGPU_TEXT_KEY_H

#include <stdint.h>

/* Writes the key of `key_bytes` bytes that stands for a key of the workload. `to` has room for a multiple of
 * 8 bytes. A character has 6 bits of the id, so ids below 64^key_bytes and 2^48 have different keys. Longer
 * keys go on with mixed bits of the id. */
void kvc_memcachedgpu_text_key(uint8_t *to, uint64_t key_id, uint32_t key_bytes);

#endif
