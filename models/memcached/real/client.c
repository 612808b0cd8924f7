#include "models/memcached/real/client.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/memcached/config.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"

enum {
    HEADER_BYTES = 8, /* UDP: number, datagram, datagrams, reserved. */
    LINE_BYTES = 64,  /* A command or a response is no longer, besides its key. */
    WAIT_MS = 1000,   /* For a server that takes no bytes. */
    DIGIT_BITS = 6,   /* A character of a key carries them. */
    KEY_STRIDE = 256,
    SLOT_BITS = 12, /* They name the slot in the number of a datagram; the rest tells apart what had the same
                       slot before. */
    DATAGRAM_BYTES = 65536,
};

static const double lost_after_ns =
    2e9; /* Longer than a server waits for its core: late answers are not loss. */

/* A request in flight. Its rows in `batch` are those of the frame that it came from. */
struct kvc_memcached_real_request {
    struct kvc_batch *batch;
    double began_ns;
    bool in_flight;
    uint8_t turn; /* Tells a response from a late one to the request before. */
    int socket;   /* TCP. */
    char *response;
    size_t bytes, room;
};

static double now_ns(const struct kvc_memcached_real_client *client)
{
    return (kvc_clock_wall_s() - client->started_s) * 1e9;
}

/* Ends the run; `response` is of `bytes` bytes, of which the first line is told. */
static void fail(struct kvc_memcached_real_client *client, const char *what, const char *response,
                 size_t bytes)
{
    int length = 0;
    while ((size_t)length < bytes && length < 80 && response[length] != '\r' && response[length] != '\n') {
        length++;
    }
    snprintf(client->error, sizeof(client->error), "%s: \"%.*s\"", what, length, response);
    atomic_store(&client->failed, true);
}

/* ---- texts ---- */

void kvc_memcached_real_key(uint64_t id, uint32_t bytes, char *text)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
    for (uint32_t i = 0; i < bytes; i++, id >>= DIGIT_BITS) {
        text[i] = digits[id & ((1 << DIGIT_BITS) - 1)];
    }
}

double kvc_memcached_real_keys(uint32_t bytes)
{
    return exp2((double)bytes * DIGIT_BITS);
}

/* Every byte of a value is this one. */
static char value_of(uint64_t id)
{
    return (char)('a' + id % 26);
}

/* Writes a SET with its value and returns its bytes. */
static size_t write_set(const struct kvc_batch *batch, uint32_t row, const char *option, char *text)
{
    size_t at = (size_t)sprintf(text, "set ");
    kvc_memcached_real_key(batch->key_id[row], batch->key_bytes[row], text + at);
    at += batch->key_bytes[row];
    at += (size_t)sprintf(text + at, " 0 0 %u%s\r\n", batch->value_bytes[row], option);
    memset(text + at, value_of(batch->key_id[row]), batch->value_bytes[row]);
    at += batch->value_bytes[row];
    memcpy(text + at, "\r\n", 2);
    return at + 2;
}

static size_t write_request(const struct kvc_batch *batch, char *text)
{
    if (batch->op[0] == KVC_OP_SET) {
        return write_set(batch, 0, "", text);
    }
    size_t at = (size_t)sprintf(text, batch->op[0] == KVC_OP_GET ? "get" : "delete");
    for (uint32_t i = 0; i < batch->count; i++) {
        text[at++] = ' ';
        kvc_memcached_real_key(batch->key_id[i], batch->key_bytes[i], text + at);
        at += batch->key_bytes[i];
    }
    memcpy(text + at, "\r\n", 2);
    return at + 2;
}

/* Returns the bytes of the pair of a row at the beginning of a response; 0: it is another key's; -1: it is
 * wrong. */
static int pair_bytes(const struct kvc_batch *batch, uint32_t row, const char *response, size_t bytes)
{
    char line[LINE_BYTES + UINT8_MAX] = "VALUE ";
    uint32_t key = batch->key_bytes[row], value = batch->value_bytes[row];
    size_t at = strlen(line);
    kvc_memcached_real_key(batch->key_id[row], key, line + at);
    at += key;
    if (bytes < at || memcmp(response, line, at) != 0) {
        return 0;
    }
    at += (size_t)sprintf(line + at, " 0 %u\r\n", value);
    const char *data = response + at;
    char expected = value_of(batch->key_id[row]);
    bool right = bytes >= at + value + 2 && memcmp(response, line, at) == 0 &&
                 memcmp(data + value, "\r\n", 2) == 0 &&
                 (value == 0 || (data[0] == expected && memcmp(data, data + 1, value - 1) == 0));
    return right ? (int)(at + value + 2) : -1;
}

int kvc_memcached_real_check(const struct kvc_batch *batch, uint32_t first, uint32_t count,
                             const char *response, size_t bytes)
{
    int found = 0;
    for (uint32_t row = first; row < first + count; row++) {
        int pair = pair_bytes(batch, row, response, bytes);
        if (pair < 0) {
            return -1;
        }
        found += pair > 0;
        response += pair;
        bytes -= (size_t)pair;
    }
    return bytes == 5 && memcmp(response, "END\r\n", 5) == 0 ? found : -1;
}

/* ---- open and close ---- */

static size_t request_bytes(const struct kvc_memcached_real_load *load)
{
    return HEADER_BYTES + LINE_BYTES + (size_t)load->keys * (load->key_bytes_max + 1) + load->value_bytes_max;
}

static bool connect_all(struct kvc_memcached_real_client *client,
                        const struct kvc_memcached_real_server *server)
{
    const struct kvc_memcached_real_load *load = &client->load;
    if (!load->tcp) {
        client->ready = kvc_memcached_real_connect(server, SOCK_DGRAM);
        return client->ready >= 0;
    }
    client->ready = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < load->requests; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = i}};
        client->request[i].socket = kvc_memcached_real_connect(server, SOCK_STREAM);
        if (client->request[i].socket < 0 ||
            epoll_ctl(client->ready, EPOLL_CTL_ADD, client->request[i].socket, &event) != 0) {
            return false;
        }
    }
    return client->ready >= 0;
}

enum kvc_status kvc_memcached_real_client_open(struct kvc_memcached_real_client *client,
                                               const struct kvc_memcached_real_server *server,
                                               const struct kvc_memcached_real_load *load,
                                               struct kvc_diag *diag)
{
    size_t pair = LINE_BYTES + load->key_bytes_max + load->value_bytes_max;
    *client = (struct kvc_memcached_real_client){.load = *load, .oldest_sent_ns = INFINITY, .ready = -1};
    client->text = kvc_array_of(request_bytes(load) + DATAGRAM_BYTES, 1);
    client->request = kvc_array_of(load->requests, sizeof(*client->request));
    client->free = kvc_array_of(load->requests, sizeof(*client->free));
    for (uint32_t i = 0; i < load->requests; i++) {
        struct kvc_memcached_real_request *request = &client->request[i];
        request->batch = kvc_batch_create(load->keys, KEY_STRIDE);
        request->room = LINE_BYTES + load->keys * pair;
        request->response = kvc_array_of(request->room, 1);
        client->free[client->free_count++] = i;
    }
    client->started_s = kvc_clock_wall_s();
    return connect_all(client, server)
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "memcached does not accept %u connections: %s",
                               load->requests, strerror(errno));
}

void kvc_memcached_real_client_close(struct kvc_memcached_real_client *client)
{
    for (uint32_t i = 0; client->request != NULL && i < client->load.requests; i++) {
        struct kvc_memcached_real_request *request = &client->request[i];
        if (request->socket > 0) {
            close(request->socket);
        }
        kvc_batch_free(request->batch);
        free(request->response);
    }
    if (client->request != NULL && client->ready >= 0) {
        close(client->ready);
    }
    free(client->request);
    free(client->free);
    free(client->text);
    *client = (struct kvc_memcached_real_client){.request = NULL};
}

/* ---- responses ---- */

static void release(struct kvc_memcached_real_client *client, uint32_t slot)
{
    struct kvc_memcached_real_request *request = &client->request[slot];
    const struct kvc_batch *batch = request->batch;
    double at_ns = now_ns(client);
    for (uint32_t i = 0; client->load.answered != NULL && i < batch->count; i++) {
        client->load.answered(client->load.data, batch->client[i], at_ns);
    }
    request->in_flight = false;
    client->free[(client->free_first + client->free_count++) % client->load.requests] = slot;
}

/* Counts a complete response and frees its request. */
static void complete(struct kvc_memcached_real_client *client, uint32_t slot)
{
    struct kvc_memcached_real_request *request = &client->request[slot];
    struct kvc_memcached_real_counts *counts = &client->counts;
    const struct kvc_batch *batch = request->batch;
    uint8_t op = batch->op[0];
    int found = 0;
    if (op == KVC_OP_GET) {
        found = kvc_memcached_real_check(batch, 0, batch->count, request->response, request->bytes);
    } else if (strncmp(request->response, op == KVC_OP_SET ? "STORED\r\n" : "DELETED\r\n", request->bytes) !=
                   0 &&
               (op == KVC_OP_SET || strncmp(request->response, "NOT_FOUND\r\n", request->bytes) != 0)) {
        found = -1;
    }
    if (found < 0) {
        fail(client, "memcached gave a wrong answer", request->response, request->bytes);
        return;
    }
    counts->hits += (uint64_t)found;
    counts->misses += op == KVC_OP_GET ? batch->count - (uint32_t)found : 0;
    counts->sets += op == KVC_OP_SET;
    counts->deletes += op == KVC_OP_DELETE;
    double done_ns = now_ns(client);
    for (uint32_t i = 0; i < batch->count; i++) {
        kvc_histogram_record(&client->latency, &batch->sent_ns[i], &done_ns, 1);
    }
    if (batch->count > 1) {
        counts->multigets++;
        counts->multiget_ns += done_ns - batch->sent_ns[0];
    }
    client->oldest_sent_ns = fmin(client->oldest_sent_ns, batch->sent_ns[0]);
    release(client, slot);
}

/* Looks at what has arrived. A response to a GET ends with END and holds it nowhere else, as values repeat
 * one letter; memcached 1.6 sends each pair of a multiget in datagrams of its own, so that their headers do
 * not say which is the last one. Errors are lines that begin with ERROR, SERVER_ERROR or CLIENT_ERROR. */
static void look_at(struct kvc_memcached_real_client *client, uint32_t slot)
{
    const struct kvc_memcached_real_request *request = &client->request[slot];
    const char *end = request->batch->op[0] == KVC_OP_GET ? "END\r\n" : "\r\n";
    size_t length = strlen(end);
    if (request->bytes < length) {
        return;
    }
    const char *last = request->response + request->bytes - length;
    bool errs = strncmp(request->response, "ERROR", 5) == 0 || request->response[0] == 'C' ||
                (request->response[0] == 'S' && request->response[1] == 'E');
    if (memcmp(last, end, length) == 0) {
        complete(client, slot);
    } else if (errs && request->response[request->bytes - 1] == '\n') {
        fail(client, "memcached gave a wrong answer", request->response, request->bytes);
    }
}

/* Receives a datagram. Returns false if there is none. */
static bool receive_datagram(struct kvc_memcached_real_client *client)
{
    uint8_t *text = (uint8_t *)client->text;
    ssize_t bytes = recv(client->ready, text, DATAGRAM_BYTES, 0);
    if (bytes < HEADER_BYTES) {
        return false;
    }
    uint32_t number = (uint32_t)text[0] << 8 | text[1], slot = number & ((1 << SLOT_BITS) - 1);
    struct kvc_memcached_real_request *request = &client->request[slot];
    size_t length = (size_t)bytes - HEADER_BYTES;
    if (slot >= client->load.requests || !request->in_flight || request->turn != number >> SLOT_BITS) {
        return true; /* It was given up. */
    }
    length = length < request->room - request->bytes ? length : request->room - request->bytes;
    memcpy(request->response + request->bytes, text + HEADER_BYTES, length);
    request->bytes += length;
    look_at(client, slot);
    return true;
}

/* Receives from a connection. */
static void receive_stream(struct kvc_memcached_real_client *client, uint32_t slot)
{
    struct kvc_memcached_real_request *request = &client->request[slot];
    ssize_t bytes =
        recv(request->socket, request->response + request->bytes, request->room - request->bytes, 0);
    if (bytes > 0) {
        request->bytes += (size_t)bytes;
        look_at(client, slot);
    } else if (bytes == 0 || errno != EAGAIN) {
        fail(client, "memcached closed a connection", "", 0);
    }
}

uint32_t kvc_memcached_real_client_receive(struct kvc_memcached_real_client *client)
{
    uint32_t count = 0;
    if (client->free_count == client->load.requests) {
        return 0;
    }
    if (!client->load.tcp) {
        while (count < KVC_MEMCACHED_AT_ONCE && receive_datagram(client)) {
            count++;
        }
        return count;
    }
    struct epoll_event event[KVC_MEMCACHED_AT_ONCE];
    int events = epoll_wait(client->ready, event, KVC_MEMCACHED_AT_ONCE, 0);
    for (int i = 0; i < events; i++, count++) {
        receive_stream(client, event[i].data.u32);
    }
    return count;
}

/* ---- requests ---- */

/* Sends a text, all of it, to a server that may take its time. */
static bool send_all(int to, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(to, text, bytes, MSG_NOSIGNAL);
        if (sent < 0 && (errno != EAGAIN || poll(&(struct pollfd){to, POLLOUT, 0}, 1, WAIT_MS) <= 0)) {
            return false;
        }
        text += sent > 0 ? sent : 0;
        bytes -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

/* Sends the next request. Returns false if none is due, or if all are in flight. */
static bool send_next(struct kvc_memcached_real_client *client)
{
    if (client->free_count == 0) {
        return false;
    }
    uint32_t slot = client->free[client->free_first];
    struct kvc_memcached_real_request *request = &client->request[slot];
    request->batch->count = 0;
    double at_ns = now_ns(client);
    if (client->load.next(client->load.data, at_ns, request->batch) == 0) {
        client->caught_up = true;
        return false;
    }
    client->free_first = (client->free_first + 1) % client->load.requests;
    client->free_count--;
    request->in_flight = true;
    request->began_ns = at_ns;
    request->bytes = 0;
    request->turn = (request->turn + 1) & ((1 << (16 - SLOT_BITS)) - 1);
    for (uint32_t i = 0; i < request->batch->count; i++) {
        request->batch->sent_ns[i] = isnan(request->batch->sent_ns[i]) ? at_ns : request->batch->sent_ns[i];
    }
    uint32_t number = slot | (uint32_t)request->turn << SLOT_BITS;
    const uint8_t header[HEADER_BYTES] = {(uint8_t)(number >> 8), (uint8_t)number, 0, 0, 0, 1, 0, 0};
    memcpy(client->text, header, HEADER_BYTES);
    size_t bytes = write_request(request->batch, client->text + HEADER_BYTES);
    bool sent = client->load.tcp ? send_all(request->socket, client->text + HEADER_BYTES, bytes)
                                 : send_all(client->ready, client->text, HEADER_BYTES + bytes);
    if (!sent) {
        const char *reason = strerror(errno);
        fail(client, "memcached takes no request", reason, strlen(reason));
    }
    return sent;
}

/* Gives up one request that the kernel has lost. */
static void look_for_lost(struct kvc_memcached_real_client *client)
{
    uint32_t slot = client->looked++ % client->load.requests;
    const struct kvc_memcached_real_request *request = &client->request[slot];
    if (request->in_flight && !client->load.tcp && now_ns(client) - request->began_ns > lost_after_ns) {
        client->counts.lost += request->batch->count;
        release(client, slot);
    }
}

uint32_t kvc_memcached_real_client_send(struct kvc_memcached_real_client *client, uint32_t most)
{
    uint32_t sent = 0;
    while (sent < most && !atomic_load_explicit(&client->failed, memory_order_relaxed) && send_next(client)) {
        sent++;
    }
    return sent;
}

double kvc_memcached_real_client_step(struct kvc_memcached_real_client *client)
{
    double began_ns = now_ns(client);
    uint32_t received = kvc_memcached_real_client_receive(client);
    uint32_t sent = kvc_memcached_real_client_send(client, KVC_MEMCACHED_AT_ONCE);
    look_for_lost(client);
    if (received + sent == 0) {
        return 0;
    }
    double ended_ns = now_ns(client);
    client->counts.busy_ns += ended_ns - began_ns;
    return ended_ns;
}

enum kvc_status kvc_memcached_real_preload(const struct kvc_memcached_real_server *server,
                                           const struct kvc_batch *batch, struct kvc_diag *diag)
{
    int connection = kvc_memcached_real_connect(server, SOCK_STREAM);
    bool took = connection >= 0;
    for (uint32_t row = 0; took && row < batch->count; row++) {
        char *text = kvc_array_of(LINE_BYTES + UINT8_MAX + (size_t)batch->value_bytes[row], 1);
        took = send_all(connection, text, write_set(batch, row, " noreply", text));
        free(text);
    }
    char answer[16] = "";
    took = took && send_all(connection, "mn\r\n", 4) && /* A command that does nothing but answer. */
           poll(&(struct pollfd){connection, POLLIN, 0}, 1, 10 * WAIT_MS) > 0 &&
           recv(connection, answer, sizeof(answer) - 1, 0) > 0;
    if (connection >= 0) {
        close(connection);
    }
    return took && strcmp(answer, "MN\r\n") == 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                               "%d %s memcached did not take the keys to preload: \"%.*s\"", took,
                               strerror(errno), (int)strcspn(answer, "\r\n"), answer);
}
