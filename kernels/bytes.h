/** @file
 * Little-endian words at any address, for the host and the device. */
#ifndef KVC_KERNELS_BYTES_H
#define KVC_KERNELS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/device.h"

/** Returns the `bytes` bytes at `from`, 1 to 4, as a word whose other bytes are 0. The device has no
 * unaligned loads, so it reads the one or two aligned words that contain these bytes. */
static inline KVC_HOST_DEVICE uint32_t kvc_bytes_word(const uint8_t *from, uint32_t bytes)
{
#ifdef __CUDA_ARCH__
    /* Pointer arithmetic instead of integers lets the compiler see the memory space. */
    uint32_t lead = (uint32_t)((uintptr_t)from & 3);
    const uint8_t *aligned = from - lead;
    uint32_t shift = 8 * lead;
    uint32_t low = *(const uint32_t *)aligned;
    uint32_t high = *(const uint32_t *)(aligned + ((lead + bytes - 1) & ~3u));
    uint32_t word = __funnelshift_r(low, shift != 0 ? high : 0, shift);
    return word & 0xffffffffu >> 8 * (4 - bytes);
#else
    uint32_t word = 0;
    if (bytes == 4) {
        memcpy(&word, from, 4);
        return word;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        word |= (uint32_t)from[i] << 8 * i;
    }
    return word;
#endif
}

/** Like kvc_bytes_word, for 0 to 8 bytes. */
static inline KVC_HOST_DEVICE uint64_t kvc_bytes_word_64(const uint8_t *from, uint32_t bytes)
{
#ifndef __CUDA_ARCH__
    if (bytes == 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        return word;
    }
#endif
    if (bytes == 0) {
        return 0;
    }
    uint64_t low = kvc_bytes_word(from, bytes < 4 ? bytes : 4);
    return bytes <= 4 ? low : low | (uint64_t)kvc_bytes_word(from + 4, bytes - 4) << 32;
}

/** Longest piece that is copied or compared without a call [bytes]. With a call for each, random items take
 * two to five times as long. */
enum { KVC_BYTES_SHORT = 64 };

/** Copies `bytes` bytes, short ones in words that may overlap. The pieces must not overlap; `from` may be
 * NULL if `bytes` is 0. Host only. */
static inline void kvc_bytes_copy(void *to, const void *from, uint32_t bytes)
{
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    if (bytes > KVC_BYTES_SHORT) {
        memcpy(to, from, bytes);
        return;
    }
    if (bytes < 8) {
        for (uint32_t i = 0; i < bytes; i++) {
            out[i] = in[i];
            __asm__("" : : : "memory"); /* Otherwise the compiler makes it a call. */
        }
        return;
    }
    uint64_t last = kvc_bytes_word_64(in + bytes - 8, 8);
    for (uint32_t i = 0; i + 8 < bytes; i += 8) {
        uint64_t word = kvc_bytes_word_64(in + i, 8);
        memcpy(out + i, &word, sizeof(word));
    }
    memcpy(out + bytes - 8, &last, sizeof(last));
}

/** Returns whether `bytes` bytes are the same at `a` and `b`. Host only. */
static inline bool kvc_bytes_same(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
    uint64_t different = 0;
    if (bytes > KVC_BYTES_SHORT) {
        return memcmp(a, b, bytes) == 0;
    }
    if (bytes < 8) {
        return kvc_bytes_word_64(a, bytes) == kvc_bytes_word_64(b, bytes);
    }
    for (uint32_t i = 0; i + 8 < bytes; i += 8) {
        different |= kvc_bytes_word_64(a + i, 8) ^ kvc_bytes_word_64(b + i, 8);
    }
    different |= kvc_bytes_word_64(a + bytes - 8, 8) ^ kvc_bytes_word_64(b + bytes - 8, 8);
    return different == 0;
}

#endif
