/* Large zeroed memory for tables and slabs.
 *
 * Random access over gigabytes misses the TLB on nearly every line with 4 KiB pages, so anything of 2 MiB or
 * more is aligned to 2 MiB and offered to the system for huge pages. Where there are none, it works with
 * small ones. */
#ifndef KVC_KERNELS_PAGES_H
#define KVC_KERNELS_PAGES_H

#include <stdint.h>

/* Unmaps what kvc_pages_alloc gave for the same `bytes`; NULL is allowed. */
void kvc_pages_free(void *memory, uint64_t bytes);

/* Zeroed memory, aligned to at least a page (2 MiB from 2 MiB up). NULL with errno EINVAL (0 bytes) or
 * ENOMEM. Pages are taken from the system when they are first touched. */
void *kvc_pages_alloc(uint64_t bytes);

#endif
