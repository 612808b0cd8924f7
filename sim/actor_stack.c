#include "sim/actor_stack.h"

#ifdef __SANITIZE_ADDRESS__

#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#include <stdbool.h>
#include <stddef.h>

#define STACK_BYTES ((size_t)KVC_ACTOR_STACK_KIB * 1024)
/* Room for the frames of SimGrid that call an actor, from which it throws when the actor has returned. */
#define SIMGRID_FRAMES_BYTES 1024

static struct {
    const void *main_bottom;
    size_t main_bytes; /* 0 until the first switch. */
    const struct kvc_actor_stack *current;
    struct kvc_actor_stack *all;
} stacks;

void kvc_actor_stack_enter(const struct kvc_actor_stack *stack)
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

void kvc_actor_stack_begin(struct kvc_actor_stack *stack)
{
    stack->top = (char *)__builtin_frame_address(0) + SIMGRID_FRAMES_BYTES;
    stack->next = stacks.all;
    stacks.all = stack;
    kvc_actor_stack_enter(stack);
}

static bool is_within(const char *address, const char *top, size_t bytes)
{
    return address < top && top - address <= (ptrdiff_t)bytes;
}

/* SimGrid ends actors by throwing, within their calls, after their return or before their begin, where the
 * current stack is not known any more or not yet. Returns NULL for the main stack. */
static const struct kvc_actor_stack *stack_of(char *address)
{
    static struct kvc_actor_stack not_begun;
    const struct kvc_actor_stack *stack = stacks.all;
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

/* These stand before the C++ library's functions of the same names, which throw, and call them. SimGrid
 * throws what it finds itself, and throws again in an actor what happened to an activity that the actor waits
 * for. */
_Noreturn void __cxa_throw(void *exception, void *type, void (*destroy)(void *));
void __cxa_throw(void *exception, void *type, void (*destroy)(void *))
{
    void *next = dlsym(RTLD_NEXT, "__cxa_throw");
    kvc_actor_stack_enter(stack_of(__builtin_frame_address(0)));
    ((void (*)(void *, void *, void (*)(void *)))next)(exception, type, destroy);
    __builtin_unreachable();
}

/* std::rethrow_exception(std::exception_ptr) */
#define RETHROW _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE
_Noreturn void RETHROW(void *exception);
void RETHROW(void *exception)
{
    void *next = dlsym(RTLD_NEXT, "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");
    kvc_actor_stack_enter(stack_of(__builtin_frame_address(0)));
    ((void (*)(void *))next)(exception);
    __builtin_unreachable();
}

#endif
