#include "scenarios/output/json_value.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/text/option.h"

json_t *kvc_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *kvc_json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *kvc_json_text(const char *bytes)
{
    json_t *string = json_string(bytes);
    if (string != NULL) {
        return string;
    }
    char ascii[KVC_TEXT_MAX * 2];
    size_t length = 0;
    for (; bytes[length] != '\0' && length + 1 < sizeof(ascii); length++) {
        ascii[length] = (bytes[length] & 0x80) != 0 ? '?' : bytes[length];
    }
    ascii[length] = '\0';
    return json_string(ascii);
}

json_t *kvc_json_text_or_null(const char *bytes)
{
    return bytes[0] != '\0' ? kvc_json_text(bytes) : json_null();
}

json_t *kvc_json_machine(const struct kvc_machine *machine)
{
    json_t *object = json_object();
    if (machine->name[0] == '\0') {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "name", kvc_json_text(machine->name));
    json_object_set_new(object, "date", kvc_json_text(machine->date));
    json_object_set_new(object, "compiler", kvc_json_text(machine->compiler));
    json_object_set_new(object, "commit", kvc_json_text(machine->commit));
    return object;
}

enum { DIGITS = 12 };

/* Powers of ten that long double has exactly, and double, too. */
static const long double powers[] = {1e0L, 1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L, 1e8L,
                                     1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L};
static const double limits[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

/* Splits a number from 1e-4 to 1e12 into its twelve leading digits, rounded, and the power of ten of the
 * first. A product with a power of ten is exact or off by less than 2^-63, so the rounding differs from an
 * exact one only within that distance of a tie. Returns false where that may happen. */
static bool split(double size, uint64_t *digits, int *exponent)
{
    int power = 0;
    if (size >= 1) {
        while (size >= limits[power + 1]) {
            power++;
        }
    } else {
        while (size * powers[-power] < 1) {
            power--;
        }
    }
    long double scaled = size * powers[DIGITS - 1 - power];
    uint64_t whole = (uint64_t)scaled;
    long double rest = scaled - (long double)whole;
    if (fabsl(rest - 0.5L) < 1e-6L) {
        return false;
    }
    whole += rest > 0.5L;
    *exponent = power + (whole == 1000000000000u);
    *digits = whole == 1000000000000u ? 100000000000u : whole;
    return true;
}

size_t kvc_number_text(double number, char out[KVC_NUMBER_TEXT_MAX])
{
    char digit[DIGITS];
    uint64_t digits;
    int exponent, count = DIGITS;
    size_t used = 0;
    double size = fabs(number);
    if (!(size >= 1e-4 && size < 1e12) || !split(size, &digits, &exponent) || exponent >= DIGITS) {
        return (size_t)snprintf(out, KVC_NUMBER_TEXT_MAX, "%.12g", number);
    }
    uint32_t high = (uint32_t)(digits / 1000000), low = (uint32_t)(digits % 1000000);
    for (int i = DIGITS / 2 - 1; i >= 0; i--, high /= 10, low /= 10) {
        digit[i] = (char)('0' + high % 10);
        digit[i + DIGITS / 2] = (char)('0' + low % 10);
    }
    while (count > 1 && digit[count - 1] == '0') {
        count--;
    }
    if (number < 0) {
        out[used++] = '-';
    }
    if (exponent < 0) {
        memcpy(out + used, "0.000", 5);
        used += (size_t)(1 - exponent); /* 1e-4 has three zeros after the point. */
        memcpy(out + used, digit, DIGITS);
        used += (size_t)count;
    } else {
        size_t whole = (size_t)exponent + 1;
        memcpy(out + used, digit, DIGITS);
        used += whole;
        if ((size_t)count > whole) {
            out[used++] = '.';
            memcpy(out + used, digit + whole, DIGITS - whole);
            used += (size_t)count - whole;
        }
    }
    out[used] = '\0';
    return used;
}

enum kvc_status kvc_json_write_document(const json_t *document, const char *what, FILE *out,
                                        struct kvc_diag *diag)
{
    errno = 0;
    bool written = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(KVC_JSON_DIGITS)) == 0 &&
                   fputc('\n', out) != EOF && fflush(out) == 0;
    return written ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot write the %s: %s", what, strerror(errno));
}
