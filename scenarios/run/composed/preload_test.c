/* Where composed stores have their keys before a run. */
#include <criterion/criterion.h>

#include "scenarios/run/laws_fixture.h"

/* Saturating clients that only read, of whom most ask for popular keys. */
static double served_mops(bool predict)
{
    struct kvc_outcome *outcome = kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', outstanding = 256, index = { kernel = 'chained' },\n"
            "  values = { kernel = 'log', memory = 'flash' }, stages = {\n"
            "  { name = 'parse', on = 'cpu', ns = 20, does = { 'parse' } },\n"
            "  { name = 'write', on = 'flash', when = 'set', does = { 'write' } },\n"
            "  { name = 'search', on = 'cpu', ns = 20, does = { 'search', 'insert', 'erase' } },\n"
            "  { name = 'read', on = 'flash', when = 'get', does = { 'read' } },\n"
            "  { name = 'send', on = 'cpu', ns = 20 } } },\n"
            "node = { sockets = 1, flash = { base = 'micron-9550-max', channels = 16, chips = 4 } },\n"
            "workload = { keys = 5e4, key = 16, value = 64, get = 1, set = 0, dist = { zipf = 0.7 },\n"
            "  arrival = 'saturate' }, run = { duration = '20ms', warmup = '5ms' } }\n"),
        predict);
    double mops = kvc_laws_value(outcome, "throughput_mops");
    kvc_outcome_free(outcome);
    return mops;
}

/* If the popular keys were on the same pages, the store would serve a third of what is predicted. */
Test(composition_preload, spreads_popular_keys_over_the_chips)
{
    double served = served_mops(false), predicted = served_mops(true);
    cr_expect_gt(served, 0.65 * predicted, "%.4g Mops, %.4g predicted", served, predicted);
}
