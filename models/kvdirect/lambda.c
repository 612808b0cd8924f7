#include "models/kvdirect/lambda.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum verb {
    NUMBER,
    ELEMENT,
    DELTA,
    SUM,
    OR,
    AND,
    LESS,
    LESS_EQUAL,
    EQUAL,
    UNEQUAL,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO,
    NEGATE,
    NOT,
    BIT_NOT,
    LEAST,
    MOST,
};

/* ---- compiler ---- */

/* Lua's binary operators. Operators with a common prefix are listed longest first. > and >= swap their
 * operands. */
static const struct binary {
    const char *spelling;
    uint8_t verb;
    uint8_t priority;
    bool swapped;
} binaries[] = {
    {"or", OR, 1, false},          {"and", AND, 2, false},       {"<<", SHIFT_LEFT, 7, false},
    {">>", SHIFT_RIGHT, 7, false}, {"<=", LESS_EQUAL, 3, false}, {">=", LESS_EQUAL, 3, true},
    {"<", LESS, 3, false},         {">", LESS, 3, true},         {"==", EQUAL, 3, false},
    {"~=", UNEQUAL, 3, false},     {"|", BIT_OR, 4, false},      {"~", BIT_XOR, 5, false},
    {"&", BIT_AND, 6, false},      {"+", ADD, 8, false},         {"-", SUBTRACT, 8, false},
    {"*", MULTIPLY, 9, false},     {"//", DIVIDE, 9, false},     {"%", MODULO, 9, false},
};

enum { UNARY_PRIORITY = 10, DEPTH_MAX = 64 };

struct compiler {
    const char *text, *at, *what;
    struct kvc_kvdirect_lambda *lambda;
    struct kvc_diag *diag;
    uint32_t depth;
    bool failed;
};

static uint8_t fail(struct compiler *compiler, const char *problem)
{
    if (!compiler->failed) {
        kvc_diag_fail(
            compiler->diag, KVC_ERR_SCENARIO,
            "%s: %s at \"%.20s\" of \"%.80s\"; allowed: v, d, s, integers, + - * // %% & | ~ << >>, "
            "comparisons, and, or, not, min, max",
            compiler->what, problem, *compiler->at != '\0' ? compiler->at : "(end)", compiler->text);
    }
    compiler->failed = true;
    return 0;
}

static uint8_t emit(struct compiler *compiler, uint8_t verb, uint8_t left, uint8_t right, int64_t number)
{
    struct kvc_kvdirect_lambda *lambda = compiler->lambda;
    if (lambda->steps == KVC_KVDIRECT_LAMBDA_STEPS) {
        return fail(compiler, "too long");
    }
    lambda->uses_sum |= verb == SUM;
    lambda->operators += verb > SUM;
    lambda->step[lambda->steps].verb = verb;
    lambda->step[lambda->steps].left = left;
    lambda->step[lambda->steps].right = right;
    lambda->step[lambda->steps].number = number;
    return (uint8_t)lambda->steps++;
}

static void skip_space(struct compiler *compiler)
{
    while (isspace((unsigned char)*compiler->at)) {
        compiler->at++;
    }
}

/* Consumes `spelling` if it comes next. A word must not continue with another letter, digit or _. */
static bool accept(struct compiler *compiler, const char *spelling)
{
    size_t bytes = strlen(spelling);
    skip_space(compiler);
    if (strncmp(compiler->at, spelling, bytes) != 0) {
        return false;
    }
    if (isalpha((unsigned char)spelling[0]) &&
        (isalnum((unsigned char)compiler->at[bytes]) || compiler->at[bytes] == '_')) {
        return false;
    }
    compiler->at += bytes;
    return true;
}

static uint8_t expression(struct compiler *compiler, uint8_t least_priority);

static uint8_t number(struct compiler *compiler)
{
    char *end;
    bool is_hexadecimal = compiler->at[0] == '0' && (compiler->at[1] == 'x' || compiler->at[1] == 'X');
    errno = 0;
    int64_t value = strtoll(compiler->at, &end, is_hexadecimal ? 16 : 10); /* 010 is ten, as in Lua. */
    if (errno != 0 || *end == '.' || *end == 'e' || *end == 'E' || isalpha((unsigned char)*end)) {
        return fail(compiler, "expected an integer");
    }
    compiler->at = end;
    return emit(compiler, NUMBER, 0, 0, value);
}

static uint8_t call_of_two(struct compiler *compiler, uint8_t verb)
{
    if (!accept(compiler, "(")) {
        return fail(compiler, "expected (");
    }
    uint8_t left = expression(compiler, 0);
    if (!accept(compiler, ",")) {
        return fail(compiler, "expected ,");
    }
    uint8_t right = expression(compiler, 0);
    if (!accept(compiler, ")")) {
        return fail(compiler, "expected )");
    }
    return emit(compiler, verb, left, right, 0);
}

static uint8_t operand(struct compiler *compiler)
{
    static const struct {
        const char *spelling;
        uint8_t verb;
    } names[] = {{"v", ELEMENT}, {"d", DELTA}, {"s", SUM}},
      unaries[] = {{"-", NEGATE}, {"not", NOT}, {"~", BIT_NOT}}, calls[] = {{"min", LEAST}, {"max", MOST}};
    skip_space(compiler);
    if (isdigit((unsigned char)*compiler->at)) {
        return number(compiler);
    }
    if (accept(compiler, "(")) {
        uint8_t inner = expression(compiler, 0);
        return accept(compiler, ")") ? inner : fail(compiler, "expected )");
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (accept(compiler, names[i].spelling)) {
            return emit(compiler, names[i].verb, 0, 0, 0);
        }
    }
    for (size_t i = 0; i < sizeof(unaries) / sizeof(*unaries); i++) {
        if (accept(compiler, unaries[i].spelling)) {
            uint8_t inner = expression(compiler, UNARY_PRIORITY);
            return emit(compiler, unaries[i].verb, inner, inner, 0);
        }
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (accept(compiler, calls[i].spelling)) {
            return call_of_two(compiler, calls[i].verb);
        }
    }
    return fail(compiler, "expected a value");
}

static const struct binary *binary_here(struct compiler *compiler, uint8_t least_priority)
{
    for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++) {
        const char *before = compiler->at;
        if (!accept(compiler, binaries[i].spelling)) {
            continue;
        }
        if (binaries[i].priority > least_priority) {
            return &binaries[i];
        }
        compiler->at = before;
        return NULL;
    }
    return NULL;
}

/* Compiles an expression by precedence climbing. All of Lua's integer operators associate to the left. */
static uint8_t expression(struct compiler *compiler, uint8_t least_priority)
{
    const struct binary *binary;
    if (++compiler->depth > DEPTH_MAX) {
        return fail(compiler, "too deep");
    }
    uint8_t left = operand(compiler);
    while (!compiler->failed && (binary = binary_here(compiler, least_priority)) != NULL) {
        uint8_t right = expression(compiler, binary->priority);
        left =
            emit(compiler, binary->verb, binary->swapped ? right : left, binary->swapped ? left : right, 0);
    }
    compiler->depth--;
    return left;
}

enum kvc_status kvc_kvdirect_lambda_compile(const char *text, const char *what,
                                            struct kvc_kvdirect_lambda *lambda, struct kvc_diag *diag)
{
    struct compiler compiler = {.text = text, .at = text, .what = what, .lambda = lambda, .diag = diag};
    *lambda = (struct kvc_kvdirect_lambda){.steps = 0};
    expression(&compiler, 0);
    skip_space(&compiler);
    if (!compiler.failed && *compiler.at != '\0') {
        fail(&compiler, "expected an operator");
    }
    return compiler.failed ? KVC_ERR_SCENARIO : KVC_OK;
}

/* ---- evaluation ---- */

/* Rounds towards negative infinity, as Lua does. Division by 0 gives 0, because hardware raises no errors. */
static int64_t divide(int64_t left, int64_t right)
{
    if (right == 0) {
        return 0;
    }
    if (right == -1) {
        return (int64_t)(0 - (uint64_t)left);
    }
    return left / right - (left % right != 0 && (left < 0) != (right < 0));
}

static int64_t shift(int64_t left, int64_t right)
{
    if (right <= -64 || right >= 64) {
        return 0;
    }
    return (int64_t)(right >= 0 ? (uint64_t)left << right : (uint64_t)left >> -right);
}

static int64_t evaluate(uint8_t verb, int64_t left, int64_t right)
{
    switch ((enum verb)verb) {
    case OR:
        return left != 0 ? left : right;
    case AND:
        return left != 0 ? right : 0;
    case LESS:
        return left < right;
    case LESS_EQUAL:
        return left <= right;
    case EQUAL:
        return left == right;
    case UNEQUAL:
        return left != right;
    case BIT_OR:
        return left | right;
    case BIT_XOR:
        return left ^ right;
    case BIT_AND:
        return left & right;
    case SHIFT_LEFT:
        return shift(left, right);
    case SHIFT_RIGHT:
        return right == INT64_MIN ? 0 : shift(left, -right);
    case ADD:
        return (int64_t)((uint64_t)left + (uint64_t)right);
    case SUBTRACT:
        return (int64_t)((uint64_t)left - (uint64_t)right);
    case MULTIPLY:
        return (int64_t)((uint64_t)left * (uint64_t)right);
    case DIVIDE:
        return divide(left, right);
    case MODULO:
        return right == 0 ? 0 : (int64_t)((uint64_t)left - (uint64_t)divide(left, right) * (uint64_t)right);
    case NEGATE:
        return (int64_t)(0 - (uint64_t)left);
    case NOT:
        return left == 0;
    case BIT_NOT:
        return ~left;
    case LEAST:
        return left < right ? left : right;
    case MOST:
        return left > right ? left : right;
    case NUMBER:
    case ELEMENT:
    case DELTA:
    case SUM:
        break;
    }
    KVC_BUG("%u is not an operator of two values", verb);
}

int64_t kvc_kvdirect_lambda_call(const struct kvc_kvdirect_lambda *lambda, int64_t v, int64_t d, int64_t s)
{
    int64_t value[KVC_KVDIRECT_LAMBDA_STEPS] = {0};
    for (uint32_t i = 0; i < lambda->steps; i++) {
        uint8_t verb = lambda->step[i].verb;
        if (verb == NUMBER) {
            value[i] = lambda->step[i].number;
        } else if (verb == ELEMENT) {
            value[i] = v;
        } else if (verb == DELTA) {
            value[i] = d;
        } else if (verb == SUM) {
            value[i] = s;
        } else {
            value[i] = evaluate(verb, value[lambda->step[i].left], value[lambda->step[i].right]);
        }
    }
    return value[lambda->steps - 1];
}

static int64_t load(const uint8_t *element, uint32_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, element, bytes);
    return (int64_t)word;
}

void kvc_kvdirect_lambda_update(const struct kvc_kvdirect_lambda *lambda, uint8_t *vector, uint32_t bytes,
                                uint32_t element_bytes, int64_t delta)
{
    for (uint32_t at = 0; at + element_bytes <= bytes; at += element_bytes) {
        int64_t value = kvc_kvdirect_lambda_call(lambda, load(vector + at, element_bytes), delta, 0);
        memcpy(vector + at, &value, element_bytes);
    }
}

int64_t kvc_kvdirect_lambda_reduce(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                   uint32_t bytes, uint32_t element_bytes, int64_t delta, int64_t sum)
{
    for (uint32_t at = 0; at + element_bytes <= bytes; at += element_bytes) {
        sum = kvc_kvdirect_lambda_call(lambda, load(vector + at, element_bytes), delta, sum);
    }
    return sum;
}

uint32_t kvc_kvdirect_lambda_filter(const struct kvc_kvdirect_lambda *lambda, const uint8_t *vector,
                                    uint32_t bytes, uint32_t element_bytes, int64_t delta)
{
    uint32_t passed = 0;
    for (uint32_t at = 0; at + element_bytes <= bytes; at += element_bytes) {
        passed += kvc_kvdirect_lambda_call(lambda, load(vector + at, element_bytes), delta, 0) != 0;
    }
    return passed;
}
