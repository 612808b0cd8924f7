/* The load of a composed store on its flash, and the queues in front of it, in closed form.
 *
 * Reads wait at their chip for each other, and for programs and erases, which take longer, and then for the
 * channel that carries their page.
 *
 * Left out: controllers and interfaces, whose time bounds the throughput only. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_READS_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_READS_H

#include "models/composed/closed_form/mix.h"
#include "models/composed/closed_form/mva.h"

/* Returns the operations of flash for a request of the load. */
struct kvc_flash_load kvc_composed_mix_flash(const struct kvc_composed_config *config,
                                             const struct kvc_composed_mix *mix);

/* Returns for how long the last one of `reads` reads waits, if all of them begin together and each may be for
 * any item [ns]. It waits for the others, most of which meet at the chip of the newest page, or at some chip
 * or channel by chance (Raab and Steger, "Balls into Bins", RANDOM 1998, theorem 1). It also waits for
 * earlier reads that the chips of the newest pages have left. */
double kvc_composed_meet_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                            double reads);

/* Adds the queues of chips and channels. */
void kvc_composed_add_flash(struct kvc_composed_network *network, const struct kvc_scenario *scenario,
                            const struct kvc_composed_mix *mix, double per_ns);

#endif
