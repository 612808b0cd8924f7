/* Which reads of flash the write buffer of a composed store answers, in closed form.
 *
 * An item stays in memory until its page is full and programmed. Items of popular keys, and those that a hot
 * tier does not have yet because they were just written, are often there when they are read: a GET finds its
 * item in the buffer if the last change of its key was a SET among the last ones, and asks flash for it only
 * if the tier has not taken it since. Keys are changed at random moments.
 *
 * Pages stay in the buffer while they are programmed. Where flash hardly keeps up, they may wait there, so
 * that it has fewer reads and keeps up again: a store may stay in either of these states, of which the buffer
 * is full in one (gathers, in closed_form/mix.h).
 *
 * Left out: reads of items that the tier took and gave up again while they were in the buffer, and what a
 * drive with a translation layer has in its own memory. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_BUFFER_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_BUFFER_H

#include "models/composed/closed_form/mix.h"

/* Sets which shares of the reads of flash find their items in a buffer of several sizes. */
void kvc_composed_buffer_open(const struct kvc_scenario *scenario, struct kvc_composed_mix *mix);

/* Sets which share of the reads do at a rate of a socket, if GETs find no items of the last `late` requests.
 */
void kvc_composed_buffer_at(const struct kvc_composed_config *config, struct kvc_composed_mix *mix,
                            double per_ns, double late);

/* Returns whether GETs of a batch are searched when its SETs are in the log, and not yet in the index. */
bool kvc_composed_inserts_late(const struct kvc_composed_config *config);

#endif
