#include "scenarios/output/table.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(table, digits_are_four_unless_a_number_is_whole_or_large)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {4, "4"},
        {-12, "-12"},
        {1000, "1000"},
        {123456, "123456"},
        {1234.5, "1234"},
        {123.456, "123.5"},
        {12.3456, "12.35"},
        {1.5, "1.500"},
        {0.5, "0.5000"},
        {0.0123456, "0.01235"},
        {0.001, "0.001000"},
        {0.00099996, "0.001000"},
        {0.00012345, "1.234e-04"},
        {9.9996, "10.00"},
        {99.996, "100.0"},
        {999.96, "1000"},
        {9999999, "9999999"},
        {12345678, "1.235e+07"},
        {-0.25, "-0.2500"},
        {NAN, "-"},
        {INFINITY, "-"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[KVC_TABLE_DIGITS_TEXT];
        const char *found = kvc_table_digits(cases[i].value, text);
        cr_expect(strcmp(found, cases[i].text) == 0, "%.9g is \"%s\", not \"%s\"", cases[i].value, found,
                  cases[i].text);
    }
}
