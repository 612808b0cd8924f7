#include "models/composed/flow/prices.h"

#include <string.h>

/* Notes what a cost needs of the shared devices. */
static void share(const struct kvc_composed_config *config, uint32_t stage, struct kvc_composed_price *price)
{
    const struct kvc_composed_cost *cost = &price->cost;
    enum kvc_composed_place place = config->stage[stage].place;
    bool in = place == KVC_COMPOSED_NIC_RX || place == KVC_COMPOSED_PCIE_UP;
    const double work_ns[KVC_COMPOSED_SHARED] = {
        [KVC_COMPOSED_ISSUE] = cost->issue_ns / (double)config->cpu->cores,
        [KVC_COMPOSED_MEMORY] = cost->channel_ns / config->host_cores.channels,
        [KVC_COMPOSED_CARD_MEMORY] =
            cost->card_ns > 0 ? cost->card_ns / kvc_composed_card_memory_of(config).channels : 0,
        [KVC_COMPOSED_CXL_MEMORY] = cost->cxl_ns,
        [KVC_COMPOSED_DMA] = cost->dma_ns,
        [KVC_COMPOSED_ROOT_IN] = in ? cost->root_ns : 0,
        [KVC_COMPOSED_ROOT_OUT] = in ? 0 : cost->root_ns,
        [KVC_COMPOSED_WIRE] = place == KVC_COMPOSED_NIC_TX || place == KVC_COMPOSED_NODE ? cost->busy_ns : 0,
    };
    price->shares = 0;
    for (uint32_t i = 0; i < KVC_COMPOSED_SHARED; i++) {
        price->work_ns[i] = work_ns[i];
        price->shares |= (work_ns[i] > 0 ? 1u : 0u) << i;
    }
}

const struct kvc_composed_price *kvc_composed_find_price(struct kvc_composed_server *server, uint32_t stage,
                                                         const struct kvc_composed_counts *counts,
                                                         uint64_t alike)
{
    uint64_t differs =
        alike != 0 ? alike
                   : (uint64_t)(counts->search_lines + 2 * counts->item_lines + 4 * counts->insert_lines +
                                counts->request_bytes + counts->response_bytes);
    struct kvc_composed_price *price = kvc_composed_price_at(server, stage, differs);
    bool is_same = alike != 0 ? price->alike == alike : memcmp(&price->counts, counts, sizeof(*counts)) == 0;
    if (price->known && is_same) {
        return price;
    }
    price->known = true;
    price->counts = *counts;
    price->alike = alike;
    price->cost = kvc_composed_cost_of(server->costs, stage, counts, &server->pace);
    share(server->config, stage, price);
    return price;
}

void kvc_composed_forget_prices(struct kvc_composed_server *server)
{
    memset(server->price, 0, server->config->stages * KVC_COMPOSED_PRICES * sizeof(*server->price));
}
