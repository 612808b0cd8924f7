#include "sim/device_queue.h"

#include <math.h>

static void begin(struct kvc_device_queue *queue, double now_ns)
{
    queue->amount = queue->waiting;
    queue->began_ns = now_ns;
    queue->ends_ns = now_ns + fmax(queue->waiting_alone_ns, queue->waiting / queue->rate);
    queue->waiting = queue->waiting_alone_ns = 0;
}

static void advance(struct kvc_device_queue *queue, double now_ns)
{
    while (queue->amount > 0 && queue->ends_ns <= now_ns) {
        queue->done += queue->amount;
        begin(queue, queue->ends_ns);
    }
}

void kvc_device_queue_add(struct kvc_device_queue *queue, double now_ns, double amount, double alone_ns)
{
    advance(queue, now_ns);
    queue->waiting += amount;
    queue->waiting_alone_ns += alone_ns;
    if (!(queue->amount > 0)) {
        /* The end of the last job is before now, except after an outage that still lasts. */
        begin(queue, fmax(now_ns, queue->began_ns));
    }
}

double kvc_device_queue_done(struct kvc_device_queue *queue, double now_ns)
{
    advance(queue, now_ns);
    if (!(queue->amount > 0) || now_ns <= queue->began_ns) {
        return queue->done;
    }
    return queue->done + queue->amount * (now_ns - queue->began_ns) / (queue->ends_ns - queue->began_ns);
}

void kvc_device_queue_stop(struct kvc_device_queue *queue, double now_ns, double until_ns)
{
    double done = kvc_device_queue_done(queue, now_ns);
    queue->amount -= done - queue->done;
    queue->done = done;
    queue->ends_ns += until_ns - now_ns;
    queue->began_ns = until_ns;
}
