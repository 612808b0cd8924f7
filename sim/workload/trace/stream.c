#include "sim/workload/trace/stream.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT_BYTES = 1 << 17, ROOM_BYTES = 1 << 18, GZIP_WINDOW = 15 + 16 /* With a header. */ };

struct kvc_stream {
    FILE *file;
    double file_bytes, read_bytes;
    const char *path;
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool is_gzip, within; /* A compressed member or frame has begun and not ended. */
    size_t input_next, input_end;
    size_t next, end; /* What the caller has not skipped yet, in `room`. */
    uint8_t input[INPUT_BYTES], room[ROOM_BYTES];
    char name[];
};

void kvc_stream_close(struct kvc_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->is_gzip) {
        inflateEnd(&stream->gzip);
    }
    ZSTD_freeDStream(stream->zstd);
    if (stream->file != NULL) {
        fclose(stream->file);
    }
    free(stream);
}

/* Fails because of the file's contents. */
static bool fail(const struct kvc_stream *stream, struct kvc_diag *diag, const char *why)
{
    kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, stream->path, 0, "%s", why);
    return false;
}

static bool fail_damaged(const struct kvc_stream *stream, struct kvc_diag *diag, const char *why)
{
    kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, stream->path, 0, "the compressed file is damaged: %s", why);
    return false;
}

/* Reads the next compressed bytes, or the next plain bytes into `to`. */
static bool read_file(struct kvc_stream *stream, uint8_t *to, size_t room, size_t *bytes,
                      struct kvc_diag *diag)
{
    *bytes = fread(to, 1, room, stream->file);
    stream->read_bytes += (double)*bytes;
    if (*bytes == 0 && ferror(stream->file)) {
        kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, stream->path, 0, "cannot read on: %s", strerror(errno));
        return false;
    }
    return true;
}

static bool expand_gzip(struct kvc_stream *stream, size_t *made, struct kvc_diag *diag)
{
    z_stream *gzip = &stream->gzip;
    gzip->next_in = stream->input + stream->input_next;
    gzip->avail_in = (uInt)(stream->input_end - stream->input_next);
    gzip->next_out = stream->room + stream->end;
    gzip->avail_out = (uInt)(ROOM_BYTES - stream->end);
    if (!stream->within && inflateReset(gzip) != Z_OK) {
        return fail(stream, diag, "cannot expand gzip");
    }
    int outcome = inflate(gzip, Z_NO_FLUSH);
    if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
        return fail_damaged(stream, diag, gzip->msg != NULL ? gzip->msg : "it is no gzip");
    }
    stream->within = outcome != Z_STREAM_END;
    stream->input_next = stream->input_end - gzip->avail_in;
    *made = ROOM_BYTES - stream->end - gzip->avail_out;
    return true;
}

static bool expand_zstd(struct kvc_stream *stream, size_t *made, struct kvc_diag *diag)
{
    ZSTD_inBuffer in = {stream->input, stream->input_end, stream->input_next};
    ZSTD_outBuffer out = {stream->room, ROOM_BYTES, stream->end};
    size_t outcome = ZSTD_decompressStream(stream->zstd, &out, &in);
    if (ZSTD_isError(outcome)) {
        return fail_damaged(stream, diag, ZSTD_getErrorName(outcome));
    }
    stream->within = outcome != 0;
    stream->input_next = in.pos;
    *made = out.pos - stream->end;
    return true;
}

/* Adds bytes to the room. Sets `*made` to 0 at the end of the file. */
static bool fill(struct kvc_stream *stream, size_t *made, struct kvc_diag *diag)
{
    if (!stream->is_gzip && stream->zstd == NULL) {
        return read_file(stream, stream->room + stream->end, ROOM_BYTES - stream->end, made, diag);
    }
    do {
        /* A decoder may hold bytes back that it has room for now, so it goes on before the file does. */
        size_t got = 1;
        if (stream->input_next == stream->input_end) {
            stream->input_next = 0;
            if (!read_file(stream, stream->input, INPUT_BYTES, &got, diag)) {
                return false;
            }
            stream->input_end = got;
        }
        if (got == 0 && !stream->within) {
            *made = 0;
            return true;
        }
        if (!(stream->is_gzip ? expand_gzip : expand_zstd)(stream, made, diag)) {
            return false;
        }
        if (got == 0 && *made == 0) {
            return fail(stream, diag, "the compressed file is cut off");
        }
    } while (*made == 0);
    return true;
}

/* Fails if the first bytes are of a kind of file that people take for a trace, but no reader does. */
static bool refuse_foreign(const struct kvc_stream *stream, size_t bytes, struct kvc_diag *diag)
{
    static const struct {
        const char *name, *magic;
        size_t at, bytes;
    } foreign[] = {{"an xz file", "7zXZ", 1, 4},
                   {"a bzip2 file", "1AY&SY", 4, 6},
                   {"an lz4 file", "\x04\x22\x4d\x18", 0, 4},
                   {"a zip file", "PK\x03\x04", 0, 4},
                   {"a 7z file", "7z\xbc\xaf\x27\x1c", 0, 6},
                   {"an SQLite database", "SQLite format 3", 0, 15},
                   {"text with a byte order mark", "\xef\xbb\xbf", 0, 3},
                   {"a picture", "\x89PNG", 0, 4}};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        if (bytes >= foreign[i].at + foreign[i].bytes &&
            memcmp(stream->input + foreign[i].at, foreign[i].magic, foreign[i].bytes) == 0) {
            kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, stream->path, 0,
                             "is %s, allowed: a trace as it is, or packed by gzip or zstd", foreign[i].name);
            return false;
        }
    }
    return true;
}

/* Looks at the file's first bytes, and prepares to expand it. */
static bool begin(struct kvc_stream *stream, struct kvc_diag *diag)
{
    static const uint8_t gzip_magic[] = {0x1f, 0x8b}, zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    size_t bytes;
    if (!read_file(stream, stream->input, INPUT_BYTES, &bytes, diag)) {
        return false;
    }
    stream->input_end = bytes;
    if (bytes >= sizeof(gzip_magic) && memcmp(stream->input, gzip_magic, sizeof(gzip_magic)) == 0) {
        stream->is_gzip = inflateInit2(&stream->gzip, GZIP_WINDOW) == Z_OK;
        return stream->is_gzip || fail(stream, diag, "no memory to expand gzip");
    }
    if (bytes >= sizeof(zstd_magic) && memcmp(stream->input, zstd_magic, sizeof(zstd_magic)) == 0) {
        stream->zstd = ZSTD_createDStream();
        return stream->zstd != NULL || fail(stream, diag, "no memory to expand zstd");
    }
    memcpy(stream->room, stream->input, bytes);
    stream->end = bytes;
    return refuse_foreign(stream, bytes, diag);
}

struct kvc_stream *kvc_stream_open(const char *path, struct kvc_diag *diag)
{
    size_t name_bytes = strlen(path) + 1;
    struct kvc_stream *stream = malloc(sizeof(*stream) + name_bytes);
    struct stat status;
    if (stream == NULL) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the trace reader");
        return NULL;
    }
    memset(stream, 0, offsetof(struct kvc_stream, input)); /* The rooms are large. */
    stream->path = memcpy(stream->name, path, name_bytes);
    if ((stream->file = fopen(path, "r")) == NULL) {
        kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cannot open the trace \"%s\": %s", path, strerror(errno));
    } else if (fstat(fileno(stream->file), &status) == 0 && S_ISDIR(status.st_mode)) {
        kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cannot open the trace \"%s\": it is a folder", path);
    } else {
        setvbuf(stream->file, NULL, _IONBF, 0); /* The rooms buffer. */
        stream->file_bytes = (double)status.st_size;
        if (begin(stream, diag)) {
            return stream;
        }
    }
    kvc_stream_close(stream);
    return NULL;
}

const uint8_t *kvc_stream_look(struct kvc_stream *stream, size_t bytes, size_t *found, struct kvc_diag *diag)
{
    size_t made = 1;
    if (stream->end - stream->next < bytes && stream->next > 0) {
        memmove(stream->room, stream->room + stream->next, stream->end - stream->next);
        stream->end -= stream->next;
        stream->next = 0;
    }
    while (stream->end - stream->next < bytes && made > 0) {
        if (!fill(stream, &made, diag)) {
            return NULL;
        }
        stream->end += made;
    }
    *found = stream->end - stream->next;
    return stream->room + stream->next;
}

void kvc_stream_skip(struct kvc_stream *stream, size_t bytes)
{
    stream->next += bytes;
}

double kvc_stream_read_frac(const struct kvc_stream *stream)
{
    bool is_plain = !stream->is_gzip && stream->zstd == NULL;
    double ahead = is_plain ? (double)(stream->end - stream->next) : 0;
    return stream->file_bytes > 0 ? fmin((stream->read_bytes - ahead) / stream->file_bytes, 1) : 1;
}
