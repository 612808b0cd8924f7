/** @file
 * The work of a device that has a single user and handles one job at a time.
 *
 * Nothing shares such a device, so its jobs need no activities of the engine: a job begins when the one
 * before has ended, and takes the time that it takes alone. All work that is added during a job forms the
 * next one. The work that is done by any time follows exactly. */
#ifndef KVC_SIM_DEVICE_QUEUE_H
#define KVC_SIM_DEVICE_QUEUE_H

#include <stdbool.h>

/** The jobs of a device. One whose `rate` alone is set is idle. All amounts have one unit, such as bytes. */
struct kvc_device_queue {
    double done;             /**< Amount of the jobs that have ended. */
    double amount;           /**< Amount of the job in progress; 0: none. */
    double began_ns;         /**< When it began [ns]. */
    double ends_ns;          /**< When it ends [ns]. */
    double waiting;          /**< Amount that was added since began_ns. */
    double waiting_alone_ns; /**< Time that it takes at least [ns]. */
    double rate;             /**< Amount that the device does in a nanosecond. */
};

/** Adds an amount above 0 at now_ns, which takes alone_ns, or longer if the device needs longer. */
void kvc_device_queue_add(struct kvc_device_queue *queue, double now_ns, double amount, double alone_ns);

/** Returns whether anything was ever added. */
static inline bool kvc_device_queue_used(const struct kvc_device_queue *queue)
{
    return queue->done > 0 || queue->amount > 0;
}

/** Returns the amount that is done by now_ns, which must not decrease from call to call. */
double kvc_device_queue_done(struct kvc_device_queue *queue, double now_ns);

/** Turns the device off from now_ns to until_ns: the job in progress stands still and then continues. */
void kvc_device_queue_stop(struct kvc_device_queue *queue, double now_ns, double until_ns);

#endif
