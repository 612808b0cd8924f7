#include "kernels/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t huge_page_bytes = UINT64_C(2) << 20, small_page_bytes = 4096;

static uint64_t mapped_bytes(uint64_t bytes)
{
    return bytes < huge_page_bytes ? bytes : (bytes + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
}

void kvc_pages_free(void *memory, uint64_t bytes)
{
    if (memory != NULL) {
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

void *kvc_pages_alloc(uint64_t bytes)
{
    return map(bytes, 0, MADV_HUGEPAGE);
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

/* Returns whether the system uses huge pages where they are asked for. */
static bool has_huge_pages(void)
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
        known = has_huge_pages();
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
