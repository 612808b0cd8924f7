/* State of a composed store's server: what its files share. */
#ifndef KVC_MODELS_COMPOSED_STATE_H
#define KVC_MODELS_COMPOSED_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/config.h"
#include "models/composed/job.h"
#include "models/composed/storage.h"
#include "models/composed/structures.h"
#include "sim/base/events.h"
#include "sim/base/ring.h"
#include "sim/base/rng.h"
#include "sim/devices/gpu_streams.h"
#include "sim/devices/nic.h"
#include "sim/run/answers.h"
#include "sim/run/replica.h"
#include "sim/run/stalls.h"
#include "sim/workload/source/source.h"

/* A queue and its servers: a pool of the configuration, in one pipeline or in the socket. */
struct kvc_composed_station {
    uint32_t pool, pipeline;
    uint32_t servers; /* Its servers at the moment, */
    uint32_t wanted;  /* and those that a policy wants it to have. */
    uint32_t busy;    /* Servers that serve a job, or hold one that cannot go on. */
    uint32_t queued;  /* Jobs in the following queues. */
    struct kvc_ring queue[KVC_COMPOSED_PRIORITIES]; /* Jobs, each with its stage. */
    struct kvc_ring held;  /* Jobs that wait at other stations for room in this queue, each with its stage. */
    double *front_ns;      /* When each server of a stage at the front will have ended its jobs [ns]. */
    uint32_t first_stream; /* GPU: number of its first stream. */
    uint32_t first_thread; /* With stalls: number of its first hardware thread in the socket, */
    double *free_ns;       /* and when each of its servers has finished the work that it was given [ns]. */
    uint64_t free_streams[2]; /* GPU: a bit for each of its streams that is idle. */
};

/* What follows for a stage from the configuration. */
struct kvc_composed_fixed {
    uint32_t station, stride; /* Station of the first pipeline; the others' follow at this distance. */
    uint32_t priority;
    uint64_t room;  /* Jobs that may wait for it, see kvc_composed_room_of(). */
    bool drops;     /* Requests that find its queue full are lost or refused. */
    bool turns;     /* Its servers do not hold a frame that waits for a batch. */
    bool own_pool;  /* An earlier stage has the same pool. */
    bool is_shared; /* Any pipeline may serve its jobs. */
    bool defers;    /* It works later, for several batches or in the background. */
    /* It has the responses of a job one after the other. Those of a burst are there at its end, because a
     * core that overlaps their stalls has none of them before. */
    bool fills_in_turn;
    bool answers_early;   /* Clients of a closed loop have the first of them before the last. */
    bool streams_out;     /* Its responses leave while it fills them. */
    bool answers_by_wire; /* It is the port, which takes the responses of a job that are all there. */
    bool is_straight; /* It serves all jobs as they come, alone, and none of them waits before its queue. */
};

/* What happens between the frames and the batches of a pipeline. */
struct kvc_composed_pipeline {
    struct kvc_composed_job *open;            /* The batch that fills; NULL: none. */
    uint32_t opened;                          /* Number of batches so far, which a timeout compares. */
    uint64_t free_buffers;                    /* A bit for each of its batches that is free. */
    uint32_t parts[KVC_COMPOSED_BUFFERS_MAX]; /* By batch: parts that are not answered. */
    double open_bytes;
    struct kvc_ring held; /* Frames that wait for a free batch, with the station that holds them. */
    bool joins;           /* Whether such frames are joining batches. */
    struct kvc_composed_later later[KVC_COMPOSED_STAGES_MAX]; /* By stage. */
    struct kvc_ring
        blocked[KVC_COMPOSED_STAGES_MAX];     /* By stage: jobs that wait for work in the background. */
    uint32_t ghosts[KVC_COMPOSED_STAGES_MAX]; /* By stage: work in the background that waits. */
    uint32_t spare;                           /* Cores on their way from one pool to another. */
};

/* Limits of batches, which a policy may change. */
struct kvc_composed_limits {
    uint32_t count;
    double timeout_ns, every_ns; /* 0: none. */
};

/* Batches that have been closed. */
struct kvc_composed_closed {
    uint64_t closed, full, requests;
};

/* What a stage has done. */
struct kvc_composed_traffic {
    uint64_t arrived, taken; /* Jobs that came to its queue, and that left it. */
    uint64_t jobs;           /* Jobs that it served; a burst counts as one. */
    double work_ns;          /* Their times [ns]. */
    double wait_ns;          /* Waits of the requests in them, from when these were ready for it [ns]. */
};

/* What runs on a stream of the GPU. */
struct kvc_composed_kernel {
    uint32_t job, station;
    uint32_t turn; /* The kernels that began before it. */
    uint8_t stage; /* KVC_COMPOSED_STAGES_MAX: the stream is idle. */
};

/* A cost of a stage, with what it needs of the shared devices. What every job reads comes first. */
struct kvc_composed_price {
    bool known;
    uint32_t shares;                     /* A bit for each shared device that has work. */
    uint64_t alike;                      /* The job's number of its counts, see struct kvc_composed_job. */
    double work_ns[KVC_COMPOSED_SHARED]; /* Work on each shared device [ns]. */
    struct kvc_composed_cost cost;
    struct kvc_composed_counts counts; /* What the job has. */
};

struct kvc_composed_policy;

/* Events of a server. Those of its storage have others (models/composed/storage.h). */
enum kvc_composed_event {
    KVC_COMPOSED_ARRIVES,   /* A job at a stage. */
    KVC_COMPOSED_RECEIVED,  /* A frame has passed the stages at the front. */
    KVC_COMPOSED_ENDS,      /* The work of a stage for a job. */
    KVC_COMPOSED_JOINS,     /* One of several stages beside each other has done its work for a job. */
    KVC_COMPOSED_ANSWERS,   /* A job is answered. */
    KVC_COMPOSED_FILLS,     /* A part of a job's responses is there. */
    KVC_COMPOSED_TIMES_OUT, /* The batch that fills in a pipeline. */
    KVC_COMPOSED_CYCLES,    /* The batches of all pipelines are closed. */
    KVC_COMPOSED_LOOKS,     /* The policy. */
};

/* Lanes of the event queue for what comes in order. */
enum { KVC_COMPOSED_ARRIVALS = 1, KVC_COMPOSED_LINKS };

enum { KVC_COMPOSED_PRICES = 8 /* Costs that a stage remembers, a power of two. */ };

struct kvc_composed_server {
    const struct kvc_scenario *scenario;
    const struct kvc_composed_config *config;
    struct kvc_replica *replica;
    struct kvc_source *source;
    uint32_t number; /* Number of its shard. */
    struct kvc_composed_structures structures;
    struct kvc_events events;
    uint32_t stations;
    struct kvc_composed_station *station;
    struct kvc_composed_fixed fixed[KVC_COMPOSED_STAGES_MAX];
    struct kvc_composed_pipeline *pipeline;
    struct kvc_ring shared[KVC_COMPOSED_STAGES_MAX]; /* By stage: jobs that any pipeline may serve. */
    uint32_t sharing;                                /* A bit for each stage that has such jobs. */
    struct kvc_composed_storage storage;
    struct kvc_gpu_streams *gpu;
    uint32_t streams;
    struct kvc_composed_kernel *kernel; /* By stream. */
    uint32_t kernels;                   /* Kernels that have begun. */
    struct kvc_ring
        after[KVC_COMPOSED_STAGES_MAX]; /* By stage: jobs that wait for kernels, and their turns. */
    struct kvc_rss *rss; /* Queues of the connections; NULL: frames go to the pipelines in turn. */
    bool sends_ahead;    /* What happens in the server does not change what clients send. */
    bool follows;        /* Saturating clients look at the backlog. */
    bool is_coming;      /* Their latest frame has not come yet. */
    uint32_t front;      /* Stages whose queues nobody sees, see models/composed/flow/front.h. */
    uint32_t turn;       /* The next pipeline. */
    struct kvc_outage off[KVC_COMPOSED_PLACES]; /* The latest outage of each place, by the server's clock. */
    struct kvc_stalls *stalls;                  /* By core; NULL: there are none. */
    double *free_ns;                            /* Those of all stations. */
    struct kvc_rng routes;
    double route_frac[KVC_COMPOSED_ROUTES_MAX]; /* Shares of the routes, which a policy may change. */
    /* By enum kvc_composed_shared. Behind the wire come those of the other ports, if each has its own. */
    struct kvc_composed_fluid fluid[KVC_COMPOSED_SHARED + KVC_COMPOSED_PORTS_MAX - 1];
    uint32_t port; /* Number of the port that carries the next job's responses. */
    struct kvc_composed_job **job;
    uint32_t jobs, free_frame, free_batch; /* Heads of the lists of free jobs, plus 1; 0: empty. */
    uint64_t offers;                       /* Frames that the source was asked for. */
    struct kvc_answers answers; /* Recorded with the slice: requests that came, answers to small jobs. */
    uint64_t in_flight;         /* Requests in the server. */
    double memory_wait_ns;      /* Time for which cores have waited because memory is saturated [ns]. */
    struct kvc_composed_pace pace;
    struct kvc_composed_config *phase; /* By phase of the load, for what stages cost; NULL: it has none. */
    const struct kvc_composed_config *costs; /* That of the present phase. */
    struct kvc_composed_price *price;        /* The latest of each stage. */
    double answer_bytes, answer_ns;          /* The latest frame of answers, and its time on the wire [ns]. */
    struct kvc_composed_limits limits;
    struct kvc_composed_closed batches;
    struct kvc_composed_traffic traffic[KVC_COMPOSED_STAGES_MAX]; /* By stage. */
    struct kvc_composed_policy *policy;                           /* NULL: there is none. */
    /* Busy times since the server was opened: of each stage, for as many servers as it has at first; of the
     * memory's channels; and of all servers at a place [ns]. */
    double busy_ns[KVC_COMPOSED_STAGES_MAX], channel_ns, place_ns[KVC_COMPOSED_PLACES];
    double shared_ns[KVC_COMPOSED_SHARED];          /* Work on the shared devices so far [ns]. */
    double stage_requests[KVC_COMPOSED_STAGES_MAX]; /* Requests that each stage has worked for. */
    uint64_t outcome[KVC_COMPOSED_OUTCOMES];        /* Requests answered within the measured time. */
    uint64_t sets, deletes, completed, hots;
    uint64_t served;                  /* Requests answered since the server was opened. */
    uint64_t lost;                    /* Requests that full queues turned away since the server was opened. */
    uint64_t dropped;                 /* Requests of the measured time that full queues turned away. */
    uint64_t refused;                 /* Those of them that were answered with an error. */
    struct kvc_composed_job *evicted; /* Has the items that lost jobs have evicted and the index still has. */
    double *done_ns;                  /* Scratch, by row. */
    bool *moves;                      /* Scratch, by row. */
    double slice_end_ns;              /* End of the slice that is being simulated. */
    double sends_ns;                  /* Clients that wait: when the next one sends [ns]. */
    double until_ns;                  /* The same by the server's clock. */
    double advanced_ns, stopped_ns;
};

/* Opens the state of a shard's server. The scenario, the stores, and the replica must outlive it. Exits with
 * status 3 if memory is short. */
void kvc_composed_state_open(struct kvc_composed_server *server, const struct kvc_scenario *scenario,
                             const struct kvc_composed_stores *stores, struct kvc_replica *replica,
                             uint32_t number, const struct kvc_composed_expected *expected);
void kvc_composed_state_close(struct kvc_composed_server *server);

/* Returns the number of an empty job, for a frame or for a batch. Exits with status 3 if memory is short. */
uint32_t kvc_composed_new_job(struct kvc_composed_server *server, bool batch);
void kvc_composed_free_job(struct kvc_composed_server *server, uint32_t number);

#endif
