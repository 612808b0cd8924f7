#include "sim/engine.h"

#include <errno.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/plugins/energy.h>
#include <simgrid/plugins/load.h>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/device_queue.h"

/* ---- the stacks of actors, for AddressSanitizer ----
 *
 * SimGrid gives each actor a stack and switches between them unseen by the sanitizer, which must know the
 * current one when an exception or a long jump leaves frames: only then does it clear their traces, which
 * later frames at the same place would be blamed for. Builds without the sanitizer do nothing here.
 *
 * SimGrid's other contexts, one thread for each actor, need no such help, but a switch then waits for the
 * operating system. */

/* Stack of each actor [KiB]. */
#define ACTOR_STACK_KIB 256

/* The stack of an actor. */
struct actor_stack {
    char *top;                /* Above all frames of the actor. */
    struct actor_stack *next; /* All stacks, for exceptions. */
};

#ifdef __SANITIZE_ADDRESS__

#define STACK_BYTES ((size_t)ACTOR_STACK_KIB * 1024)
/* Room for the frames of SimGrid that call an actor, from which it throws when the actor has returned. */
#define SIMGRID_FRAMES_BYTES 1024

static struct {
    const void *main_bottom;
    size_t main_bytes; /* 0 until the first switch. */
    const struct actor_stack *current;
    struct actor_stack *all;
} stacks;

/* The program runs on the stack from here on, or on the main one if it is NULL. */
static void enter_stack(const struct actor_stack *stack)
{
    const void *bottom_before;
    size_t bytes_before;
    if (stack == NULL && stacks.main_bytes == 0) {
        return;
    }
    const void *bottom = stack != NULL ? stack->top - STACK_BYTES : stacks.main_bottom;
    __sanitizer_start_switch_fiber(NULL, bottom, stack != NULL ? STACK_BYTES : stacks.main_bytes);
    __sanitizer_finish_switch_fiber(NULL, &bottom_before, &bytes_before);
    if (stacks.main_bytes == 0) {
        stacks.main_bottom = bottom_before;
        stacks.main_bytes = bytes_before;
    }
    stacks.current = stack;
}

/* Registers the caller's stack as an actor's, which runs from here on. */
static void begin_stack(struct actor_stack *stack)
{
    stack->top = (char *)__builtin_frame_address(0) + SIMGRID_FRAMES_BYTES;
    stack->next = stacks.all;
    stacks.all = stack;
    enter_stack(stack);
}

static bool is_within(const char *address, const char *top, size_t bytes)
{
    return address < top && top - address <= (ptrdiff_t)bytes;
}

/* SimGrid ends actors by throwing, within their calls, after their return or before they begin, when the
 * current stack is no longer or not yet known. Returns NULL for the main stack. */
static const struct actor_stack *stack_of(char *address)
{
    static struct actor_stack not_begun;
    const struct actor_stack *stack = stacks.all;
    while (stack != NULL && !is_within(address, stack->top, STACK_BYTES)) {
        stack = stack->next;
    }
    if (stack != NULL || stacks.main_bytes == 0 ||
        is_within(address, (const char *)stacks.main_bottom + stacks.main_bytes, stacks.main_bytes)) {
        return stack;
    }
    not_begun.top = address + SIMGRID_FRAMES_BYTES;
    return &not_begun;
}

/* These replace the C++ library's functions of the same names, which throw, and call them. SimGrid throws its
 * own errors, and throws the failure of an activity again in the actor that waits for it. */
#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))
SEEN_BY_LIBRARIES _Noreturn void __cxa_throw(void *exception, void *type, void (*destroy)(void *));
void __cxa_throw(void *exception, void *type, void (*destroy)(void *))
{
    void *next = dlsym(RTLD_NEXT, "__cxa_throw");
    enter_stack(stack_of(__builtin_frame_address(0)));
    ((void (*)(void *, void *, void (*)(void *)))next)(exception, type, destroy);
    __builtin_unreachable();
}

/* std::rethrow_exception(std::exception_ptr) */
#define RETHROW _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE
SEEN_BY_LIBRARIES _Noreturn void RETHROW(void *exception);
void RETHROW(void *exception)
{
    void *next = dlsym(RTLD_NEXT, "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");
    enter_stack(stack_of(__builtin_frame_address(0)));
    ((void (*)(void *))next)(exception);
    __builtin_unreachable();
}

#else

static void begin_stack(struct actor_stack *stack)
{
    (void)stack;
}

static void enter_stack(const struct actor_stack *stack)
{
    (void)stack;
}

#endif

/* ---- the engine ---- */

/* One flop is one nanosecond of a device's time. */
#define FLOPS_PER_NS 1.0
#define SPEED_ONE (1e9 * FLOPS_PER_NS)

/* A link that is off carries a byte in a quarter of an hour, so that transfers stand still without failing.
 * SimGrid takes rates below 1e-5 for none and then for infinity. */
#define BANDWIDTH_OFF 1e-3

/* By default, SimGrid rounds times below 1 ns. Later versions have renamed the setting. */
#if SIMGRID_VERSION >= 33400
#define PRECISION_SETTING "--cfg=precision/timing:1e-12"
#else
#define PRECISION_SETTING "--cfg=surf/precision:1e-12"
#endif

#define TEXT_OF(number) #number
#define STACK_SETTING(kib) "--cfg=contexts/stack-size:" TEXT_OF(kib)

/* Function that an actor executes. The list keeps the memory of killed actors reachable, for leak checkers.
 */
struct actor_start {
    void (*body)(void *data);
    void *data;
    struct actor_stack stack;
    struct actor_start *next;
};

struct host {
    sg_host_t host;
    double fastest;                /* Speed of the fastest state. */
    double off_ns;                 /* When its latest outage began [ns]. */
    double on_ns;                  /* When this outage ends [ns]. */
    double since_ns;               /* When its state last changed [ns]. */
    double capacity_ns;            /* Work that it could do until then [ns]. */
    double owed_bytes;             /* Part of a byte that its transfers have not carried yet. */
    bool metered;                  /* Whether its power is known. */
    bool shared;                   /* It has worked in activities. */
    struct kvc_device_queue queue; /* Its work if it has one user. */
};

struct link {
    sg_link_t link;
    double bytes_per_s;
    double on_ns;       /* When an outage ends [ns]. */
    uint32_t transfers; /* Transfers in progress. */
    bool off;           /* Within an outage. */
    double off_from_ns; /* When the current outage began [ns]. */
    double off_ns;      /* Length of the ended outages [ns]. */
    bool metered;
    bool shared;                   /* It has carried bytes in transfers. */
    struct kvc_device_queue queue; /* Its bytes if it has one user. */
};

static struct {
    bool open;
    bool stopping; /* No transfer may begin any more. */
    bool metered;  /* The links' meters run. */
    const struct kvc_platform *platform;
    struct host *hosts;
    struct link *links;
    uint32_t *used_links; /* The links with transfers in progress. */
    uint32_t used_link_count;
    sg_host_t home;      /* Host of all actors. */
    double ahead_ns;     /* Time that has passed without SimGrid [ns]. */
    uint32_t awake;      /* Actors that do not wait at a gate without a time limit. */
    uint32_t executions; /* Executions in progress. */
    uint64_t activities;
    uint64_t inside_ticks;  /* Ticks spent in SimGrid so far. */
    uint64_t entered_ticks; /* When an actor last entered SimGrid. */
    struct actor_start *actors;
    struct kvc_poller *pollers;
} engine;

/* Lets SimGrid's time pass until the present. */
static void catch_up(void)
{
    if (engine.ahead_ns > simgrid_get_clock() * 1e9) {
        engine.activities++;
        sg_actor_sleep_until(engine.ahead_ns * 1e-9);
    }
}

static void enter(void)
{
    engine.activities++;
    engine.entered_ticks = kvc_clock_ticks();
    enter_stack(NULL);
    catch_up();
}

/* Announces the stack of the current actor after a call in which others may have run: starting an actor and
 * reading a meter let SimGrid run, too. */
static void resume(void)
{
#ifdef __SANITIZE_ADDRESS__
    const struct actor_start *start = sg_actor_self_get_data();
    enter_stack(start != NULL ? &start->stack : NULL);
#endif
}

/* Other actors run between enter() and leave(). Each of them leaves SimGrid when it resumes and enters it
 * when it yields, so the intervals never overlap. */
static void leave(void)
{
    engine.inside_ticks += kvc_clock_ticks() - engine.entered_ticks;
    resume();
}

/* ---- opening ---- */

/* Lets SimGrid read the platform. It needs a path, so the platform is in a file in memory, which does not
 * depend on room on a disk. */
static enum kvc_status load_platform(const struct kvc_platform *platform, struct kvc_diag *diag)
{
    char path[32];
    int descriptor = memfd_create("platform.xml", MFD_CLOEXEC);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool written = false;
    if (out != NULL) {
        kvc_platform_write(platform, out);
        written = fflush(out) == 0 && !ferror(out);
    }
    if (!written) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the platform: %s", strerror(errno));
    } else {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
        simgrid_load_platform(path);
    }
    if (out != NULL) {
        fclose(out);
    } else if (descriptor >= 0) {
        close(descriptor);
    }
    return written ? KVC_OK : KVC_ERR_RUNTIME;
}

/* Writes the platform to the file that is kept with the results. */
static enum kvc_status keep(const struct kvc_platform *platform, struct kvc_partial_file *file,
                            struct kvc_diag *diag)
{
    if (file == NULL) {
        return KVC_OK;
    }
    kvc_platform_write(platform, file->file);
    return kvc_partial_file_flush(file, diag);
}

static bool has_watts(const struct kvc_platform *platform)
{
    bool found = false;
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        found |= host->pstate[host->first_pstate].watts.all_w > 0;
    }
    return found;
}

static void find_devices(const struct kvc_platform *platform)
{
    uint32_t hosts = kvc_platform_hosts(platform), links = kvc_platform_links(platform);
    engine.hosts = kvc_array_of(hosts > 0 ? hosts : 1, sizeof(*engine.hosts));
    engine.links = kvc_array_of(links > 0 ? links : 1, sizeof(*engine.links));
    engine.used_links = kvc_array_of(links > 0 ? links : 1, sizeof(*engine.used_links));
    for (uint32_t i = 0; i < hosts; i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        engine.hosts[i] = (struct host){.host = sg_host_by_name(host->name),
                                        .fastest = host->pstate[0].speed,
                                        .metered = host->pstate[host->first_pstate].watts.all_w > 0,
                                        .queue = {.rate = host->pstate[0].speed}};
    }
    for (uint32_t i = 0; i < links; i++) {
        const struct kvc_platform_link *link = kvc_platform_link(platform, i);
        engine.links[i] = (struct link){.link = sg_link_by_name(link->name),
                                        .bytes_per_s = link->bytes_per_s,
                                        .metered = link->busy_w > 0,
                                        .queue = {.rate = link->bytes_per_s * 1e-9}};
    }
    engine.home = sg_host_by_name("kvcast");
}

bool kvc_engine_exists(void)
{
    return true;
}

enum kvc_status kvc_engine_open(struct kvc_partial_file *kept, const struct kvc_platform *platform,
                                struct kvc_diag *diag)
{
    if (engine.open) {
        KVC_BUG("a second engine in one process");
    }
    enum kvc_status status = kvc_platform_check(platform, diag);
    if (status == KVC_OK) {
        status = keep(platform, kept, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    /* CM02 without TCP's window, acknowledgements and weights is plain max-min sharing of bandwidth. */
    char *arguments[] = {(char *)"kvcast",
                         (char *)"--log=root.threshold:error",
                         (char *)PRECISION_SETTING,
                         (char *)"--cfg=contexts/factory:raw",
                         (char *)STACK_SETTING(ACTOR_STACK_KIB),
                         (char *)"--cfg=network/model:CM02",
                         (char *)"--cfg=network/TCP-gamma:0",
                         (char *)"--cfg=network/crosstraffic:0",
                         (char *)"--cfg=network/weight-S:0",
                         NULL};
    int argument_count = sizeof(arguments) / sizeof(*arguments) - 1;
    simgrid_init(&argument_count, arguments);
    sg_host_load_plugin_init();
    if (has_watts(platform)) { /* The plugin costs time at every execution. */
        sg_host_energy_plugin_init();
    }
    sg_link_load_plugin_init();
    status = load_platform(platform, diag);
    if (status == KVC_OK) {
        find_devices(platform);
        engine.platform = platform;
        engine.open = true;
    }
    return status;
}

/* ---- actors ---- */

/* SimGrid resets the meters of the links when the simulation starts, so the first actor turns them on. */
static void start_meters(void)
{
    uint32_t links = kvc_platform_links(engine.platform);
    for (uint32_t i = 0; i < links && !engine.metered; i++) {
        sg_link_load_track(engine.links[i].link);
    }
    engine.metered = true;
}

static void actor_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    start_meters();
    struct actor_start *start = sg_actor_self_get_data();
    begin_stack(&start->stack);
    leave();
    start->body(start->data);
    enter();
    engine.awake--;
}

static sg_actor_t spawn(const char *name, void (*body)(void *data), void *data)
{
    struct actor_start *start = kvc_array_of(1, sizeof(*start));
    *start = (struct actor_start){.body = body, .data = data, .next = engine.actors};
    engine.actors = start;
    engine.awake++;
    catch_up();
    sg_actor_t actor = sg_actor_init(name, engine.home);
    sg_actor_set_data(actor, start);
    sg_actor_start_(actor, actor_main, 0, NULL);
    resume();
    return actor;
}

void kvc_engine_spawn(const char *name, void (*body)(void *data), void *data)
{
    spawn(name, body, data);
}

void kvc_engine_run(void)
{
    enter();
    simgrid_run();
    leave();
}

/* SimGrid complains when it kills an actor within a transfer, so transfers in progress end first, and no
 * others begin. */
_Noreturn void kvc_engine_stop(void)
{
    static const double look_s = 1e-6;
    engine.stopping = true;
    enter();
    while (engine.used_link_count > 0) {
        sg_actor_sleep_for(look_s);
    }
    sg_actor_kill_all();
    resume();
    sg_actor_exit();
}

double kvc_engine_now_ns(void)
{
    return fmax(simgrid_get_clock() * 1e9, engine.ahead_ns);
}

void kvc_engine_sleep_until_ns(double time_ns)
{
    if (engine.awake == 1 && engine.executions == 0) {
        engine.ahead_ns = fmax(engine.ahead_ns, time_ns);
        return;
    }
    enter();
    sg_actor_sleep_until(time_ns * 1e-9);
    leave();
}

/* ---- work ---- */

/* A device that is off takes no work, so the actor first waits until it is back. The actor that turns it on
 * wakes at the same time, perhaps later. */
static void wait_for_host(const struct host *host)
{
    while (!sg_host_is_on(host->host)) {
        sg_actor_sleep_until(host->on_ns * 1e-9);
        sg_actor_yield();
    }
}

static sg_exec_t start_draw(const struct kvc_draw *draw)
{
    struct host *host = &engine.hosts[draw->host];
    wait_for_host(host);
    if (kvc_device_queue_used(&host->queue)) {
        KVC_BUG("an activity on host %u, which has a queue", draw->host);
    }
    host->shared = true;
    engine.activities++;
    sg_exec_t execution = sg_actor_exec_init(draw->amount_ns * FLOPS_PER_NS);
    sg_exec_set_host(execution, host->host);
    if (draw->alone_ns * host->fastest > draw->amount_ns) {
        sg_exec_set_bound(execution, draw->amount_ns / draw->alone_ns * SPEED_ONE);
    }
    sg_exec_start(execution);
    return execution;
}

void kvc_engine_start(struct kvc_work *work, const struct kvc_draw *draws, uint32_t count)
{
    work->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (draws[i].amount_ns > 0) {
            if (work->count == KVC_DRAWS_MAX) {
                KVC_BUG("an activity on more than %d devices", KVC_DRAWS_MAX);
            }
            work->draw[work->count++] = draws[i];
        }
    }
    if (work->count == 0) {
        return;
    }
    enter();
    for (uint32_t i = 0; i < work->count; i++) {
        work->execution[i] = start_draw(&work->draw[i]);
    }
    engine.executions += work->count;
    leave();
}

void kvc_engine_finish(struct kvc_work *work)
{
    if (work->count == 0) {
        return;
    }
    enter();
    for (uint32_t i = 0; i < work->count; i++) {
        while (sg_exec_wait(work->execution[i]) == SG_ERROR_HOST) {
            work->execution[i] = start_draw(&work->draw[i]);
        }
    }
    engine.executions -= work->count;
    leave();
    work->count = 0;
}

void kvc_engine_work(const struct kvc_draw *draws, uint32_t count)
{
    struct kvc_work work;
    kvc_engine_start(&work, draws, count);
    kvc_engine_finish(&work);
}

/* ---- polling ---- */

struct kvc_poller {
    uint32_t host;
    bool paused;
    sg_actor_t actor;
    struct kvc_poller *next; /* The poller that was created before this one. */
};

/* SimGrid cannot fail the execution of a suspended actor, so pollers whose host fails wait for it awake, even
 * those that are paused. */
static void wake_pollers(uint32_t host)
{
    for (struct kvc_poller *poller = engine.pollers; poller != NULL; poller = poller->next) {
        if (poller->host == host) {
            sg_actor_resume(poller->actor);
        }
    }
}

static void poll(void *data)
{
    static const double long_ns = 1e9;
    const struct kvc_poller *poller = data;
    const struct kvc_draw draw = {poller->host, long_ns, long_ns};
    for (;;) {
        struct kvc_work work;
        kvc_engine_start(&work, &draw, 1);
        enter();
        (void)sg_exec_wait(work.execution[0]);
        engine.executions--;
        wait_for_host(&engine.hosts[poller->host]);
        while (poller->paused) {
            sg_actor_suspend(poller->actor);
            wait_for_host(&engine.hosts[poller->host]);
        }
        leave();
    }
}

struct kvc_poller *kvc_poller_create(uint32_t host)
{
    struct kvc_poller *poller = kvc_array_of(1, sizeof(*poller));
    *poller = (struct kvc_poller){.host = host, .next = engine.pollers};
    engine.pollers = poller;
    poller->actor = spawn("poller", poll, poller);
    return poller;
}

void kvc_poller_free(struct kvc_poller *poller)
{
    struct kvc_poller **at = &engine.pollers;
    while (*at != NULL && *at != poller) {
        at = &(*at)->next;
    }
    *at = *at != NULL ? poller->next : NULL;
    free(poller);
}

void kvc_poller_pause(struct kvc_poller *poller)
{
    poller->paused = true;
    enter();
    if (sg_host_is_on(engine.hosts[poller->host].host)) {
        sg_actor_suspend(poller->actor);
    }
    leave();
}

void kvc_poller_resume(struct kvc_poller *poller)
{
    poller->paused = false;
    enter();
    sg_actor_resume(poller->actor);
    leave();
}

/* ---- transfers ---- */

/* SimGrid integrates the bytes of a link when a transfer over this link begins or ends. The rate of a
 * transfer also changes with the load of other links, so the links in use are brought up to date whenever any
 * transfer begins or ends, before SimGrid shares anew. */
static void update_links(void)
{
    for (uint32_t i = 0; i < engine.used_link_count; i++) {
        (void)sg_link_get_cum_load(engine.links[engine.used_links[i]].link);
    }
}

static void use_links(const uint32_t *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (kvc_device_queue_used(&engine.links[links[i]].queue)) {
            KVC_BUG("a transfer over link %u, which has a queue", links[i]);
        }
        engine.links[links[i]].shared = true;
        if (engine.links[links[i]].transfers++ == 0) {
            engine.used_links[engine.used_link_count++] = links[i];
        }
    }
}

static void leave_links(const uint32_t *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (--engine.links[links[i]].transfers == 0) {
            uint32_t place = 0;
            while (engine.used_links[place] != links[i]) {
                place++;
            }
            engine.used_links[place] = engine.used_links[--engine.used_link_count];
        }
    }
}

/* SimGrid limits a transfer to the bandwidth that the links have when it begins, so it waits for links that
 * are off. */
static void wait_for_links(const uint32_t *links, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        while (engine.links[links[i]].off) {
            sg_actor_sleep_until(engine.links[links[i]].on_ns * 1e-9);
            sg_actor_yield();
            i = 0;
        }
    }
}

void kvc_engine_transfer(uint32_t from, uint32_t to, double bytes)
{
    uint32_t count;
    const uint32_t *links = kvc_platform_route(engine.platform, from, to, &count);
    if (links == NULL) {
        KVC_BUG("no route from host %u to host %u", from, to);
    }
    double owed_bytes = engine.hosts[from].owed_bytes + bytes, whole_bytes = floor(owed_bytes);
    engine.hosts[from].owed_bytes = owed_bytes - whole_bytes;
    if (whole_bytes < 1) {
        return;
    }
    enter();
    if (engine.stopping) {
        sg_actor_suspend(sg_actor_self());
    }
    wait_for_links(links, count);
    update_links();
    use_links(links, count);
    sg_host_sendto(engine.hosts[from].host, engine.hosts[to].host, whole_bytes);
    update_links();
    leave_links(links, count);
    leave();
}

/* ---- devices with one user ---- */

/* Returns whether a host may have a queue, and what it draws follows from its work without SimGrid. */
static bool is_plain(uint32_t number)
{
    const struct kvc_platform_host *device = kvc_platform_host(engine.platform, number);
    return device->cores == 1 && device->pstates == 1 && !device->can_fail && !engine.hosts[number].shared;
}

void kvc_engine_queue_work(uint32_t number, double amount_ns, double alone_ns)
{
    struct host *host = &engine.hosts[number];
    if (!is_plain(number)) {
        KVC_BUG("a queue at host %u, which has several cores or states, can fail or has activities", number);
    }
    kvc_device_queue_add(&host->queue, kvc_engine_now_ns(), amount_ns, alone_ns);
}

void kvc_engine_queue_bytes(uint32_t from, uint32_t to, double bytes)
{
    uint32_t count = 0;
    const uint32_t *links = kvc_platform_route(engine.platform, from, to, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct link *link = &engine.links[links[i]];
        if (link->shared) {
            KVC_BUG("a queue at link %u, which has transfers", links[i]);
        }
        kvc_device_queue_add(&link->queue, kvc_engine_now_ns(), bytes, 0);
    }
}

/* ---- devices during a run ---- */

/* Returns the work that a host in its current state could do since the state began [ns]. */
static double capacity_since_ns(const struct host *host)
{
    return sg_host_is_on(host->host)
               ? (kvc_engine_now_ns() - host->since_ns) * sg_host_get_speed(host->host) / SPEED_ONE *
                     sg_host_core_count(host->host)
               : 0;
}

/* Adds up the current state of a host before it changes. */
static void close_state(struct host *host)
{
    host->capacity_ns += capacity_since_ns(host);
    host->since_ns = kvc_engine_now_ns();
}

void kvc_engine_set_pstate(uint32_t host, uint32_t pstate)
{
    /* Once a state had no watts, the energy is unknown. */
    engine.hosts[host].metered &= kvc_platform_host(engine.platform, host)->pstate[pstate].watts.all_w > 0;
    close_state(&engine.hosts[host]);
    enter();
    sg_host_set_pstate(engine.hosts[host].host, pstate);
    leave();
}

uint32_t kvc_engine_pstate(uint32_t host)
{
    return (uint32_t)sg_host_get_pstate(engine.hosts[host].host);
}

void kvc_engine_outage_of_host(uint32_t number, double until_ns)
{
    struct host *host = &engine.hosts[number];
    host->off_ns = kvc_engine_now_ns();
    host->on_ns = until_ns;
    close_state(host);
    enter();
    wake_pollers(number);
    sg_host_turn_off(host->host);
    leave();
    kvc_engine_sleep_until_ns(until_ns);
    close_state(host);
    enter();
    sg_host_turn_on(host->host);
    leave();
}

struct kvc_outage kvc_engine_host_outage(uint32_t host)
{
    return (struct kvc_outage){engine.hosts[host].off_ns, engine.hosts[host].on_ns};
}

struct kvc_outage kvc_engine_route_outage(uint32_t from, uint32_t to)
{
    struct kvc_outage latest = {0};
    uint32_t count = 0; /* It stays 0 without a route. */
    const uint32_t *links = kvc_platform_route(engine.platform, from, to, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct link *link = &engine.links[links[i]];
        if (link->on_ns > latest.until_ns) {
            latest = (struct kvc_outage){link->off_from_ns, link->on_ns};
        }
    }
    return latest;
}

void kvc_engine_outage_of_link(uint32_t number, double until_ns)
{
    struct link *link = &engine.links[number];
    enter();
    update_links();
    link->off = true;
    link->on_ns = until_ns;
    link->off_from_ns = kvc_engine_now_ns();
    kvc_device_queue_stop(&link->queue, link->off_from_ns, until_ns);
    sg_link_set_bandwidth(link->link, BANDWIDTH_OFF);
    leave();
    kvc_engine_sleep_until_ns(until_ns);
    enter();
    update_links();
    link->off = false;
    link->off_ns += kvc_engine_now_ns() - link->off_from_ns;
    sg_link_set_bandwidth(link->link, link->bytes_per_s);
    leave();
}

double kvc_engine_link_open_ns(uint32_t number, double time_ns)
{
    const struct link *link = &engine.links[number];
    bool within = time_ns >= link->off_from_ns && time_ns < link->on_ns;
    return within ? link->on_ns : time_ns;
}

/* ---- meters ---- */

double kvc_engine_work_done_ns(uint32_t host)
{
    if (!engine.hosts[host].shared) {
        return kvc_device_queue_done(&engine.hosts[host].queue, kvc_engine_now_ns());
    }
    double flops = sg_host_get_computed_flops(engine.hosts[host].host);
    resume();
    return flops / FLOPS_PER_NS;
}

double kvc_engine_capacity_ns(uint32_t host)
{
    return engine.hosts[host].capacity_ns + capacity_since_ns(&engine.hosts[host]);
}

double kvc_engine_bytes_carried(uint32_t link)
{
    if (!engine.links[link].shared) {
        return kvc_device_queue_done(&engine.links[link].queue, kvc_engine_now_ns());
    }
    double bytes = engine.metered ? sg_link_get_cum_load(engine.links[link].link) : 0;
    resume();
    return bytes;
}

/* Returns how long a link has been on [ns]. */
static double on_time_ns(const struct link *link)
{
    double now_ns = kvc_engine_now_ns();
    return now_ns - link->off_ns - (link->off ? now_ns - link->off_from_ns : 0);
}

double kvc_engine_link_capacity_bytes(uint32_t link)
{
    return on_time_ns(&engine.links[link]) * 1e-9 * engine.links[link].bytes_per_s;
}

double kvc_engine_host_joules(uint32_t number)
{
    const struct host *host = &engine.hosts[number];
    if (!host->metered) {
        return NAN;
    }
    if (is_plain(number)) { /* SimGrid's formula for a host with one core. */
        const struct kvc_pstate *state = &kvc_platform_host(engine.platform, number)->pstate[0];
        double busy_ns = kvc_engine_work_done_ns(number) / host->fastest;
        return (state->watts.idle_w * kvc_engine_now_ns() +
                (state->watts.all_w - state->watts.idle_w) * busy_ns) *
               1e-9;
    }
    catch_up();
    double joules = sg_host_get_consumed_energy(host->host);
    resume();
    return joules;
}

/* The formula comes from SimGrid's link energy plugin, for which the platform file is written. The plugin
 * itself integrates only when a transfer over the same link begins or ends, and so misses rates that change
 * because of other links; and it takes an outage for full load. */
double kvc_engine_link_joules(uint32_t number)
{
    const struct kvc_platform_link *link = kvc_platform_link(engine.platform, number);
    if (!engine.links[number].metered) {
        return NAN;
    }
    return link->idle_w * on_time_ns(&engine.links[number]) * 1e-9 +
           (link->busy_w - link->idle_w) * kvc_engine_bytes_carried(number) / link->bytes_per_s;
}

/* ---- gates ---- */

/* Only an actor that must wait enters SimGrid. While actors wait, there are no tokens. */
struct kvc_gate {
    uint32_t tokens, waiting;
    bool limited; /* The actor that waits does so until some time. */
    sg_sem_t semaphore;
};

struct kvc_gate *kvc_gate_create(uint32_t tokens)
{
    struct kvc_gate *gate = kvc_array_of(1, sizeof(*gate));
    gate->tokens = tokens;
    gate->semaphore = sg_sem_init(0);
    return gate;
}

void kvc_gate_free(struct kvc_gate *gate)
{
    if (gate != NULL) {
        sg_sem_destroy(gate->semaphore);
        free(gate);
    }
}

void kvc_gate_wait(struct kvc_gate *gate)
{
    if (gate->tokens > 0) {
        gate->tokens--;
        return;
    }
    gate->waiting++;
    engine.awake--;
    enter();
    sg_sem_acquire(gate->semaphore);
    leave();
}

bool kvc_gate_wait_until(struct kvc_gate *gate, double time_ns)
{
    double left_ns = time_ns - kvc_engine_now_ns();
    if (gate->tokens > 0 || isinf(left_ns)) {
        kvc_gate_wait(gate);
        return true;
    }
    if (left_ns <= 0) {
        return false;
    }
    gate->waiting++;
    gate->limited = true;
    enter();
    bool late = sg_sem_acquire_timeout(gate->semaphore, left_ns * 1e-9) != 0;
    gate->limited = false;
    leave();
    if (late && gate->waiting > 0) {
        gate->waiting--;
    } else if (late) { /* Another actor has posted at this very time. */
        sg_sem_acquire(gate->semaphore);
        late = false;
    }
    return !late;
}

void kvc_gate_post(struct kvc_gate *gate)
{
    if (gate->waiting == 0) {
        gate->tokens++;
        return;
    }
    gate->waiting--;
    engine.awake += !gate->limited;
    enter();
    sg_sem_release(gate->semaphore);
    leave();
}

/* ---- cost of the engine itself ---- */

uint64_t kvc_engine_activities(void)
{
    return engine.activities;
}

uint64_t kvc_engine_ticks(void)
{
    return engine.inside_ticks;
}
