/* Gives a forked child its own copy of the huge pages that it shares with its parent.
 *
 * After a fork, parent and child share their pages until one of them writes. Linux then copies 4 KiB at a
 * time and splits the huge page, so that a child that writes all over a large table pays one page fault per
 * page and then more TLB misses. It is faster to copy the whole table into new huge pages, and the copy
 * happens outside the time that the simulation reports. */
#ifndef KVC_SCENARIOS_RUN_UNSHARE_H
#define KVC_SCENARIOS_RUN_UNSHARE_H

#include "models/model.h"

/* Replaces every private mapping that may have huge pages (kernels/pages.h) by a copy. A mapping that cannot
 * be copied stays shared, which is slower but correct. */
void kvc_unshare_huge_pages(const struct kvc_progress *progress);

#endif
