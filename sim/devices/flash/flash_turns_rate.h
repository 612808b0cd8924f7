/** @file
 * The closed form of flash whose controllers visit their chips in turn (flash_turns.h).
 *
 * Chips of a channel fall into step: those that have a read get their commands, are sensed together, and then
 * their pages cross one after another. With c the command, r the time to sense, s the question, p the time
 * between questions and x the page, such a round of k chips takes
 *
 *     T(k) = c + max(r, first question) + (p + s) / 2 + k (s + x),
 *
 * because a ready chip waits for half of the time between two questions on average. In a round, every chip
 * with reads serves one, and n reads are at random chips, m of all channels. A chip is thus a queue with a
 * fixed time of service: with u the share of the chips that are busy, as many reads are at a chip on average
 * as in an M/D/1 queue, but for the read itself, which does not wait for itself:
 *
 *     n / m = u + (n - 1) / n u^2 / (2 (1 - u)).
 *
 * A channel of M chips has rounds of k = M u' / (1 - (1 - u')^M) chips on average, as there are no rounds
 * without any; u' is the share of the other n - 1 reads. All chips together serve m u / T(k).
 *
 * Compared with the simulation (flash_turns_test.c), on 8 chips a channel the rate is 2 to 4 % too low for
 * any number of reads. On 2 chips, which need not fall into step, it is up to 33 % too low, and 18 % on 8
 * chips whose pages cross four times as fast. Not modelled: reads for chips that were idle when the round
 * began, which may be sensed while other pages cross, and programs and erases. */
#ifndef KVC_SIM_DEVICES_FLASH_FLASH_TURNS_RATE_H
#define KVC_SIM_DEVICES_FLASH_FLASH_TURNS_RATE_H

#include "sim/devices/flash/flash.h"

/** Returns the rate of reads that fetch `bytes` of random pages if `reads` of them wait or run at any time
 * [per second]. */
double kvc_flash_turns_reads_per_s(const struct kvc_flash *flash, double bytes, double reads);

#endif
