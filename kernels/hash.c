#include "kernels/hash.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The key is read in blocks of 16 bytes; the last block is padded with zeros. The state starts from the seed.
 * Two AES rounds absorb each block, and two more rounds finish the hash. The length is part of the round key
 * of the first of these, so that padding cannot be mistaken for key bytes. Every output bit then depends on
 * every key byte through at least four rounds; full diffusion takes two. The round constants are digits of
 * pi. */
static const uint64_t seed_low = 0x243f6a8885a308d3;
static const uint64_t seed_high = 0x13198a2e03707344;
static const uint64_t round_one[2] = {0xa4093822299f31d0, 0x082efa98ec4e6c89};
static const uint64_t round_two[2] = {0x452821e638d01377, 0xbe5466cf34e90c6c};

/* FIPS 197, fig. 7. */
static const uint8_t sbox[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
};

static uint64_t rotate_half(uint64_t word)
{
    return word << 32 | word >> 32;
}

struct aes_block {
    uint8_t byte[16];
};

static struct aes_block block_of_words(uint64_t low, uint64_t high)
{
    struct aes_block block;
    for (int i = 0; i < 8; i++) {
        block.byte[i] = (uint8_t)(low >> 8 * i);
        block.byte[8 + i] = (uint8_t)(high >> 8 * i);
    }
    return block;
}

static struct aes_block block_xor(struct aes_block left, struct aes_block right)
{
    for (int i = 0; i < 16; i++) {
        left.byte[i] ^= right.byte[i];
    }
    return left;
}

static uint8_t times_two(uint8_t value)
{
    return (uint8_t)(value << 1 ^ (value >> 7) * 0x1b);
}

/* Performs the steps of the aesenc instruction: ShiftRows, SubBytes, MixColumns, AddRoundKey. */
static struct aes_block aes_round(struct aes_block state, struct aes_block key)
{
    struct aes_block next;
    for (int column = 0; column < 4; column++) {
        uint8_t s[4];
        for (int row = 0; row < 4; row++) {
            s[row] = sbox[state.byte[4 * ((column + row) & 3) + row]];
        }
        uint8_t all = s[0] ^ s[1] ^ s[2] ^ s[3];
        for (int row = 0; row < 4; row++) {
            next.byte[4 * column + row] = s[row] ^ all ^ times_two(s[row] ^ s[(row + 1) & 3]);
        }
    }
    return block_xor(next, key);
}

uint64_t kvc_hash_portable(const void *key, size_t bytes, uint64_t seed)
{
    const uint8_t *next = key;
    size_t left = bytes;
    struct aes_block one = block_of_words(round_one[0], round_one[1]);
    struct aes_block two = block_of_words(round_two[0], round_two[1]);
    struct aes_block state = block_of_words(seed ^ seed_low, rotate_half(seed) ^ seed_high);
    do {
        struct aes_block block = {{0}};
        size_t taken = left < 16 ? left : 16;
        if (taken != 0) {
            memcpy(block.byte, next, taken);
            next += taken;
        }
        left -= taken;
        state = aes_round(aes_round(block_xor(state, block), one), two);
    } while (left != 0);
    struct aes_block length = block_of_words(bytes, 0);
    state = aes_round(aes_round(state, block_xor(one, length)), two);
    uint64_t hash = 0;
    for (int i = 0; i < 8; i++) {
        hash |= (uint64_t)state.byte[i] << 8 * i;
    }
    return hash;
}

#if defined(__x86_64__)

#define AES_TARGET __attribute__((target("aes,sse4.1")))
#define AES_INLINE AES_TARGET static inline __attribute__((always_inline))

static inline uint64_t load_64(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

static inline uint64_t load_32(const uint8_t *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

AES_INLINE __m128i constant(const uint64_t *words)
{
    return _mm_loadu_si128((const __m128i *)words);
}

AES_INLINE __m128i seed_state(uint64_t seed)
{
    return _mm_set_epi64x((int64_t)(rotate_half(seed) ^ seed_high), (int64_t)(seed ^ seed_low));
}

AES_INLINE __m128i absorb(__m128i state, __m128i block)
{
    state = _mm_aesenc_si128(_mm_xor_si128(state, block), constant(round_one));
    return _mm_aesenc_si128(state, constant(round_two));
}

AES_INLINE uint64_t finish(__m128i state, size_t bytes)
{
    __m128i length = _mm_cvtsi64_si128((int64_t)bytes);
    state = _mm_aesenc_si128(state, _mm_xor_si128(constant(round_one), length));
    return (uint64_t)_mm_cvtsi128_si64(_mm_aesenc_si128(state, constant(round_two)));
}

/* Loads the last block, which has 0 to 16 bytes. Overlapping loads avoid a copy and never read beyond the
 * key. */
AES_INLINE __m128i load_tail(const uint8_t *from, size_t bytes)
{
    uint64_t low = 0, high = 0;
    if (bytes == 16) {
        return _mm_loadu_si128((const __m128i *)from);
    }
    if (bytes >= 8) {
        low = load_64(from);
        high = bytes > 8 ? load_64(from + bytes - 8) >> 8 * (16 - bytes) : 0;
    } else if (bytes >= 4) {
        low = load_32(from) | load_32(from + bytes - 4) << 8 * (bytes - 4);
    } else if (bytes != 0) {
        low = from[0] | (uint64_t)from[bytes / 2] << 8 * (bytes / 2) |
              (uint64_t)from[bytes - 1] << 8 * (bytes - 1);
    }
    return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

AES_TARGET static uint64_t hash_aes_8(const uint8_t *key, uint64_t seed)
{
    return finish(absorb(seed_state(seed), _mm_loadl_epi64((const __m128i *)key)), 8);
}

AES_TARGET static uint64_t hash_aes(const uint8_t *key, size_t bytes, uint64_t seed)
{
    __m128i state = seed_state(seed);
    size_t left = bytes;
    while (left > 16) {
        state = absorb(state, _mm_loadu_si128((const __m128i *)key));
        key += 16;
        left -= 16;
    }
    return finish(absorb(state, load_tail(key, left)), bytes);
}

/* Hashes eight keys of the same length, 8 or 16 bytes. The independent chains hide the latency of the rounds.
 */
AES_INLINE void hash_eight(const uint8_t *keys, size_t stride, size_t bytes, __m128i start, uint64_t *hash)
{
    __m128i state[8];
    for (int i = 0; i < 8; i++) {
        const __m128i *key = (const __m128i *)(keys + (size_t)i * stride);
        state[i] = _mm_xor_si128(start, bytes == 8 ? _mm_loadl_epi64(key) : _mm_loadu_si128(key));
    }
    for (int i = 0; i < 8; i++) {
        state[i] = _mm_aesenc_si128(state[i], constant(round_one));
    }
    for (int i = 0; i < 8; i++) {
        state[i] = _mm_aesenc_si128(state[i], constant(round_two));
    }
    __m128i close = _mm_xor_si128(constant(round_one), _mm_cvtsi64_si128((int64_t)bytes));
    for (int i = 0; i < 8; i++) {
        state[i] = _mm_aesenc_si128(state[i], close);
    }
    for (int i = 0; i < 8; i++) {
        hash[i] = (uint64_t)_mm_cvtsi128_si64(_mm_aesenc_si128(state[i], constant(round_two)));
    }
}

AES_TARGET static void hash_batch_aes(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count,
                                      uint64_t seed, uint64_t *hash)
{
    __m128i start = seed_state(seed);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t lengths = load_64(bytes + i);
        if (lengths == 0x0808080808080808) {
            hash_eight(keys + i * stride, stride, 8, start, hash + i);
        } else if (lengths == 0x1010101010101010) {
            hash_eight(keys + i * stride, stride, 16, start, hash + i);
        } else {
            for (size_t j = i; j < i + 8; j++) {
                hash[j] = hash_aes(keys + j * stride, bytes[j], seed);
            }
        }
    }
    for (; i < count; i++) {
        hash[i] = hash_aes(keys + i * stride, bytes[i], seed);
    }
}

/* The start-up code of the C library queries the processor once, so this only reads a flag. */
static bool machine_has_aes(void)
{
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
}

#endif

uint64_t kvc_hash(const void *key, size_t bytes, uint64_t seed)
{
#if defined(__x86_64__)
    if (machine_has_aes()) {
        return hash_aes(key, bytes, seed);
    }
#endif
    return kvc_hash_portable(key, bytes, seed);
}

static __attribute__((noinline)) void hash_batch_portable(const uint8_t *keys, size_t stride,
                                                          const uint8_t *bytes, size_t count, uint64_t seed,
                                                          uint64_t *hash)
{
    for (size_t i = 0; i < count; i++) {
        hash[i] = kvc_hash_portable(keys + i * stride, bytes[i], seed);
    }
}

void kvc_hash_batch(const uint8_t *keys, size_t stride, const uint8_t *bytes, size_t count, uint64_t seed,
                    uint64_t *hash)
{
#if defined(__x86_64__)
    if (machine_has_aes()) {
        if (count == 1 && bytes[0] == 8) {
            hash[0] = hash_aes_8(keys, seed);
        } else {
            hash_batch_aes(keys, stride, bytes, count, seed, hash);
        }
        return;
    }
#endif
    hash_batch_portable(keys, stride, bytes, count, seed, hash);
}
