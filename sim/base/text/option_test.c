#include "sim/base/text/option.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"

struct spelled {
    char text[24];
    enum kvc_unit unit;
    double value;
};

Test(quantity, parses_what_users_write)
{
    static const struct spelled good[] = {
        {"160us", KVC_UNIT_NS, 160e3},
        {"0.5 ms", KVC_UNIT_NS, 0.5e6},
        {"1e-3s", KVC_UNIT_NS, 1e6},
        {"2GiB", KVC_UNIT_BYTES, 0x1p31},
        {"64", KVC_UNIT_BYTES, 64},
        {"1KB", KVC_UNIT_BYTES, 1000},
        {"40Gbps", KVC_UNIT_BYTES_PER_S, 5e9},
        {"10.3GB/s", KVC_UNIT_BYTES_PER_S, 10.3e9},
        {"875MHz", KVC_UNIT_HZ, 875e6},
        {"50", KVC_UNIT_MOPS, 50},
        {"2Gops", KVC_UNIT_MOPS, 2000},
        {"95W", KVC_UNIT_WATTS, 95},
        {"-3", KVC_UNIT_NONE, -3},
        {"-5us", KVC_UNIT_NS, -5e3},
        {".5us", KVC_UNIT_NS, 500},
        {"1E6", KVC_UNIT_NONE, 1e6},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        double value;
        const char *expected;
        cr_expect(kvc_quantity_parse(good[i].text, good[i].unit, &value, &expected), "%s", good[i].text);
        cr_expect_float_eq(value, good[i].value, 1e-12 * fabs(good[i].value), "%s is %g", good[i].text,
                           value);
    }
}

Test(quantity, refuses_any_other_text)
{
    static const struct spelled bad[] = {
        {"160parsec", KVC_UNIT_NS, 0}, {"160", KVC_UNIT_NS, 0},     {"", KVC_UNIT_NS, 0},
        {"us", KVC_UNIT_NS, 0},        {"nan", KVC_UNIT_NONE, 0},   {"inf", KVC_UNIT_NONE, 0},
        {"1e999", KVC_UNIT_NONE, 0},   {"0x10", KVC_UNIT_NONE, 0},  {"1 2", KVC_UNIT_NONE, 0},
        {"1e308s", KVC_UNIT_NS, 0},    {"2gib", KVC_UNIT_BYTES, 0}, {"5 us us", KVC_UNIT_NS, 0},
        {"--1", KVC_UNIT_NONE, 0},     {"0X10", KVC_UNIT_NONE, 0},  {"0x1p3us", KVC_UNIT_NS, 0},
        {"5e", KVC_UNIT_NONE, 0},      {"1e+", KVC_UNIT_NONE, 0},   {".", KVC_UNIT_NONE, 0},
        {"-", KVC_UNIT_NONE, 0},       {"NaNus", KVC_UNIT_NS, 0},   {"-infus", KVC_UNIT_NS, 0},
        {"1,5us", KVC_UNIT_NS, 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        double value;
        const char *expected = NULL;
        cr_expect_not(kvc_quantity_parse(bad[i].text, bad[i].unit, &value, &expected), "%s", bad[i].text);
        cr_expect(expected != NULL);
    }
}

struct printed {
    double value;
    enum kvc_unit unit;
    char text[24];
};

Test(quantity, prints_what_users_would_write)
{
    static const struct printed pairs[] = {
        {160e3, KVC_UNIT_NS, "160us"},        {76, KVC_UNIT_NS, "76ns"},
        {50e6, KVC_UNIT_NS, "50ms"},          {0x1p31, KVC_UNIT_BYTES, "2GiB"},
        {12e9, KVC_UNIT_BYTES, "12GB"},       {810e6, KVC_UNIT_HZ, "810MHz"},
        {5e9, KVC_UNIT_BYTES_PER_S, "5GB/s"}, {10.3e9, KVC_UNIT_BYTES_PER_S, "10.3GB/s"},
        {0.95, KVC_UNIT_NONE, "0.95"},        {0, KVC_UNIT_NS, "0ns"},
        {48e6, KVC_UNIT_NONE, "48000000"},    {1e-5, KVC_UNIT_NONE, "1e-05"},
        {0.5, KVC_UNIT_MOPS, "500Kops"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        char text[64];
        kvc_quantity_print(pairs[i].value, pairs[i].unit, text, sizeof(text));
        cr_expect_str_eq(text, pairs[i].text);
    }
}

Test(quantity, prints_and_parses_back)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "test", 0);
    for (int i = 0; i < 2000; i++) {
        enum kvc_unit unit = (enum kvc_unit)(i % 7);
        double value = exp(40 * kvc_rng_unit(&rng) - 5), back;
        const char *expected;
        char text[64];
        kvc_quantity_print(value, unit, text, sizeof(text));
        cr_expect(kvc_quantity_parse(text, unit, &back, &expected), "%s", text);
        cr_expect_eq(back, value, "%s", text);
    }
}

Test(names, the_nearest_is_found)
{
    static const char *const names[] = {"cycle", "delay", "streams", "index", NULL};
    cr_expect_str_eq(kvc_nearest_name("cylce", names), "cycle");
    cr_expect_str_eq(kvc_nearest_name("stream", names), "streams");
    cr_expect_null(kvc_nearest_name("banana", names));
    cr_expect_null(kvc_nearest_name("", names));
}

Test(words, are_parsed_and_printed)
{
    static const char *const words[] = {"parse", "search", "read", NULL};
    const char *unknown;
    size_t bytes;
    uint32_t bits;
    char text[32];
    cr_assert(kvc_words_parse("read, parse", words, &bits, &unknown, &bytes));
    cr_expect_eq(bits, 5);
    kvc_words_print(bits, words, text, sizeof(text));
    cr_expect_str_eq(text, "parse, read");
    cr_assert(kvc_words_parse("", words, &bits, &unknown, &bytes));
    cr_expect_eq(bits, 0);
    cr_assert_not(kvc_words_parse("parse,sear", words, &bits, &unknown, &bytes));
    cr_expect_str_eq(unknown, "sear");
    cr_expect_eq(bytes, 4);
}

struct inner {
    uint64_t count;
};

struct target {
    struct inner inner;
    uint32_t words;
    double time_ns;
    uint64_t count;
    int choice;
    bool flag;
    char text[KVC_TEXT_MAX];
};

Test(options, are_set_to_their_defaults)
{
    static const char *const choices[] = {"a", "b", NULL};
    static const struct kvc_option inner_rows[] = {
        KVC_COUNT_ROW(inner, "count", count, 0, 9, "3", ""),
    };
    static const struct kvc_option_table inner_options = KVC_OPTION_TABLE(inner, inner_rows, "inner");
    static const struct kvc_option rows[] = {
        {.name = "time",
         .type = KVC_OPTION_REAL,
         .offset = offsetof(struct target, time_ns),
         .unit = KVC_UNIT_NS,
         .by_default = "auto",
         .auto_word = "auto",
         .auto_value = -1},
        {.name = "count",
         .type = KVC_OPTION_COUNT,
         .offset = offsetof(struct target, count),
         .by_default = "7"},
        {.name = "choice",
         .type = KVC_OPTION_CHOICE,
         .offset = offsetof(struct target, choice),
         .by_default = "b",
         .choices = choices},
        {.name = "flag",
         .type = KVC_OPTION_BOOL,
         .offset = offsetof(struct target, flag),
         .by_default = "true"},
        {.name = "text", .type = KVC_OPTION_TEXT, .offset = offsetof(struct target, text), .by_default = "x"},
        KVC_WORDS_ROW(target, "words", words, choices, "b", ""),
        KVC_GROUP_ROW(target, "inner", inner, &inner_options, ""),
    };
    static const struct kvc_option_table options = {"test", rows, sizeof(rows) / sizeof(*rows),
                                                    sizeof(struct target), 0};
    struct target target = {0};
    kvc_option_table_set_defaults(&options, &target);
    cr_expect_eq(target.time_ns, -1);
    cr_expect_eq(target.count, 7);
    cr_expect_eq(target.choice, 1);
    cr_expect(target.flag);
    cr_expect_str_eq(target.text, "x");
    cr_expect_eq(target.words, 2);
    cr_expect_eq(target.inner.count, 3);
}
