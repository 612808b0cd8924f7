#include "sim/workload/trace/stream.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { BYTES = 3000001, COMPRESSED_MAX = 2 * BYTES };

/* Fills bytes that compress, but not to nothing. */
static uint8_t *make_bytes(void)
{
    uint8_t *bytes = malloc(BYTES);
    cr_assert_not_null(bytes);
    for (uint32_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)((i * 2654435761u) >> 28);
    }
    return bytes;
}

static char *write_file(const uint8_t *bytes, size_t count)
{
    char *path = strdup("/tmp/kvc_stream_XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, bytes, count), (ssize_t)count);
    close(file);
    return path;
}

static size_t as_gzip(uint8_t *to, const uint8_t *bytes, size_t count)
{
    z_stream stream = {0};
    cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (uint8_t *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = to;
    stream.avail_out = COMPRESSED_MAX;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return COMPRESSED_MAX - stream.avail_out;
}

static size_t as_zstd(uint8_t *to, const uint8_t *bytes, size_t count)
{
    size_t made = ZSTD_compress(to, COMPRESSED_MAX, bytes, count, 3);
    cr_assert(!ZSTD_isError(made));
    return made;
}

static size_t as_is(uint8_t *to, const uint8_t *bytes, size_t count)
{
    memcpy(to, bytes, count);
    return count;
}

/* Reads a file in steps of different sizes. Returns how many bytes were as expected before the end, or before
 * an error, whose message is in `diag`. */
static size_t read_all(const char *path, const uint8_t *expected, struct kvc_diag *diag)
{
    struct kvc_stream *stream = kvc_stream_open(path, diag);
    size_t read = 0, found = 1;
    cr_assert_not_null(stream, "%s", diag->message);
    for (size_t step = 1;; step = step * 7 % KVC_STREAM_LOOK_MAX + 1) {
        const uint8_t *bytes = kvc_stream_look(stream, step, &found, diag);
        if (bytes == NULL || found == 0) {
            break;
        }
        found = found < step ? found : step;
        cr_assert_eq(memcmp(bytes, expected + read, found), 0);
        kvc_stream_skip(stream, found);
        read += found;
    }
    cr_expect(diag->status != KVC_OK || kvc_stream_read_frac(stream) == 1);
    kvc_stream_close(stream);
    return read;
}

Test(stream, expands_what_is_compressed_in_parts)
{
    size_t (*const ways[])(uint8_t *, const uint8_t *, size_t) = {as_is, as_gzip, as_zstd};
    uint8_t *bytes = make_bytes(), *file = malloc(2 * COMPRESSED_MAX);
    for (int way = 0; way < 3; way++) {
        struct kvc_diag diag = {0};
        size_t count = ways[way](file, bytes, BYTES / 3); /* Two members or frames. */
        count += ways[way](file + count, bytes + BYTES / 3, BYTES - BYTES / 3);
        char *path = write_file(file, count);
        cr_expect_eq(read_all(path, bytes, &diag), BYTES);
        cr_expect_eq(diag.status, KVC_OK, "%s", diag.message);
        unlink(path);
        free(path);
    }
    free(file);
    free(bytes);
}

Test(stream, a_file_that_is_cut_off_or_damaged_says_so)
{
    size_t (*const ways[])(uint8_t *, const uint8_t *, size_t) = {as_gzip, as_zstd};
    uint8_t *bytes = make_bytes(), *file = malloc(COMPRESSED_MAX);
    for (int way = 0; way < 2; way++) {
        struct kvc_diag cut = {0}, damaged = {0};
        size_t count = ways[way](file, bytes, BYTES);
        char *path = write_file(file, count - 5);
        cr_expect_leq(read_all(path, bytes, &cut), BYTES);
        cr_expect_eq(cut.status, KVC_ERR_SCENARIO);
        cr_expect_str_eq(cut.file, path);
        cr_expect_not_null(strstr(cut.message, "cut off"), "%s", cut.message);
        unlink(path);
        free(path);
        memset(file + 4, 0xee, 8);
        path = write_file(file, count);
        cr_expect_eq(read_all(path, bytes, &damaged), 0);
        cr_expect_eq(damaged.status, KVC_ERR_SCENARIO);
        unlink(path);
        free(path);
    }
    free(file);
    free(bytes);
}
