/** @file
 * The stacks of actors, for AddressSanitizer. SimGrid gives each actor a stack and switches between them
 * unseen by the sanitizer, which must know the current one when frames are left by an exception or a long
 * jump: only then does it clear their traces, which later frames at the same place would be blamed for.
 * Builds without the sanitizer do nothing here.
 *
 * SimGrid's other contexts, one thread for each actor, need no such help, but a switch then waits for the
 * operating system. */
#ifndef KVC_SIM_ACTOR_STACK_H
#define KVC_SIM_ACTOR_STACK_H

/** Stack of each actor [KiB]. */
#define KVC_ACTOR_STACK_KIB 256

/** The stack of an actor. */
struct kvc_actor_stack {
    char *top;                    /**< Above all frames of the actor. */
    struct kvc_actor_stack *next; /**< All stacks, for exceptions. */
};

#ifdef __SANITIZE_ADDRESS__

/** Registers the caller's stack as an actor's, which runs from here on. */
void kvc_actor_stack_begin(struct kvc_actor_stack *stack);

/** The program runs on the stack, or on the main one if it is NULL. */
void kvc_actor_stack_enter(const struct kvc_actor_stack *stack);

#else

static inline void kvc_actor_stack_begin(struct kvc_actor_stack *stack)
{
    (void)stack;
}

static inline void kvc_actor_stack_enter(const struct kvc_actor_stack *stack)
{
    (void)stack;
}

#endif
#endif
