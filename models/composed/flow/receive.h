/* The receiving port of a composed store, if nothing that happens behind it makes a frame wait in it. The end
 * of a frame is then known when it is sent. */
#ifndef KVC_MODELS_COMPOSED_FLOW_RECEIVE_H
#define KVC_MODELS_COMPOSED_FLOW_RECEIVE_H

#include <stdint.h>

#include "models/composed/state.h"

/* Opens the ports of a server whose stages are known, if it has such. */
void kvc_composed_receive_open(struct kvc_composed_server *server);

/* Lets a port take a frame that arrives at arrives_ns. The server must have such ports. */
void kvc_composed_receive(struct kvc_composed_server *server, uint32_t number, double arrives_ns);

/* Writes a frame that a port has taken to memory. Returns how long that waits for what memory has to do
 * before [ns]. */
double kvc_composed_received(struct kvc_composed_server *server, struct kvc_composed_job *job, double now_ns);

#endif
