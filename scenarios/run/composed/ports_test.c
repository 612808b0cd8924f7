/* Ports of a network card that stages use one by one. */
#include <criterion/criterion.h>

#include "scenarios/run/laws_fixture.h"

/* Answers a store whose clients ask for long values, which the wire limits. `rx` and `tx` are options of its
 * stages on a card with `ports` ports. */
static struct kvc_outcome *answer(const char *rx, const char *tx, unsigned ports, const char *arrival,
                                  bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', batch = { count = 64, timeout = '20us', before = 'a' },\n"
            "stages = { { name = 'receive', on = 'nic.rx'%s },\n"
            "  { name = 'a', on = 'cpu', cores = 4, ns = 10 }, { name = 'send', on = 'nic.tx'%s } } },\n"
            "node = { sockets = 1, nic = { base = 'x520-t2', ports = %u } },\n"
            "workload = { keys = 1e4, key = 100, value = 300, get = 1, set = 0, per_frame = 1,\n"
            "  arrival = %s }, run = { duration = '4ms', warmup = '1ms' } }\n",
            rx, tx, ports, arrival),
        predict);
}

static double value_of(const char *rx, const char *tx, unsigned ports, const char *arrival, const char *name)
{
    struct kvc_outcome *ran = answer(rx, tx, ports, arrival, false);
    double value = kvc_laws_value(ran, name);
    kvc_outcome_free(ran);
    return value;
}

/* Two ports carry as much as both together, and one carries half of it. */
Test(composition_ports, carry_their_part)
{
    static const char *const all = "'saturate'", *const rate = "throughput_mops";
    double both = value_of("", "", 2, all, rate), apart = value_of("", ", ports = 2", 2, all, rate),
           one = value_of("", ", ports = 1", 2, all, rate), of_one = value_of("", "", 1, all, rate);
    cr_expect_float_eq(apart, both, 0.01 * both, "%.4f Mops, %.4f by both together", apart, both);
    cr_expect_float_eq(one, both / 2, 0.01 * both, "%.4f Mops, %.4f by both together", one, both);
    cr_expect_float_eq(one, of_one, 1e-3 * one, "%.4f Mops, %.4f by a card with one port", one, of_one);
}

/* The responses of a batch leave through one port, and a frame comes through one, as on a card that has no
 * other. */
Test(composition_ports, are_as_slow_as_single_ones)
{
    static const char *const low = "{ fixed_mops = 0.2 }", *const mean = "latency_mean_us";
    double one = value_of("", "", 1, low, mean), both = value_of("", "", 2, low, mean),
           apart = value_of(", ports = 2", ", ports = 2", 2, low, mean);
    cr_expect_float_eq(apart, one, 1e-3 * one, "%.4f us, %.4f on a card with one port", apart, one);
    cr_expect_lt(both, one - 0.1);
}

/* Ports are busy with the bytes of frames: the closed form and the simulation agree with those on the wire,
 * where each frame has 28 bytes of headers and 38 around it, requests have 14 beside the key, and responses
 * 27 beside the value. */
Test(composition_ports, are_busy_with_frames)
{
    static const double mops = 2, bytes_per_us = 1250;
    double busy[] = {mops * (100 + 14 + 28 + 38) / bytes_per_us, 0,
                     mops * (300 + 27 + 28 + 38) / bytes_per_us / 2};
    for (int predict = 0; predict < 2; predict++) {
        struct kvc_outcome *outcome =
            answer(", ports = 1", ", ports = 2", 2, "{ poisson_mops = 2 }", predict == 1);
        for (uint32_t i = 0; i < 3; i += 2) {
            double found = outcome->result.stage[i].utilization_frac;
            cr_expect_float_eq(found, busy[i], 0.02 * busy[i], "stage %u: %.4f instead of %.4f", i, found,
                               busy[i]);
        }
        kvc_outcome_free(outcome);
    }
}
