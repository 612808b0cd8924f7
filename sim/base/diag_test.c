#include "sim/base/diag.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

Test(diag, prints_its_place)
{
    struct kvc_diag diag = {0};
    char *text = NULL;
    size_t size = 0;
    cr_expect_eq(kvc_diag_fail_at(&diag, KVC_ERR_SCENARIO, "a.lua", 3, "found %d", 7), KVC_ERR_SCENARIO);
    FILE *out = open_memstream(&text, &size);
    kvc_diag_print(&diag, out);
    fclose(out);
    cr_expect_str_eq(text, "a.lua:3: found 7");
    cr_expect_eq(kvc_diag_fail(NULL, KVC_ERR_RUNTIME, "unheard"), KVC_ERR_RUNTIME);
    free(text);
}

/* A message may quote a foreign file and must not control the terminal. */
Test(diag, message_has_no_control_characters)
{
    struct kvc_diag diag = {0};
    kvc_diag_fail(&diag, KVC_ERR_SCENARIO, "found \"%s\"", "a\nb\tc\x1b[31m\x7f d\xc3\xa9");
    cr_expect_str_eq(diag.message, "found \"a b c?[31m? d\xc3\xa9\"");
}

Test(diag, lack_of_memory_ends_with_status_3, .exit_code = KVC_ERR_RUNTIME)
{
    kvc_out_of_memory("%d bytes", 7);
}

static void tell(void *data, const struct kvc_diag *diag)
{
    _exit(strcmp(diag->message, data) == 0 ? 42 : 1);
}

Test(diag, a_child_hands_its_message_to_its_parent, .exit_code = 42)
{
    kvc_out_of_memory_tell(tell, "out of memory: 7 bytes");
    kvc_out_of_memory("%d bytes", 7);
}
