/** @file
 * A group of options is stated as a whole or not at all.
 *
 * The rows of a group are consecutive in the table of a device and optional (see kvc_option). */
#ifndef KVC_SIM_DEVICES_GROUP_H
#define KVC_SIM_DEVICES_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"

/** Checks that the rows [first, end) of the table are all stated in `device`, or none of them.
 *
 * *stated becomes true if all are. Otherwise the message names the first row that is missing and the first
 * one that is stated, as in "dram.tRC is missing: the profile states channels, ...". Returns
 * KVC_ERR_SCENARIO if only some are stated. */
enum kvc_status kvc_group_check(const struct kvc_option_table *options, const void *device, size_t first,
                                size_t end, bool *stated, struct kvc_diag *diag);

#endif
