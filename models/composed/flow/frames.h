/* Frames of a composed store: what clients send, and when and in which pipeline it arrives. */
#ifndef KVC_MODELS_COMPOSED_FLOW_FRAMES_H
#define KVC_MODELS_COMPOSED_FLOW_FRAMES_H

#include "models/composed/state.h"

/* Lets clients that wait for answers send what they may. */
void kvc_composed_send_frames(struct kvc_composed_server *server, double now_ns);

/* Lets saturating clients that look at the backlog send a frame if they may. The server calls this after each
 * event. */
void kvc_composed_follow(struct kvc_composed_server *server, double now_ns);

/* Notes when the next client sends, if it is within the slice. Saturating clients do not wait for a time. */
void kvc_composed_send_next(struct kvc_composed_server *server, double now_ns);

/* Takes the frames that leave by now_ns. */
void kvc_composed_take_frames(struct kvc_composed_server *server, double now_ns);

#endif
