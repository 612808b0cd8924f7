/** @file
 * Allocation of whole pages of zeroed memory for tables and slabs, on huge pages if the system has them.
 *
 * With pages of 4 KiB, random accesses to gigabytes of memory miss the TLB on almost every line. Memory of
 * 2 MiB or more is therefore aligned to 2 MiB and offered to the system for huge pages. A system without huge
 * pages uses small ones. */
#ifndef KVC_KERNELS_PAGES_H
#define KVC_KERNELS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Frees memory that kvc_pages_alloc returned for the same number of bytes. NULL is allowed. */
void kvc_pages_free(void *memory, uint64_t bytes);

/** Sets whether kvc_pages_alloc asks for huge pages from now on, as it does at first. Without them, the
 * memory is on small pages even if the system would give huge ones by itself. */
void kvc_pages_use_huge(bool huge);

/** Returns `bytes` bytes of zeroed memory, aligned to a page, or to 2 MiB if there are 2 MiB or more. Returns
 * NULL with errno EINVAL (0 bytes) or ENOMEM. The system provides each page when it is first touched. */
void *kvc_pages_alloc(uint64_t bytes);

/** Like kvc_pages_alloc, on small pages and also for more bytes than the machine has, for memory of which
 * little is touched. The system ends the program if more is touched than it has. */
void *kvc_pages_alloc_sparse(uint64_t bytes);

/** Returns whether the system uses huge pages where they are asked for. */
bool kvc_pages_has_huge(void);

/** Lets the system provide all pages now, instead of when each is first touched. The contents stay. Other
 * threads may use the memory meanwhile. */
void kvc_pages_touch(void *memory, uint64_t bytes);

/** Gives a forked child that is about to write to many pages all its large allocations as copies of its own,
 * at the same addresses. The system would copy each page of 4 KiB when it is first written, which takes
 * several microseconds on a virtual machine, and would split huge pages. Here, pages that have been touched
 * are copied at once, on huge pages. The contents stay. Memory that cannot be copied is still copied by the
 * system. The child has a single thread. */
void kvc_pages_unshare(void);

/** Returns the memory that the system provides for an allocation of `bytes` bytes of which the first `used`
 * are touched [bytes]: pages of the size that it uses for the allocation. An
 * allocation larger than the memory of the machine counts as a whole. */
uint64_t kvc_pages_front_bytes(uint64_t bytes, uint64_t used);

/** Returns the memory that the system provides, on average, for an allocation of `bytes` bytes of which
 * `touches` random places are touched [bytes]. */
uint64_t kvc_pages_random_bytes(uint64_t bytes, uint64_t touches);

#ifdef __cplusplus
}
#endif

#endif
