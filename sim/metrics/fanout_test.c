#include "sim/metrics/fanout.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"

enum { NODES = 6, VALUES = 200000 };

static const double share[NODES] = {0.4, 0.25, 0.15, 0.1, 0.1, 0};

/* Latencies of a node: a constant and an exponential part, both of which differ between nodes. */
static double draw_ns(struct kvc_rng *rng, uint32_t node)
{
    return 1000 + 300 * node + kvc_rng_exponential(rng, 500 * (1 + node % 3));
}

static void fill(struct kvc_histogram_pack *pack, double *value_ns, uint32_t node)
{
    struct kvc_histogram *histogram = calloc(1, sizeof(*histogram));
    struct kvc_rng rng;
    kvc_rng_init(&rng, 7, "fanout", node);
    for (uint32_t i = 0; i < VALUES; i++) {
        double zero = 0;
        value_ns[i] = draw_ns(&rng, node);
        kvc_histogram_record(histogram, &zero, &value_ns[i], 1);
    }
    cr_assert(kvc_histogram_take(histogram, pack));
    free(histogram);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Draws multigets one by one: every key a node, and every node that has one a latency. */
static void draw(double (*value_ns)[VALUES], uint32_t keys, double *slowest_ns, uint32_t draws)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 9, "multigets", keys);
    for (uint32_t i = 0; i < draws; i++) {
        unsigned asked = 0;
        for (uint32_t key = 0; key < keys; key++) {
            double at = kvc_rng_unit(&rng);
            uint32_t node = 0;
            while (node < NODES - 2 && at >= share[node]) {
                at -= share[node++];
            }
            asked |= 1u << node;
        }
        slowest_ns[i] = 0;
        for (uint32_t node = 0; node < NODES; node++) {
            double latency_ns = value_ns[node][kvc_rng_below(&rng, VALUES)];
            slowest_ns[i] = (asked >> node & 1) != 0 ? fmax(slowest_ns[i], latency_ns) : slowest_ns[i];
        }
    }
    qsort(slowest_ns, draws, sizeof(*slowest_ns), ascending);
}

Test(fanout, equals_multigets_drawn_one_by_one)
{
    enum { DRAWS = 200000 };
    static const uint32_t keys[] = {1, 2, 5, 20, 100};
    double(*value_ns)[VALUES] = malloc(NODES * sizeof(*value_ns));
    double *slowest_ns = malloc(DRAWS * sizeof(*slowest_ns));
    struct kvc_histogram_pack pack[NODES] = {{0}};
    struct kvc_fanout_node node[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        fill(&pack[i], value_ns[i], i);
        node[i] = (struct kvc_fanout_node){share[i], &pack[i]};
    }
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        struct kvc_fanout fanout;
        double mean_ns = 0, squares = 0;
        draw(value_ns, keys[k], slowest_ns, DRAWS);
        for (uint32_t i = 0; i < DRAWS; i++) {
            mean_ns += slowest_ns[i] / DRAWS;
            squares += slowest_ns[i] * slowest_ns[i] / DRAWS;
        }
        cr_assert(kvc_fanout_of(node, NODES, keys[k], &fanout));
        double error_ns = sqrt((squares - mean_ns * mean_ns) / DRAWS);
        cr_expect_float_eq(fanout.mean_us * 1e3, mean_ns, 5 * error_ns, "%u keys: %g, drawn %g +- %g",
                           keys[k], fanout.mean_us * 1e3, mean_ns, error_ns);
        cr_expect_float_eq(fanout.p50_us * 1e3, slowest_ns[DRAWS / 2], 0.01 * slowest_ns[DRAWS / 2]);
        cr_expect_float_eq(fanout.p95_us * 1e3, slowest_ns[DRAWS * 95ull / 100],
                           0.015 * slowest_ns[DRAWS * 95ull / 100]);
        cr_expect_float_eq(fanout.p99_us * 1e3, slowest_ns[DRAWS * 99ull / 100],
                           0.02 * slowest_ns[DRAWS * 99ull / 100]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        free(pack[i].slot);
    }
    free(value_ns);
    free(slowest_ns);
}

Test(fanout, many_keys_wait_for_the_slowest_of_all_nodes)
{
    static double value_ns[VALUES];
    struct kvc_histogram_pack pack[3] = {{0}};
    struct kvc_fanout_node node[3];
    struct kvc_fanout fanout;
    for (uint32_t i = 0; i < 3; i++) {
        fill(&pack[i], value_ns, 0);
        node[i] = (struct kvc_fanout_node){1.0 / 3, &pack[i]};
    }
    /* All three are asked, but for a chance of 1e-175: the largest of three values from one distribution. */
    cr_assert(kvc_fanout_of(node, 3, 1000, &fanout));
    double below = 0, mean_ns = 0;
    for (uint32_t slot = 0; slot < pack[0].slots; slot++) {
        double next = below + pack[0].slot[slot] / (double)VALUES;
        mean_ns += (pow(next, 3) - pow(below, 3)) * kvc_histogram_slot_ns(pack[0].first + slot);
        below = next;
    }
    cr_expect_float_eq(fanout.mean_us * 1e3, mean_ns, 1e-9 * mean_ns, "%.10g %.10g", fanout.mean_us * 1e3,
                       mean_ns);
    cr_expect_float_eq(mean_ns, 1000 + 500 * (1 + 1 / 2.0 + 1 / 3.0), 10);
    for (uint32_t i = 0; i < 3; i++) {
        free(pack[i].slot);
    }
}
