#include "models/megakv/equations.h"

#include <math.h>

/* Work of the GPU within a span of cycles: 2 with delayed inserts, otherwise 1. Every inequality of the paper
 * is base_ns + per_op_ns * V * C <= cycles * C. */
struct span {
    double cycles, base_ns, per_op_ns;
};

/* A kernel without work is not launched, so its base time counts only if it has a share of the load. */
static struct span span_of(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load)
{
    double p_search = load->search_frac, p_insert = 1 - load->search_frac;
    double cycles = load->delay >= 2 ? 2 : 1;
    double inserts_over = load->delay >= 2 ? load->delay : 1;
    return (struct span){
        .cycles = cycles,
        .base_ns =
            (p_search > 0 ? cycles * fit->search_base_ns : 0) + (p_insert > 0 ? fit->insert_base_ns : 0),
        .per_op_ns =
            cycles * fit->search_ns_per_op * p_search + inserts_over * fit->insert_ns_per_op * p_insert,
    };
}

double kvc_megakv_search_ns(const struct kvc_megakv_fit *fit, double searches)
{
    return searches > 0 ? fit->search_ns_per_op * searches + fit->search_base_ns : 0;
}

double kvc_megakv_insert_ns(const struct kvc_megakv_fit *fit, double inserts)
{
    return inserts > 0 ? fit->insert_ns_per_op * inserts + fit->insert_base_ns : 0;
}

double kvc_megakv_busiest_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                             double cycle_ns, double ops_per_ns)
{
    double ops = ops_per_ns * cycle_ns;
    return kvc_megakv_search_ns(fit, load->search_frac * ops) +
           kvc_megakv_insert_ns(fit, (1 - load->search_frac) * ops * load->delay);
}

bool kvc_megakv_feasible(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                         double cycle_ns, double ops_per_ns)
{
    struct span span = span_of(fit, load);
    return span.base_ns + span.per_op_ns * ops_per_ns * cycle_ns <= span.cycles * cycle_ns;
}

double kvc_megakv_cycle_min_ns(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                               double ops_per_ns)
{
    struct span span = span_of(fit, load);
    double room = span.cycles - span.per_op_ns * ops_per_ns;
    return room > 0 ? span.base_ns / room : INFINITY;
}

double kvc_megakv_speed_max(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load,
                            double cycle_ns)
{
    struct span span = span_of(fit, load);
    return fmax((span.cycles * cycle_ns - span.base_ns) / (span.per_op_ns * cycle_ns), 0);
}

double kvc_megakv_speed_limit(const struct kvc_megakv_fit *fit, const struct kvc_megakv_load *load)
{
    struct span span = span_of(fit, load);
    return span.cycles / span.per_op_ns;
}
