/** @file
 * Little-endian words at any address, for the host and the device. */
#ifndef KVC_KERNELS_BYTES_H
#define KVC_KERNELS_BYTES_H

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

#endif
