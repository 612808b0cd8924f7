/** @file
 * A stream reads a file from its beginning to its end in constant memory, and expands it if its first bytes
 * say that it is compressed: gzip (RFC 1952), with any number of members, or zstd (RFC 8878), with any number
 * of frames. */
#ifndef KVC_SIM_WORKLOAD_TRACE_STREAM_H
#define KVC_SIM_WORKLOAD_TRACE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_STREAM_LOOK_MAX = 1 << 16 /**< Most bytes that a caller can look at together. */ };

/** An open stream. */
struct kvc_stream;

/** Closes a stream. NULL is allowed. */
void kvc_stream_close(struct kvc_stream *stream);

/** Opens a stream. Returns NULL and fills `diag` if the file cannot be opened, is a folder, or memory is
 * short. */
struct kvc_stream *kvc_stream_open(const char *path, struct kvc_diag *diag);

/** Looks at the next `bytes` bytes, at most KVC_STREAM_LOOK_MAX, and leaves them in place. Sets `*found` to
 * how many there are, more than `bytes` or, at the end of the file, fewer. They stay until the next look.
 * Returns NULL and fills `diag` if the file cannot be read on, or is cut off or damaged within its
 * compression. */
const uint8_t *kvc_stream_look(struct kvc_stream *stream, size_t bytes, size_t *found, struct kvc_diag *diag);

/** Moves on by `bytes` bytes, which the caller has looked at. */
void kvc_stream_skip(struct kvc_stream *stream, size_t bytes);

/** Returns which share of the file has been read, 0 to 1. The share of a pipe is unknown, and 1. */
double kvc_stream_read_frac(const struct kvc_stream *stream);

#endif
