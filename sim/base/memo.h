/** @file
 * A memo keeps the results of a function of a few numbers, so that equal arguments are computed once.
 *
 * The function must depend on nothing but its arguments, so that a kept result equals a computed one, bit for
 * bit, and it does not matter which of the two a caller gets. A memo belongs to one thread: declare it
 * `static _Thread_local`, zeroed, in the function that it serves. */
#ifndef KVC_SIM_BASE_MEMO_H
#define KVC_SIM_BASE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

enum { KVC_MEMO_ARGUMENTS_MAX = 12 };

struct kvc_memo_entry;

/** A memo. A zeroed struct is empty. */
struct kvc_memo {
    uint32_t arguments;           /**< Arguments of the function, up to KVC_MEMO_ARGUMENTS_MAX. */
    uint32_t count;               /**< Kept results. */
    uint32_t room;                /**< Places, a power of two, or 0. */
    struct kvc_memo_entry *entry; /**< Places, which are freed with the thread. */
};

/** Finds the result for these arguments. Returns false, and leaves `*result` alone, if it is not kept.
 * Arguments are compared bit by bit. */
bool kvc_memo_find(const struct kvc_memo *memo, const double *argument, double *result);

/** Keeps a result that was not found. A memo that has become large is emptied first; its room stays. Exits
 * with status 3 if memory is short. */
void kvc_memo_keep(struct kvc_memo *memo, const double *argument, uint32_t arguments, double result);

/** Finds all results of a function that has several. The last argument, which this sets, numbers them.
 * Returns false if one of them is not kept; those before it are then set. */
bool kvc_memo_find_all(const struct kvc_memo *memo, double *argument, uint32_t arguments, double *result,
                       uint32_t results);

/** Keeps all results of such a function. */
void kvc_memo_keep_all(struct kvc_memo *memo, double *argument, uint32_t arguments, const double *result,
                       uint32_t results);

#endif
