/* Fuzz target for vector functions. The first bytes are the arguments, the rest is any text as an
 * expression. An expression that compiles has a value for every argument and the same value in
 * parentheses, and the functions that run over vectors agree with it element by element. An expression
 * that does not compile has a message. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/lambda.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ARGUMENTS_BYTES = 24, VECTOR_BYTES = 16 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

/* Checks the functions that run over vectors. The vector consists of the three arguments, `v` first. */
static void check_vectors(const struct kvc_kvdirect_lambda *lambda, const uint8_t *arguments, int64_t d,
                          int64_t s)
{
    for (uint32_t element_bytes = 1; element_bytes <= 8; element_bytes *= 2) {
        uint8_t vector[VECTOR_BYTES + 1];
        memcpy(vector, arguments, VECTOR_BYTES);
        vector[VECTOR_BYTES] = 0xee; /* An incomplete last element, unless elements have one byte. */
        uint32_t bytes = element_bytes > 1 ? VECTOR_BYTES + 1 : VECTOR_BYTES, passed = 0;
        int64_t sum = s;
        kvc_kvdirect_lambda_update(lambda, vector, bytes, element_bytes, d);
        for (uint32_t at = 0; at < VECTOR_BYTES; at += element_bytes) {
            int64_t v = 0;
            memcpy(&v, arguments + at, element_bytes);
            int64_t updated = kvc_kvdirect_lambda_call(lambda, v, d, 0);
            check(memcmp(vector + at, &updated, element_bytes) == 0);
            passed += updated != 0;
            sum = kvc_kvdirect_lambda_call(lambda, v, d, sum);
        }
        check(vector[VECTOR_BYTES] == 0xee);
        check(kvc_kvdirect_lambda_filter(lambda, arguments, bytes, element_bytes, d) == passed);
        check(kvc_kvdirect_lambda_reduce(lambda, arguments, bytes, element_bytes, d, s) == sum);
    }
}

/* Checks the same expression in parentheses, unless it is too deep with them. */
static void check_in_parentheses(const char *text, const int64_t *arguments, int64_t value)
{
    struct kvc_kvdirect_lambda lambda;
    size_t length = strlen(text);
    char *longer = malloc(length + 3);
    check(longer != NULL);
    longer[0] = '(';
    memcpy(longer + 1, text, length);
    memcpy(longer + 1 + length, ")", 2);
    struct kvc_diag diag = {0};
    if (kvc_kvdirect_lambda_compile(longer, "lambda", &lambda, &diag) == KVC_OK) {
        check(kvc_kvdirect_lambda_call(&lambda, arguments[0], arguments[1], arguments[2]) == value);
    } else {
        check(strstr(diag.message, "too deep") != NULL);
    }
    free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    int64_t arguments[ARGUMENTS_BYTES / sizeof(int64_t)];
    struct kvc_kvdirect_lambda lambda;
    struct kvc_diag diag = {0};
    if (bytes < ARGUMENTS_BYTES) {
        return 0;
    }
    memcpy(arguments, data, ARGUMENTS_BYTES);
    char *text = strndup((const char *)data + ARGUMENTS_BYTES, bytes - ARGUMENTS_BYTES);
    check(text != NULL);
    if (kvc_kvdirect_lambda_compile(text, "lambda", &lambda, &diag) == KVC_OK) {
        check(lambda.steps > 0 && lambda.steps <= KVC_KVDIRECT_LAMBDA_STEPS &&
              lambda.operators < lambda.steps);
        check(lambda.uses_sum || strchr(text, 's') == NULL);
        int64_t value = kvc_kvdirect_lambda_call(&lambda, arguments[0], arguments[1], arguments[2]);
        check_in_parentheses(text, arguments, value);
        check_vectors(&lambda, data, arguments[1], arguments[2]);
    } else {
        check(diag.status == KVC_ERR_SCENARIO && strncmp(diag.message, "lambda: ", 8) == 0);
        check(strpbrk(diag.message, "\n\r\033") == NULL);
    }
    free(text);
    return 0;
}
