#include "scenarios/load/profile_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const size_t bytes_max = 64 << 20;

struct entry {
    char *file; /* NULL: the entry is free. */
    struct stat seen;
    struct kvc_profile profile;
};

/* A ring, in which the next entry is the oldest. */
static struct {
    struct entry entry[KVC_PROFILE_CACHE_MAX];
    size_t next;
    size_t bytes;
} cache;

static size_t bytes_of(const struct kvc_profile *profile)
{
    size_t device = profile->values != NULL ? profile->kind->options->size : 0;
    return device +
           (profile->parameters.count + (size_t)profile->provenance.count) * sizeof(struct kvc_parameter);
}

void kvc_profile_clear(struct kvc_profile *profile)
{
    free(profile->values);
    kvc_parameters_clear(&profile->parameters);
    kvc_parameters_clear(&profile->provenance);
    profile->values = NULL;
}

static void drop(struct entry *entry)
{
    if (entry->file != NULL) {
        cache.bytes -= bytes_of(&entry->profile);
        free(entry->file);
        kvc_profile_clear(&entry->profile);
    }
    entry->file = NULL;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_unchanged(const struct stat *then, const struct stat *now)
{
    return then->st_dev == now->st_dev && then->st_ino == now->st_ino && then->st_size == now->st_size &&
           same_time(then->st_mtim, now->st_mtim) && same_time(then->st_ctim, now->st_ctim);
}

const struct kvc_profile *kvc_profile_cache_find(const char *file, const struct kvc_device_kind *kind)
{
    struct stat now;
    for (size_t i = 0; i < KVC_PROFILE_CACHE_MAX; i++) {
        struct entry *entry = &cache.entry[i];
        if (entry->file == NULL || entry->profile.kind != kind || strcmp(entry->file, file) != 0) {
            continue;
        }
        if (stat(file, &now) == 0 && is_unchanged(&entry->seen, &now)) {
            return &entry->profile;
        }
        drop(entry);
    }
    return NULL;
}

/* Clocks of files may tick only every few milliseconds, or every second on some systems. */
static bool is_settled(const struct stat *seen)
{
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 && seen->st_ctim.tv_sec < now.tv_sec - 1;
}

bool kvc_profile_cache_keep(const char *file, const struct stat *seen, const struct kvc_profile *profile)
{
    size_t bytes = bytes_of(profile);
    struct stat now;
    if (!is_settled(seen) || stat(file, &now) != 0 || !is_unchanged(seen, &now) || bytes > bytes_max) {
        return false;
    }
    struct entry *entry = &cache.entry[cache.next];
    drop(entry);
    for (size_t i = 1; cache.bytes + bytes > bytes_max; i++) {
        drop(&cache.entry[(cache.next + i) % KVC_PROFILE_CACHE_MAX]);
    }
    entry->file = strdup(file);
    if (entry->file == NULL) {
        return false;
    }
    entry->seen = *seen;
    entry->profile = *profile;
    cache.bytes += bytes;
    cache.next = (cache.next + 1) % KVC_PROFILE_CACHE_MAX;
    return true;
}

void kvc_profile_cache_clear(void)
{
    for (size_t i = 0; i < KVC_PROFILE_CACHE_MAX; i++) {
        drop(&cache.entry[i]);
    }
    cache.next = 0;
}
