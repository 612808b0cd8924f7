#include "models/dido/flow.h"

#include <math.h>
#include <string.h>

#include "sim/base/diag.h"
#include "sim/run/stage_graph.h"

/* The first batches fill the pipeline. The mean covers the following ones, more of them if periods do not
 * repeat. */
enum { FIRST = 4, LEAST = 2, MOST = 8 };

/* Periods that differ by less count as equal, and smaller amounts of a batch as nothing. Work has a shortest
 * time, so that rates are finite. */
static const double same_frac = 2e-3, nothing = 1e-9, work_least_ns = 1e-3;

/* Precision of the search for the shortest period that fits. */
static const double least_frac = 1e-6;

enum state {
    IDLE,
    SLEEPS,   /* The first stage: until the next batch is due. */
    LAUNCHES, /* Launches a kernel for its own batch. */
    WORKS,    /* Works on its own batch. */
    ENDS,     /* Works on the rest that thieves have left of it. */
    WAITS,    /* Waits for thieves that still have a piece of it. */
    SNEAKS,   /* Launches to steal. */
    STEALS,
    LEAVES, /* Does its last piece, because it has a batch of its own. */
};

struct worker {
    enum state state;
    uint32_t queue;      /* Batches that wait. */
    uint32_t begun;      /* Batches. */
    uint32_t ended;      /* Batches. */
    double left;         /* Share of its batch that is not taken yet. */
    double rest;         /* Share of stolen queries whose rest it still has to do. */
    uint32_t out;        /* Thieves that still have a piece. */
    double began_ns;     /* When it began with its batch. */
    uint32_t victim;     /* Stage that it steals from. */
    uint32_t victim_has; /* Number of that stage's batch. */
    double piece;        /* Share of the batch in its last stolen piece. */
    double until_ns;     /* End of a launch. */
    double rate;         /* Share of a batch in a ns. */
    double wants;        /* Channels that it uses at this rate if they are free. */
    double link_ns;      /* Time of the link for a batch of its work. */
};

/* Speed of work whose worker has the memory to itself. */
struct pace {
    double rate;    /* Share of a batch in a ns. */
    double wants;   /* Channels that it takes. */
    double link_ns; /* Time of the link for a batch. */
};

struct run {
    const struct kvc_dido_flow *flow;
    struct pace whole[KVC_DIDO_STAGES_MAX], rest[KVC_DIDO_STAGES_MAX]; /* Pace of the owner. */
    struct pace stolen[KVC_DIDO_STAGES_MAX][KVC_DIDO_STAGES_MAX];      /* Pace by thief and victim. */
    double now_ns;
    double due_ns;                          /* When the next batch may begin. */
    double slowest_ns[KVC_DIDO_STAGES_MAX]; /* By number of the batch, modulo KVC_DIDO_STAGES_MAX. */
    double slowest_sum_ns;
    struct worker worker[KVC_DIDO_STAGES_MAX];
    struct kvc_dido_flow_result sum;
};

/* fmin() and fmax() would be calls, because they also handle NaN. */
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void look(struct run *now, uint32_t s);

/* ---- who steals ---- */

static bool may_steal(const struct run *now, uint32_t victim, uint32_t thief)
{
    const struct kvc_dido_flow_stage *stage = &now->flow->stage[victim];
    const struct worker *owner = &now->worker[victim];
    bool has = owner->state == LAUNCHES || owner->state == WORKS;
    return stage->can_be_stolen && stage->on_gpu != now->flow->stage[thief].on_gpu && has &&
           owner->left > nothing && now->worker[thief].begun > 0;
}

static void begin(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    worker->queue--;
    worker->begun++;
    worker->state = LAUNCHES;
    worker->left = 1;
    worker->rest = 0;
    worker->began_ns = now->now_ns;
    worker->until_ns = now->now_ns + now->flow->stage[s].whole.launch_ns;
    now->due_ns = s == 0 ? now->now_ns + now->flow->every_ns : now->due_ns;
    for (uint32_t i = 0; i < now->flow->stages; i++) {
        if (now->worker[i].state == IDLE && may_steal(now, s, i)) {
            look(now, i);
        }
    }
}

/* Returns whether the worker has a batch of its own to begin with. */
static bool has_batch(const struct run *now, uint32_t s)
{
    return now->worker[s].queue > 0 && (s > 0 || now->now_ns >= now->due_ns);
}

/* Looks for a batch, or for the stage with the most work left that the worker may steal. The first stage does
 * not look again before its next batch is due. */
static void look(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    if (has_batch(now, s)) {
        begin(now, s);
        return;
    }
    worker->state = worker->queue > 0 ? SLEEPS : IDLE;
    double most = 0;
    for (uint32_t i = 0; i < now->flow->stages; i++) {
        if (i != s && now->worker[i].left > most && may_steal(now, i, s)) {
            const struct kvc_dido_flow_stage *stage = &now->flow->stage[i];
            most = now->worker[i].left;
            worker->state = SNEAKS;
            worker->victim = i;
            worker->victim_has = now->worker[i].begun;
            worker->until_ns = now->now_ns + stage->stolen.launch_ns;
        }
    }
}

/* A batch has come. A thief ends its piece; on average, half of it is left. */
static void call(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    worker->queue++;
    if (worker->state == IDLE) {
        look(now, s);
    } else if (worker->state == STEALS) {
        struct worker *victim = &now->worker[worker->victim];
        double piece = larger(victim->left / KVC_STAGE_GRAPH_PIECES, now->flow->set_frac);
        worker->piece = smaller(piece / 2, victim->left);
        victim->left -= worker->piece;
        victim->out++;
        worker->state = LEAVES;
    }
}

/* ---- the end of a batch ---- */

static void end(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    double ns = now->now_ns - worker->began_ns;
    double *slowest_ns = &now->slowest_ns[worker->ended % KVC_DIDO_STAGES_MAX];
    *slowest_ns = s == 0 ? ns : larger(*slowest_ns, ns);
    now->sum.stage_ns[s] += ns;
    worker->ended++;
    worker->state = IDLE;
    if (s + 1 < now->flow->stages) {
        call(now, s + 1);
    } else {
        now->slowest_sum_ns += *slowest_ns;
        call(now, 0);
    }
    if (now->worker[s].state == IDLE) {
        look(now, s);
    }
}

/* Nothing of the batch is left to take. */
static void finish(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    worker->left = 0;
    if (worker->out > 0) {
        worker->state = WAITS;
    } else if (worker->rest > nothing && now->flow->stage[s].rest.alone_ns > 0) {
        worker->state = ENDS;
    } else {
        end(now, s);
    }
}

/* ---- time ---- */

/* Returns the pace of work that has the memory to itself. */
static struct pace pace_of(const struct kvc_dido_flow *flow, const struct kvc_dido_flow_work *work,
                           double cores)
{
    double alone_ns = work->alone_ns / cores, memory_ns = work->channel_ns / flow->channels;
    double rate = 1 / larger(larger(alone_ns, memory_ns), work_least_ns);
    return (struct pace){rate, rate * work->channel_ns, work->link_ns};
}

static void set_paces(struct run *now)
{
    const struct kvc_dido_flow *flow = now->flow;
    for (uint32_t s = 0; s < flow->stages; s++) {
        now->whole[s] = pace_of(flow, &flow->stage[s].whole, 1);
        now->rest[s] = pace_of(flow, &flow->stage[s].rest, 1);
        for (uint32_t victim = 0; victim < flow->stages; victim++) {
            now->stolen[s][victim] = pace_of(flow, &flow->stage[victim].stolen, flow->stage[s].cores);
        }
    }
}

/* Sets the rate of a worker that has the memory to itself, and the channels that it wants. */
static void set_rate(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s];
    struct pace pace = {0, 0, 0};
    if (worker->state == WORKS) {
        pace = now->whole[s];
    } else if (worker->state == ENDS) {
        pace = now->rest[s];
    } else if (worker->state == STEALS || worker->state == LEAVES) {
        pace = now->stolen[s][worker->victim];
    }
    worker->rate = pace.rate;
    worker->wants = pace.wants;
    worker->link_ns = pace.link_ns;
}

/* Slows down workers that want more than a fair share of the channels. */
static void share_channels(struct run *now, double wanted)
{
    double channels = now->flow->channels;
    bool done[KVC_DIDO_STAGES_MAX] = {false};
    uint32_t users = 0;
    if (wanted <= channels) {
        return;
    }
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        done[s] = now->worker[s].wants <= 0;
        users += !done[s];
    }
    for (bool changed = true; changed;) {
        double share = channels / users;
        changed = false;
        for (uint32_t s = 0; s < now->flow->stages; s++) {
            if (!done[s] && now->worker[s].wants <= share) {
                channels -= now->worker[s].wants;
                users--;
                done[s] = changed = true;
            }
        }
    }
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        if (!done[s]) {
            now->worker[s].rate *= channels / users / now->worker[s].wants;
        }
    }
}

static void set_rates(struct run *now)
{
    double wanted = 0;
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        set_rate(now, s);
        wanted += now->worker[s].wants;
    }
    share_channels(now, wanted);
}

/* Returns the time until the next event [ns]. */
static double step_of(const struct run *now)
{
    double take[KVC_DIDO_STAGES_MAX] = {0}, step_ns = INFINITY;
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        const struct worker *worker = &now->worker[s];
        if (worker->state == WORKS) {
            take[s] += worker->rate;
        } else if (worker->state == STEALS) {
            take[worker->victim] += worker->rate;
        } else if (worker->state == ENDS) {
            step_ns = smaller(step_ns, worker->rest / worker->rate);
        } else if (worker->state == LEAVES) {
            step_ns = smaller(step_ns, worker->piece / worker->rate);
        } else if (worker->state == LAUNCHES || worker->state == SNEAKS) {
            step_ns = smaller(step_ns, worker->until_ns - now->now_ns);
        } else if (worker->state == SLEEPS) {
            step_ns = smaller(step_ns, now->due_ns - now->now_ns);
        }
    }
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        step_ns = take[s] > 0 ? smaller(step_ns, now->worker[s].left / take[s]) : step_ns;
    }
    if (!isfinite(step_ns)) {
        KVC_BUG("no stage of %u works", now->flow->stages);
    }
    return step_ns;
}

/* Lets every worker work for some time. */
static void work(struct run *now, double step_ns)
{
    now->now_ns += step_ns;
    for (uint32_t s = 0; s < now->flow->stages; s++) {
        struct worker *worker = &now->worker[s], *victim = &now->worker[worker->victim];
        double part = worker->rate * step_ns;
        now->sum.busy_ns[s] += worker->rate > 0 ? step_ns : 0;
        now->sum.link_ns += part * worker->link_ns;
        if (worker->state == WORKS) {
            worker->left -= part;
        } else if (worker->state == ENDS) {
            worker->rest -= part;
        } else if (worker->state == LEAVES || worker->state == STEALS) {
            *(worker->state == LEAVES ? &worker->piece : &victim->left) -= part;
            victim->rest += part;
            now->sum.stolen[worker->victim] += part;
        }
    }
}

/* Handles the event that is due for a worker. */
static void act(struct run *now, uint32_t s)
{
    struct worker *worker = &now->worker[s], *victim = &now->worker[worker->victim];
    switch (worker->state) {
    case LAUNCHES:
        if (worker->until_ns <= now->now_ns) {
            worker->state = WORKS;
        }
        break;
    case SNEAKS:
        if (worker->until_ns <= now->now_ns) {
            bool has = victim->begun == worker->victim_has && victim->left > nothing;
            worker->state = has && !has_batch(now, s) ? STEALS : IDLE;
        }
        break;
    case STEALS:
        worker->state = victim->begun == worker->victim_has && victim->left > nothing ? STEALS : IDLE;
        break;
    case LEAVES:
        if (worker->piece <= nothing) {
            victim->out--;
            worker->state = IDLE;
            if (victim->state == WAITS) {
                finish(now, worker->victim);
            }
        }
        break;
    case ENDS:
        if (worker->rest <= nothing) {
            end(now, s);
        }
        break;
    default:
        break;
    }
    if (worker->state == WORKS && worker->left <= nothing) {
        finish(now, s);
    } else if (worker->state == IDLE || (worker->state == SLEEPS && has_batch(now, s))) {
        look(now, s);
    }
}

/* Follows the batches until the next one leaves the pipeline. */
static void next_batch(struct run *now)
{
    const struct worker *last = &now->worker[now->flow->stages - 1];
    for (uint32_t before = last->ended; last->ended == before;) {
        set_rates(now);
        work(now, step_of(now));
        for (uint32_t s = now->flow->stages; s-- > 0;) {
            act(now, s);
        }
    }
}

/* Returns the time if it fits, or else the shortest one that does. */
static double least_ns(const struct kvc_dido_flow *flow, double ns)
{
    double fits_ns = ns, step = 2;
    while (!kvc_dido_flow_fits(flow, fits_ns)) {
        fits_ns *= step;
    }
    for (double low_ns = fits_ns / step; fits_ns > ns && fits_ns - low_ns > least_frac * fits_ns;) {
        double middle_ns = (low_ns + fits_ns) / 2;
        bool fits = kvc_dido_flow_fits(flow, middle_ns);
        low_ns = fits ? low_ns : middle_ns;
        fits_ns = fits ? middle_ns : fits_ns;
    }
    return fits_ns;
}

struct kvc_dido_flow_result kvc_dido_flow_of(const struct kvc_dido_flow *flow)
{
    struct run now = {.flow = flow};
    double period_ns = 0, from_ns = 0;
    uint32_t count = 0;
    bool repeats = false;
    set_paces(&now);
    now.worker[0].queue = flow->stages;
    begin(&now, 0);
    for (uint32_t i = 0; i < FIRST; i++) {
        from_ns = now.now_ns;
        next_batch(&now);
        period_ns = now.now_ns - from_ns;
    }
    from_ns = now.now_ns;
    memset(&now.sum, 0, sizeof(now.sum));
    now.slowest_sum_ns = 0;
    while (count < LEAST || (count < MOST && !repeats)) {
        double before_ns = period_ns, began_ns = now.now_ns;
        next_batch(&now);
        count++;
        period_ns = now.now_ns - began_ns;
        repeats = fabs(period_ns - before_ns) < same_frac * period_ns;
    }
    struct kvc_dido_flow_result result = now.sum;
    result.period_ns = least_ns(flow, (now.now_ns - from_ns) / count);
    result.slowest_ns = least_ns(flow, now.slowest_sum_ns / count);
    result.link_ns /= count;
    for (uint32_t s = 0; s < flow->stages; s++) {
        result.stage_ns[s] /= count;
        result.busy_ns[s] /= count;
        result.stolen[s] /= count;
    }
    return result;
}

/* ---- what the work allows ---- */

/* Division of the GPU's stage between its owner and the thieves in a period. */
struct shares {
    /* Work that the GPU cannot leave to thieves, and work that it must take from other stages. */
    double gpu_ns;
    double share_ns; /* Work of its batch that it can leave to thieves. */
    double taken;    /* Share of that work for which thieves have time. */
    double gain_ns;  /* Largest saving of the GPU if it exchanges work with them. */
};

/* Returns the time of a whole batch, or of a thief with `cores` cores. */
static double batch_ns(const struct kvc_dido_flow *flow, const struct kvc_dido_flow_work *work, double cores)
{
    double alone_ns = work->alone_ns / cores, memory_ns = work->channel_ns / flow->channels;
    return alone_ns > memory_ns ? alone_ns : memory_ns;
}

/* Lets the GPU take the necessary part of a CPU stage, or the stage's cores the part of the GPU's work for
 * which they have time. If both gain, they exchange work. Returns whether the stage fits into the period. */
static bool share(const struct kvc_dido_flow *flow, const struct kvc_dido_flow_stage *stage,
                  const struct kvc_dido_flow_stage *gpu, double period_ns, struct shares *shares)
{
    double whole_ns = batch_ns(flow, &stage->whole, 1), saved_ns = whole_ns - batch_ns(flow, &stage->rest, 1);
    double gpu_ns = stage->stolen.launch_ns + batch_ns(flow, &stage->stolen, 1), given = 0;
    double steals = gpu->can_be_stolen ? 1 / batch_ns(flow, &gpu->stolen, stage->cores) : 0;
    if (whole_ns <= period_ns) {
        shares->taken += (period_ns - whole_ns) * steals;
    } else {
        given = (whole_ns - period_ns) / saved_ns;
        if (!stage->can_be_stolen || saved_ns <= 0 || given > 1) {
            return false;
        }
        shares->gpu_ns += given * gpu_ns;
    }
    double gain_ns = saved_ns * steals * shares->share_ns - gpu_ns;
    shares->gain_ns += stage->can_be_stolen && gain_ns > 0 ? (1 - given) * gain_ns : 0;
    return true;
}

bool kvc_dido_flow_fits(const struct kvc_dido_flow *flow, double period_ns)
{
    const struct kvc_dido_flow_stage *gpu = NULL;
    double channel_ns = 0;
    for (uint32_t s = 0; s < flow->stages; s++) {
        const struct kvc_dido_flow_stage *stage = &flow->stage[s];
        double divided_ns = stage->stolen.channel_ns + stage->rest.channel_ns;
        bool saves = stage->can_be_stolen && divided_ns < stage->whole.channel_ns;
        channel_ns += saves ? divided_ns : stage->whole.channel_ns;
        gpu = stage->on_gpu ? stage : gpu;
    }
    struct shares shares = {0};
    if (gpu != NULL) {
        shares.gpu_ns = gpu->whole.launch_ns + batch_ns(flow, &gpu->rest, 1);
        shares.share_ns = batch_ns(flow, &gpu->whole, 1) - batch_ns(flow, &gpu->rest, 1);
    }
    bool fits = channel_ns <= period_ns * flow->channels;
    for (uint32_t s = 0; fits && s < flow->stages; s++) {
        const struct kvc_dido_flow_stage *stage = &flow->stage[s];
        if (!stage->on_gpu) {
            fits = gpu != NULL ? share(flow, stage, gpu, period_ns, &shares)
                               : batch_ns(flow, &stage->whole, 1) <= period_ns;
        }
    }
    double left = fmin(shares.taken, 1), own_ns = (1 - left) * shares.share_ns - shares.gain_ns;
    return fits && shares.gpu_ns + fmax(own_ns, 0) <= period_ns;
}
