#include "sim/workload/source/exponential.h"

#include <math.h>

/* Right end of the base layer, and the area of every layer, for 256 layers (Marsaglia and Tsang, 2000). */
static const double base_end = 7.69711747013104972, layer_area = 3.949659822581557e-3;

void kvc_exponential_init(struct kvc_exponential *tables)
{
    enum { LAST = KVC_EXPONENTIAL_LAYERS - 1 };
    double end = base_end, above = base_end, width = layer_area / exp(-base_end);
    tables->inside[0] = (uint32_t)(end / width * 0x1.0p32);
    tables->inside[1] = 0;
    tables->scale[0] = width * 0x1.0p-32;
    tables->scale[LAST] = end * 0x1.0p-32;
    tables->height[0] = 1;
    tables->height[LAST] = exp(-end);
    for (int layer = LAST - 1; layer > 0; layer--) {
        end = -log(layer_area / end + exp(-end));
        tables->inside[layer + 1] = (uint32_t)(end / above * 0x1.0p32);
        above = end;
        tables->height[layer] = exp(-end);
        tables->scale[layer] = end * 0x1.0p-32;
    }
}

double kvc_exponential_redraw(const struct kvc_exponential *tables, struct kvc_rng *rng, uint64_t bits)
{
    for (;;) {
        uint32_t layer = (uint32_t)bits & (KVC_EXPONENTIAL_LAYERS - 1), random = (uint32_t)(bits >> 32);
        double x = random * tables->scale[layer];
        if (random < tables->inside[layer]) {
            return x;
        }
        if (layer == 0) { /* The tail has the distribution itself, shifted. */
            return base_end + kvc_rng_exponential(rng, 1);
        }
        if (tables->height[layer] + kvc_rng_unit(rng) * (tables->height[layer - 1] - tables->height[layer]) <
            exp(-x)) {
            return x;
        }
        bits = kvc_rng_u64(rng);
    }
}
