#include "scenarios/run/composed/changes_fixture.h"

#include <math.h>
#include <stdio.h>

#include "sim/base/rng.h"

enum { PHASES = 1, STALLS = 2, OUTAGE = 4, KINDS = 7 };

static const char format[] =
    "local s, cores, fails = (function() %s end)(), false, {}\n"
    "local devices = { cpu = 'cpu', gpu = 'gpu', fpga = 'fpga', ['card.cpu'] = 'card_cpu' }\n"
    "for _, stage in ipairs(s.system.stages) do\n"
    "  cores = cores or stage.on == 'cpu'\n"
    "  fails[#fails + 1] = devices[stage.on]\n"
    "end\n"
    "local load = s.workload\n"
    "if cores and %s then s.node.stalls = { { length = '%.0fns', every = '%.0fns' } } end\n"
    "if #fails > 0 and %s and not s.node.database then\n"
    "  local device = 'node0.socket' .. %u %% s.node.sockets .. '.' .. fails[%u %% #fails + 1]\n"
    "  s.run.changes = { { at = '%.4gus', device = device, off = '%.4gus' } }\n"
    "end\n"
    "if load.arrival.clients == nil and (%s or not cores) then\n"
    "  local function phase(length, small, get, zipf)\n"
    "    return { length = length, key = load.key, value = small and math.ceil(load.value / 2) or load.value,\n"
    "             get = get, set = 1 - get, zipf = zipf }\n"
    "  end\n"
    "  load.phases = { phase('%.0fus', true, %.4g, %.2f), phase('%.0fus', false, load.get, 0) }\n"
    "  load.key, load.value, load.get, load.set, load.delete, load.dist = nil\n"
    "  load.fill = 'at_once'\n"
    "end\n"
    "return s\n";

static double between(struct kvc_rng *rng, double low, double high)
{
    return low * pow(high / low, kvc_rng_unit(rng));
}

static const char *lua(bool is)
{
    return is ? "true" : "false";
}

void kvc_composition_write_changed(uint64_t seed, const struct kvc_composition_use *use,
                                   char text[KVC_CHANGED_BYTES])
{
    struct kvc_rng rng;
    char plain[KVC_COMPOSITION_BYTES];
    kvc_composition_write(seed, use, plain);
    kvc_rng_init(&rng, seed, "composition changes", 0);
    uint32_t kinds = 1 + (uint32_t)kvc_rng_below(&rng, KINDS), socket = (uint32_t)kvc_rng_below(&rng, 2);
    double stall_ns = between(&rng, 500, 2e4), every_ns = between(&rng, 2e4, 5e5);
    double at_us = use->duration_us * between(&rng, 0.05, 0.5),
           off_us = use->duration_us * between(&rng, 0.002, 0.1);
    double first_us = ceil(use->duration_us * between(&rng, 0.05, 0.5)),
           second_us = ceil(first_us * between(&rng, 0.3, 3));
    double get = kvc_rng_unit(&rng) < 0.3 ? 1 : kvc_rng_unit(&rng), zipf = kvc_rng_unit(&rng);
    uint32_t stage = (uint32_t)kvc_rng_below(&rng, 64);
    snprintf(text, KVC_CHANGED_BYTES, format, plain, lua((kinds & STALLS) != 0), stall_ns, every_ns,
             lua((kinds & OUTAGE) != 0), socket, stage, at_us, off_us, lua((kinds & PHASES) != 0), first_us,
             get, zipf, second_us);
}
