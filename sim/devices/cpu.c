#include "sim/devices/cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct kvc_option pstate_rows[] = {
    KVC_REAL_ROW(kvc_cpu_pstate, "clock", clock_hz, KVC_UNIT_HZ, 1e8, 1e10, NULL,
                 "clock of all cores; work takes longer in inverse proportion to it"),
    KVC_REAL_ROW(
        kvc_cpu_pstate, "idle", idle_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the socket while no core works; left out: sums of power are at least what the others take",
        .optional = true),
    KVC_REAL_ROW(
        kvc_cpu_pstate, "one_core", one_core_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the socket while one core works; left out: sums of power are at least what the others take",
        .optional = true),
    KVC_REAL_ROW(
        kvc_cpu_pstate, "all_cores", all_cores_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the socket while all cores work; left out: sums of power are at least what the others take",
        .optional = true),
};

static const struct kvc_option_table pstate_options =
    KVC_OPTION_TABLE(kvc_cpu_pstate, pstate_rows, "pstates", .max_list = KVC_CPU_PSTATES_MAX);

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_cpu, "name", name, "", "name of the processor"),
    KVC_COUNT_ROW(kvc_cpu, "cores", cores, 1, 1024, NULL,
                  "physical cores per socket; more cores serve more pipelines"),
    KVC_COUNT_ROW(
        kvc_cpu, "threads_per_core", threads_per_core, 1, 2, NULL,
        "hardware threads per core; with 2, a thread computes while another one of its core waits for memory, and "
        "all threads of the socket share the cores"),
    KVC_REAL_ROW(kvc_cpu, "clock", clock_hz, KVC_UNIT_HZ, 1e8, 1e10, NULL,
                 "core clock; a faster clock shortens hits in the last-level cache"),
    KVC_REAL_ROW(
        kvc_cpu, "core_speed", core_speed_steps_per_ns, KVC_UNIT_NONE, 0, 1e3, NULL,
        "speed of the cores while the costs were measured, in arithmetic steps per nanosecond; kvcast "
        "validate compares it with the speed during a run; 0 or left out: unknown, as on machines whose "
        "hardware threads share a core",
        .optional = true),
    KVC_REAL_ROW(kvc_cpu, "instructions_per_cycle", instructions_per_cycle, KVC_UNIT_NONE, 0, 64, "0",
                 "most instructions that a core completes in a cycle; more of them shorten costs stated in "
                 "instructions; 0: unknown"),
    KVC_REAL_ROW(
        kvc_cpu, "sustained_ipc", sustained_ipc, KVC_UNIT_NONE, 0, 64, "0",
        "instructions that a core completes in a cycle in code of key-value stores whose lines are in its "
        "first-level cache, at most instructions_per_cycle; more of them shorten costs stated in "
        "instructions; 0: instructions_per_cycle"),
    KVC_REAL_ROW(kvc_cpu, "packet", packet_ns, KVC_UNIT_NS, 0, 1e6, NULL,
                 "compute time per request for packet I/O and parsing, in each direction; a longer time "
                 "slows receivers and senders"),
    KVC_REAL_ROW(
        kvc_cpu, "operation", operation_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
        "compute time of one key-value operation, without its accesses to memory; a longer time slows "
        "cores that run whole operations; 0: unknown"),
    KVC_REAL_ROW(kvc_cpu, "llc", llc_bytes, KVC_UNIT_BYTES, 0, 1e10, "0B",
                 "last-level cache of the socket; a larger one holds more of the popular items; 0: unknown"),
    KVC_REAL_ROW(
        kvc_cpu, "root_rate", root_bytes_per_s, KVC_UNIT_BYTES_PER_S, 0, 1e14, "0Gbps",
        "rate of the socket's PCIe root complex in each direction, which GPU and NIC share; a higher rate "
        "shortens their transfers when both are busy; 0: no limit"),
    KVC_REAL_ROW(
        kvc_cpu, "lookahead", lookahead_ns, KVC_UNIT_NS, 0, 1e6, "0ns",
        "compute time of the instructions after a load that a core executes while the load misses; more of "
        "it hides more of a stall"),
    KVC_REAL_ROW(kvc_cpu, "llc_hit_cycles", llc_hit_cycles, KVC_UNIT_NONE, 0, 1e6, NULL,
                 "core cycles for which a thread stalls on a line in the last-level cache; more cycles slow "
                 "receivers and senders"),
    KVC_REAL_ROW(
        kvc_cpu, "price", price_usd, KVC_UNIT_NONE, 0, 1e6, "0",
        "price of the processor in US dollars; a higher one lowers the throughput per dollar; 0: unknown"),
    KVC_LIST_ROW(
        kvc_cpu, "pstates", pstates, pstate_count, &pstate_options,
        "clocks that can be set, fastest first, each with the power of the socket; the fastest one equals "
        "clock"),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_cpu, rows, "cpu");

static bool same_clock(double a_hz, double b_hz)
{
    return fabs(a_hz - b_hz) < 1e3;
}

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_cpu *cpu = device;
    if (cpu->sustained_ipc > cpu->instructions_per_cycle) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cpu.sustained_ipc: found %g, allowed: at most instructions_per_cycle, %g",
                             cpu->sustained_ipc, cpu->instructions_per_cycle);
    }
    if (cpu->pstate_count > 0 && !same_clock(cpu->pstates[0].clock_hz, cpu->clock_hz)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "cpu.pstates: the first one has %gGHz, allowed: the cpu's clock, %gGHz",
                             cpu->pstates[0].clock_hz / 1e9, cpu->clock_hz / 1e9);
    }
    for (uint32_t i = 0; i < cpu->pstate_count; i++) {
        const struct kvc_cpu_pstate *pstate = &cpu->pstates[i];
        if (i > 0 && pstate->clock_hz >= pstate[-1].clock_hz) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "cpu.pstates: number %u has %gGHz, allowed: less than the one before, %gGHz",
                                 i + 1, pstate->clock_hz / 1e9, pstate[-1].clock_hz / 1e9);
        }
        if (pstate->one_core_watts < pstate->idle_watts || pstate->all_cores_watts < pstate->one_core_watts) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "cpu.pstates: at %gGHz idle, one_core and all_cores are %g, %g and %g W, "
                                 "allowed: no less with more cores",
                                 pstate->clock_hz / 1e9, pstate->idle_watts, pstate->one_core_watts,
                                 pstate->all_cores_watts);
        }
    }
    return KVC_OK;
}

static double price_usd(const void *device)
{
    const struct kvc_cpu *cpu = device;
    return cpu->price_usd > 0 ? cpu->price_usd : NAN;
}

const struct kvc_device_kind kvc_cpu_kind = {
    .name = "cpu",
    .help = "CPU socket: cores, clocks and power, last-level cache, and what packet I/O and a cache hit cost",
    .options = &options,
    .check = check,
    .price_usd = price_usd,
};

uint32_t kvc_cpu_pstate_count(const struct kvc_cpu *cpu)
{
    return cpu->pstate_count > 0 ? cpu->pstate_count : 1;
}

struct kvc_cpu_pstate kvc_cpu_pstate(const struct kvc_cpu *cpu, uint32_t index)
{
    if (index >= kvc_cpu_pstate_count(cpu)) {
        KVC_BUG("P-state %u of %u", index, kvc_cpu_pstate_count(cpu));
    }
    return cpu->pstate_count > 0 ? cpu->pstates[index]
                                 : (struct kvc_cpu_pstate){cpu->clock_hz, NAN, NAN, NAN};
}

double kvc_cpu_pstate_speed(const struct kvc_cpu *cpu, uint32_t index)
{
    return kvc_cpu_pstate(cpu, index).clock_hz / kvc_cpu_pstate(cpu, 0).clock_hz;
}

bool kvc_cpu_has_watts(const struct kvc_cpu_pstate *pstate)
{
    return !isnan(pstate->idle_watts) && !isnan(pstate->one_core_watts) && !isnan(pstate->all_cores_watts);
}

enum kvc_status kvc_cpu_pstate_of(const struct kvc_node *node, uint32_t *index, struct kvc_diag *diag)
{
    const struct kvc_cpu *cpu = kvc_cpu_of(node);
    double clock_hz = node->cpu_clock_hz;
    char allowed[512] = "auto";
    if (!(clock_hz > 0)) {
        *index = 0;
        return KVC_OK;
    }
    if (cpu == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "node.cpu_clock: found %gGHz, and the node has no CPU",
                             clock_hz / 1e9);
    }
    for (uint32_t i = 0; i < kvc_cpu_pstate_count(cpu); i++) {
        double state_hz = kvc_cpu_pstate(cpu, i).clock_hz;
        size_t used = strlen(allowed);
        if (same_clock(state_hz, clock_hz)) {
            *index = i;
            return KVC_OK;
        }
        snprintf(allowed + used, sizeof(allowed) - used, ", %gGHz", state_hz / 1e9);
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "node.cpu_clock: found %gGHz, allowed: %s", clock_hz / 1e9,
                         allowed);
}

double kvc_cpu_instruction_ns(const struct kvc_cpu *cpu)
{
    double rate = cpu->sustained_ipc > 0 ? cpu->sustained_ipc : cpu->instructions_per_cycle;
    return 1e9 / (rate * cpu->clock_hz);
}

double kvc_cpu_llc_hit_ns(const struct kvc_cpu *cpu)
{
    return cpu->llc_hit_cycles / cpu->clock_hz * 1e9;
}

void kvc_cpu_speed_up(struct kvc_cpu *cpu, double factor)
{
    cpu->core_speed_steps_per_ns *= factor;
    cpu->instructions_per_cycle *= factor;
    cpu->sustained_ipc *= factor;
    cpu->packet_ns /= factor;
    cpu->operation_ns /= factor;
    cpu->lookahead_ns /= factor; /* The same instructions take less time, so they hide less of a stall. */
    cpu->llc_hit_cycles /= factor;
}

static const struct kvc_option_table card_options = KVC_OPTION_TABLE(kvc_cpu, rows, "card_cpu");

const struct kvc_device_kind kvc_card_cpu_kind = {
    .name = "card_cpu",
    .help = "Cores of a network card, such as a SmartNIC, described as those of a CPU socket",
    .options = &card_options,
    .check = check,
    .price_usd = price_usd,
};
