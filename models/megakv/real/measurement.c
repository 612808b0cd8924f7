#include "models/megakv/real/measurement.h"

#define CURVE(field)                                                                                         \
    {                                                                                                        \
#field, offsetof(struct kvc_megakv_measurement, field)                                               \
    }
/* clang-format off */
const struct kvc_megakv_named_curve kvc_megakv_named_curves[KVC_MEGAKV_MEASURED_CURVES] = {
    CURVE(receive), CURVE(write), CURVE(evict), CURVE(evict_half_marked), CURVE(pass), CURVE(mix),
    CURVE(read), CURVE(read_checked), CURVE(read_half_marked), CURVE(read_marked), CURVE(read_half_missed),
    CURVE(read_slowest), CURVE(read_batch), CURVE(compare),
    CURVE(search), CURVE(search_miss), CURVE(search_half_missed),
    CURVE(insert), CURVE(replace), CURVE(insert_half_replaced),
    CURVE(erase), CURVE(erase_miss), CURVE(erase_half_missed), CURVE(drain),
};
/* clang-format on */

const struct kvc_megakv_measured_curve *kvc_megakv_curve_of(const struct kvc_megakv_measurement *measurement,
                                                            const struct kvc_megakv_named_curve *named)
{
    return (const struct kvc_megakv_measured_curve *)((const char *)measurement + named->offset);
}

enum kvc_status kvc_megakv_measurement_fit(struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct kvc_megakv_measured_curve *const curves[] = {&measurement->search, &measurement->receive,
                                                        &measurement->write,  &measurement->read,
                                                        &measurement->insert, &measurement->erase};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; status == KVC_OK && i < sizeof(curves) / sizeof(*curves); i++) {
        status = kvc_megakv_measured_curve_fit(curves[i], curves[i] == &measurement->search, diag);
    }
    return status;
}
