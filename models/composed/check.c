/* What the ranges of single options cannot express: stages that cannot work, or that lose requests. */
#include <math.h>
#include <string.h>

#include "models/composed/check_structures.h"
#include "models/composed/closed_form/mix.h"
#include "models/composed/config.h"
#include "sim/devices/gpu_blocks.h"
#include "sim/workload/phases.h"

#define FAIL(...) kvc_diag_fail(diag, KVC_ERR_SCENARIO, __VA_ARGS__)

static const uint32_t on_hot =
    KVC_COMPOSED_HOT_SEARCH | KVC_COMPOSED_HOT_READ | KVC_COMPOSED_HOT_FILL | KVC_COMPOSED_HOT_ERASE;

static const struct kvc_composed_stage_options *stage_at(const struct kvc_composed_config *config, uint32_t i)
{
    return config->stage[i].options;
}

static bool works_on(const struct kvc_composed_config *config, enum kvc_composed_place place)
{
    bool works = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        works = works || config->stage[i].place == place;
    }
    return works;
}

/* Whether a path cannot tell two names apart: "-" and "_" stand for a space there. */
static bool same_in_paths(const char *a, const char *b)
{
    while (*a != '\0' &&
           (*a == *b || (strchr(" -_", *a) != NULL && *b != '\0' && strchr(" -_", *b) != NULL))) {
        a++;
        b++;
    }
    return *a == *b;
}

static enum kvc_status check_names(const struct kvc_composed_config *config, struct kvc_diag *diag)
{
    if (config->stages == 0) {
        return FAIL("system.stages: found none, allowed: 1 to %d stages", KVC_COMPOSED_STAGES_MAX);
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        const char *name = stage_at(config, i)->name;
        if (strspn(name, " ") == strlen(name) || strspn(name, "0123456789") == strlen(name) ||
            strlen(name) >= KVC_PATHS_NAME_MAX) {
            return FAIL(
                "system.stages.%u.name: found \"%.40s\", allowed: a name of up to %d bytes that is neither blank nor a number",
                i + 1, name, KVC_PATHS_NAME_MAX - 1);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (same_in_paths(name, stage_at(config, j)->name)) {
                return FAIL(
                    "system.stages.%u.name: found \"%s\" again, allowed: a name that no other stage has, also with "
                    "\"-\" or \"_\" for a space",
                    i + 1, name);
            }
        }
    }
    return KVC_OK;
}

/* What a stage on the GPU needs of the card. */
static enum kvc_status check_kernel(const struct kvc_composed_config *config, uint32_t i,
                                    struct kvc_diag *diag)
{
    const struct kvc_composed_stage_options *stage = stage_at(config, i);
    const struct kvc_gpu *gpu = config->gpu;
    bool blocks = stage->block > 0, waves = gpu->shares_memory, lines = false;
    for (int per = 0; per < KVC_COMPOSED_PERS; per++) {
        const struct kvc_composed_work *work = &config->stage[i].per[per];
        lines = lines || work->lines > 0;
        waves = waves || work->instructions > 0 || (work->cycles > 0 && !blocks);
        if (work->bytes > 0 && !gpu->shares_memory) {
            return FAIL(
                "system.stages.%u.bytes: found %.4g, but stage \"%s\" is on a GPU with memory of its own; allowed: "
                "lines",
                i + 1, work->bytes, stage->name);
        }
        if (work->instructions > 0 && blocks) {
            return FAIL(
                "system.stages.%u.instructions: found %.4g, but stage \"%s\" has blocks; allowed: cycles of a "
                "multiprocessor",
                i + 1, work->instructions, stage->name);
        }
    }
    if (waves && (gpu->wave_issue <= 0 || gpu->clock_count == 0)) {
        return FAIL("system.stages.%u.instructions: gpu \"%s\" states no rate of instructions, allowed: ns",
                    i + 1, gpu->name);
    }
    const struct kvc_gpu_grid grid = {.threads = (uint32_t)(stage->block * stage->threads),
                                      .shared_bytes = stage->block_memory_bytes};
    if (blocks && (gpu->clock_count == 0 || kvc_gpu_blocks_at_once(gpu, &grid) == 0)) {
        return FAIL(
            "system.stages.%u.block: found %u threads and %.4g bytes of shared memory in a block, gpu \"%s\" has "
            "multiprocessors of %llu threads and %.4g bytes, and %u clocks",
            i + 1, grid.threads, grid.shared_bytes, gpu->name, (unsigned long long)gpu->threads_per_sm,
            gpu->shared_bytes, gpu->clock_count);
    }
    bool fitted = gpu->clock_count > 0 && gpu->clocks[0].search.ns_per_op > 0;
    bool reads = (config->stage[i].does & ~(uint32_t)KVC_COMPOSED_ON_INDEX) != 0 || lines || blocks;
    if (!gpu->shares_memory && (reads || !fitted) && kvc_gpu_sectors_per_s(gpu) <= 0) {
        return FAIL("node.gpu: \"%s\" does not state its rate of random sectors, which stage \"%s\" needs",
                    gpu->name, stage->name);
    }
    return KVC_OK;
}

/* Options that have no effect where the stage works. */
static enum kvc_status check_options(const struct kvc_composed_config *config, uint32_t i,
                                     struct kvc_diag *diag)
{
    const struct kvc_composed_stage_options *stage = stage_at(config, i);
    enum kvc_composed_place place = config->stage[i].place;
    bool later =
        stage->does != 0 && (stage->does & ~(uint32_t)(KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE)) == 0;
    uint32_t all_of_pool = config->pool[config->stage[i].pool].stages;
    bool defers = stage->background || stage->every > 1; /* Its work is kept by pipeline. */
    bool copies = place == KVC_COMPOSED_NODE && stage->background;
    const uint32_t all = (1u << KVC_OP_COUNT) - 1;
    bool storage = kvc_composed_is_storage(place), away = kvc_composed_is_away(place);
    bool gpu = place == KVC_COMPOSED_GPU, blocks = gpu && stage->block > 0,
         cores = kvc_composed_has_cores(place);
    static const char *const on_cores = "on cpu or card.cpu", *const with_blocks = "on gpu, with block";
    const struct {
        const char *option;
        bool stated, allowed;
        const char *where;
    } options[] = {
        {"cores", stage->cores != 1, cores, on_cores},
        {"split", stage->split, place == KVC_COMPOSED_CPU && stage->cores > 1,
         "on cpu, with 2 cores or more"},
        {"streams", stage->streams != 1, gpu, "on gpu"},
        {"block", stage->block != 0, gpu && !config->gpu->shares_memory, "on a gpu with memory of its own"},
        {"threads", stage->threads != 1, blocks, with_blocks},
        {"block_memory", stage->block_memory_bytes != 0, blocks, with_blocks},
        {"memory", stage->memory != KVC_COMPOSED_IN_HOST,
         place == KVC_COMPOSED_NIC_RX && config->gpu != NULL && !config->gpu->shares_memory,
         "on nic.rx beside a gpu with memory of its own; system.index, values and hot have one each"},
        {"ports", stage->ports > 0,
         place == KVC_COMPOSED_NIC_RX || (place == KVC_COMPOSED_NIC_TX && i + 1 == config->stages &&
                                          all_of_pool == 1u << i && !works_on(config, KVC_COMPOSED_NODE)),
         "on nic.rx, or on nic.tx in the last stage if no other one is on nic.tx or node"},
        {"interval", stage->interval != 1, place == KVC_COMPOSED_FPGA, "on fpga"},
        {"overlap", stage->overlap != 1, cores, on_cores},
        {"steal", kvc_composed_steals(stage),
         place == KVC_COMPOSED_CPU && !defers && !stage->shared && config->pipelines > 1,
         "on cpu, with 2 pipelines or more, without shared, every and background"},
        {"priority", stage->priority != 0, (all_of_pool & (all_of_pool - 1)) != 0,
         "if another stage has the same pool, or is on the same link"},
        {"shared", stage->shared, cores && i < config->batched && !defers,
         "on cpu or card.cpu in front of the batches, without every and background"},
        {"pool", stage->pool[0] != '\0', cores || gpu, "on cpu, card.cpu or gpu"},
        {"burst", stage->burst != 1, i < config->batched && place != KVC_COMPOSED_NIC_RX && !away && !defers,
         "in front of the batches, but not on nic.rx, database, flash or node, without every and background"},
        {"queue", stage->queue != 0, !away, "on a device other than database, flash and node"},
        {"of", (stage->of & all) != all, !storage, "on a device other than database and flash"},
        {"every", stage->every != 1, later || copies,
         "in a stage that does insert, erase or both, and nothing else, or in the background on node"},
        {"background", stage->background, copies || (!away && (later || stage->does == 0)),
         "without operations other than insert and erase, on a device other than database and flash"},
        {"after", stage->after[0] != '\0',
         config->stage[config->stage[i].after].place == KVC_COMPOSED_GPU && config->stage[i].after != i &&
             config->stage[i].first == config->stage[i].last,
         "the name of an earlier stage on a GPU, without beside"},
        {"curve", stage->curve_count > 0, cores || gpu, "on cpu, card.cpu or gpu"},
        {"does", stage->does != 0, cores || gpu || place == KVC_COMPOSED_FPGA || place == KVC_COMPOSED_FLASH,
         "on cpu, card.cpu, gpu, fpga or flash"},
        {"does", (stage->does & KVC_COMPOSED_PARSE) != 0, place != KVC_COMPOSED_FPGA,
         "on fpga all operations but parse"},
    };
    for (size_t j = 0; j < sizeof(options) / sizeof(*options); j++) {
        if (options[j].stated && !options[j].allowed) {
            return FAIL("system.stages.%u.%s: found one that stage \"%s\" (%s) cannot have, allowed: %s",
                        i + 1, options[j].option, stage->name, kvc_composed_device(place), options[j].where);
        }
    }
    for (uint32_t j = 0; j < stage->curve_count; j++) {
        if (stage->curve_count < 2 || (j > 0 && stage->curve[j].requests <= stage->curve[j - 1].requests)) {
            return FAIL(
                "system.stages.%u.curve.%u.requests: found %.10g, allowed: 2 points or more, each with more "
                "requests than the one before",
                i + 1, j + 1, stage->curve[j].requests);
        }
    }
    return KVC_OK;
}

static enum kvc_status check_place(const struct kvc_composed_config *config, uint32_t i,
                                   struct kvc_diag *diag)
{
    const struct kvc_composed_stage_options *stage = stage_at(config, i);
    enum kvc_composed_place place = config->stage[i].place;
    bool storage = kvc_composed_is_storage(place), gpu = place == KVC_COMPOSED_GPU,
         blocks = gpu && stage->block > 0, cores = kvc_composed_has_cores(place);
    enum kvc_status status = check_options(config, i, diag);
    if (status == KVC_OK && gpu) {
        status = check_kernel(config, i, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    for (int per = 0; per < KVC_COMPOSED_PERS; per++) {
        const struct kvc_composed_work *work = &config->stage[i].per[per];
        bool computes = work->cycles > 0 || work->ns > 0 || work->instructions > 0 || work->lines > 0;
        bool link = place != KVC_COMPOSED_NODE && !cores && !gpu && place != KVC_COMPOSED_FPGA;
        if (storage && (computes || work->bytes > 0)) {
            return FAIL(
                "system.stages.%u: found work, but stage \"%s\" asks a device whose times node.%s states; "
                "allowed: none",
                i + 1, stage->name, kvc_composed_device(place));
        }
        if (place == KVC_COMPOSED_NODE && (work->cycles > 0 || work->instructions > 0 || work->lines > 0)) {
            return FAIL(
                "system.stages.%u: found cycles, instructions or lines, but stage \"%s\" is on another node; "
                "allowed: bytes that go there, and ns until it answers",
                i + 1, stage->name);
        }
        if (per == KVC_COMPOSED_PER_BLOCK && (computes || work->bytes > 0) && !blocks) {
            return FAIL(
                "system.stages.%u.per: found block, but stage \"%s\" has no blocks; allowed: request, batch or byte",
                i + 1, stage->name);
        }
        if (link && computes) {
            return FAIL(
                "system.stages.%u: found cycles, ns, instructions or lines, but stage \"%s\" is on a link; "
                "allowed: bytes",
                i + 1, stage->name);
        }
        const struct kvc_cpu *cpu = place == KVC_COMPOSED_CARD_CPU ? config->card_cores.cpu : config->cpu;
        if (cores && work->instructions > 0 && cpu->instructions_per_cycle <= 0) {
            return FAIL(
                "system.stages.%u.instructions: cpu \"%s\" states no instructions per cycle, allowed: cycles or "
                "ns",
                i + 1, cpu->name);
        }
    }
    if (place == KVC_COMPOSED_NIC_RX && i > 0) {
        return FAIL("system.stages.%u.on: found nic.rx, allowed: only the first stage receives", i + 1);
    }
    if (stage->ports > 0 && stage->ports > config->nic->ports) {
        return FAIL("system.stages.%u.ports: found %llu, allowed: at most %llu, the ports of node.nic", i + 1,
                    (unsigned long long)stage->ports, (unsigned long long)config->nic->ports);
    }
    bool pcie = place == KVC_COMPOSED_PCIE_DOWN || place == KVC_COMPOSED_PCIE_UP ||
                stage->memory == KVC_COMPOSED_IN_GPU;
    if (pcie && !kvc_pcie_has_copies(config->pcie)) {
        return FAIL(
            "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which stage \"%s\" needs",
            config->pcie->name, stage->name);
    }
    return KVC_OK;
}

/* Stages beside others. They work for the same jobs, which wait for all of them. */
static enum kvc_status check_beside(const struct kvc_composed_config *config, uint32_t i,
                                    struct kvc_diag *diag)
{
    const struct kvc_composed_stage *stage = &config->stage[i];
    const struct kvc_composed_stage_options *options = stage->options;
    if (stage->first == stage->last) {
        return options->beside[0] == '\0'
                   ? KVC_OK
                   : FAIL(
                         "system.stages.%u.beside: found \"%.40s\", allowed: the name of the stage before it, or of "
                         "the first of several",
                         i + 1, options->beside);
    }
    if (stage->first == i && options->beside[0] != '\0') {
        return FAIL(
            "system.stages.%u.beside: found \"%.40s\" in the first of stages that work beside each other, "
            "allowed: in the others, each with the name of the first",
            i + 1, options->beside);
    }
    const char *wrong = options->burst > 1                                             ? "burst"
                        : options->every > 1                                           ? "every"
                        : options->background                                          ? "background"
                        : i > stage->first && options->when != 0                       ? "when"
                        : i > stage->first && options->route[0] != '\0'                ? "route"
                        : i > stage->first && options->queue > 0                       ? "queue"
                        : i > stage->first && kvc_composed_is_storage(stage->place)    ? "on"
                        : i > stage->first && i == config->batched                     ? "beside"
                        : stage->last + 1 == config->stages && i == config->stages - 1 ? "beside"
                                                                                       : NULL;
    if (wrong != NULL) {
        return FAIL("system.stages.%u.%s: found one that stages beside each other cannot have%s", i + 1,
                    wrong,
                    strcmp(wrong, "when") == 0 ? "; allowed: of, and when in the first of them"
                    : strcmp(wrong, "beside") == 0
                        ? i == config->batched ? ", allowed: batches that form in front of all of them"
                                               : ", allowed: a last stage of its own, which answers"
                    : strcmp(wrong, "queue") == 0 ? "; allowed: one in the first of them"
                                                  : ", allowed: none");
    }
    return KVC_OK;
}

/* Limits of queues that have no effect, and those whose stage waits for itself. */
static enum kvc_status check_queue(const struct kvc_composed_config *config, uint32_t i,
                                   struct kvc_diag *diag)
{
    const struct kvc_composed_stage_options *stage = stage_at(config, i);
    uint32_t earlier = config->pool[config->stage[i].pool].stages & ((1u << i) - 1);
    bool waits = stage->full == KVC_COMPOSED_WAIT, last = i + 1 == config->stages,
         answers = stage_at(config, config->stages - 1)->on == KVC_COMPOSED_NIC_TX;
    if (stage->queue == 0) {
        return waits
                   ? KVC_OK
                   : FAIL(
                         "system.stages.%u.full: found one without a limit, allowed: with queue, the jobs that "
                         "may wait for stage \"%s\"",
                         i + 1, stage->name);
    }
    if (i == config->batched) {
        return FAIL(
            "system.stages.%u.queue: found one, but batches form in front of stage \"%s\"; allowed: none, because "
            "system.batch.buffers limits what waits",
            i + 1, stage->name);
    }
    if (last && answers) {
        return FAIL(
            "system.stages.%u.queue: found one, but responses leave stage \"%s\" as a stream; allowed: "
            "none",
            i + 1, stage->name);
    }
    if (waits && (i == 0 || earlier != 0)) {
        return FAIL("system.stages.%u.full: found wait, but %s; allowed: drop%s", i + 1,
                    i == 0 ? "nobody waits in front of the first stage"
                           : "the stage shares its pool with an earlier one, whose servers would wait for "
                             "themselves",
                    answers ? ", refuse" : "");
    }
    if (stage->full == KVC_COMPOSED_REFUSE && !answers) {
        return FAIL(
            "system.stages.%u.full: found refuse, allowed: with a last stage on nic.tx, which sends the "
            "errors",
            i + 1);
    }
    return KVC_OK;
}

/* Whether a stage works on a memory: on its own side, or, from an FPGA, across PCIe. */
static bool reaches(enum kvc_composed_place place, int memory)
{
    switch (memory) {
    case KVC_COMPOSED_IN_HOST:
        return place == KVC_COMPOSED_CPU || place == KVC_COMPOSED_FPGA;
    case KVC_COMPOSED_IN_GPU:
        return place == KVC_COMPOSED_GPU;
    case KVC_COMPOSED_IN_CXL:
        return place == KVC_COMPOSED_CPU;
    case KVC_COMPOSED_IN_CARD:
        return place == KVC_COMPOSED_CARD_CPU || place == KVC_COMPOSED_FPGA;
    default:
        return place == KVC_COMPOSED_FLASH;
    }
}

/* Operations are on the side of their memory, and those of an FPGA's stage on one memory. */
static enum kvc_status check_reach(const struct kvc_composed_config *config, uint32_t i,
                                   struct kvc_diag *diag)
{
    static const char *const memories[] = {"host", "gpu", "card", "cxl", "flash"};
    static const char *const places[] = {"the cpu or an fpga", "the gpu", "card.cpu or an fpga", "the cpu",
                                         "flash, where read compares keys as well"};
    const struct kvc_composed_options *options = config->options;
    enum kvc_composed_place place = config->stage[i].place;
    uint32_t does = config->stage[i].does;
    int memory = kvc_composed_memory_of(config, i);
    bool either = kvc_composed_shares_memory(config); /* A GPU with the memory of the host. */
    const struct {
        const char *what;
        uint32_t operations;
        int memory;
    } structures[] = {{"the index", KVC_COMPOSED_ON_INDEX, options->index.memory},
                      {"the values", KVC_COMPOSED_ON_VALUES, options->values.memory},
                      {"the hot tier", on_hot, options->hot.memory}};
    for (size_t j = 0; j < sizeof(structures) / sizeof(*structures); j++) {
        if ((does & structures[j].operations) != 0 && !reaches(place, structures[j].memory) &&
            !(either && structures[j].memory == KVC_COMPOSED_IN_HOST &&
              (place == KVC_COMPOSED_CPU || place == KVC_COMPOSED_GPU))) {
            return FAIL(
                "system.stages.%u.does: found an operation on %s, whose memory is \"%s\", allowed: on %s",
                i + 1, structures[j].what, memories[structures[j].memory], places[structures[j].memory]);
        }
    }
    bool hot = (does & on_hot) != 0 && (does & ~on_hot & ~(uint32_t)KVC_COMPOSED_PARSE) != 0;
    bool far = options->hot.memory == KVC_COMPOSED_IN_CXL, index_far, values_far;
    kvc_composed_find_far(config, &config->stage[i], &index_far, &values_far);
    if (hot && memory == -2 && (far || index_far || values_far)) {
        return FAIL(
            "system.stages.%u.does: found operations on the hot tier and on others in different memories, "
            "one of them cxl; allowed: in stages of their own",
            i + 1);
    }
    if (place == KVC_COMPOSED_FLASH &&
        (does == 0 || (does & ~(uint32_t)(KVC_COMPOSED_WRITE | KVC_COMPOSED_READ)) != 0)) {
        return FAIL("system.stages.%u.does: found %s, allowed on flash: write, read or both", i + 1,
                    does == 0 ? "nothing" : "other operations");
    }
    bool lines = false;
    for (int per = 0; per <= KVC_COMPOSED_PER_BYTE; per++) {
        lines = lines || config->stage[i].per[per].lines > 0;
    }
    if (place != KVC_COMPOSED_FPGA || (memory == -1 && !lines)) {
        return KVC_OK;
    }
    if (memory == -2) {
        return FAIL(
            "system.stages.%u.does: found operations on the memories of host and card, allowed: on one of "
            "them in each stage of an fpga",
            i + 1);
    }
    if (memory != KVC_COMPOSED_IN_HOST && config->fpga->dram_bytes <= 0) {
        return FAIL("node.fpga: \"%s\" has no memory, which stage \"%s\" needs", config->fpga->name,
                    stage_at(config, i)->name);
    }
    if (memory == KVC_COMPOSED_IN_HOST && (config->pcie == NULL || !kvc_pcie_has_packets(config->pcie))) {
        return FAIL(
            "node.pcie: \"%s\" does not state packets (endpoints, generation, ...), which stage \"%s\" "
            "needs to read host memory",
            config->pcie != NULL ? config->pcie->name : "", stage_at(config, i)->name);
    }
    return KVC_OK;
}

/* Operations work on the side of their memory. A GPU that shares host memory and the cores use all that is
 * there. */
static enum kvc_status check_sides(const struct kvc_composed_config *config, uint32_t i,
                                   struct kvc_diag *diag)
{
    uint32_t does = config->stage[i].does;
    bool gpu = config->stage[i].place == KVC_COMPOSED_GPU;
    bool there = config->stage[0].options->memory == KVC_COMPOSED_IN_GPU;
    if ((does & KVC_COMPOSED_PARSE) != 0 && there && !gpu) {
        return FAIL(
            "system.stages.%u.does: found parse, but the NIC writes packets into the memory of the GPU; allowed: on "
            "the gpu",
            i + 1);
    }
    return check_reach(config, i, diag);
}

/* Whether requests pass both stages: those of different routes do not. */
static bool meet(const struct kvc_composed_config *config, uint32_t a, uint32_t b)
{
    bool together = false;
    for (uint32_t i = 0; i < config->routes; i++) {
        together = together || (kvc_composed_is_on(config->stage[a].when, i) &&
                                kvc_composed_is_on(config->stage[b].when, i));
    }
    return together;
}

/* Refuses operations that an earlier stage does. A stage does those that no stage states, too. */
static enum kvc_status fail_again(const struct kvc_composed_config *config, uint32_t i, uint32_t again,
                                  struct kvc_diag *diag)
{
    uint32_t earlier = 0;
    while ((config->stage[earlier].does & again) == 0 || !meet(config, earlier, i)) {
        earlier++;
    }
    again &= config->stage[earlier].does;
    return FAIL(
        "system.stages.%u.does: found %s, which stage \"%s\" does already; allowed: each in one stage, or in one of each route",
        i + 1, kvc_composed_operations[__builtin_ctz(again)], stage_at(config, earlier)->name);
}

/* Operations: each once, in their order, and on the side of their memory. `before` are those that are done
 * when the stage begins, `others` in addition those of stages beside it. */
static enum kvc_status check_does(const struct kvc_composed_config *config, uint32_t i, uint32_t before,
                                  uint32_t others, struct kvc_diag *diag)
{
    static const struct {
        uint32_t operation, needs;
        const char *name, *needed;
    } orders[] = {
        {KVC_COMPOSED_COMPARE, KVC_COMPOSED_SEARCH, "compare", "search"},
        {KVC_COMPOSED_READ, KVC_COMPOSED_SEARCH, "read", "search"},
        {KVC_COMPOSED_INSERT, KVC_COMPOSED_WRITE, "insert", "write"},
        {KVC_COMPOSED_SEARCH, KVC_COMPOSED_HOT_SEARCH, "search", "hot.search"},
        {KVC_COMPOSED_HOT_READ, KVC_COMPOSED_HOT_SEARCH, "hot.read", "hot.search"},
        {KVC_COMPOSED_HOT_FILL, KVC_COMPOSED_HOT_SEARCH, "hot.fill", "hot.search"},
        {KVC_COMPOSED_HOT_FILL, KVC_COMPOSED_READ, "hot.fill", "read"},
    };
    uint32_t does = config->stage[i].does, again = does & others & ~(uint32_t)KVC_COMPOSED_PARSE;
    if (again != 0) {
        return fail_again(config, i, again, diag);
    }
    if ((does & KVC_COMPOSED_ON_INDEX) != 0 && config->index == NULL) {
        return FAIL(
            "system.stages.%u.does: found an operation on the index, allowed: with system.index.kernel",
            i + 1);
    }
    if ((does & KVC_COMPOSED_ON_VALUES) != 0 && !config->has_values) {
        return FAIL("system.stages.%u.does: found an operation on the values, allowed: %s", i + 1,
                    config->options->values.kernel == KVC_COMPOSED_INLINE
                        ? "search and insert, because the index holds them"
                        : "with system.values.kernel");
    }
    bool by_index = config->has_hot && config->hot_index == NULL;
    if ((does & on_hot) != 0 && !config->has_hot) {
        return FAIL(
            "system.stages.%u.does: found an operation on the hot tier, allowed: with system.hot.size",
            i + 1);
    }
    if ((does & KVC_COMPOSED_HOT_SEARCH) != 0 && by_index) {
        return FAIL("system.stages.%u.does: found hot.search, but search finds what is hot; allowed: with "
                    "system.hot.kernel",
                    i + 1);
    }
    for (size_t j = 0; j < sizeof(orders) / sizeof(*orders); j++) {
        uint32_t needs = orders[j].needs;
        bool values = needs == KVC_COMPOSED_WRITE || needs == KVC_COMPOSED_READ;
        const char *needed = orders[j].needed;
        if ((values && !config->has_values) || (needs == KVC_COMPOSED_HOT_SEARCH && by_index)) {
            needs = KVC_COMPOSED_SEARCH; /* Who has an index alone searches it, and inserts at once. */
            needed = "search";
        }
        bool wants = (orders[j].operation != KVC_COMPOSED_INSERT || config->has_values) &&
                     (needs != KVC_COMPOSED_HOT_SEARCH || config->hot_index != NULL);
        if ((does & orders[j].operation) != 0 && wants && ((does | before) & needs) == 0) {
            return FAIL(
                "system.stages.%u.does: found %s before %s, allowed: with %s in this stage or an earlier one",
                i + 1, orders[j].name, needed, needed);
        }
    }
    return check_sides(config, i, diag);
}

/* Returns whether requests of one of the kinds from `first` to `last` meet the conditions of a stage. */
static bool takes(uint32_t when, int first, int last)
{
    bool met = false;
    for (int kind = first; kind <= last; kind++) {
        met = met || kvc_composed_mix_meets(kind, false, when) || kvc_composed_mix_meets(kind, true, when);
    }
    return met;
}

static enum kvc_status check_when(const struct kvc_composed_config *config,
                                  const struct kvc_workload *workload, uint32_t i, uint32_t before,
                                  struct kvc_diag *diag)
{
    const struct kvc_composed_stage_options *stage = stage_at(config, i);
    uint32_t outcome = KVC_COMPOSED_WHEN_HIT | KVC_COMPOSED_WHEN_MISS;
    uint32_t known = config->has_values ? KVC_COMPOSED_COMPARE | KVC_COMPOSED_READ : KVC_COMPOSED_SEARCH;
    if ((stage->when & outcome) != 0 && config->index != NULL && (before & known) == 0) {
        return FAIL(
            "system.stages.%u.when: found an outcome that is not known yet, allowed: after a stage that does "
            "%s",
            i + 1, config->has_values ? "compare or read" : "search");
    }
    uint32_t tiers = KVC_COMPOSED_WHEN_HOT | KVC_COMPOSED_WHEN_COLD;
    bool by_index = config->hot_index == NULL;
    if (!takes(stage->when, 0, KVC_COMPOSED_KINDS - 1)) {
        return FAIL(
            "system.stages.%u.when: found a condition that no request meets, allowed: hit, miss and hot with get, "
            "because SETs and DELETEs are none of them",
            i + 1);
    }
    if ((stage->when & tiers) != 0 && !config->has_hot) {
        return FAIL("system.stages.%u.when: found hot or cold, allowed: with system.hot.size", i + 1);
    }
    if ((stage->when & tiers) == KVC_COMPOSED_WHEN_COLD && (stage->does & KVC_COMPOSED_HOT_READ) != 0) {
        return FAIL(
            "system.stages.%u.does: found hot.read in a stage for cold requests, allowed: for hot ones",
            i + 1);
    }
    if ((stage->when & tiers) != 0 &&
        (before & (by_index ? KVC_COMPOSED_SEARCH : KVC_COMPOSED_HOT_SEARCH)) == 0) {
        return FAIL(
            "system.stages.%u.when: found hot or cold, which is not known yet, allowed: after a stage that does %s",
            i + 1, by_index ? "search" : "hot.search");
    }
    bool loses_sets = (stage->does & (KVC_COMPOSED_WRITE | KVC_COMPOSED_INSERT)) != 0 &&
                      !takes(stage->when, KVC_COMPOSED_KIND_SETS, KVC_COMPOSED_KIND_SETS);
    bool loses_gets = (stage->does & (KVC_COMPOSED_SEARCH | KVC_COMPOSED_READ)) != 0 &&
                      !takes(stage->when, KVC_COMPOSED_KIND_HOTS, KVC_COMPOSED_KIND_MISSES);
    if ((loses_sets && workload->set_frac > 0) || (loses_gets && workload->get_frac > 0)) {
        return FAIL(
            "system.stages.%u.when: found a condition that no %s meets, but stage \"%s\" does their %s; allowed: "
            "one that they meet",
            i + 1, loses_sets ? "SET" : "GET", stage->name,
            loses_sets ? "write or insert" : "search or read");
    }
    if (i + 1 == config->stages && (config->stage[i].when != 0 || stage->background || stage->every > 1)) {
        return FAIL("system.stages.%u.%s: found one, but the last stage answers all requests; allowed: none",
                    i + 1,
                    stage->when != 0             ? "when"
                    : config->stage[i].when != 0 ? "route"
                    : stage->background          ? "background"
                                                 : "every");
    }
    return KVC_OK;
}

static enum kvc_status fail_unserved(const struct kvc_composed_config *config, uint32_t route,
                                     const char *what, const char *operation, struct kvc_diag *diag)
{
    uint32_t on = (uint32_t)KVC_COMPOSED_WHEN_ROUTED << route, stage = 0;
    while (stage + 1 < config->stages && (config->stage[stage].when & on) == 0) {
        stage++;
    }
    if (config->routes == 1) {
        return FAIL("system.stages: the workload has %s, but no stage does %s", what, operation);
    }
    return FAIL("system.stages: the workload has %s, but no stage on route \"%s\" does %s", what,
                stage_at(config, stage)->route, operation);
}

/* What the workload asks for, and what no stage does for the requests of a route. */
static enum kvc_status check_served(const struct kvc_composed_config *config,
                                    const struct kvc_workload *workload, uint32_t route, uint32_t does,
                                    struct kvc_diag *diag)
{
    const struct {
        bool needed;
        uint32_t operation;
        const char *what, *name;
    } needs[] = {
        {config->index != NULL && workload->get_frac > 0, KVC_COMPOSED_SEARCH, "GETs", "search"},
        {config->has_values && workload->get_frac > 0, KVC_COMPOSED_READ, "GETs", "read"},
        {config->has_values && workload->set_frac > 0, KVC_COMPOSED_WRITE, "SETs", "write"},
        {config->index != NULL && workload->set_frac > 0, KVC_COMPOSED_INSERT, "SETs", "insert"},
        {config->index != NULL && config->has_values && workload->set_frac > 0, KVC_COMPOSED_ERASE,
         "items that SETs evict", "erase"},
        {config->index != NULL && workload->delete_frac > 0, KVC_COMPOSED_ERASE, "DELETEs", "erase"},
        {config->has_hot && config->hot_index != NULL && workload->get_frac > 0, KVC_COMPOSED_HOT_SEARCH,
         "GETs for the hot tier", "hot.search"},
        {config->has_hot && workload->get_frac > 0, KVC_COMPOSED_HOT_READ, "GETs for the hot tier",
         "hot.read"},
        {config->has_hot && workload->set_frac + workload->delete_frac > 0, KVC_COMPOSED_HOT_ERASE,
         "SETs or DELETEs of keys in the hot tier", "hot.erase"},
        {config->has_hot && workload->set_frac > 0 && workload->get_frac > 0, KVC_COMPOSED_HOT_FILL,
         "SETs, which empty the hot tier", "hot.fill"},
    };
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
        if (needs[i].needed && (does & needs[i].operation) == 0) {
            return fail_unserved(config, route, needs[i].what, needs[i].name, diag);
        }
    }
    return KVC_OK;
}

/* A batch that closes when another one ends fills beside it, and those that close by size alone must fill
 * before clients stop to wait for them. */
static enum kvc_status check_batches(const struct kvc_composed_config *config,
                                     const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    bool closed = workload->arrival == KVC_ARRIVAL_CLOSED;
    double in_flight = closed ? (double)workload->clients / config->shards : (double)config->outstanding;
    double fills =
        batch->bytes > 0 ? batch->bytes / fmax(config->means.request_bytes, 1) : (double)batch->count;
    if (batch->while_busy && batch->buffers < 2) {
        return FAIL(
            "system.batch.buffers: found 1 with while_busy, allowed: at least 2, because a batch fills while "
            "another one is under way");
    }
    bool by_time = batch->timeout_ns > 0 || batch->every_ns > 0 || batch->while_busy;
    if (config->batched == config->stages || by_time || !kvc_workload_clients_wait(workload) ||
        in_flight >= config->pipelines * fills) {
        return KVC_OK;
    }
    return FAIL(
        "system.batch: found batches that close with %.0f requests in each of %u pipelines, but clients wait with "
        "%.0f requests of a socket in flight; allowed: a timeout, or more of them",
        fills, config->pipelines, in_flight);
}

static enum kvc_status check_spread(const struct kvc_composed_config *config, struct kvc_diag *diag)
{
    int spread = config->options->spread;
    if (spread == KVC_COMPOSED_BY_KEY && config->frame_requests > 1) {
        return FAIL(
            "system.spread: found keys with frames of up to %u requests, allowed: with workload.per_frame = 1",
            config->frame_requests);
    }
    if (spread == KVC_COMPOSED_BY_CONNECTION && config->on_network) {
        return kvc_nic_check_queues(config->nic, config->pipelines, diag);
    }
    return KVC_OK;
}

/* Clients see what waits for the first stage behind the ports if it has a queue, and choose the pipeline. */
static enum kvc_status check_backlog(const struct kvc_composed_config *config, struct kvc_diag *diag)
{
    unsigned long long backlog = config->options->backlog;
    const struct kvc_composed_stage *first = &config->stage[kvc_composed_first_behind_ports(config)];
    if (backlog > 0 && config->options->spread == KVC_COMPOSED_BY_KEY && config->pipelines > 1) {
        return FAIL(
            "system.backlog: found %llu with spread = \"keys\", allowed: 0, because the key of a frame "
            "selects its pipeline",
            backlog);
    }
    if (backlog > 0 && kvc_composed_is_away(first->place)) {
        return FAIL("system.backlog: found %llu, allowed: 0, because \"%s\" takes all requests at once",
                    backlog, first->options->name);
    }
    return KVC_OK;
}

static enum kvc_status check_cores(const struct kvc_composed_config *config, enum kvc_composed_place place,
                                   const struct kvc_cpu *cpu, struct kvc_diag *diag)
{
    uint64_t cores = kvc_composed_threads(config, place),
             most = cpu != NULL ? cpu->cores * cpu->threads_per_core : UINT64_MAX;
    if (cores > most) {
        uint32_t largest = 0;
        for (uint32_t i = 0; i < config->stages; i++) {
            bool there = config->stage[i].place == place;
            uint64_t before = config->stage[largest].place == place ? stage_at(config, largest)->cores : 0;
            largest = there && stage_at(config, i)->cores > before ? i : largest;
        }
        return FAIL(
            "system.stages.%u.cores: found %llu, and %llu in all stages and pipelines together, allowed: at "
            "most the %llu hardware threads of %s \"%s\"",
            largest + 1, (unsigned long long)stage_at(config, largest)->cores, (unsigned long long)cores,
            (unsigned long long)most, kvc_composed_device(place), cpu->name);
    }
    return KVC_OK;
}

static enum kvc_status check_stalls(const struct kvc_composed_config *config, const struct kvc_node *node,
                                    struct kvc_diag *diag)
{
    return node->stall_count == 0 || works_on(config, KVC_COMPOSED_CPU)
               ? KVC_OK
               : FAIL("node.stalls: found some, but no stage works on cpu; allowed: none");
}

/* Devices of a card, and what needs or excludes them. */
static enum kvc_status check_card(const struct kvc_composed_config *config, struct kvc_diag *diag)
{
    const struct kvc_cpu *cpu = config->card_cores.cpu;
    const struct kvc_dram *dram = config->card_cores.dram;
    bool works = works_on(config, KVC_COMPOSED_CARD_CPU), looks = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        bool on_fpga = config->stage[i].place == KVC_COMPOSED_FPGA;
        looks = looks || (on_fpga && (config->stage[i].does & KVC_COMPOSED_ON_INDEX) != 0);
    }
    if (works && dram == NULL) {
        return FAIL(
            "node.card_dram: found none, allowed: one, such as \"bluefield-3-ddr5\", for the stages on "
            "card.cpu");
    }
    if (!works && (cpu != NULL || dram != NULL)) {
        return FAIL("node.%s: found one, but no stage works on card.cpu; allowed: none",
                    cpu != NULL ? "card_cpu" : "card_dram");
    }
    if (dram != NULL && config->fpga != NULL) {
        return FAIL(
            "node.card_dram: found one beside node.fpga, allowed: one card, with cores or with an fpga");
    }
    bool in_host = config->options->index.memory == KVC_COMPOSED_IN_HOST;
    if (config->options->cached_frac > 0 && (!looks || !in_host || config->fpga->dram_bytes <= 0)) {
        return FAIL(
            "system.cached: found %g, allowed: with a stage of an fpga that has memory and works on an index "
            "in host memory",
            config->options->cached_frac);
    }
    return KVC_OK;
}

/* Each socket is simulated by itself, so that sockets cannot share a database. */
static enum kvc_status check_database(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE && scenario->node.sockets == 1;
    if (config->database == NULL) {
        return KVC_OK;
    }
    if (!works_on(config, KVC_COMPOSED_DATABASE)) {
        return FAIL(
            "node.database: found one, but no stage asks it; allowed: with a stage on = \"database\"");
    }
    if (config->shards > 1 && !own) {
        return FAIL(
            "node.database: found one behind %u sockets, allowed: 1 node with 1 socket, or nodes with 1 socket "
            "and cluster.database = \"per_node\"",
            config->shards);
    }
    if (scenario->run.change_count > 0) {
        return FAIL(
            "run.changes: found changes with node.database, allowed: one of the two, because an outage stops the "
            "server with its clients");
    }
    return KVC_OK;
}

/* The clocks of the GPU, and who chooses them. */
static enum kvc_status check_clocks(const struct kvc_composed_config *config,
                                    const struct kvc_power_policy *power, struct kvc_diag *diag)
{
    double core_hz = config->options->gpu_core_hz;
    if (power->policy == KVC_POWER_MANAGER) {
        return FAIL(
            "power.policy: found \"manager\", which a composed store does not have; allowed: fixed, race_to_idle, or "
            "a function");
    }
    if (core_hz > 0 && !works_on(config, KVC_COMPOSED_GPU)) {
        return FAIL("system.gpu_core: found %.0fMHz, but no stage is on a GPU; allowed: auto", core_hz / 1e6);
    }
    return core_hz > 0 ? kvc_gpu_check_clock(config->gpu, core_hz, diag) : KVC_OK;
}

/* Policies that have nothing to choose, or never look. */
static enum kvc_status check_policy(const struct kvc_composed_config *config, double duration_ns,
                                    struct kvc_diag *diag)
{
    const struct kvc_composed_options *options = config->options;
    const struct kvc_composed_batch_options *batch = &options->batch;
    static const double usual_ns = 100e3;
    uint32_t core_pools = 0;
    char found[48], limit[48];
    if (options->policy[0] == '\0') {
        return options->policy_every_ns == usual_ns
                   ? KVC_OK
                   : FAIL("system.policy_every: found one without system.policy, allowed: none");
    }
    for (uint32_t i = 0; i < config->pools; i++) {
        core_pools += config->pool[i].place == KVC_COMPOSED_CPU;
    }
    if (core_pools < 2 && config->routes < 2 && batch->count == 0 && batch->timeout_ns == 0 &&
        batch->every_ns == 0) {
        return FAIL(
            "system.policy: found one that has nothing to choose, allowed: with a count, timeout or every of "
            "system.batch, with cores in two pools, or with routes");
    }
    if (options->policy_every_ns >= duration_ns) {
        kvc_quantity_print(options->policy_every_ns, KVC_UNIT_NS, found, sizeof(found));
        kvc_quantity_print(duration_ns, KVC_UNIT_NS, limit, sizeof(limit));
        return FAIL("system.policy_every: found %s, allowed: less than run.duration, %s", found, limit);
    }
    return KVC_OK;
}

enum kvc_status kvc_composed_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload workload = kvc_phases_mean(&scenario->workload);
    uint32_t done[KVC_COMPOSED_ROUTES_MAX] = {0}; /* Operations of the stages so far, by route. */
    uint32_t before = 0;                          /* Those that all requests of a stage have had. */
    enum kvc_status status = check_names(config, diag);
    if (status == KVC_OK) { /* Which operations there are depends on it. */
        status = kvc_composed_check_pairs(config, &scenario->workload, diag);
    }
    for (uint32_t i = 0; i < config->stages && status == KVC_OK; i++) {
        uint32_t of_all = UINT32_MAX, all = 0; /* With those of stages beside it. */
        for (uint32_t route = 0; route < config->routes; route++) {
            if (kvc_composed_is_on(config->stage[i].when, route)) {
                of_all &= done[route];
                all |= done[route];
            }
        }
        before = config->stage[i].first == i ? of_all : before;
        status = check_place(config, i, diag);
        if (status == KVC_OK) {
            status = check_queue(config, i, diag);
        }
        if (status == KVC_OK) {
            status = check_beside(config, i, diag);
        }
        if (status == KVC_OK) {
            status = check_does(config, i, before, all, diag);
        }
        if (status == KVC_OK) {
            status = check_when(config, &workload, i, before, diag);
        }
        for (uint32_t route = 0; route < config->routes; route++) {
            done[route] |= kvc_composed_is_on(config->stage[i].when, route) ? config->stage[i].does : 0;
        }
    }
    for (uint32_t i = 0; i < config->routes && status == KVC_OK; i++) {
        bool none = config->route_frac[i] <= 0 && i > 0 && config->route_stage[i] == config->stages;
        status = none ? KVC_OK : check_served(config, &workload, i, done[i], diag);
    }
    if (status == KVC_OK) {
        status = check_database(scenario, diag);
    }
    if (status == KVC_OK) {
        status = check_cores(config, KVC_COMPOSED_CPU, config->cpu, diag);
    }
    if (status == KVC_OK) {
        status = check_stalls(config, &scenario->node, diag);
    }
    if (status == KVC_OK) {
        status = check_card(config, diag);
    }
    if (status == KVC_OK) {
        status = check_cores(config, KVC_COMPOSED_CARD_CPU, config->card_cores.cpu, diag);
    }
    if (status == KVC_OK) {
        status = check_policy(config, scenario->run.duration_ns, diag);
    }
    if (status == KVC_OK) {
        status = check_spread(config, diag);
    }
    if (status == KVC_OK) {
        status = check_backlog(config, diag);
    }
    if (status == KVC_OK) {
        status = check_batches(config, &scenario->workload, diag);
    }
    if (status == KVC_OK) {
        status = check_clocks(config, &scenario->power, diag);
    }
    return status == KVC_OK ? kvc_composed_check_structures(config, &scenario->workload, diag) : status;
}
