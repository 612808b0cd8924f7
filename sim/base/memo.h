/** @file
 * A memo keeps the results of a function of a few numbers, so that equal arguments are computed once.
 *
 * The function must depend on nothing but its arguments, so that a kept result equals a computed one, bit for
 * bit, and it does not matter which of the two a caller gets. A memo belongs to one thread: declare it
 * `static _Thread_local`, zeroed, in the function that it serves. */
#ifndef KVC_SIM_BASE_MEMO_H
#define KVC_SIM_BASE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KVC_MEMO_ARGUMENTS_MAX = 12, KVC_KEPT = 256 };

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

/** Results that are too large for a memo, such as arrays: the latest KVC_KEPT of them. As a memo, it belongs
 * to one thread and to one function. A zeroed struct is empty. */
struct kvc_kept {
    double *argument;       /**< By result: its arguments; all 0 for one that nobody else asks for. */
    void *result[KVC_KEPT]; /**< Their rooms; NULL: never used. */
    uint32_t next;          /**< The result whose room is taken next. */
};

/** Returns the result for these arguments, not all 0, if it is kept. Otherwise returns the room of the oldest
 * result, of `bytes`, into which the caller computes it; the room is zeroed at first, and then has an older
 * result. The room holds until the function has computed KVC_KEPT others. If `shared` is false, the result is
 * for the caller alone. Exits with status 3 if memory is short. */
void *kvc_kept_of(struct kvc_kept *kept, const double *argument, uint32_t arguments, bool shared,
                  size_t bytes, bool *found);

#endif
