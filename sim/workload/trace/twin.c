#include "sim/workload/trace/twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/rng.h"
#include "sim/workload/batch.h"
#include "sim/workload/trace/key_sample.h"

const char *const kvc_twin_ops[] = {[KVC_OP_GET] = "get", [KVC_OP_SET] = "set", [KVC_OP_DELETE] = "delete"};

static const double ns_per_us = 1e3;

enum { FIELDS_MAX = 7, REDRAWS_MAX = 64 };

static const double requests_max = 4e9, place_max = 0x1p40, time_max_us = 1e12, bytes_max = 1e9;

/* A choice that is drawn with a probability: the sum of its weight and those before it. */
struct size_choice {
    double sum;
    uint32_t key_bytes, value_bytes;
};

struct place_choice {
    double sum;
    uint64_t from, to; /* Places of the group's stack; 0: a new key. */
    uint32_t group;
    enum kvc_op op;
};

struct window {
    uint64_t requests;
    double begin_ns, end_ns;
    uint32_t first_size, sizes, first_place, places; /* Its choices. */
};

struct key {
    uint32_t value_bytes;
    uint32_t uses;
    uint8_t key_bytes;
    bool is_stored;
};

/* The LRU stack of a group: keys in the order of their last requests, and how many keys are in each part of
 * it (a Fenwick tree). Slots count from 1. */
struct stack {
    uint32_t *key, *count;
    uint64_t slots, used, keys; /* Slots are a power of two. */
};

struct kvc_twin {
    bool has_header, is_timed, has_writes;
    struct window *window;
    struct size_choice *size;
    struct place_choice *place;
    uint32_t windows, sizes, places;
    double requests; /* Number of requests in all windows. */

    struct stack stack[KVC_REUSE_GROUPS];
    struct key *key; /* By number. */
    uint64_t keys, keys_room;
    uint32_t at;      /* The present window. */
    uint64_t in_it;   /* Requests of it that have been drawn. */
    double drawn;     /* Requests of all windows. */
    double time_frac; /* Place of the last request in the window, 0 to 1. */
    double last_ns;
    struct kvc_rng rng;
};

void kvc_twin_free(struct kvc_twin *twin)
{
    if (twin == NULL) {
        return;
    }
    free(twin->window);
    free(twin->size);
    free(twin->place);
    for (uint32_t i = 0; i < KVC_REUSE_GROUPS; i++) {
        free(twin->stack[i].key);
        free(twin->stack[i].count);
    }
    free(twin->key);
    free(twin);
}

struct kvc_twin *kvc_twin_create(void)
{
    struct kvc_twin *twin = kvc_array_of(1, sizeof(*twin));
    kvc_rng_init(&twin->rng, 1, "workload.twin", 0);
    return twin;
}

/* Makes room for one more entry of an array, whose room is the next power of two. */
static void *with_room(void *array, uint64_t count, size_t size)
{
    return count == 0                   ? kvc_array_of(1, size)
           : (count & (count - 1)) == 0 ? kvc_array_grown(array, 2 * count, size)
                                        : array;
}

/* Reads a number from `least` to `most`. */
static bool parse(const char *text, double least, double most, double *number)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "0123456789.e+-")] != '\0') {
        return false;
    }
    *number = strtod(text, &end);
    return *end == '\0' && *number >= least && *number <= most;
}

static bool parse_op(const char *text, enum kvc_op *op)
{
    for (int i = 0; i < KVC_OP_COUNT; i++) {
        if (strcmp(text, kvc_twin_ops[i]) == 0) {
            *op = (enum kvc_op)i;
            return true;
        }
    }
    return false;
}

const char *kvc_twin_end(struct kvc_twin *twin)
{
    const struct window *last = twin->windows > 0 ? &twin->window[twin->windows - 1] : NULL;
    return last == NULL                            ? "a window"
           : last->sizes == 0 || last->places == 0 ? "a window with a line size and a line new or reuse"
                                                   : NULL;
}

static const char *take_window(struct kvc_twin *twin, char **field)
{
    double requests, begin_us, end_us, least_us = twin->windows > 0 ? twin->last_ns / ns_per_us : 0;
    const char *wrong = twin->windows > 0 ? kvc_twin_end(twin) : NULL;
    if (wrong != NULL) {
        return wrong;
    }
    if (!parse(field[1], 1, requests_max - twin->requests, &requests) || requests != rint(requests) ||
        !parse(field[2], least_us * (1 - 1e-12), time_max_us, &begin_us) ||
        !parse(field[3], begin_us, time_max_us, &end_us)) {
        return "window,REQUESTS,BEGIN_US,END_US with at most 4e9 requests together and times in order";
    }
    twin->window = with_room(twin->window, twin->windows, sizeof(*twin->window));
    twin->window[twin->windows++] = (struct window){.requests = (uint64_t)requests,
                                                    .begin_ns = fmax(begin_us, least_us) * ns_per_us,
                                                    .end_ns = fmax(end_us, least_us) * ns_per_us,
                                                    .first_size = twin->sizes,
                                                    .first_place = twin->places};
    twin->requests += requests;
    twin->last_ns = twin->window[twin->windows - 1].end_ns;
    return NULL;
}

static const char *take_size(struct kvc_twin *twin, char **field)
{
    double key_bytes, value_bytes, count;
    struct window *window = &twin->window[twin->windows - 1];
    if (!parse(field[1], 1, UINT8_MAX, &key_bytes) || !parse(field[2], 0, bytes_max, &value_bytes) ||
        !parse(field[3], 1e-9, requests_max, &count)) {
        return "size,KEY_BYTES,VALUE_BYTES,COUNT with a key of 1 to 255 bytes";
    }
    double before = window->sizes > 0 ? twin->size[twin->sizes - 1].sum : 0;
    twin->size = with_room(twin->size, twin->sizes, sizeof(*twin->size));
    twin->size[twin->sizes++] =
        (struct size_choice){before + count, (uint32_t)key_bytes, (uint32_t)value_bytes};
    window->sizes++;
    return NULL;
}

static const char *add_place(struct kvc_twin *twin, struct place_choice choice)
{
    struct window *window = &twin->window[twin->windows - 1];
    choice.sum += window->places > 0 ? twin->place[twin->places - 1].sum : 0;
    twin->place = with_room(twin->place, twin->places, sizeof(*twin->place));
    twin->place[twin->places++] = choice;
    window->places++;
    return NULL;
}

static const char *take_new(struct kvc_twin *twin, char **field)
{
    struct place_choice choice = {0};
    if (!parse_op(field[1], &choice.op) || !parse(field[2], 1e-9, requests_max, &choice.sum)) {
        return "new,OP,COUNT with get, set or delete";
    }
    return add_place(twin, choice);
}

static const char *take_reuse(struct kvc_twin *twin, char **field)
{
    struct place_choice choice = {0};
    double stored, uses, from, to;
    if (!parse_op(field[1], &choice.op) || !parse(field[2], 0, 1, &stored) ||
        !parse(field[3], 1, place_max, &uses) || !parse(field[4], 1, place_max, &from) ||
        !parse(field[5], from, place_max, &to) || !parse(field[6], 1e-9, requests_max, &choice.sum)) {
        return "reuse,OP,STORED,USES,FROM,TO,COUNT with get, set or delete, 0 or 1, and places from 1 on";
    }
    choice.from = (uint64_t)from;
    choice.to = (uint64_t)to;
    choice.group = kvc_reuse_group((uint64_t)uses, stored > 0);
    return add_place(twin, choice);
}

const char *kvc_twin_take(struct kvc_twin *twin, char *line)
{
    char *field[FIELDS_MAX + 1] = {line};
    int fields = 1;
    for (char *comma = strchr(line, ','); comma != NULL && fields <= FIELDS_MAX; comma = strchr(comma, ',')) {
        *comma++ = '\0';
        field[fields++] = comma;
    }
    if (line[0] == '#') {
        return NULL;
    }
    if (!twin->has_header) {
        double timed, writes;
        twin->has_header = fields == 3 && strcmp(line, KVC_TWIN_SCHEMA) == 0 &&
                           parse(field[1], 0, 1, &timed) && parse(field[2], 0, 1, &writes);
        twin->is_timed = twin->has_header && timed > 0;
        twin->has_writes = twin->has_header && writes > 0;
        return twin->has_header ? NULL : KVC_TWIN_SCHEMA ",TIMED,WRITES with 0 or 1 twice";
    }
    if (fields == 4 && strcmp(line, "window") == 0) {
        return take_window(twin, field);
    }
    if (twin->windows > 0 && fields == 4 && strcmp(line, "size") == 0) {
        return take_size(twin, field);
    }
    if (twin->windows > 0 && fields == 3 && strcmp(line, "new") == 0) {
        return take_new(twin, field);
    }
    if (twin->windows > 0 && fields == 7 && strcmp(line, "reuse") == 0) {
        return take_reuse(twin, field);
    }
    return "window with 3 numbers, and then size with 3, new with 2 or reuse with 6 values";
}

/* ---- the stack ---- */

static void count_at(struct stack *stack, uint64_t slot, uint32_t amount)
{
    for (; slot <= stack->slots; slot += slot & -slot) {
        stack->count[slot] += amount; /* Modulo 2^32, so that an amount may be -1. */
    }
}

/* Returns the slot that has `rank` keys up to and with itself. */
static uint64_t slot_of(const struct stack *stack, uint64_t rank)
{
    uint64_t slot = 0;
    for (uint64_t step = stack->slots; step > 0; step /= 2) {
        if (slot + step <= stack->slots && stack->count[slot + step] < rank) {
            slot += step;
            rank -= stack->count[slot];
        }
    }
    return slot + 1;
}

/* Moves the keys to the first slots, of which there are then twice as many as keys or more. */
static void pack(struct stack *stack)
{
    enum { SLOTS_MIN = 1024 };
    struct stack packed = {.slots = SLOTS_MIN, .keys = stack->keys};
    while (packed.slots < 2 * stack->keys) {
        packed.slots *= 2;
    }
    packed.key = kvc_array_of(packed.slots + 1, sizeof(*packed.key));
    packed.count = kvc_array_of(packed.slots + 1, sizeof(*packed.count));
    for (uint64_t rank = 1; rank <= stack->keys; rank++) {
        packed.key[rank] = stack->key[slot_of(stack, rank)];
        count_at(&packed, rank, 1);
    }
    packed.used = stack->keys;
    free(stack->key);
    free(stack->count);
    *stack = packed;
}

static void push(struct stack *stack, uint32_t key)
{
    if (stack->used == stack->slots) {
        pack(stack);
    }
    stack->key[++stack->used] = key;
    count_at(stack, stack->used, 1);
    stack->keys++;
}

/* Takes the key at a place, 1 for the one that was requested last. */
static uint32_t take(struct stack *stack, uint64_t place)
{
    uint64_t slot = slot_of(stack, stack->keys - place + 1);
    count_at(stack, slot, (uint32_t)-1);
    stack->keys--;
    return stack->key[slot];
}

/* ---- requests ---- */

/* Makes a key with sizes of the window. */
static uint32_t make_key(struct kvc_twin *twin, const struct window *window)
{
    const struct size_choice *choice = &twin->size[window->first_size], *last = choice + window->sizes - 1;
    double random = kvc_rng_unit(&twin->rng) * last->sum;
    while (choice < last && choice->sum <= random) {
        choice++;
    }
    twin->key = with_room(twin->key, twin->keys, sizeof(*twin->key));
    twin->key[twin->keys] =
        (struct key){.value_bytes = choice->value_bytes, .key_bytes = (uint8_t)choice->key_bytes};
    return (uint32_t)twin->keys++;
}

/* Draws an operation, and the key at a place of a group that has keys, or a new one. Where the group has
 * fewer keys than in the trace, the last of them is at all places behind it. */
static uint32_t draw_key(struct kvc_twin *twin, const struct window *window, enum kvc_op *op)
{
    const struct place_choice *choice = &twin->place[window->first_place];
    double sum = choice[window->places - 1].sum;
    for (int i = 0; i < REDRAWS_MAX; i++) {
        double random = kvc_rng_unit(&twin->rng) * sum;
        uint32_t low = 0, high = window->places - 1;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            low = choice[middle].sum > random ? low : middle + 1;
            high = choice[middle].sum > random ? middle : high;
        }
        const struct place_choice *drawn = &choice[low];
        *op = drawn->op;
        if (drawn->from == 0) {
            break;
        }
        uint32_t group = drawn->group;
        while (twin->stack[group].keys == 0 && group % KVC_REUSE_USES > 0) {
            group--; /* Keys with fewer uses, which come next. */
        }
        struct stack *stack = &twin->stack[group];
        uint64_t place = drawn->from + kvc_rng_below(&twin->rng, drawn->to - drawn->from + 1);
        if (stack->keys > 0) {
            return take(stack, place < stack->keys ? place : stack->keys);
        }
    }
    return make_key(twin, window);
}

/* Returns the next time: the smallest of the uniform places in the window that are left. */
static double draw_time(struct kvc_twin *twin, const struct window *window)
{
    double left = (double)(window->requests - twin->in_it), exponential = -log1p(-kvc_rng_unit(&twin->rng));
    twin->time_frac += (1 - twin->time_frac) * -expm1(-exponential / left);
    return window->begin_ns + fmin(twin->time_frac, 1) * (window->end_ns - window->begin_ns);
}

bool kvc_twin_draw(struct kvc_twin *twin, struct kvc_twin_request *request)
{
    if (twin->at < twin->windows && twin->in_it == twin->window[twin->at].requests) {
        twin->at++;
        twin->in_it = 0;
        twin->time_frac = 0;
    }
    if (twin->at == twin->windows) {
        return false;
    }
    const struct window *window = &twin->window[twin->at];
    enum kvc_op op;
    double time_ns = draw_time(twin, window);
    uint32_t number = draw_key(twin, window, &op);
    struct key *key = &twin->key[number];
    key->uses++;
    key->is_stored = op == KVC_OP_SET || (key->is_stored && op == KVC_OP_GET);
    push(&twin->stack[kvc_reuse_group(key->uses, key->is_stored)], number);
    twin->in_it++;
    twin->drawn++;
    *request = (struct kvc_twin_request){.time_ns = twin->is_timed ? time_ns : twin->drawn,
                                         .key = number,
                                         .value_bytes = key->value_bytes,
                                         .op = (uint8_t)op,
                                         .key_bytes = key->key_bytes};
    return true;
}

bool kvc_twin_is_timed(const struct kvc_twin *twin)
{
    return twin->is_timed;
}

bool kvc_twin_has_writes(const struct kvc_twin *twin)
{
    return twin->has_writes;
}

double kvc_twin_drawn_frac(const struct kvc_twin *twin)
{
    return twin->drawn / fmax(twin->requests, 1);
}
