/* Lets the load and the devices of random compositions change while they run: phases of the load, stalls of
 * the cores, and an outage of the cores, the GPU, the FPGA or the SmartNIC's cores of a socket. */
#ifndef KVC_SCENARIOS_RUN_COMPOSITIONS_CHANGES_FIXTURE_H
#define KVC_SCENARIOS_RUN_COMPOSITIONS_CHANGES_FIXTURE_H

#include "scenarios/run/composed/composition_fixture.h"

enum { KVC_CHANGED_BYTES = KVC_COMPOSITION_BYTES + 2048 };

/* Writes the scenario of a seed as kvc_composition_write() does, with the changes of the same seed, for which
 * random numbers of their own are drawn. A store without cores has no stalls, one with a database no outages,
 * and clients that wait for answers have no phases: none of these is allowed. */
void kvc_composition_write_changed(uint64_t seed, const struct kvc_composition_use *use,
                                   char text[KVC_CHANGED_BYTES]);

#endif
