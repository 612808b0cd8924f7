#include "models/memcached/real/server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/probes/pin.h"

static const char program[] = "memcached";
static const char thread_name[] = "mc-worker\n"; /* memcached 1.6, thread.c */

enum { TRIES = 2000, SOCKET_BYTES = 4 << 20 };

static void sleep_ms(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* ---- start and end ---- */

enum kvc_status kvc_memcached_real_server_check(struct kvc_diag *diag)
{
    const char *path = getenv("PATH");
    char file[4096];
    while (path != NULL && *path != '\0') {
        int bytes = (int)strcspn(path, ":");
        snprintf(file, sizeof(file), "%.*s/%s", bytes, path, program);
        if (access(file, X_OK) == 0) {
            return KVC_OK;
        }
        path += bytes + (path[bytes] == ':');
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "memcached is not installed: the Debian package memcached has it "
                         "(apt-get install memcached)");
}

static struct sockaddr_in address_of(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

/* Returns a port that was free a moment ago; 0: there is none. */
static uint16_t free_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t bytes = sizeof(address);
    int found = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = found >= 0 && bind(found, (struct sockaddr *)&address, bytes) == 0 &&
                 getsockname(found, (struct sockaddr *)&address, &bytes) == 0;
    close(found);
    return bound ? ntohs(address.sin_port) : 0;
}

/* Becomes the server. It ends with this process, even if that is killed. */
static _Noreturn void become(const struct kvc_memcached_real_server *server, double memory_bytes,
                             uint32_t connections)
{
    char threads[16], port[16], megabytes[32], most[16];
    const struct passwd *user = getpwuid(geteuid());
    snprintf(threads, sizeof(threads), "%u", server->threads);
    snprintf(port, sizeof(port), "%u", server->port);
    snprintf(megabytes, sizeof(megabytes), "%.0f", 64 + memory_bytes / 0x1p20);
    snprintf(most, sizeof(most), "%u", connections + 64);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp(program, program, "-l", "127.0.0.1", "-p", port, "-U", port, "-t", threads, "-m", megabytes, "-c",
           most, "-u", user != NULL ? user->pw_name : "nobody", (char *)NULL);
    _exit(127);
}

static enum kvc_status await(struct kvc_memcached_real_server *server, struct kvc_diag *diag)
{
    for (int i = 0; i < TRIES; i++) {
        int tried = kvc_memcached_real_connect(server, SOCK_STREAM);
        if (tried >= 0) {
            close(tried);
            return KVC_OK;
        }
        int status = 0;
        if (waitpid(server->process, &status, WNOHANG) == server->process) {
            server->process = 0;
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "memcached ended at its start, with status %d",
                                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        }
        sleep_ms();
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "memcached does not listen on port %u of 127.0.0.1",
                         server->port);
}

/* Pins the calling thread's future children or a thread of the server to a core of this process, or to all
 * but core 0. */
static void pin(pid_t thread, uint32_t core)
{
    cpu_set_t set;
    kvc_pin_core(core);
    sched_getaffinity(0, sizeof(set), &set);
    sched_setaffinity(thread, sizeof(set), &set);
}

/* Pins the threads that serve requests, and opens their statistics. */
static enum kvc_status pin_threads(struct kvc_memcached_real_server *server, struct kvc_diag *diag)
{
    char path[64], file[384], name[32] = "";
    uint32_t found = 0, others = kvc_pin_cores() - 1;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)server->process);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]) || found == server->threads) {
            continue;
        }
        snprintf(file, sizeof(file), "%s/%s/comm", path, entry->d_name);
        FILE *comm = fopen(file, "re");
        bool serves =
            comm != NULL && fgets(name, sizeof(name), comm) != NULL && strcmp(name, thread_name) == 0;
        if (comm != NULL) {
            fclose(comm);
        }
        pin((pid_t)atoi(entry->d_name), serves ? 1 + found % others : others);
        if (serves) {
            snprintf(file, sizeof(file), "%s/%s/schedstat", path, entry->d_name);
            server->statistics[found++] = open(file, O_RDONLY | O_CLOEXEC);
        }
    }
    kvc_pin_release();
    if (folder != NULL) {
        closedir(folder);
    }
    return found == server->threads && server->statistics[found - 1] >= 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                               "memcached: found %u threads called mc-worker with statistics in %s, expected "
                               "%u, as version 1.6 has them",
                               found, path, server->threads);
}

enum kvc_status kvc_memcached_real_server_open(struct kvc_memcached_real_server *server, uint32_t threads,
                                               double memory_bytes, uint32_t connections,
                                               struct kvc_diag *diag)
{
    *server = (struct kvc_memcached_real_server){.threads = threads, .port = free_port()};
    fflush(NULL); /* Or the child would write what is buffered, too. */
    server->process = fork();
    if (server->process == 0) {
        become(server, memory_bytes, connections);
    }
    if (server->process < 0) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "memcached cannot be started: no process");
    }
    clock_getcpuclockid(server->process, &server->clock);
    enum kvc_status status = await(server, diag);
    return status == KVC_OK ? pin_threads(server, diag) : status;
}

void kvc_memcached_real_server_close(struct kvc_memcached_real_server *server)
{
    if (server->process > 0) {
        kill(server->process, SIGKILL); /* It has nothing to save. */
        waitpid(server->process, NULL, 0);
    }
    for (uint32_t i = 0; i < server->threads; i++) {
        if (server->statistics[i] > 0) {
            close(server->statistics[i]);
        }
    }
    *server = (struct kvc_memcached_real_server){.process = 0};
}

/* ---- use ---- */

int kvc_memcached_real_connect(const struct kvc_memcached_real_server *server, int type)
{
    struct sockaddr_in address = address_of(server->port);
    int connected = socket(AF_INET, type | SOCK_CLOEXEC, 0), bytes = SOCKET_BYTES, on = 1;
    if (connected >= 0 && connect(connected, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(connected);
        return -1;
    }
    if (type == SOCK_DGRAM && setsockopt(connected, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0) {
        setsockopt(connected, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    }
    if (type == SOCK_STREAM) {
        setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    if (connected >= 0) {
        fcntl(connected, F_SETFL, O_NONBLOCK);
    }
    return connected;
}

void kvc_memcached_real_server_version(const struct kvc_memcached_real_server *server, char *version,
                                       size_t size)
{
    static const char ask[] = "version\r\n", told[] = "VERSION ";
    char answer[64] = "";
    int connection = kvc_memcached_real_connect(server, SOCK_STREAM);
    bool tells = connection >= 0 && send(connection, ask, strlen(ask), MSG_NOSIGNAL) > 0 &&
                 poll(&(struct pollfd){connection, POLLIN, 0}, 1, TRIES) > 0 &&
                 recv(connection, answer, sizeof(answer) - 1, 0) > 0 &&
                 strncmp(answer, told, strlen(told)) == 0;
    if (connection >= 0) {
        close(connection);
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    snprintf(version, size, "%s", tells ? answer + strlen(told) : "unknown");
}

void kvc_memcached_real_server_stop(const struct kvc_memcached_real_server *server)
{
    int status;
    kill(server->process, SIGSTOP);
    while (waitpid(server->process, &status, WUNTRACED | WNOHANG) == 0) { /* Sleeping would cool this core. */
        ;
    }
}

void kvc_memcached_real_server_continue(const struct kvc_memcached_real_server *server)
{
    kill(server->process, SIGCONT);
}

struct kvc_memcached_real_times
kvc_memcached_real_server_times(const struct kvc_memcached_real_server *server)
{
    struct timespec ran = {0};
    clock_gettime(server->clock, &ran);
    struct kvc_memcached_real_times times = {.busy_ns = (double)ran.tv_sec * 1e9 + (double)ran.tv_nsec};
    for (uint32_t i = 0; i < server->threads; i++) {
        char text[96] = "", *end = text;
        if (pread(server->statistics[i], text, sizeof(text) - 1, 0) > 0) {
            strtod(text, &end); /* Time that it ran, as of the latest tick. */
            times.delayed_ns += strtod(end, NULL);
        }
    }
    return times;
}
