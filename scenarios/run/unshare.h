/* Own huge pages for a forked child.
 *
 * After a fork, parent and child share their pages until one writes. Linux then copies 4 KiB at a time and
 * breaks the huge page up, so a child that writes all over a large table pays a page fault per page and
 * misses the TLB ever after. Copying the table at once, into huge pages of its own, is faster, and stays
 * outside the simulation's time. */
#ifndef KVC_SCENARIOS_RUN_UNSHARE_H
#define KVC_SCENARIOS_RUN_UNSHARE_H

#include "models/model.h"

/* Copies every private mapping that was offered for huge pages (kernels/pages.h) and puts the copy in its
 * place. What cannot be copied stays shared and works all the same. */
void kvc_unshare_huge_pages(const struct kvc_progress *progress);

#endif
