#include "sim/base/text/option.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/diag.h"

struct unit_word {
    const char *word;
    double factor; /* The value of this unit in base units. */
};

struct unit {
    const char *expected; /* Describes the allowed text in messages. */
    bool plain;           /* A number without a unit is allowed and is in the base unit. */
    struct unit_word words[10];
};

static const struct unit units[] = {
    [KVC_UNIT_NONE] = {"a number", true, {{NULL, 0}}},
    [KVC_UNIT_NS] = {"a time such as \"160us\" (ns, us, ms, s)",
                     false,
                     {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}}},
    [KVC_UNIT_BYTES] = {"a size such as \"2GiB\" (B, KB, MB, GB, KiB, MiB, GiB, or a number of bytes)",
                        true,
                        {{"B", 1},
                         {"KB", 1e3},
                         {"KiB", 0x1p10},
                         {"MB", 1e6},
                         {"MiB", 0x1p20},
                         {"GB", 1e9},
                         {"GiB", 0x1p30},
                         {NULL, 0}}},
    [KVC_UNIT_BYTES_PER_S] = {"a rate such as \"10.3GB/s\" or \"40Gbps\" (MB/s, GB/s, GiB/s, Mbps, Gbps)",
                              false,
                              {{"B/s", 1},
                               {"KB/s", 1e3},
                               {"MB/s", 1e6},
                               {"GB/s", 1e9},
                               {"GiB/s", 0x1p30},
                               {"Mbps", 1e6 / 8},
                               {"Gbps", 1e9 / 8},
                               {NULL, 0}}},
    [KVC_UNIT_HZ] = {"a frequency such as \"875MHz\" (Hz, kHz, MHz, GHz)",
                     false,
                     {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {NULL, 0}}},
    [KVC_UNIT_MOPS] = {"a speed such as \"50Mops\" (Kops, Mops, Gops, or a number of Mops)",
                       true,
                       {{"Kops", 1e-3}, {"Mops", 1}, {"Gops", 1e3}, {NULL, 0}}},
    [KVC_UNIT_WATTS] = {"a power such as \"95W\", or a number of watts", true, {{"W", 1}, {NULL, 0}}},
};

/* Returns the length of the decimal number that a text begins with, or 0 if it begins with none. strtod alone
 * would also accept "inf", "nan", hexadecimal numbers and the decimal separator of the locale. */
static size_t decimal_length(const char *text)
{
    static const char digits[] = "0123456789";
    size_t at = *text == '+' || *text == '-';
    size_t whole = strspn(text + at, digits), fraction = 0;
    at += whole;
    if (text[at] == '.') {
        fraction = strspn(text + at + 1, digits);
        at += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return 0;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-';
        size_t exponent = strspn(text + at + 1 + sign, digits);
        at += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return at;
}

/* Numbers are read and written with a decimal point in every locale. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_number(const char *text)
{
    locale_t locale = c_locale();
    double number = strtod_l(text, NULL, locale);
    freelocale(locale);
    return number;
}

static void write_number(double number, int digits, char *out, size_t size)
{
    locale_t locale = c_locale(), before = uselocale(locale);
    snprintf(out, size, "%.*g", digits, number);
    uselocale(before);
    freelocale(locale);
}

bool kvc_quantity_parse(const char *text, enum kvc_unit unit, double *value, const char **expected)
{
    *expected = units[unit].expected;
    text += strspn(text, " ");
    size_t length = decimal_length(text);
    double number = length > 0 ? read_number(text) : NAN;
    if (!isfinite(number)) {
        return false;
    }
    const char *end = text + length + strspn(text + length, " ");
    if (*end == '\0') {
        *value = number;
        return units[unit].plain;
    }
    for (const struct unit_word *word = units[unit].words; word->word != NULL; word++) {
        if (strcmp(word->word, end) != 0) {
            continue;
        }
        *value = number * word->factor;
        return isfinite(*value);
    }
    return false;
}

/* Writes the shortest decimal number whose product with `factor` is exactly `value`, followed by `word`. It
 * has no exponent unless it is very large or very small. Returns false if there is no such number. */
static bool shortest(double value, double factor, const char *word, char *out, size_t size)
{
    for (int digits = 1; digits <= 17; digits++) {
        write_number(value / factor, digits, out, size);
        /* %g writes an exponent if it has fewer digits than the number has before the decimal point. */
        bool shortened = strchr(out, 'e') != NULL && fabs(value / factor) >= 1 && digits < 17;
        if (read_number(out) * factor != value || shortened) {
            continue;
        }
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s", word);
        return true;
    }
    return false;
}

void kvc_quantity_print(double value, enum kvc_unit unit, char *out, size_t size)
{
    char candidate[64];
    bool any = false;
    /* Among the units in which the number is at least 1, choose the one with the shortest exact text. The
     * base unit is always a candidate. */
    for (const struct unit_word *word = units[unit].words; word->word != NULL; word++) {
        if ((fabs(value) < word->factor && word->factor != 1) ||
            !shortest(value, word->factor, word->word, candidate, sizeof(candidate))) {
            continue;
        }
        if (!any || strlen(candidate) < strlen(out)) {
            snprintf(out, size, "%s", candidate);
        }
        any = true;
    }
    if (!any && !shortest(value, 1, "", out, size)) {
        snprintf(out, size, "%g", value); /* The value is not finite. */
    }
}

int kvc_word_find(const char *const *words, const char *found, size_t bytes)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == bytes && memcmp(words[i], found, bytes) == 0) {
            return i;
        }
    }
    return -1;
}

bool kvc_words_parse(const char *text, const char *const *words, uint32_t *bits, const char **unknown,
                     size_t *bytes)
{
    static const char between[] = ", ";
    *bits = 0;
    for (text += strspn(text, between); *text != '\0'; text += *bytes, text += strspn(text, between)) {
        *unknown = text;
        *bytes = strcspn(text, between);
        int word = kvc_word_find(words, text, *bytes);
        if (word < 0) {
            return false;
        }
        *bits |= UINT32_C(1) << word;
    }
    return true;
}

void kvc_words_print(uint32_t bits, const char *const *words, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; words[i] != NULL && used < size; i++) {
        if ((bits >> i & 1) != 0) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", words[i]);
        }
    }
}

/* Counts the edits (insert, delete, replace, swap neighbors) between two names. Names of more than 63
 * characters count as far apart. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    size_t rows[3][MAX], *before = rows[0], *last = rows[1], *now = rows[2];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length >= MAX || b_length >= MAX) {
        return MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_length];
}

const char *kvc_nearest_name(const char *found, const char *const *names)
{
    size_t limit = strlen(found) / 3 > 0 ? strlen(found) / 3 : 1, least = limit + 1;
    const char *nearest = NULL;
    for (; *names != NULL; names++) {
        size_t distance = edit_distance(found, *names);
        if (distance < least) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest;
}

static void set_default(const struct kvc_option *row, char *field)
{
    const char *text = row->by_default, *expected;
    double value = row->auto_value;
    int choice = 0;
    size_t bytes;
    switch (row->type) {
    case KVC_OPTION_BOOL:
        *(bool *)(void *)field = strcmp(text, "true") == 0;
        return;
    case KVC_OPTION_TEXT:
        snprintf(field, KVC_TEXT_MAX, "%s", text);
        return;
    case KVC_OPTION_WORDS:
        if (!kvc_words_parse(text, row->choices, (uint32_t *)(void *)field, &expected, &bytes)) {
            KVC_BUG("default \"%s\" of %s has another word", text, row->name);
        }
        return;
    case KVC_OPTION_CHOICE:
        choice = kvc_word_find(row->choices, text, strlen(text));
        if (choice < 0) {
            KVC_BUG("default \"%s\" of %s is not a choice", text, row->name);
        }
        *(int *)(void *)field = choice;
        return;
    case KVC_OPTION_COUNT:
    case KVC_OPTION_REAL:
        if ((row->auto_word == NULL || strcmp(text, row->auto_word) != 0) &&
            !kvc_quantity_parse(text, row->unit, &value, &expected)) {
            KVC_BUG("default \"%s\" of %s is not %s", text, row->name, expected);
        }
        if (row->type == KVC_OPTION_COUNT) {
            *(uint64_t *)(void *)field = (uint64_t)value;
        } else {
            *(double *)(void *)field = value;
        }
        return;
    case KVC_OPTION_LIST:
    case KVC_OPTION_GROUP:
        KVC_BUG("%s is a table and has a default", row->name);
    }
}

static void set_absent(const struct kvc_option *row, char *field)
{
    if (row->type == KVC_OPTION_COUNT) {
        *(uint64_t *)(void *)field = 0;
    } else {
        *(double *)(void *)field = NAN;
    }
}

void kvc_option_table_set_defaults(const struct kvc_option_table *options, void *object)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct kvc_option *row = &options->rows[i];
        char *field = (char *)object + row->offset;
        if (row->type == KVC_OPTION_GROUP) {
            kvc_option_table_set_defaults(row->element, field);
        } else if (row->by_default != NULL) {
            set_default(row, field);
        } else if (row->optional) {
            set_absent(row, field);
        }
    }
}
