/** @file
 * A small machine and actors that use it, for the tests of the engine and the meters. */
#ifndef KVC_SIM_ENGINE_FIXTURE_H
#define KVC_SIM_ENGINE_FIXTURE_H

#include "sim/engine.h"
#include "sim/platform.h"

/** An actor that sleeps, works on devices or transfers bytes, and notes when it has ended. */
struct kvc_test_job {
    double begin_ns;                     /**< When it begins. */
    uint32_t draws;                      /**< Draws of its work; 0: it transfers bytes. */
    struct kvc_draw draw[KVC_DRAWS_MAX]; /**< Work of the job. */
    uint32_t from, to;                   /**< Hosts of the transfer. */
    double bytes;                        /**< Size of the transfer. */
    double end_ns;                       /**< When it has ended; -1: it has not. */
};

/** Returns a job that does `amount_ns` of work on a host, which alone would take alone_ns. */
struct kvc_test_job kvc_test_work(double begin_ns, uint32_t host, double amount_ns, double alone_ns);

/** Returns a job that transfers bytes. */
struct kvc_test_job kvc_test_transfer(double begin_ns, uint32_t from, uint32_t to, double bytes);

/** Returns a host with one state of speed 1 and these watts. */
struct kvc_platform_host kvc_test_host(const char *name, uint32_t cores, double idle_w, double one_w,
                                       double all_w);

/** Adds a host without watts to zone 0. */
uint32_t kvc_test_add_host(struct kvc_platform *platform, const char *name, uint32_t cores);

/** Adds a link of this rate without watts to zone 0 [bytes/ns]. */
uint32_t kvc_test_add_link(struct kvc_platform *platform, const char *name, double bytes_per_ns);

/** Creates a platform with the zone "node0". */
struct kvc_platform *kvc_test_platform(void);

/** Opens the engine, or fails the test. */
void kvc_test_open(const struct kvc_platform *platform);

/** Starts the actors of the jobs. */
void kvc_test_spawn(struct kvc_test_job *jobs, uint32_t count);

/** Opens the engine, starts the jobs and runs until all have ended. */
void kvc_test_run_jobs(const struct kvc_platform *platform, struct kvc_test_job *jobs, uint32_t count);

#endif
