/* The user's functions for vector operations: expressions in Lua's syntax, compiled once to a list of steps
 * that run over whole vectors.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.2 and table 1, where such a function becomes hardware. The names are
 * v (the element), d (the client's parameter) and s (the result of a reduction so far). Numbers are integers
 * of 64 bits, as in Lua, with + - * // % & | ~ << >>, comparisons, and, or, not, min(a, b) and max(a, b).
 * Comparisons and `not` give 1 or 0, and 0 counts as false. / and ^ are refused, because their results are
 * not integers. A division by zero gives 0. */
#ifndef KVC_MODELS_KVDIRECT_LAMBDA_H
#define KVC_MODELS_KVDIRECT_LAMBDA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_KVDIRECT_LAMBDA_STEPS = 32 };

struct kvc_kvdirect_lambda {
    uint32_t steps;     /* The value of the last step is the function's. */
    uint32_t operators; /* Steps that compute something; the others are constants and names. */
    struct {
        uint8_t verb;        /* enum verb of lambda.c. */
        uint8_t left, right; /* Earlier steps. */
        int64_t number;
    } step[KVC_KVDIRECT_LAMBDA_STEPS];
    bool uses_sum; /* The expression contains s. */
};

/* Compiles an expression. `what` names it in errors: "system.lambda". Returns KVC_ERR_SCENARIO for a syntax
 * error, or for an expression that is too long or too deep. */
enum kvc_status kvc_kvdirect_lambda_compile(const char *text, const char *what,
                                            struct kvc_kvdirect_lambda *lambda, struct kvc_diag *diag);

/* Evaluates the function for one element. */
int64_t kvc_kvdirect_lambda_call(const struct kvc_kvdirect_lambda *lambda, int64_t v, int64_t d, int64_t s);

/* The following functions take vectors of little-endian, unsigned elements of 1, 2, 4 or 8 bytes and ignore
 * an incomplete last element. `delta` is the d of every element. */

/* Replaces every element by the function's value, modulo its width. */
void kvc_kvdirect_lambda_update(const struct kvc_kvdirect_lambda *lambda, uint8_t *vector, uint32_t bytes,
                                uint32_t element_bytes, int64_t delta);

/* Returns the function's value for the last element. s is `sum` for the first element, then the value for the
 * element before. */
int64_t kvc_kvdirect_lambda_reduce(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                   uint32_t bytes, uint32_t element_bytes, int64_t delta, int64_t sum);

/* Counts the elements for which the function is true. */
uint32_t kvc_kvdirect_lambda_filter(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                    uint32_t bytes, uint32_t element_bytes, int64_t delta);

#endif
