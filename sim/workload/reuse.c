#include "sim/workload/reuse.h"

#include <math.h>
#include <stdbool.h>

#include "sim/workload/zipf.h"

enum { BISECTIONS = 60 };

struct popularity {
    const struct kvc_zipf *zipf; /* NULL: uniform */
    uint64_t keys;
    const struct kvc_reuse *reuse;
};

static double mass(const struct popularity *popularity, uint64_t keys)
{
    return popularity->zipf != NULL ? kvc_zipf_mass(popularity->zipf, keys)
                                    : (double)keys / (double)popularity->keys;
}

/* Bytes touched by `requests` requests, and the share of the next that come back to them. Keys are taken in
 * blocks, each 1/64 of its first rank wide, in which popularity hardly changes. Where keys share lines, all
 * but the most popular are spread over the rest of the footprint. */
static double touched(const struct popularity *popularity, double requests, double *share)
{
    const struct kvc_reuse *reuse = popularity->reuse;
    double bytes = 0, below = 0;
    double whole_keys = reuse->footprint_bytes / reuse->bytes_per_key;
    double alone = whole_keys >= (double)popularity->keys ? (double)popularity->keys : whole_keys / 8;
    *share = 0;
    for (uint64_t first = 0; first < popularity->keys;) {
        bool shares_lines = (double)first >= alone || popularity->zipf == NULL;
        uint64_t width = first / 64 > 0 ? first / 64 : 1;
        uint64_t last = shares_lines || first + width > popularity->keys ? popularity->keys : first + width;
        double keys = (double)(last - first);
        double above = mass(popularity, last), part = above - below;
        double lines = fmin(keys, fmax(whole_keys - (double)first, 1));
        double present = -expm1(-part / lines * requests);
        bytes += lines * reuse->bytes_per_key * present;
        *share += part * present;
        below = above;
        first = last;
    }
    return bytes + requests * reuse->stream_bytes;
}

static double share_of(const struct popularity *popularity, double size)
{
    double low = 0, high = 1, share = 0;
    while (touched(popularity, high, &share) < size && share < 1 - 1e-12)
        high *= 2;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (touched(popularity, middle, &share) < size)
            low = middle;
        else
            high = middle;
    }
    return share;
}

void kvc_reuse_shares(const struct kvc_workload *workload, const struct kvc_reuse *reuse, const double *size,
                      uint32_t count, double *share)
{
    struct kvc_zipf *zipf = workload->popularity == KVC_POPULARITY_ZIPF
                                ? kvc_zipf_create(workload->keys, workload->zipf_s)
                                : NULL;
    const struct popularity popularity = {zipf, workload->keys, reuse};
    for (uint32_t i = 0; i < count; i++)
        share[i] = size[i] >= reuse->footprint_bytes && reuse->stream_bytes <= 0
                       ? 1
                       : share_of(&popularity, size[i]);
    kvc_zipf_free(zipf);
}
