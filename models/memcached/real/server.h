/* The memcached that is installed on this machine, as a process with pinned threads. */
#ifndef KVC_MODELS_MEMCACHED_REAL_SERVER_H
#define KVC_MODELS_MEMCACHED_REAL_SERVER_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "sim/base/diag.h"

enum { KVC_MEMCACHED_REAL_THREADS_MAX = 64 };

/* A zeroed server can be closed. */
struct kvc_memcached_real_server {
    pid_t process;
    uint16_t port;    /* The server listens here, over UDP and TCP, on 127.0.0.1. */
    uint32_t threads; /* Threads that serve requests. */
    clockid_t clock;  /* Processor time of the whole process. */
    int statistics[KVC_MEMCACHED_REAL_THREADS_MAX]; /* The scheduler's, for each of these threads. */
};

/* Times since the server was started [ns]. */
struct kvc_memcached_real_times {
    double busy_ns;    /* Its process ran; other threads than those that serve requests hardly do. */
    double delayed_ns; /* The threads that serve requests were ready to run, but something else ran on their
                          core. */
};

/* Returns KVC_ERR_SCENARIO if memcached is not installed, with the name of its package. */
enum kvc_status kvc_memcached_real_server_check(struct kvc_diag *diag);

/* Starts the server with room for `memory_bytes` of items and for `connections`. Its threads take turns on
 * the cores of this process except core 0. Returns KVC_ERR_RUNTIME if it does not start. It must be closed
 * even then. */
enum kvc_status kvc_memcached_real_server_open(struct kvc_memcached_real_server *server, uint32_t threads,
                                               double memory_bytes, uint32_t connections,
                                               struct kvc_diag *diag);
void kvc_memcached_real_server_close(struct kvc_memcached_real_server *server);

/* Connects a new socket that does not block, of type SOCK_STREAM or SOCK_DGRAM. Returns -1 after an error. */
int kvc_memcached_real_connect(const struct kvc_memcached_real_server *server, int type);

/* Writes the server's version, as 1.6.18; "unknown": it does not tell. */
void kvc_memcached_real_server_version(const struct kvc_memcached_real_server *server, char *version,
                                       size_t size);

/* Stops all threads of the server, and lets them run again. */
void kvc_memcached_real_server_stop(const struct kvc_memcached_real_server *server);
void kvc_memcached_real_server_continue(const struct kvc_memcached_real_server *server);

struct kvc_memcached_real_times
kvc_memcached_real_server_times(const struct kvc_memcached_real_server *server);

#endif
