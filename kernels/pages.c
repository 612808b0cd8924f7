#include "kernels/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t huge_page_bytes = UINT64_C(2) << 20, small_page_bytes = 4096;

static uint64_t mapped_bytes(uint64_t bytes)
{
    return bytes < huge_page_bytes ? bytes : (bytes + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
}

/* The mappings of 2 MiB or more that are in use, except sparse ones. */
struct mapping {
    uint8_t *start;
    uint64_t bytes;
};

static struct mapping *mappings;
static size_t mapping_count, mapping_room;
static pthread_mutex_t mapping_lock = PTHREAD_MUTEX_INITIALIZER;

/* A mapping that is not noted for lack of memory is copied page by page after a fork. */
static void note_mapping(uint8_t *start, uint64_t bytes)
{
    pthread_mutex_lock(&mapping_lock);
    if (mapping_count == mapping_room) {
        size_t room = 2 * mapping_room + 16;
        struct mapping *grown = realloc(mappings, room * sizeof(*mappings));
        mappings = grown != NULL ? grown : mappings;
        mapping_room = grown != NULL ? room : mapping_room;
    }
    if (mapping_count < mapping_room) {
        mappings[mapping_count++] = (struct mapping){start, bytes};
    }
    pthread_mutex_unlock(&mapping_lock);
}

static void forget(const uint8_t *start)
{
    pthread_mutex_lock(&mapping_lock);
    for (size_t i = 0; i < mapping_count; i++) {
        if (mappings[i].start == start) {
            mappings[i--] = mappings[--mapping_count];
        }
    }
    pthread_mutex_unlock(&mapping_lock);
}

void kvc_pages_free(void *memory, uint64_t bytes)
{
    if (memory != NULL) {
        forget(memory);
        munmap(memory, mapped_bytes(bytes));
    }
}

/* Maps whole pages with this advice about huge ones. It is only advice: a system without huge pages refuses
 * it, and the memory works all the same. */
static void *map(uint64_t bytes, int flags, int advice)
{
    if (bytes == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (bytes > SIZE_MAX / 2) {
        errno = ENOMEM;
        return NULL;
    }
    uint64_t length = mapped_bytes(bytes);
    uint64_t slack = bytes < huge_page_bytes ? 0 : huge_page_bytes;
    uint8_t *start =
        mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (start == MAP_FAILED) {
        errno = ENOMEM;
        return NULL;
    }
    if (slack == 0) {
        return start;
    }
    uint64_t head = -(uintptr_t)start & (huge_page_bytes - 1);
    if (head != 0) {
        munmap(start, head);
    }
    if (slack != head) {
        munmap(start + head + length, slack - head);
    }
    (void)madvise(start + head, length, advice);
    return start + head;
}

static bool asks_for_huge = true;

void kvc_pages_use_huge(bool huge)
{
    asks_for_huge = huge;
}

void *kvc_pages_alloc(uint64_t bytes)
{
    void *memory = map(bytes, 0, asks_for_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (memory != NULL && bytes >= huge_page_bytes) {
        note_mapping(memory, mapped_bytes(bytes));
    }
    return memory;
}

enum { PAGES_OF_HUGE = 512 };

/* Returns whether a huge page's worth of memory has been touched, by the process's page map, whose entry is
 * not 0 for a page in memory or in swap space. True if the map cannot be read. */
static bool is_touched(int page_map, const uint8_t *start)
{
    uint64_t entry[PAGES_OF_HUGE], there = UINT64_C(3) << 62;
    off_t at = (off_t)((uintptr_t)start / small_page_bytes * sizeof(*entry));
    if (pread(page_map, entry, sizeof(entry), at) != (ssize_t)sizeof(entry)) {
        return true;
    }
    for (int i = 0; i < PAGES_OF_HUGE; i++) {
        if ((entry[i] & there) != 0) {
            return true;
        }
    }
    return false;
}

/* Replaces a mapping by a copy of it. Without memory for the copy, it stays. */
static void copy(int page_map, const struct mapping *mapping)
{
    uint8_t *start = map(mapping->bytes, 0, MADV_HUGEPAGE);
    if (start == NULL) {
        return;
    }
    for (uint64_t at = 0; at < mapping->bytes; at += huge_page_bytes) {
        if (is_touched(page_map, mapping->start + at)) {
            memcpy(start + at, mapping->start + at, huge_page_bytes);
        }
    }
    if (mremap(start, mapping->bytes, mapping->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mapping->start) ==
        MAP_FAILED) {
        munmap(start, mapping->bytes);
    }
}

void kvc_pages_unshare(void)
{
    int page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < mapping_count; i++) {
        copy(page_map, &mappings[i]);
    }
    if (page_map >= 0) {
        close(page_map);
    }
}

void *kvc_pages_alloc_sparse(uint64_t bytes)
{
    return map(bytes, MAP_NORESERVE, MADV_NOHUGEPAGE);
}

void kvc_pages_touch(void *memory, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += small_page_bytes) {
        __atomic_fetch_or((uint8_t *)memory + at, 0, __ATOMIC_RELAXED);
    }
}

bool kvc_pages_has_huge(void)
{
    char setting[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (file == NULL) {
        return false;
    }
    bool known = fgets(setting, sizeof(setting), file) != NULL;
    fclose(file);
    return known && strstr(setting, "[never]") == NULL;
}

static uint64_t page_bytes_of(uint64_t bytes)
{
    static int huge = -1; /* Unknown. Threads that look it up at the same time find the same. */
    int known = __atomic_load_n(&huge, __ATOMIC_RELAXED);
    if (known < 0) {
        known = kvc_pages_has_huge();
        __atomic_store_n(&huge, known, __ATOMIC_RELAXED);
    }
    return known > 0 && bytes >= huge_page_bytes ? huge_page_bytes : small_page_bytes;
}

/* Returns whether the system refuses an allocation, because the machine does not have that much memory. Such
 * an allocation would need all of its bytes. */
static bool is_refused(uint64_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 && bytes / small_page_bytes > (uint64_t)pages;
}

uint64_t kvc_pages_front_bytes(uint64_t bytes, uint64_t used)
{
    uint64_t page_bytes = page_bytes_of(bytes), touched = used < bytes && !is_refused(bytes) ? used : bytes;
    return (touched + page_bytes - 1) / page_bytes * page_bytes;
}

/* A page stays untouched with probability (1 - 1 / pages) ^ touches. */
uint64_t kvc_pages_random_bytes(uint64_t bytes, uint64_t touches)
{
    uint64_t page_bytes = page_bytes_of(bytes), pages = (bytes + page_bytes - 1) / page_bytes;
    if (is_refused(bytes)) {
        return bytes;
    }
    double missed = pages > 0 ? 1 - 1 / (double)pages : 1, left = 1;
    for (; touches > 0; touches /= 2, missed *= missed) {
        left *= touches % 2 > 0 ? missed : 1;
    }
    return (uint64_t)((1 - left) * (double)pages * (double)page_bytes);
}
