/** @file
 * Laws of flash in closed form, with which tests compare its engine. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_FIXTURE_H
#define KVC_SIM_DEVICES_FLASH_FLASH_FIXTURE_H

#include "sim/devices/flash/flash.h"

/** Returns the highest rate of reads that fetch `bytes` of random pages, all chips and channels loaded evenly
 * [per second]. */
double kvc_test_flash_reads_per_s(const struct kvc_flash *flash, double bytes);

/** Returns the highest rate of programs, all chips and channels loaded evenly and erases not counted [per
 * second]. */
double kvc_test_flash_programs_per_s(const struct kvc_flash *flash);

/** Returns how many sectors are programmed for each one that the host writes at random in the long run, all
 * equally often, with greedy garbage collection. `over_provisioning` is the raw capacity over the host's,
 * less 1. Source: Desnoyers, sec. 4, in the limit of large blocks; Xiang and Kurkoski, An Improved Analytic
 * Expression for Write Amplification in NAND Flash, ICNC 2012, eq. 11. */
double kvc_test_write_amplification(double over_provisioning);

#endif
