#include "models/kvdirect/lambda.h"

#include <criterion/criterion.h>
#include <string.h>

static int64_t value_of(const char *text, int64_t v, int64_t d, int64_t s)
{
    struct kvc_kvdirect_lambda lambda;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_kvdirect_lambda_compile(text, "lambda", &lambda, &diag), KVC_OK, "%s", diag.message);
    return kvc_kvdirect_lambda_call(&lambda, v, d, s);
}

/* The values equal Lua 5.4's, except that comparisons give numbers here. */
Test(lambda, operators_bind_as_in_lua)
{
    cr_expect_eq(value_of("v + d", 3, 4, 0), 7);
    cr_expect_eq(value_of("v + d * 2", 3, 4, 0), 11);
    cr_expect_eq(value_of("(v + d) * 2", 3, 4, 0), 14);
    cr_expect_eq(value_of("v - d - 1", 10, 4, 0), 5);
    cr_expect_eq(value_of("-v // d", 7, 2, 0), -4);
    cr_expect_eq(value_of("-v % d", 7, 3, 0), 2);
    cr_expect_eq(value_of("v // 0", 7, 0, 0), 0);
    cr_expect_eq(value_of("1 << 4 | 3 & 2", 0, 0, 0), 18);
    cr_expect_eq(value_of("v ~ d", 6, 3, 0), 5);
    cr_expect_eq(value_of("~v", 6, 0, 0), -7);
    cr_expect_eq(value_of("v >> 1", -1, 0, 0), INT64_MAX);
    cr_expect_eq(value_of("1 << v", 64, 0, 0), 0);
    cr_expect_eq(value_of("v < d and v or d", 3, 4, 0), 3);
    cr_expect_eq(value_of("v > d and v or d", 3, 4, 0), 4);
    cr_expect_eq(value_of("not v == d", 3, 0, 0), 1, "not binds tighter");
    cr_expect_eq(value_of("v ~= d", 3, 4, 0), 1);
    cr_expect_eq(value_of("v >= d", 4, 4, 0), 1);
    cr_expect_eq(value_of("max(s, min(v, 0x10))", 99, 0, 5), 16);
    cr_expect_eq(value_of("010 + 0X1f", 0, 0, 0), 41);
    cr_expect_eq(value_of("v + 9223372036854775807", 1, 0, 0), INT64_MIN);
}

static void refuses(const char *text, const char *part)
{
    struct kvc_kvdirect_lambda lambda;
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_kvdirect_lambda_compile(text, "system.lambda", &lambda, &diag), KVC_ERR_SCENARIO, "%s",
                 text);
    cr_expect_not_null(strstr(diag.message, part), "%s: %s", text, diag.message);
    cr_expect_eq(strncmp(diag.message, "system.lambda: ", 15), 0);
}

Test(lambda, what_is_no_expression_is_refused_with_its_place)
{
    refuses("", "expected a value at \"(end)\"");
    refuses("v +", "expected a value at \"(end)\"");
    refuses("v / d", "at \"/ d\"");
    refuses("x + 1", "expected a value at \"x + 1\"");
    refuses("vector", "expected a value at \"vector\"");
    refuses("v + 1.5", "expected an integer at \"1.5\"");
    refuses("(v + d", "expected )");
    refuses("min(v d)", "expected ,");
    refuses("v d", "expected an operator at \"d\"");
    refuses("99999999999999999999", "expected an integer");
    refuses("0x", "expected an integer");
    refuses("0b1", "expected an integer");
    char deep[201];
    memset(deep, '(', 200);
    deep[200] = '\0';
    refuses(deep, "too deep");
    refuses("v+v+v+v+v+v+v+v+v+v+v+v+v+v+v+v+v+v", "too long");
}

Test(lambda, runs_over_vectors_of_all_widths)
{
    struct kvc_kvdirect_lambda add, sum, even;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_kvdirect_lambda_compile("v + d", "l", &add, &diag), KVC_OK);
    cr_assert_eq(kvc_kvdirect_lambda_compile("s + v", "l", &sum, &diag), KVC_OK);
    cr_assert_eq(kvc_kvdirect_lambda_compile("v % 2 == 0", "l", &even, &diag), KVC_OK);
    cr_expect(sum.uses_sum);
    cr_expect_not(add.uses_sum);
    uint8_t vector[9] = {1, 2, 3, 4, 5, 6, 7, 255, 77};
    kvc_kvdirect_lambda_update(&add, vector, 8, 1, 1);
    cr_expect_arr_eq(vector, ((uint8_t[]){2, 3, 4, 5, 6, 7, 8, 0, 77}), 9);
    cr_expect_eq(kvc_kvdirect_lambda_reduce(&sum, vector, 8, 1, 0, 100), 135);
    cr_expect_eq(kvc_kvdirect_lambda_filter(&even, vector, 8, 1, 0), 5);
    kvc_kvdirect_lambda_update(&add, vector, 9, 4, 1); /* The ninth byte stays. */
    cr_expect_arr_eq(vector, ((uint8_t[]){3, 3, 4, 5, 7, 7, 8, 0, 77}), 9);
    kvc_kvdirect_lambda_update(&add, vector, 8, 8, -3);
    cr_expect_arr_eq(vector, ((uint8_t[]){0, 3, 4, 5, 7, 7, 8, 0}), 8);
}
