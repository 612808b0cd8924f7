#include "scenarios/run/unshare.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { MAPPINGS_MAX = 256 };

static const size_t huge_page_bytes = (size_t)2 << 20;

struct mapping {
    uintptr_t start, end;
};

/* Finds the private, writable, anonymous mappings with the flag "hg" (MADV_HUGEPAGE). */
static int find_mappings(struct mapping *found, int room)
{
    char line[512], permissions[8];
    unsigned long start, end, inode;
    struct mapping current = {0};
    bool candidate = false;
    int count = 0;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL && count < room) {
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, permissions, &inode) == 4) {
            current = (struct mapping){.start = start, .end = end};
            candidate = inode == 0 && strcmp(permissions, "rw-p") == 0;
        } else if (candidate && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL) {
            found[count++] = current;
        }
    }
    fclose(file);
    return count;
}

/* Chunks that were never written stay untouched in the copy as well. */
static bool is_zero(const char *chunk, size_t bytes)
{
    return chunk[0] == 0 && memcmp(chunk, chunk + 1, bytes - 1) == 0;
}

static void copy_chunks(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += huge_page_bytes) {
        size_t chunk = bytes - at < huge_page_bytes ? bytes - at : huge_page_bytes;
        if (!is_zero(from + at, chunk)) {
            memcpy(to + at, from + at, chunk);
        }
    }
}

static void unshare(const struct mapping *mapping)
{
    size_t bytes = mapping->end - mapping->start;
    size_t room = bytes + huge_page_bytes;
    char *start = (char *)mapping->start;
    char *fresh = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
        return;
    }
    /* The copy starts at the same offset in a huge page as the original, so that mremap moves huge pages
     * whole. */
    size_t head = (mapping->start - (uintptr_t)fresh) & (huge_page_bytes - 1);
    char *copy = fresh + head;
    if (head > 0) {
        munmap(fresh, head);
    }
    if (room - head > bytes) {
        munmap(copy + bytes, room - head - bytes);
    }
    (void)madvise(copy, bytes, MADV_HUGEPAGE);
    copy_chunks(copy, start, bytes);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED) {
        munmap(copy, bytes);
    }
}

void kvc_unshare_huge_pages(const struct kvc_progress *progress)
{
    struct mapping mappings[MAPPINGS_MAX];
    int count = find_mappings(mappings, MAPPINGS_MAX);
    for (int i = 0; i < count; i++) {
        kvc_progress_report(progress, "copy the store", (double)i / count);
        unshare(&mappings[i]);
    }
}
