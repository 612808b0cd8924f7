/** @file
 * lookup3, Bob Jenkins' hash function for byte strings.
 *
 * It is the hash function of memcached up to 1.4.17, of MemcachedGPU (SoCC 2015, sec. 4.1.1) and of BlueCache
 * ("the Jenkins hash function, also used in memcached", VLDB 10(4) 2016, sec. 3.3). The algorithm of May 2006
 * is in the public domain. This is its little-endian form for byte strings, which returns the same values as
 * hashlittle and hashlittle2. The inline functions compile for the host and for the device. */
#ifndef KVC_KERNELS_LOOKUP3_H
#define KVC_KERNELS_LOOKUP3_H

#include <stdint.h>

#include "kernels/bytes.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The internal state of the algorithm. */
struct kvc_lookup3_state {
    uint32_t a; /**< First word. */
    uint32_t b; /**< Second word; finally the secondary hash. */
    uint32_t c; /**< Third word; finally the primary hash. */
};

/** Rotates a word to the left. */
static inline KVC_HOST_DEVICE uint32_t kvc_lookup3_rotate(uint32_t word, int left)
{
    return word << left | word >> (32 - left);
}

/** Mixes the state after every 12 bytes of the key. */
static inline KVC_HOST_DEVICE void kvc_lookup3_mix(struct kvc_lookup3_state *state)
{
    uint32_t a = state->a, b = state->b, c = state->c;
    a = (a - c) ^ kvc_lookup3_rotate(c, 4);
    c += b;
    b = (b - a) ^ kvc_lookup3_rotate(a, 6);
    a += c;
    c = (c - b) ^ kvc_lookup3_rotate(b, 8);
    b += a;
    a = (a - c) ^ kvc_lookup3_rotate(c, 16);
    c += b;
    b = (b - a) ^ kvc_lookup3_rotate(a, 19);
    a += c;
    c = (c - b) ^ kvc_lookup3_rotate(b, 4);
    b += a;
    state->a = a;
    state->b = b;
    state->c = c;
}

/** Mixes the state a last time. */
static inline KVC_HOST_DEVICE void kvc_lookup3_final(struct kvc_lookup3_state *state)
{
    uint32_t a = state->a, b = state->b, c = state->c;
    c = (c ^ b) - kvc_lookup3_rotate(b, 14);
    a = (a ^ c) - kvc_lookup3_rotate(c, 11);
    b = (b ^ a) - kvc_lookup3_rotate(a, 25);
    c = (c ^ b) - kvc_lookup3_rotate(b, 16);
    a = (a ^ c) - kvc_lookup3_rotate(c, 4);
    b = (b ^ a) - kvc_lookup3_rotate(a, 14);
    c = (c ^ b) - kvc_lookup3_rotate(b, 24);
    state->a = a;
    state->b = b;
    state->c = c;
}

/** Returns up to 4 bytes of the rest of a key, from offset `at` on. */
static inline KVC_HOST_DEVICE uint32_t kvc_lookup3_tail(const uint8_t *key, uint32_t bytes, uint32_t at)
{
    return bytes <= at ? 0 : kvc_bytes_word(key + at, bytes - at < 4 ? bytes - at : 4);
}

/** Hashes `bytes` bytes of `key`; 0 bytes are allowed. The low half of the result is the primary hash, equal
 * to hashlittle, and the high half is the secondary hash. `primary` and `secondary` are the seeds of
 * hashlittle2. */
static inline KVC_HOST_DEVICE uint64_t kvc_lookup3_inline(const uint8_t *key, uint32_t bytes,
                                                          uint32_t primary, uint32_t secondary)
{
    uint32_t start = 0xdeadbeefu + bytes + primary;
    struct kvc_lookup3_state state = {start, start, start + secondary};
    if (bytes == 0) {
        return (uint64_t)state.b << 32 | state.c;
    }
    while (bytes > 12) {
        state.a += kvc_bytes_word(key, 4);
        state.b += kvc_bytes_word(key + 4, 4);
        state.c += kvc_bytes_word(key + 8, 4);
        kvc_lookup3_mix(&state);
        key += 12;
        bytes -= 12;
    }
    state.a += kvc_lookup3_tail(key, bytes, 0);
    state.b += kvc_lookup3_tail(key, bytes, 4);
    state.c += kvc_lookup3_tail(key, bytes, 8);
    kvc_lookup3_final(&state);
    return (uint64_t)state.b << 32 | state.c;
}

#ifdef __cplusplus
}
#endif

#endif
