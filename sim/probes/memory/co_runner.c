#include "sim/probes/memory/co_runner.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/probes/pin.h"

/* Bytes of each thread's buffer, and those that it reads between two looks at the clock. */
enum { BUFFER_BYTES = 256 << 20, CHUNK_BYTES = 64 << 10, LINE_BYTES = 64 };

/* A thread that lags by more than this was kept from running and does not catch up [s]. */
static const double lag_most_s = 1e-3;

struct reader {
    struct kvc_co_runner *runner;
    pthread_t thread;
    uint32_t core;
    uint8_t *buffer;
    _Atomic double bytes, wanted; /* Bytes read, and bytes that the rates asked for. */
    char apart[64];               /* Keeps the counts of two threads in different cache lines. */
};

struct kvc_co_runner {
    _Atomic double bytes_per_s; /* The rate of one thread. */
    atomic_bool stop;
    uint32_t started, readers;
    struct reader *reader;
};

/* Reads the next chunk. Returns its bytes. */
static double read_chunk(const uint8_t *buffer, size_t *at)
{
    for (size_t end = *at + CHUNK_BYTES; *at < end; *at += LINE_BYTES) {
        (void)*(const volatile uint64_t *)(const void *)(buffer + *at);
    }
    *at %= BUFFER_BYTES;
    return CHUNK_BYTES;
}

static void *work(void *data)
{
    struct reader *reader = data;
    struct kvc_co_runner *runner = reader->runner;
    double due_s = 0, read = 0, wanted = 0;
    size_t at = 0;
    kvc_pin_core(reader->core);
    while (!atomic_load_explicit(&runner->stop, memory_order_relaxed)) {
        double rate = atomic_load_explicit(&runner->bytes_per_s, memory_order_relaxed);
        double now_s = kvc_clock_wall_s();
        if (rate <= 0) {
            due_s = now_s;
        } else if (now_s >= due_s) {
            double chunk_s = CHUNK_BYTES / rate, lag_s = fmax(now_s - due_s - lag_most_s, 0);
            read += read_chunk(reader->buffer, &at);
            wanted += isfinite(rate) ? CHUNK_BYTES + lag_s * rate : CHUNK_BYTES;
            due_s += chunk_s + lag_s;
            atomic_store_explicit(&reader->bytes, read, memory_order_relaxed);
            atomic_store_explicit(&reader->wanted, wanted, memory_order_relaxed);
        }
    }
    return NULL;
}

enum kvc_status kvc_co_runner_start(uint32_t first_core, uint32_t cores, struct kvc_co_runner **started,
                                    struct kvc_diag *diag)
{
    struct kvc_co_runner *runner = *started = kvc_array_of(1, sizeof(*runner));
    enum kvc_status status = KVC_OK;
    runner->readers = cores;
    runner->reader = kvc_array_of(cores + 1, sizeof(*runner->reader));
    for (uint32_t i = 0; i < cores && status == KVC_OK; i++) {
        struct reader *reader = &runner->reader[i];
        *reader = (struct reader){
            .runner = runner, .core = first_core + i, .buffer = kvc_pages_alloc(BUFFER_BYTES)};
        if (reader->buffer != NULL) {
            kvc_pages_touch(reader->buffer, BUFFER_BYTES);
        }
        if (reader->buffer == NULL || pthread_create(&reader->thread, NULL, work, reader) != 0) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no thread or no memory for co-runner %u of %u",
                                   i + 1, cores);
        } else {
            runner->started++;
        }
    }
    if (status != KVC_OK) {
        kvc_co_runner_stop(runner);
        *started = NULL;
    }
    return status;
}

void kvc_co_runner_set(struct kvc_co_runner *runner, double bytes_per_s)
{
    atomic_store_explicit(&runner->bytes_per_s, bytes_per_s / runner->readers, memory_order_relaxed);
}

double kvc_co_runner_bytes(const struct kvc_co_runner *runner)
{
    double bytes = 0;
    for (uint32_t i = 0; i < runner->started; i++) {
        bytes += atomic_load_explicit(&runner->reader[i].bytes, memory_order_relaxed);
    }
    return bytes;
}

double kvc_co_runner_reached_frac(const struct kvc_co_runner *runner)
{
    double wanted = 0;
    for (uint32_t i = 0; i < runner->started; i++) {
        wanted += atomic_load_explicit(&runner->reader[i].wanted, memory_order_relaxed);
    }
    return wanted > 0 ? kvc_co_runner_bytes(runner) / wanted : 1;
}

void kvc_co_runner_stop(struct kvc_co_runner *runner)
{
    if (runner == NULL) {
        return;
    }
    atomic_store(&runner->stop, true);
    for (uint32_t i = 0; i < runner->started; i++) {
        pthread_join(runner->reader[i].thread, NULL);
    }
    for (uint32_t i = 0; i < runner->readers; i++) {
        kvc_pages_free(runner->reader[i].buffer, BUFFER_BYTES);
    }
    free(runner->reader);
    free(runner);
}
