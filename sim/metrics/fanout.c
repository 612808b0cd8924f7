#include "sim/metrics/fanout.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/* The generating function on a circle, and the distributions of the nodes by slot. */
struct evaluation {
    const struct kvc_fanout_node *node;
    uint32_t nodes, points; /* Points on the upper half of the circle, with both ends. */
    double norm;            /* Probability that a Poisson variable with mean `keys` is `keys`. */
    double *none;           /* By node: exp(-q m). */
    double complex *turned; /* By node and point: exp(q (z - m)). */
    double complex *turn;   /* By point: exp(-i m angle). */
    uint64_t **below;       /* By node: values up to each slot of its pack. */
    uint32_t first, end;    /* Slots that any node has. */
};

static void close_evaluation(struct evaluation *at)
{
    for (uint32_t i = 0; at->below != NULL && i < at->nodes; i++) {
        free(at->below[i]);
    }
    free(at->below);
    free(at->none);
    free(at->turned);
    free(at->turn);
}

static bool open_node(struct evaluation *at, uint32_t i, double keys)
{
    const struct kvc_histogram_pack *pack = at->node[i].latency;
    double q = at->node[i].share;
    at->none[i] = exp(-q * keys);
    for (uint32_t k = 0; k < at->points; k++) {
        double angle = M_PI * k / (at->points - 1);
        at->turned[(size_t)i * at->points + k] = cexp(q * keys * (cexp(I * angle) - 1));
    }
    if (q <= 0) {
        return true;
    }
    uint64_t sum = 0;
    at->below[i] = malloc((pack->slots + 1ull) * sizeof(**at->below));
    for (uint32_t slot = 0; at->below[i] != NULL && slot < pack->slots; slot++) {
        sum += pack->slot[slot];
        at->below[i][slot] = sum;
    }
    at->first = pack->first < at->first ? pack->first : at->first;
    at->end = pack->first + pack->slots > at->end ? pack->first + pack->slots : at->end;
    return at->below[i] != NULL;
}

static bool open_evaluation(struct evaluation *at, uint32_t keys)
{
    double m = keys;
    at->points = 17 + (uint32_t)(6 * sqrt(m)); /* Of half a circle of 32 + 12 sqrt(m) points. */
    at->norm = exp(m * log(m) - m - lgamma(m + 1));
    at->first = UINT32_MAX;
    at->none = malloc(at->nodes * sizeof(*at->none));
    at->turned = malloc((size_t)at->nodes * at->points * sizeof(*at->turned));
    at->turn = malloc(at->points * sizeof(*at->turn));
    at->below = calloc(at->nodes, sizeof(*at->below));
    bool ok = at->none != NULL && at->turned != NULL && at->turn != NULL && at->below != NULL;
    for (uint32_t k = 0; k < at->points && ok; k++) {
        at->turn[k] = cexp(-I * m * M_PI * k / (at->points - 1));
    }
    for (uint32_t i = 0; i < at->nodes && ok; i++) {
        ok = open_node(at, i, m);
    }
    return ok && at->end > at->first;
}

/* Returns the share of a node's latencies that are in this slot or a lower one. */
static double share_below(const struct evaluation *at, uint32_t i, uint32_t slot)
{
    const struct kvc_histogram_pack *pack = at->node[i].latency;
    if (at->node[i].share <= 0 || slot < pack->first) {
        return 0;
    }
    return slot < pack->first + pack->slots ? (double)at->below[i][slot - pack->first] / (double)pack->count
                                            : 1;
}

/* Returns the probability that the slowest is in this slot or a lower one. */
static double probability(const struct evaluation *at, uint32_t slot, double *share)
{
    double sum = 0;
    for (uint32_t i = 0; i < at->nodes; i++) {
        share[i] = share_below(at, i, slot);
    }
    for (uint32_t k = 0; k < at->points; k++) {
        double complex product = 1;
        for (uint32_t i = 0; i < at->nodes; i++) {
            product *= (1 - share[i]) * at->none[i] + share[i] * at->turned[(size_t)i * at->points + k];
        }
        bool is_end = k == 0 || k + 1 == at->points; /* The others stand for the lower half, too. */
        sum += (is_end ? 1 : 2) * creal(product * at->turn[k]);
    }
    return fmin(fmax(sum / (2.0 * (at->points - 1)) / at->norm, 0), 1);
}

bool kvc_fanout_of(const struct kvc_fanout_node *node, uint32_t nodes, uint32_t keys, struct kvc_fanout *out)
{
    struct evaluation at = {.node = node, .nodes = nodes};
    double *share = malloc((nodes + 1ull) * sizeof(*share));
    bool ok = share != NULL && open_evaluation(&at, keys);
    double before = 0, mean_ns = 0;
    *out = (struct kvc_fanout){NAN, NAN, NAN, NAN};
    for (uint32_t slot = ok ? at.first : 0; ok && slot < at.end; slot++) {
        double now = fmax(probability(&at, slot, share), before), value_ns = kvc_histogram_slot_ns(slot);
        mean_ns += (now - before) * value_ns;
        out->p50_us = now >= 0.5 && before < 0.5 ? value_ns * 1e-3 : out->p50_us;
        out->p95_us = now >= 0.95 && before < 0.95 ? value_ns * 1e-3 : out->p95_us;
        out->p99_us = now >= 0.99 && before < 0.99 ? value_ns * 1e-3 : out->p99_us;
        before = now;
    }
    out->mean_us = ok ? mean_ns * 1e-3 / before : NAN;
    close_evaluation(&at);
    free(share);
    return ok;
}
