/* Waits of batches in the closed form of a composed store.
 *
 * A batch waits for the servers of its stages like a job of G/G/k (models/latency.h). Batches come more
 * evenly than requests: after a time or a number of requests. Batches of several pipelines meet at servers
 * that the pipelines share, and jobs of different lengths meet at cores or streams that several stages share.
 * A pipeline has few batches at a time, and those that find a server each do not wait.
 *
 * Left out: how long kernels of different streams wait for each other on the card, and how long batches of
 * several pipelines do that a scheduler closes together. */
#ifndef KVC_MODELS_COMPOSED_CLOSED_FORM_WAITS_H
#define KVC_MODELS_COMPOSED_CLOSED_FORM_WAITS_H

#include "models/composed/closed_form/mva.h"
#include "models/composed/config.h"

/* Returns the stage whose cores fill the responses of a batch one after the other; `stages`: none does. */
uint32_t kvc_composed_answers_of(const struct kvc_composed_config *config);

/* Returns the requests of a pipeline that saturating clients keep in flight, if those that are answered
 * together come to one pipeline again and stay together; else 0. */
double kvc_composed_together(const struct kvc_scenario *scenario);

/* Returns for how long a batch of such clients waits for the time that closes it, at most most_ns. If they
 * are all in it, it waits from when all have passed the store, which takes inside_ns, to the next cycle. */
double kvc_composed_closing_ns(const struct kvc_composed_config *config, double requests, double together,
                               double inside_ns, double most_ns);

/* Returns the mean number of cycles from when batches close until those that they answer are in batches that
 * close again: clients are back after a time that is evenly spread over an interval, in units of the cycle.
 */
double kvc_composed_cycles(double from, double spread);

/* The batches of a load, as the closed form knows them. */
struct kvc_composed_batches {
    double per_ns;         /* Requests of a socket [requests/ns]. */
    double requests;       /* Requests of a batch. */
    double frame_requests; /* Requests of a frame. */
    double in_flight;      /* Requests that clients keep in a socket; infinity: an open load. */
    bool by_time;          /* They close by time. */
    bool grow; /* They have grown until the servers keep up, so that these always have the next one, or only
                  one is under way. */
    double busy_ns[KVC_COMPOSED_STAGES_MAX]; /* By stage: time of its servers for a batch [ns]. */
    double jobs[KVC_COMPOSED_STAGES_MAX];    /* By stage: jobs for a batch, at most 1. */
};

/* Adds the queues of the batches. */
void kvc_composed_add_waits(struct kvc_composed_network *network, const struct kvc_scenario *scenario,
                            const struct kvc_composed_batches *batches);

#endif
