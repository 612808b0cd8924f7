/* Draws on devices that several threads or streams of a socket make together. */
#include "models/megakv/simulation.h"

#include <math.h>

void kvc_megakv_share_post(struct kvc_megakv_share *share, double amount_ns, double bytes, double span_ns)
{
    share->amount_ns += amount_ns;
    share->bytes += bytes;
    share->span_ns += span_ns;
    if (!share->running) {
        share->running = true;
        kvc_gate_post(share->gate);
    }
}

/* Returns how long the links of the share were off since a time [ns]. */
static double off_since_ns(const struct kvc_megakv_share *share, double since_ns, double now_ns)
{
    const struct kvc_outage outage = kvc_engine_route_outage(share->from, share->to);
    return fmax(fmin(outage.until_ns, now_ns) - fmax(outage.from_ns, since_ns), 0);
}

void kvc_megakv_share_main(void *data)
{
    struct kvc_megakv_share *share = data;
    for (;;) {
        kvc_gate_wait(share->gate);
        while (share->span_ns > 0) {
            const struct kvc_draw draw = {share->host, share->amount_ns, share->span_ns};
            double bytes = share->bytes, start_ns = kvc_engine_now_ns(), off_ns = 0;
            struct kvc_work work;
            share->amount_ns = share->span_ns = share->bytes = 0;
            kvc_engine_start(&work, &draw, 1);
            if (bytes > 0) {
                kvc_engine_transfer(share->from, share->to, bytes);
                off_ns = off_since_ns(share, start_ns, kvc_engine_now_ns());
            }
            kvc_engine_finish(&work);
            share->stretch = fmax((kvc_engine_now_ns() - start_ns - off_ns) / draw.alone_ns, 1);
        }
        share->running = false;
    }
}
