#include "sim/base/text/printable.h"

#include <criterion/criterion.h>
#include <string.h>

static void becomes(const char *text, const char *expected)
{
    char copy[64];
    strcpy(copy, text);
    cr_expect_eq(kvc_is_printable(text, strlen(text)), strcmp(text, expected) == 0, "%s", expected);
    kvc_make_printable(copy);
    cr_expect_str_eq(copy, expected);
    cr_expect(kvc_is_printable(copy, strlen(copy)));
}

Test(printable, keeps_text)
{
    becomes("", "");
    becomes("run.seed = 3", "run.seed = 3");
    becomes("Gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x98\x80",
            "Gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

Test(printable, replaces_what_controls_a_terminal)
{
    becomes("a\nb\tc\x1b[31m\x7f", "a b c?[31m?");
    becomes("\xc2\x9b"
            "31m",
            "??31m"); /* CSI as one character. */
    becomes("\xe2\x80\xae"
            "abc",
            "???abc"); /* Right-to-left override. */
    becomes("\xe2\x80\xa8"
            "kvcast",
            "???kvcast"); /* Line separator. */
}

Test(printable, replaces_what_is_not_utf_8)
{
    becomes("\xff\xfe"
            "a",
            "??a");
    becomes("\xc3", "?");
    becomes("\xc0\x8a", "??");           /* A newline in two bytes. */
    becomes("\xed\xa0\x80", "???");      /* A surrogate. */
    becomes("\xf4\x90\x80\x80", "????"); /* Beyond Unicode. */
    cr_expect(!kvc_is_printable("a\0b", 3));
}
