#include "sim/workload/trace/key_sample.h"

#include <stddef.h>
#include <stdlib.h>

#include "sim/base/array.h"

enum { PLACES = 2 * KVC_KEY_SAMPLE_MAX };

void kvc_key_sample_close(struct kvc_key_sample *sample)
{
    free(sample->key);
    sample->key = NULL;
}

void kvc_key_sample_open(struct kvc_key_sample *sample)
{
    *sample = (struct kvc_key_sample){.key = kvc_array_of(PLACES, sizeof(*sample->key)), .below = UINT64_MAX};
}

/* Returns the place of a hash, or the empty one where it belongs. */
static struct kvc_sampled_key *place_of(struct kvc_sampled_key *key, uint64_t hash)
{
    uint64_t at = hash % PLACES;
    while (key[at].hash != 0 && key[at].hash != hash) {
        at = (at + 1) % PLACES;
    }
    return &key[at];
}

/* Halves the share of the keys that the sample keeps. */
static void halve(struct kvc_key_sample *sample, void (*left)(void *, const struct kvc_sampled_key *),
                  void *data)
{
    struct kvc_sampled_key *old = sample->key, *kept = kvc_array_of(PLACES, sizeof(*kept));
    sample->below /= 2;
    sample->count = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        if (old[i].hash != 0 && old[i].hash < sample->below) {
            *place_of(kept, old[i].hash) = old[i];
            sample->count++;
        } else if (old[i].hash != 0 && left != NULL) {
            left(data, &old[i]);
        }
    }
    sample->key = kept;
    free(old);
}

struct kvc_sampled_key *kvc_key_sample_find(struct kvc_key_sample *sample, uint64_t hash,
                                            void (*left)(void *data, const struct kvc_sampled_key *key),
                                            void *data)
{
    hash += hash == 0; /* 0 marks an empty place. */
    if (hash >= sample->below) {
        return NULL;
    }
    struct kvc_sampled_key *key = place_of(sample->key, hash);
    while (key->hash == 0 && sample->count == KVC_KEY_SAMPLE_MAX) {
        halve(sample, left, data);
        if (hash >= sample->below) {
            return NULL;
        }
        key = place_of(sample->key, hash);
    }
    sample->count += key->hash == 0;
    key->hash = hash;
    return key;
}

double kvc_key_sample_scale(const struct kvc_key_sample *sample)
{
    return (double)UINT64_MAX / (double)sample->below;
}
