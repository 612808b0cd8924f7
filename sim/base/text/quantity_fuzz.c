/* Fuzz target that takes any text as a quantity such as "160us". The first byte selects the dimension. A
 * value that is accepted is finite, and what is printed of it reads back as the same value. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { UNITS = KVC_UNIT_WATTS + 1, PRINTED_BYTES = 64 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    enum kvc_unit unit = (enum kvc_unit)(data[0] % UNITS);
    char *text = strndup((const char *)data + 1, bytes - 1), printed[PRINTED_BYTES];
    const char *expected = NULL;
    double value = NAN, again = NAN;
    check(text != NULL);
    if (kvc_quantity_parse(text, unit, &value, &expected)) {
        check(isfinite(value));
        kvc_quantity_print(value, unit, printed, sizeof(printed));
        check(strlen(printed) < sizeof(printed) - 1);
        check(kvc_quantity_parse(printed, unit, &again, &expected) && again == value);
    }
    check(expected != NULL);
    free(text);
    return 0;
}
