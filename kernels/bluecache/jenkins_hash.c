#include "kernels/bluecache/jenkins_hash.h"

#include <string.h>

enum { BLOCK_BYTES = 12 };

static inline uint32_t rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

/* Up to four bytes as a little-endian word, the missing ones 0. */
static inline uint32_t load_part(const uint8_t *from, size_t bytes)
{
    uint32_t word = 0;
    for (size_t i = 0; i < bytes && i < 4; i++) {
        word |= (uint32_t)from[i] << 8 * i;
    }
    return word;
}

static inline uint32_t load_word(const uint8_t *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* One step of the mixing between blocks: it can be undone, so that no entropy is lost. */
#define MIX(x, y, z, bits) ((x) -= (z), (x) ^= rotate((z), (bits)), (z) += (y))
/* One step of the final mixing. */
#define FINISH(x, y, bits) ((x) ^= (y), (x) -= rotate((y), (bits)))

uint32_t kvc_jenkins_hash(const void *key, size_t bytes, uint32_t seed)
{
    const uint8_t *at = key;
    uint32_t a = 0xdeadbeef + (uint32_t)bytes + seed, b = a, c = a;
    /* The last block, whole or not, gets the final mixing instead. */
    for (; bytes > BLOCK_BYTES; bytes -= BLOCK_BYTES, at += BLOCK_BYTES) {
        a += load_word(at);
        b += load_word(at + 4);
        c += load_word(at + 8);
        MIX(a, b, c, 4);
        MIX(b, c, a, 6);
        MIX(c, a, b, 8);
        MIX(a, b, c, 16);
        MIX(b, c, a, 19);
        MIX(c, a, b, 4);
    }
    if (bytes == 0) {
        return c;
    }
    a += load_part(at, bytes);
    b += bytes > 4 ? load_part(at + 4, bytes - 4) : 0;
    c += bytes > 8 ? load_part(at + 8, bytes - 8) : 0;
    FINISH(c, b, 14);
    FINISH(a, c, 11);
    FINISH(b, a, 25);
    FINISH(c, b, 16);
    FINISH(a, c, 4);
    FINISH(b, a, 14);
    FINISH(c, b, 24);
    return c;
}
