#include "sim/run/slices/slice_mover.h"

#include <math.h>

static void move(const struct kvc_slice_mover *mover, double amount, double alone_ns)
{
    struct kvc_draw draw[KVC_DRAWS_MAX];
    if (mover->hosts == 0) {
        kvc_engine_transfer(mover->from, mover->to, amount);
        return;
    }
    for (uint32_t i = 0; i < mover->hosts; i++) {
        draw[i] = (struct kvc_draw){
            .host = mover->host[i], .amount_ns = amount / mover->hosts, .alone_ns = alone_ns};
    }
    kvc_engine_work(draw, mover->hosts);
}

static void remember(struct kvc_slice_mover *mover, double took_ns, double alone_ns)
{
    double now_ns = kvc_engine_now_ns();
    double left = exp((mover->ended_ns - now_ns) / KVC_SLICE_MOVER_MEMORY_NS);
    mover->recent_ns = left * mover->recent_ns + took_ns;
    mover->recent_alone_ns = left * mover->recent_alone_ns + alone_ns;
    mover->ended_ns = now_ns;
    mover->stretch = mover->recent_alone_ns > 0 ? fmax(mover->recent_ns / mover->recent_alone_ns, 1) : 1;
}

static void mover_main(void *data)
{
    struct kvc_slice_mover *mover = data;
    for (;;) {
        while (mover->amount == 0) {
            mover->moves = false;
            kvc_gate_wait(mover->gate);
        }
        double amount = mover->amount, alone_ns = mover->alone_ns, began_ns = kvc_engine_now_ns();
        mover->amount = mover->alone_ns = 0;
        kvc_slice_outages_ns(&mover->outages);
        move(mover, amount, alone_ns);
        double took_ns = fmax(kvc_engine_now_ns() - began_ns - kvc_slice_outages_ns(&mover->outages), 0);
        remember(mover, took_ns, alone_ns);
        mover->moved += amount;
        mover->moved_ns += took_ns;
        mover->moved_alone_ns += alone_ns;
    }
}

void kvc_slice_mover_open(struct kvc_slice_mover *mover)
{
    mover->gate = kvc_gate_create(0);
    mover->moves = true; /* Until its actor waits. */
    kvc_engine_spawn("mover", mover_main, mover);
}

void kvc_slice_mover_open_work(struct kvc_slice_mover *mover, uint32_t host)
{
    mover->hosts = 1;
    mover->host[0] = host;
    kvc_slice_mover_open(mover);
}

void kvc_slice_mover_open_transfer(struct kvc_slice_mover *mover, uint32_t from, uint32_t to)
{
    mover->from = from;
    mover->to = to;
    kvc_slice_mover_open(mover);
}

void kvc_slice_mover_own_host(struct kvc_slice_mover *mover, uint32_t host)
{
    *mover = (struct kvc_slice_mover){.alone = true, .hosts = 1, .host = {host}};
}

void kvc_slice_mover_own_link(struct kvc_slice_mover *mover, uint32_t from, uint32_t to)
{
    *mover = (struct kvc_slice_mover){.alone = true, .from = from, .to = to};
}

void kvc_slice_mover_close(struct kvc_slice_mover *mover)
{
    kvc_gate_free(mover->gate);
    mover->gate = NULL;
}

void kvc_slice_mover_post(struct kvc_slice_mover *mover, double amount, double alone_ns)
{
    if (amount <= 0) {
        return;
    }
    if (mover->alone && mover->hosts > 0) {
        kvc_engine_queue_work(mover->host[0], amount, alone_ns);
        return;
    }
    if (mover->alone) {
        kvc_engine_queue_bytes(mover->from, mover->to, amount);
        return;
    }
    mover->amount += amount;
    mover->alone_ns += alone_ns;
    if (!mover->moves) {
        mover->moves = true;
        kvc_gate_post(mover->gate);
    }
}

void kvc_slice_mover_post_busy(struct kvc_slice_mover *mover, double *before_ns, double busy_ns,
                               double per_ns)
{
    double new_ns = busy_ns - *before_ns;
    kvc_slice_mover_post(mover, new_ns * per_ns, new_ns);
    *before_ns = busy_ns;
}
