/* Counts the instructions of DIDO's tasks on a core, one by one, and compares them with the numbers in
 * tasks.h.
 *
 * A child process runs a task for a batch of queries, and its parent steps it from instruction to instruction
 * (ptrace). It runs kernels/megakv/ with the table's portable code. The program starts itself again with a C
 * library that copies and compares without AVX2, as on the paper's processor. Nothing depends on time, but
 * the compiler and the C library matter.
 *
 * usage: dido_task_counts_bench [--check | --trace]
 * With --check, the status is 1 if a number of tasks.h is more than 15 % off, and 77, which means skipped,
 * where the numbers cannot be compared: another processor or compiler, no optimisation, sanitizers, no right
 * to trace.
 * With --trace, it prints the instructions themselves for items with keys of 16 and values of 64 bytes: for
 * each task a line "task NAME QUERY QUERIES", and then the address of each instruction in its object, and the
 * object. task_ipc.sh finds out how many of them a core completes in a cycle. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/packet.h"
#include "kernels/megakv/slab.h"
#include "models/dido/tasks.h"

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define COMPARABLE true
#else
#define COMPARABLE false
#endif

enum {
    SKIPPED = 77,
    QUERIES = 64,          /* Queries of a batch. */
    INDEX_QUERIES = 512,   /* Queries of a batch for the index, whose displacements vary. */
    TABLE_BYTES = 1 << 19, /* 65,536 slots. */
    TABLE_KEYS = 58982,    /* Load 0.9. */
    KEY_STRIDE = 128,
    VALUE_MAX = 1024,
    FRAME_BYTES = QUERIES * (KVC_MEGAKV_PACKET_HEADER_BYTES + KEY_STRIDE + VALUE_MAX),
    REPLACED_KEYS = 3 * TABLE_KEYS,
    DISPLACEMENTS = 64,
};

/* The longest tolerated distance of a number in tasks.h from the counted one. */
static const double tolerance_frac = 0.15;

static const uint64_t hash_seed = 1;

static const char tunables[] = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM";

/* The structures, and the arrays of a batch of queries. */
struct store {
    uint32_t key_bytes, value_bytes;
    struct kvc_index *index;
    struct kvc_index_stats stats;
    struct kvc_megakv_slab *slab;
    struct kvc_megakv_slab_stats slab_stats;
    uint8_t keys[QUERIES * KEY_STRIDE];       /* Keys of stored items. */
    uint8_t wrong_keys[QUERIES * KEY_STRIDE]; /* Keys that differ in the last byte only. */
    uint8_t lengths[QUERIES];
    uint64_t present[INDEX_QUERIES], absent[INDEX_QUERIES]; /* Hashes that the index has, and has not. */
    uint32_t location[INDEX_QUERIES], found[INDEX_QUERIES];
    uint64_t hash[QUERIES];
    uint32_t item[QUERIES], fresh[QUERIES]; /* Locations in the slabs. */
    struct kvc_megakv_slab_evicted evicted[QUERIES];
    enum kvc_op op;
    uint8_t frame[FRAME_BYTES], responses[FRAME_BYTES];
    uint32_t frame_bytes;
    struct kvc_megakv_packet_request request[QUERIES];
    uint8_t values[QUERIES * VALUE_MAX], result[QUERIES];
    uint32_t lengths_read[QUERIES];
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "dido_task_counts_bench: %s\n", what);
    exit(3);
}

/* ---- the tasks ---- */

static void nothing(struct store *store)
{
    (void)store;
}

static void do_pp(struct store *store)
{
    const uint8_t *at = store->frame, *end = store->frame + store->frame_bytes;
    for (uint32_t i = 0; kvc_megakv_packet_next(&at, end, &store->request[i]); i++) {
        store->hash[i] = kvc_hash(store->request[i].key, store->request[i].key_bytes, hash_seed);
    }
}

/* Parses as a GPU would, which has no AES instructions. */
static void do_pp_portable(struct store *store)
{
    const uint8_t *at = store->frame, *end = store->frame + store->frame_bytes;
    for (uint32_t i = 0; kvc_megakv_packet_next(&at, end, &store->request[i]); i++) {
        store->hash[i] = kvc_hash_portable(store->request[i].key, store->request[i].key_bytes, hash_seed);
    }
}

static void do_mm(struct store *store)
{
    uint32_t evicted;
    kvc_megakv_slab_alloc(store->slab, store->key_bytes, store->value_bytes, QUERIES, store->fresh,
                          store->evicted, &evicted, &store->slab_stats);
    for (uint32_t i = 0; i < QUERIES; i++) {
        kvc_megakv_slab_write(store->slab, store->fresh[i], store->keys + (size_t)i * KEY_STRIDE,
                              store->key_bytes, store->values, store->value_bytes, &store->slab_stats);
    }
}

static void do_search(struct store *store)
{
    kvc_index_search(store->index, store->present, INDEX_QUERIES, store->found, &store->stats);
}

static void do_search_miss(struct store *store)
{
    kvc_index_search(store->index, store->absent, INDEX_QUERIES, store->found, &store->stats);
}

static void do_insert(struct store *store)
{
    kvc_index_insert(store->index, store->absent, store->location, INDEX_QUERIES, store->found,
                     &store->stats);
}

static void do_erase(struct store *store)
{
    kvc_index_erase(store->index, store->present, store->location, INDEX_QUERIES, store->found,
                    &store->stats);
}

static void read_items(struct store *store, const uint8_t *keys, bool compare)
{
    uint32_t position = 0;
    kvc_megakv_slab_read(store->slab,
                         &(struct kvc_megakv_slab_reads){
                             .count = QUERIES,
                             .location = store->item,
                             .keys = keys,
                             .key_stride = KEY_STRIDE,
                             .key_bytes = store->lengths,
                             .compare = compare,
                             .out = store->values,
                             .out_bytes = sizeof(store->values),
                             .out_position = &position,
                             .result = store->result,
                             .value_bytes = store->lengths_read,
                         },
                         &store->slab_stats);
}

/* A comparison that fails in the last byte ends where a task of its own would end. */
static void do_kc(struct store *store)
{
    read_items(store, store->wrong_keys, true);
}

static void do_rd(struct store *store)
{
    read_items(store, store->keys, false);
}

static void do_wr(struct store *store)
{
    uint8_t *to = store->responses;
    uint32_t value_bytes = store->op == KVC_OP_GET ? store->value_bytes : 0;
    const uint8_t *value = store->values;
    for (uint32_t i = 0; i < QUERIES; i++, value += value_bytes) {
        to = kvc_megakv_packet_write(to, &(struct kvc_megakv_packet_request){.op = store->request[i].op,
                                                                             .value_bytes = value_bytes,
                                                                             .key = store->keys,
                                                                             .value = value});
    }
}

/* ---- counting ---- */

typedef void task_fn(struct store *store);

/* Runs a task between two stops of the traced child. */
static void run_traced(task_fn *task, struct store *store)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(SKIPPED);
    }
    raise(SIGSTOP);
    task(store);
    raise(SIGSTOP);
    _exit(0);
}

/* Starts a child that does a task, and returns it at its first stop. Ends the program with SKIPPED where
 * tracing is not allowed. */
static pid_t start_traced(task_fn *task, struct store *store)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        die("cannot fork");
    }
    if (child == 0) {
        run_traced(task, store);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        fprintf(stderr, "dido_task_counts_bench: skipped, because the system does not allow tracing\n");
        exit(SKIPPED);
    }
    return child;
}

/* Lets the child execute an instruction. Returns whether it has not reached its second stop. */
static bool step(pid_t child)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status)) {
        die("the traced task has ended early");
    }
    return WSTOPSIG(status) != SIGSTOP;
}

static void end_traced(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Returns the instructions between the stops of a child that does a task, the stops' own included. */
static uint64_t count_steps(task_fn *task, struct store *store)
{
    uint64_t steps = 0;
    pid_t child = start_traced(task, store);
    while (step(child)) {
        steps++;
    }
    end_traced(child);
    return steps;
}

/* Returns the instructions of a task for one of its `queries` queries. */
static double count(task_fn *task, struct store *store, uint32_t queries)
{
    return ((double)count_steps(task, store) - (double)count_steps(nothing, store)) / queries;
}

/* ---- tracing ---- */

#ifdef __x86_64__
static uintptr_t register_of(pid_t child, size_t offset)
{
    errno = 0;
    long value = ptrace(PTRACE_PEEKUSER, child, (void *)offset, NULL);
    if (errno != 0) {
        die("cannot read a register of the traced task");
    }
    return (uintptr_t)value;
}

static void print_instruction(uintptr_t address)
{
    Dl_info object;
    if (dladdr((void *)address, &object) == 0) {
        die("the traced task executes what no object holds");
    }
    printf("%" PRIxPTR " %s\n", address - (uintptr_t)object.dli_fbase, object.dli_fname);
}

/* Prints the instructions from the call of a task until it returns. The child is a copy, so its addresses
 * hold for this process. */
static void trace(task_fn *task, struct store *store)
{
    pid_t child = start_traced(task, store);
    uintptr_t caller = 0;
    while (step(child)) {
        uintptr_t address = register_of(child, offsetof(struct user, regs.rip));
        if (address == (uintptr_t)task) {
            uintptr_t stack = register_of(child, offsetof(struct user, regs.rsp));
            caller = (uintptr_t)ptrace(PTRACE_PEEKDATA, child, (void *)stack, NULL);
        } else if (address == caller) {
            break;
        }
        if (caller != 0) {
            print_instruction(address);
        }
    }
    end_traced(child);
}
#else
static void trace(task_fn *task, struct store *store)
{
    (void)task;
    (void)store;
    die("only instructions of x86-64 can be traced");
}
#endif

/* ---- the structures ---- */

/* Returns a pseudo-random number for each i; SplitMix64's finaliser. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void insert_key(struct store *store, uint32_t number)
{
    const uint64_t hash = mix(number + UINT64_C(1));
    kvc_index_insert(store->index, &hash, &number, 1, NULL, &store->stats);
}

/* Fills the table to its load and then replaces its elements, the oldest first, because a table that was only
 * filled has more of them in their primary buckets. The batch is spread over all elements. */
static void fill_index(struct store *store)
{
    store->index = kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){
        .bytes = TABLE_BYTES, .max_displacements = DISPLACEMENTS, .seed = 1, .portable = true});
    if (store->index == NULL) {
        die("no memory for the index");
    }
    for (uint32_t i = 0; i < TABLE_KEYS; i++) {
        insert_key(store, i);
    }
    for (uint32_t i = 0; i < REPLACED_KEYS; i++) {
        const uint64_t hash = mix(i + 1);
        kvc_index_erase(store->index, &hash, &i, 1, NULL, &store->stats);
        insert_key(store, TABLE_KEYS + i);
    }
    for (uint32_t i = 0; i < INDEX_QUERIES; i++) {
        store->location[i] = REPLACED_KEYS + i * (TABLE_KEYS / INDEX_QUERIES);
        store->present[i] = mix(store->location[i] + UINT64_C(1));
        store->absent[i] = mix(TABLE_KEYS + REPLACED_KEYS + i + 1);
    }
    if (store->stats.dropped > 0) {
        die("the table is too full");
    }
}

/* Fills a slab. Later allocations evict: CLOCK clears all reference bits, and then takes each item in turn.
 * The first turn is over when the task is counted; it adds one or two instructions to each eviction. */
static void fill_slab(struct store *store)
{
    store->slab = kvc_megakv_slab_create(KVC_MEGAKV_SLAB_BYTES, hash_seed);
    if (store->slab == NULL) {
        die("no memory for the slabs");
    }
    for (uint32_t i = 0; i < QUERIES; i++) {
        uint8_t *key = store->keys + (size_t)i * KEY_STRIDE,
                *wrong = store->wrong_keys + (size_t)i * KEY_STRIDE;
        uint64_t name = mix(i + 1);
        memcpy(key, &name, sizeof(name));
        memcpy(wrong, key, KEY_STRIDE);
        wrong[store->key_bytes - 1] ^= 1;
        store->lengths[i] = (uint8_t)store->key_bytes;
    }
    uint32_t items = kvc_megakv_slab_items(store->key_bytes, store->value_bytes);
    for (uint32_t i = 0; i < items + 2 * QUERIES; i += QUERIES) {
        do_mm(store);
    }
    memcpy(store->item, store->fresh, sizeof(store->item));
}

static void fill_frame(struct store *store, enum kvc_op op)
{
    uint8_t *to = store->frame;
    store->op = op;
    for (uint32_t i = 0; i < QUERIES; i++) {
        struct kvc_megakv_packet_request request = {.op = op == KVC_OP_SET ? KVC_MEGAKV_PACKET_SET
                                                                           : KVC_MEGAKV_PACKET_GET,
                                                    .key_bytes = store->key_bytes,
                                                    .value_bytes = op == KVC_OP_SET ? store->value_bytes : 0,
                                                    .key = store->keys + (size_t)i * KEY_STRIDE,
                                                    .value = store->values};
        to = kvc_megakv_packet_write(to, &request);
    }
    store->frame_bytes = (uint32_t)(to - store->frame);
}

/* ---- the table ---- */

/* Prediction of tasks.h for a counted task. */
enum said { ON_CORE, ON_GPU, NOTHING };

struct row {
    const char *name, *query;
    task_fn *run;
    enum kvc_dido_task task;
    enum kvc_op op;
    enum said said;
};

static const struct row rows[] = {
    {"PP", "GET", do_pp, KVC_DIDO_PP, KVC_OP_GET, ON_CORE},
    {"PP, GPU", "GET", do_pp_portable, KVC_DIDO_PP, KVC_OP_GET, ON_GPU},
    {"PP", "SET", do_pp, KVC_DIDO_PP, KVC_OP_SET, ON_CORE},
    {"MM", "SET", do_mm, KVC_DIDO_MM, KVC_OP_SET, ON_CORE},
    {"search", "GET", do_search, KVC_DIDO_SEARCH, KVC_OP_GET, ON_CORE},
    {"search", "GET miss", do_search_miss, KVC_DIDO_SEARCH, KVC_OP_GET, NOTHING},
    {"insert", "SET", do_insert, KVC_DIDO_INSERT, KVC_OP_SET, ON_CORE},
    {"delete", "SET", do_erase, KVC_DIDO_ERASE, KVC_OP_SET, ON_CORE},
    {"KC", "GET", do_kc, KVC_DIDO_KC, KVC_OP_GET, ON_CORE},
    {"RD", "GET", do_rd, KVC_DIDO_RD, KVC_OP_GET, ON_CORE},
    {"WR", "GET", do_wr, KVC_DIDO_WR, KVC_OP_GET, ON_CORE},
    {"WR", "SET", do_wr, KVC_DIDO_WR, KVC_OP_SET, ON_CORE},
};

static bool is_index(enum kvc_dido_task task)
{
    return task == KVC_DIDO_SEARCH || task == KVC_DIDO_INSERT || task == KVC_DIDO_ERASE;
}

/* Prints a row; returns whether tasks.h is near the counted number, or says nothing about it. */
static bool print_row(struct store *store, const struct row *row)
{
    fill_frame(store, row->op);
    double counted = count(row->run, store, is_index(row->task) ? INDEX_QUERIES : QUERIES);
    printf("%-7s %-8s %4" PRIu32 " %5" PRIu32 " %10.1f", row->name, row->query, store->key_bytes,
           store->value_bytes, counted);
    if (row->said == NOTHING) {
        printf(" %10s\n", "-");
        return true;
    }
    double said =
        kvc_dido_work_of(row->task, row->op, store->key_bytes, store->value_bytes, row->said == ON_GPU)
            .instructions;
    printf(" %10.1f %+6.1f %%\n", said, 100 * (said / counted - 1));
    return fabs(said / counted - 1) <= tolerance_frac;
}

static void trace_row(struct store *store, const struct row *row)
{
    fill_frame(store, row->op);
    printf("task %s %s %d\n", row->name, row->query, is_index(row->task) ? INDEX_QUERIES : QUERIES);
    trace(row->run, store);
}

static void fill(struct store *store, uint32_t key_bytes, uint32_t value_bytes)
{
    memset(store, 0, sizeof(*store));
    store->key_bytes = key_bytes;
    store->value_bytes = value_bytes;
    fill_slab(store);
    fill_index(store);
}

static void empty(struct store *store)
{
    kvc_index_free(store->index);
    kvc_megakv_slab_free(store->slab);
}

/* The index does not depend on the sizes, so its tasks are counted once. */
static bool print_data_set(uint32_t key_bytes, uint32_t value_bytes, bool index)
{
    static struct store store;
    bool near = true;
    fill(&store, key_bytes, value_bytes);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (index || !is_index(rows[i].task)) {
            near &= print_row(&store, &rows[i]);
        }
    }
    empty(&store);
    return near;
}

static void trace_data_set(uint32_t key_bytes, uint32_t value_bytes)
{
    static struct store store;
    fill(&store, key_bytes, value_bytes);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].said == ON_CORE) {
            trace_row(&store, &rows[i]);
        }
    }
    empty(&store);
}

int main(int argc, char **argv)
{
    static const uint32_t data_set[][2] = {{8, 8}, {16, 64}, {32, 256}, {128, 1024}};
    const bool check = argc == 2 && strcmp(argv[1], "--check") == 0;
    const bool traces = argc == 2 && strcmp(argv[1], "--trace") == 0;
    const char *now = getenv("GLIBC_TUNABLES");
    bool near = true;
    if (argc > 2 || (argc == 2 && !check && !traces)) {
        fprintf(stderr, "usage: dido_task_counts_bench [--check | --trace]\n");
        return 2;
    }
    if (check && !COMPARABLE) {
        fprintf(stderr, "dido_task_counts_bench: skipped; the numbers are those of GCC with -O3 on x86-64\n");
        return SKIPPED;
    }
    if (now == NULL || strcmp(now, tunables) != 0) {
        setenv("GLIBC_TUNABLES", tunables, 1);
        /* Resolves functions of the C library beforehand, so that no task does. */
        setenv("LD_BIND_NOW", "1", 1);
        execv("/proc/self/exe", argv);
        die("cannot start itself again");
    }
    if (traces) {
        trace_data_set(16, 64);
        return 0;
    }
    printf("%-7s %-8s %4s %5s %10s %10s\n", "task", "query", "key", "value", "counted", "tasks.h");
    for (size_t i = 0; i < sizeof(data_set) / sizeof(data_set[0]); i++) {
        near &= print_data_set(data_set[i][0], data_set[i][1], i == 0);
    }
    return check && !near ? 1 : 0;
}
