/* Simulates a composed store on one socket: frames arrive, form batches, and pass through the stages.
 *
 * Servers take jobs from queues. A core or a stream serves one job at a time, and the kernels of all streams
 * share the GPU (sim/devices/gpu_streams.h). A link serves jobs in turn. Responses leave while a core fills
 * them: the wire takes what comes as a fluid, so that a batch is answered over the time in which it is
 * served.
 *
 * Hardware threads share the issue slots of their cores if stages use more of them than there are cores
 * (sim/devices/cpu.h).
 *
 * Like a NIC of KV-Direct (models/kvdirect/processor.h), the server handles its own events up to the engine's
 * time. Its clock stands still while it is stopped.
 *
 * Not modelled: the time in which a core moves from one pool to another, interrupts, the time of a hand-over
 * between cores beyond what a stage states, the order in which frames of several clients reach a core within
 * the time of one frame. */
#ifndef KVC_MODELS_COMPOSED_SERVER_H
#define KVC_MODELS_COMPOSED_SERVER_H

#include "models/composed/state.h"

/* Opens the server of a shard as kvc_composed_state_open() does, which also says how it is closed. */
void kvc_composed_server_open(struct kvc_composed_server *server, const struct kvc_scenario *scenario,
                              const struct kvc_composed_stores *stores, struct kvc_replica *replica,
                              uint32_t number, const struct kvc_composed_expected *expected);

/* Simulates up to time_ns; the slice ends at slice_end_ns. */
void kvc_composed_server_advance(struct kvc_composed_server *server, double time_ns, double slice_end_ns);

/* Stops the server for stop_ns from the end of the latest advance. */
void kvc_composed_server_stop(struct kvc_composed_server *server, double stop_ns);

#endif
