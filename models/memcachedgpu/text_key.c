#include "models/memcachedgpu/text_key.h"

#include <string.h>

#include "sim/base/rng.h"

/* Spreads the lower 48 bits over 8 characters from '0' to 'o'. */
static uint64_t characters(uint64_t bits)
{
    bits = (bits & 0xffffff) | (bits & UINT64_C(0xffffff000000)) << 8;
    bits = (bits & UINT64_C(0x00000fff00000fff)) | (bits & UINT64_C(0x00fff00000fff000)) << 4;
    bits = (bits & UINT64_C(0x003f003f003f003f)) | (bits & UINT64_C(0x0fc00fc00fc00fc0)) << 2;
    return bits + UINT64_C(0x3030303030303030);
}

void kvc_memcachedgpu_text_key(uint8_t *to, uint64_t key_id, uint32_t key_bytes)
{
    uint64_t bits = key_id, mixed = kvc_mix64(key_id);
    for (uint32_t at = 0; at < key_bytes; at += 8) {
        uint64_t text = characters(bits);
        memcpy(to + at, &text, sizeof(text));
        bits = mixed;
        mixed = mixed << 16 ^ mixed >> 48 ^ at;
    }
}
