/* User functions of vector operations: expressions in Lua's syntax, compiled once to a list of operations
 * that run over whole vectors.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.2 and table 1, where such a function becomes hardware. Names: v (the
 * element), d (the client's parameter) and s (what a reduction has so far). Whole numbers of 64 bits, as
 * Lua's integers, with + - * // % & | ~ << >>, comparisons, and, or, not, min(a, b) and max(a, b).
 * Comparisons and `not` give 1 or 0, and 0 counts as false. / and ^ would leave whole numbers and are
 * refused. */
#ifndef KVC_MODELS_KVDIRECT_LAMBDA_H
#define KVC_MODELS_KVDIRECT_LAMBDA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_KVDIRECT_LAMBDA_STEPS = 32 };

struct kvc_kvdirect_lambda {
    uint32_t steps; /* the last one's value is the function's */
    struct {
        uint8_t verb;        /* enum verb of lambda.c */
        uint8_t left, right; /* steps before */
        int64_t number;
    } step[KVC_KVDIRECT_LAMBDA_STEPS];
    bool uses_sum; /* s */
};

/* Compiles an expression; `what` names it in errors ("system.lambda"). */
enum kvc_status kvc_kvdirect_lambda_compile(const char *text, const char *what,
                                            struct kvc_kvdirect_lambda *lambda, struct kvc_diag *diag);

/* One element. */
int64_t kvc_kvdirect_lambda_call(const struct kvc_kvdirect_lambda *lambda, int64_t v, int64_t d, int64_t s);

/* Vectors of unsigned elements of 1, 2, 4 or 8 bytes, little-endian; what is left of `bytes` stays as it is.
 * `delta`: of every element. */

/* Sets every element to the function's value, modulo its width. */
void kvc_kvdirect_lambda_update(const struct kvc_kvdirect_lambda *lambda, uint8_t *vector, uint32_t bytes,
                                uint32_t element_bytes, int64_t delta);

/* The function's value of the last element, of which s is the value of the one before; of the first, `sum`.
 */
int64_t kvc_kvdirect_lambda_reduce(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                   uint32_t bytes, uint32_t element_bytes, int64_t delta, int64_t sum);

/* How many elements the function is true for. */
uint32_t kvc_kvdirect_lambda_filter(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                    uint32_t bytes, uint32_t element_bytes, int64_t delta);

#endif
