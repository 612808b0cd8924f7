#include "kernels/pages.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

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

void *kvc_pages_alloc(uint64_t bytes)
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
    uint8_t *start = mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
    /* This is only advice. A system without huge pages refuses it, and the memory works all the same. */
    (void)madvise(start + head, length, MADV_HUGEPAGE);
    return start + head;
}

void kvc_pages_touch(void *memory, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += small_page_bytes) {
        __atomic_fetch_or((uint8_t *)memory + at, 0, __ATOMIC_RELAXED);
    }
}
