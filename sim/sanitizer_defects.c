/* Has the defect that its argument names, on purpose: the tests of this program pass if a sanitizer reports
 * it. They fail if the sanitizers are off, if the optimiser removes what they look at, or if they lose track
 * of the actors' stacks. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

/* Values that the compiler does not know. */
static volatile int eight = 8;
static char *volatile kept;

static void read_past_heap(void)
{
    kept = calloc(1, (size_t)eight);
    printf("%d\n", kept[eight]);
}

static void use_after_free(void)
{
    kept = calloc(1, (size_t)eight);
    free(kept);
    printf("%d\n", kept[0]);
}

static void read_past_stack(void)
{
    char words[8] = {0};
    kept = words;
    printf("%d\n", kept[eight]);
}

static void use_after_scope(void)
{
    {
        char words[8] = {0};
        kept = words;
    }
    printf("%d\n", kept[0]);
}

static void leak(void)
{
    kept = calloc(1, (size_t)eight);
    kept = NULL;
}

static void overflow(void)
{
    printf("%d\n", INT_MAX - 7 + eight);
}

static void shift_too_far(void)
{
    printf("%d\n", 1 << (eight * 4));
}

static void misaligned(void)
{
    char words[8] = {0};
    kept = words + 1 + eight % 2;
    printf("%d\n", *(int *)(void *)kept);
}

/* ---- actors ---- */

static void wait_and_read_past_stack(void *data)
{
    (void)data;
    char words[8] = {0};
    kept = words;
    kvc_engine_sleep_until_ns(20); /* Other actors run meanwhile. */
    printf("%d\n", kept[eight]);
}

static void wait_long(void *data)
{
    (void)data;
    char words[8] = {0};
    kept = words;
    kvc_engine_sleep_until_ns(10);
    kvc_engine_sleep_until_ns(1e9);
}

static void stop(void *data)
{
    (void)data;
    kvc_engine_sleep_until_ns(100);
    kvc_engine_stop();
}

static void run_actors(void (*body)(void *data))
{
    struct kvc_diag diag = {.status = KVC_OK};
    struct kvc_platform *platform = kvc_platform_create();
    kvc_platform_add_zone(platform, "node0");
    if (kvc_engine_open(NULL, platform, &diag) != KVC_OK) {
        fprintf(stderr, "%s\n", diag.message);
        exit(3);
    }
    for (int i = 0; i < 3; i++) {
        kvc_engine_spawn("body", body, NULL);
    }
    kvc_engine_spawn("stop", stop, NULL);
    kvc_engine_run();
    kvc_platform_free(platform);
}

static void read_past_actors_stack(void)
{
    run_actors(wait_and_read_past_stack);
}

/* This is no defect: actors may be killed while they wait. */
static void kill_actors(void)
{
    run_actors(wait_long);
    printf("no report\n");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } defects[] = {
        {"read_past_heap", read_past_heap},
        {"use_after_free", use_after_free},
        {"read_past_stack", read_past_stack},
        {"use_after_scope", use_after_scope},
        {"leak", leak},
        {"overflow", overflow},
        {"shift_too_far", shift_too_far},
        {"misaligned", misaligned},
        {"kill_actors", kill_actors},
        {"read_past_actors_stack", read_past_actors_stack},
    };
    for (size_t i = 0; i < sizeof(defects) / sizeof(*defects); i++) {
        if (argc == 2 && strcmp(argv[1], defects[i].name) == 0) {
            defects[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: sanitizer_defects NAME\n");
    return 2;
}
