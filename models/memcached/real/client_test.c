/* Tests of the texts that the clients of a measured memcached write and read. */
#include "models/memcached/real/client.h"

#include <criterion/criterion.h>
#include <string.h>

Test(memcached_client, keys_are_texts_that_differ)
{
    char text[4] = "", other[4] = "";
    cr_expect_eq(kvc_memcached_real_keys(2), 4096);
    for (uint64_t id = 0; id < 4096; id++) {
        kvc_memcached_real_key(id, 2, text);
        kvc_memcached_real_key((id + 1) % 4096, 2, other);
        cr_expect_neq(memcmp(text, other, 2), 0);
        cr_expect_eq(strpbrk(text, " \r\n"), NULL);
    }
    kvc_memcached_real_key(64 * 64 + 1, 3, text);
    cr_expect_eq(memcmp(text, "101", 3), 0);
}

/* GETs of the keys 1 and 2 with values of 3 and 0 bytes. */
static struct kvc_batch *two_keys(void)
{
    struct kvc_batch *batch = kvc_batch_create(2, 8);
    for (; batch->count < 2; batch->count++) {
        batch->op[batch->count] = KVC_OP_GET;
        batch->key_id[batch->count] = batch->count + 1;
        batch->key_bytes[batch->count] = 2;
        batch->value_bytes[batch->count] = batch->count == 0 ? 3 : 0;
    }
    return batch;
}

Test(memcached_client, responses_are_checked)
{
    static const struct {
        const char *response;
        int found;
    } cases[] = {
        {"VALUE 10 0 3\r\nbbb\r\nVALUE 20 0 0\r\n\r\nEND\r\n", 2},
        {"VALUE 20 0 0\r\n\r\nEND\r\n", 1},
        {"VALUE 10 0 3\r\nbbb\r\nEND\r\n", 1},
        {"END\r\n", 0},
        {"VALUE 10 0 3\r\nbab\r\nEND\r\n", -1},                     /* a wrong byte */
        {"VALUE 10 0 3\r\nccc\r\nEND\r\n", -1},                     /* another key's value */
        {"VALUE 10 0 2\r\nbb\r\nEND\r\n", -1},                      /* a wrong size */
        {"VALUE 20 0 0\r\n\r\nVALUE 10 0 3\r\nbbb\r\nEND\r\n", -1}, /* a wrong order */
        {"VALUE 30 0 3\r\nddd\r\nEND\r\n", -1},                     /* a key that nobody asked for */
        {"VALUE 10 0 3\r\nbb", -1},                                 /* cut off */
        {"SERVER_ERROR out of memory storing object\r\n", -1},
        {"", -1},
    };
    struct kvc_batch *batch = two_keys();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t bytes = strlen(cases[i].response);
        int found = kvc_memcached_real_check(batch, 0, 2, cases[i].response, bytes);
        cr_expect_eq(found, cases[i].found, "%s: %d", cases[i].response, found);
    }
    kvc_batch_free(batch);
}
