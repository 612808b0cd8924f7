#include "sim/base/text/refusal_fixture.h"

#include <stdio.h>
#include <stdlib.h>

void kvc_fuzz_check(bool right)
{
    if (!right) {
        abort();
    }
}

void kvc_fuzz_check_line(const char *text)
{
    kvc_fuzz_check(text[0] != '\0');
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at < ' ' || *at == 0x7f) {
            fprintf(stderr, "not one line of text: %s\n", text);
            abort();
        }
    }
}

void kvc_fuzz_check_refusal(enum kvc_status status, const struct kvc_diag *diag)
{
    kvc_fuzz_check(status == KVC_ERR_SCENARIO || status == KVC_ERR_RUNTIME);
    kvc_fuzz_check(diag->status == status);
    kvc_fuzz_check_line(diag->message);
    kvc_fuzz_check(diag->line >= 0 && (diag->line == 0 || diag->file[0] != '\0'));
}
