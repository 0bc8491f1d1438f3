/*
 * Sockets around the sessions: one thread that waits in epoll for listeners, connections and an eventfd, and
 * for the next timer. A readable connection is read once a turn, so that big uploads and small queries take
 * turns; what a session has to send is sent until the socket is full, and the rest kept with the connection.
 */
#include "rpc/server.h"

#include "base/clock.h"
#include "rpc/listener.h"
#include "rpc/session.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECEIVE_SIZE  ((size_t)128 << 10)
#define SEND_SIZE     ((size_t)64 << 10)
#define MAX_EVENTS    64
#define MAX_LISTENERS 16
#define ACCEPT_PAUSE  0.1 /* seconds without accepting when the system has no room for a connection */

/* What an epoll event points to starts with its kind. */
typedef enum source { SOURCE_WAKE, SOURCE_LISTENER, SOURCE_CONNECTION } source;

typedef struct connection {
    source kind;
    rpc_server *server;
    struct connection *previous, *next;
    struct connection *next_dirty;
    bool is_dirty; /* in the list of those that may have something to send */
    bool is_broken;
    int fd;
    uint32_t events; /* that epoll watches */
    rpc_session *session;
    uint8_t *unsent; /* malloc'd; what the socket did not take */
    size_t unsent_size, unsent_at;
    bool progressed; /* the socket took something since the timer was set */
    rpc_timer timer; /* of the opening, and of a client that does not read */
} connection;

typedef struct listening {
    source kind;
    rpc_listener listener;
} listening;

struct rpc_server {
    rpc_core core;
    int epoll;
    source wake; /* for epoll to point to */
    listening listeners[MAX_LISTENERS];
    size_t listener_count;
    bool accepting;
    rpc_timer accept_timer;
    connection *connections, *dirty;
    size_t connection_count;
    uint8_t *receive_buffer, *send_buffer;

    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool stopped;
    double stop_at; /* INFINITY: not draining */
};

static void log_text(rpc_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void log_text(rpc_server *s, const char *format, ...) {
    if (!s->core.handlers.log) return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->core.handlers.log(s->core.handlers.ctx, text);
}

/* ---- Connections ---- */

static void mark_dirty(void *ctx) {
    connection *c = ctx;
    if (c->is_dirty) return;
    c->is_dirty = true;
    c->next_dirty = c->server->dirty;
    c->server->dirty = c;
}

static void watch(connection *c, uint32_t events) {
    if (c->events == events) return;
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &event) == 0) c->events = events;
}

static void set_accepting(rpc_server *s, bool accepting) {
    if (s->accepting == accepting) return;
    s->accepting = accepting;
    for (size_t i = 0; i < s->listener_count; i++) {
        listening *l = &s->listeners[i];
        if (l->listener.fd < 0) continue;
        struct epoll_event event = {.events = accepting ? EPOLLIN : 0, .data.ptr = l};
        epoll_ctl(s->epoll, EPOLL_CTL_MOD, l->listener.fd, &event);
    }
}

static void close_connection(connection *c) {
    rpc_server *s = c->server;
    session_destroy(c->session);
    timer_clear(&s->core.timers, &c->timer);
    close(c->fd);
    if (c->previous) {
        c->previous->next = c->next;
    } else {
        s->connections = c->next;
    }
    if (c->next) c->next->previous = c->previous;
    free(c->unsent);
    free(c);
    s->connection_count--;
    if (!s->accept_timer.position) set_accepting(s, true);
}

/* Give up a connection; it is closed when its turn in the dirty list comes. */
static void break_connection(connection *c) {
    c->is_broken = true;
    mark_dirty(c);
}

static void watch_time(connection *c) {
    c->progressed = false;
    double at = clock_seconds() + c->server->core.options.upload_timeout;
    if (!timer_set(&c->server->core.timers, &c->timer, at)) break_connection(c);
}

static void on_connection_timer(rpc_timer *t) {
    connection *c = (connection *)((char *)t - offsetof(connection, timer));
    bool stuck = c->unsent && !c->progressed;
    if (!session_is_greeted(c->session) || stuck) {
        break_connection(c);
    } else if (c->unsent) {
        watch_time(c);
    }
}

/* Bytes into the socket: how many it took, or -1 when it is broken. */
static ssize_t push(connection *c, const uint8_t *data, size_t size) {
    ssize_t n = send(c->fd, data, size, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    if (n > 0) c->progressed = true;
    return n;
}

/* Fill the send buffer from the session: its size, or -1. */
static ssize_t collect(connection *c) {
    size_t used = 0;
    const size_t frame_room = (16u << 10) + 64; /* the largest thing a session produces at once */
    while (used + frame_room <= SEND_SIZE) {
        const uint8_t *data;
        ptrdiff_t n = session_produce(c->session, &data);
        if (n < 0 || (size_t)n > SEND_SIZE - used) return -1;
        if (n == 0) break;
        memcpy(c->server->send_buffer + used, data, (size_t)n);
        used += (size_t)n;
    }
    return (ssize_t)used;
}

/* What is left from the last time; true when all of it is out. */
static bool push_unsent(connection *c) {
    if (!c->unsent) return true;
    ssize_t n = push(c, c->unsent + c->unsent_at, c->unsent_size - c->unsent_at);
    if (n < 0) {
        c->is_broken = true;
        return false;
    }
    c->unsent_at += (size_t)n;
    if (c->unsent_at < c->unsent_size) return false;
    free(c->unsent);
    c->unsent = NULL;
    return true;
}

static void keep_unsent(connection *c, const uint8_t *data, size_t size) {
    c->unsent = malloc(size);
    if (!c->unsent) {
        c->is_broken = true;
        return;
    }
    memcpy(c->unsent, data, size);
    c->unsent_size = size;
    c->unsent_at = 0;
    watch_time(c);
}

/* Send what there is; the connection is closed if it is over or broken. It stays marked as dirty until then,
 * so that nothing that happens meanwhile puts it into the list. */
static void flush(connection *c) {
    while (!c->is_broken && push_unsent(c)) {
        ssize_t size = collect(c);
        if (size <= 0) {
            c->is_broken = size < 0;
            break;
        }
        ssize_t n = push(c, c->server->send_buffer, (size_t)size);
        if (n < 0) c->is_broken = true;
        if (n >= 0 && n < size) keep_unsent(c, c->server->send_buffer + n, (size_t)(size - n));
    }
    if (c->is_broken || (!c->unsent && session_is_over(c->session))) {
        close_connection(c);
    } else {
        /* A client that does not read is not read from either. */
        watch(c, c->unsent ? EPOLLOUT : EPOLLIN);
        c->is_dirty = false;
    }
}

static void flush_dirty(rpc_server *s) {
    while (s->dirty) {
        connection *c = s->dirty;
        s->dirty = c->next_dirty;
        flush(c);
    }
}

static void receive(connection *c) {
    rpc_server *s = c->server;
    ssize_t n = recv(c->fd, s->receive_buffer, RECEIVE_SIZE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (n <= 0) {
        break_connection(c);
        return;
    }
    if (session_receive(c->session, s->receive_buffer, (size_t)n)) {
        mark_dirty(c);
        return;
    }
    /* Say why, as far as the socket takes it, and close. */
    ssize_t size = collect(c);
    if (!c->unsent && size > 0) push(c, s->send_buffer, (size_t)size);
    break_connection(c);
}

/* ---- Listeners ---- */

static void describe_peer(int fd, const struct sockaddr_storage *address, char *out, size_t size) {
    if (address->ss_family == AF_INET || address->ss_family == AF_INET6) {
        address_format(out, size, address);
        return;
    }
    struct ucred who;
    socklen_t who_size = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) == 0) {
        snprintf(out, size, "unix:pid=%ld,uid=%lu", (long)who.pid, (unsigned long)who.uid);
    } else {
        snprintf(out, size, "unix");
    }
}

static cuzk_code add_connection(rpc_server *s, int fd, const struct sockaddr_storage *address,
                                cuzk_error *err) {
    connection *c = calloc(1, sizeof *c);
    if (!c) return error_no_memory(err, sizeof *c, "a connection");
    *c = (connection){.kind = SOURCE_CONNECTION,
                      .server = s,
                      .next = s->connections,
                      .fd = fd,
                      .events = EPOLLIN,
                      .timer = {.fire = on_connection_timer}};
    char peer[80];
    describe_peer(fd, address, peer, sizeof peer);
    cuzk_code code = session_create(&c->session, &s->core, peer, mark_dirty, c, err);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (code == CUZK_OK && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        code = error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "epoll");
        session_destroy(c->session);
    }
    if (code != CUZK_OK) {
        free(c);
        return code;
    }
    address_tune(fd, address->ss_family);
    if (s->connections) s->connections->previous = c;
    s->connections = c;
    s->connection_count++;
    watch_time(c);
    mark_dirty(c);
    return CUZK_OK;
}

static void on_accept_timer(rpc_timer *t) {
    rpc_server *s = (rpc_server *)((char *)t - offsetof(rpc_server, accept_timer));
    set_accepting(s, true);
}

/* Without room for a connection the listeners stay ready: they must not be watched for a while. */
static void pause_accepting(rpc_server *s, const char *why) {
    log_text(s, "no new connections for %g s: %s", ACCEPT_PAUSE, why);
    if (timer_set(&s->core.timers, &s->accept_timer, clock_seconds() + ACCEPT_PAUSE)) set_accepting(s, false);
}

static void accept_some(rpc_server *s, listening *l) {
    for (int i = 0; i < MAX_EVENTS; i++) {
        if (s->connection_count >= s->core.options.max_connections) {
            set_accepting(s, false); /* until one closes */
            return;
        }
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        int fd = accept4(l->listener.fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            char text[128];
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                pause_accepting(s, strerror_r(errno, text, sizeof text));
            }
            return; /* nobody there, or gone again */
        }
        cuzk_error err;
        if (add_connection(s, fd, &address, &err) != CUZK_OK) {
            close(fd);
            pause_accepting(s, err.message);
            return;
        }
    }
}

static void close_listeners(rpc_server *s) {
    for (size_t i = 0; i < s->listener_count; i++) listener_close(&s->listeners[i].listener);
}

/* ---- The thread ---- */

/* Begin or end the drain, when it is time; true when there is nothing left to do. */
static bool drain_step(rpc_server *s, double *stop_at) {
    pthread_mutex_lock(&s->lock);
    *stop_at = s->stop_at;
    pthread_mutex_unlock(&s->lock);
    if (isinf(*stop_at)) return false;
    if (!s->core.draining) {
        s->core.draining = true;
        close_listeners(s);
        for (connection *c = s->connections, *next; c; c = next) {
            next = c->next;
            if (session_is_greeted(c->session)) {
                session_drain(c->session);
            } else {
                break_connection(c);
            }
        }
    }
    if (clock_seconds() >= *stop_at) {
        for (connection *c = s->connections; c; c = c->next) break_connection(c);
    }
    flush_dirty(s);
    return !s->connections && s->core.handed == 0;
}

static int wait_time(rpc_server *s, double stop_at) {
    double next = timers_next(&s->core.timers);
    /* After the hard stop only handlers are waited for, and they wake us. */
    if (stop_at < next && s->connections) next = stop_at;
    if (isinf(next)) return -1;
    double ms = ceil((next - clock_seconds()) * 1000);
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void on_event(rpc_server *s, const struct epoll_event *event) {
    source kind = *(source *)event->data.ptr;
    if (kind == SOURCE_WAKE) {
        uint64_t count;
        ssize_t n = read(s->core.wake_fd, &count, sizeof count);
        (void)n; /* only to make it unreadable */
    } else if (kind == SOURCE_LISTENER) {
        listening *l = event->data.ptr;
        if (l->listener.fd >= 0 && s->accepting) accept_some(s, l);
    } else {
        connection *c = event->data.ptr;
        if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
        if (event->events & EPOLLOUT) mark_dirty(c);
    }
}

static void *serve(void *arg) {
    rpc_server *s = arg;
    double stop_at = INFINITY;
    while (!drain_step(s, &stop_at)) {
        struct epoll_event events[MAX_EVENTS];
        int n = epoll_wait(s->epoll, events, MAX_EVENTS, wait_time(s, stop_at));
        /* Connections are closed in flush_dirty alone, so every event's connection is still there. */
        for (int i = 0; i < n; i++) on_event(s, &events[i]);
        timers_run(&s->core.timers, clock_seconds());
        core_run_finished(&s->core);
        flush_dirty(s);
    }
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- The interface ---- */

static cuzk_code create_epoll(rpc_server *s, cuzk_error *err) {
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &s->wake};
    if (s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->core.wake_fd, &event) != 0) {
        return error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot make an epoll descriptor");
    }
    return CUZK_OK;
}

cuzk_code rpc_server_create(rpc_server **out, const rpc_service *service, const rpc_handlers *handlers,
                            const rpc_options *options, cuzk_error *err) {
    *out = NULL;
    rpc_server *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err, sizeof *s, "the gRPC server");
    cuzk_code code = core_init(&s->core, service, handlers, options, err);
    if (code != CUZK_OK) {
        free(s);
        return code;
    }
    s->epoll = -1;
    s->wake = SOURCE_WAKE;
    s->accepting = true;
    s->stop_at = INFINITY;
    s->accept_timer.fire = on_accept_timer;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    s->receive_buffer = malloc(RECEIVE_SIZE);
    s->send_buffer = malloc(SEND_SIZE);
    code = s->receive_buffer && s->send_buffer ? create_epoll(s, err)
                                               : error_no_memory(err, RECEIVE_SIZE, "the gRPC server");
    if (code != CUZK_OK) {
        rpc_server_destroy(s);
        return code;
    }
    *out = s;
    return CUZK_OK;
}

cuzk_code rpc_server_listen(rpc_server *s, const char *address, cuzk_error *err) {
    if (s->listener_count == MAX_LISTENERS) {
        return error_set(err, CUZK_ERR_USAGE, NULL, CUZK_NO_OFFSET, "more than %d listening addresses",
                         MAX_LISTENERS);
    }
    listening *l = &s->listeners[s->listener_count];
    l->kind = SOURCE_LISTENER;
    TRY(listener_open(&l->listener, address, err));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, l->listener.fd, &event) != 0) {
        cuzk_code code = error_errno(err, CUZK_ERR_RESOURCES, NULL, errno, "cannot watch %s", address);
        listener_close(&l->listener);
        return code;
    }
    s->listener_count++;
    return CUZK_OK;
}

const char *rpc_server_address(const rpc_server *s, size_t index) {
    return index < s->listener_count ? s->listeners[index].listener.text : NULL;
}

cuzk_code rpc_server_start(rpc_server *s, cuzk_error *err) {
    sigset_t all, old; /* signals are for the threads of the program that handles them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int status = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (status != 0) return error_errno(err, CUZK_ERR_RESOURCES, NULL, status, "cannot start a thread");
    s->started = true;
    return CUZK_OK;
}

void rpc_server_set_serving(rpc_server *s, bool serving) {
    s->core.serving = serving;
}

rpc_counters rpc_server_counters(rpc_server *s) {
    return (rpc_counters){
        .connections = s->core.counters.connections,
        .connections_total = s->core.counters.connections_total,
        .calls = s->core.counters.calls,
        .calls_total = s->core.counters.calls_total,
        .refused_total = s->core.counters.refused_total,
        .cancelled_total = s->core.counters.cancelled_total,
        .bytes_held = budget_held(s->core.budget),
        .bytes_received_total = s->core.counters.bytes_received_total,
    };
}

void rpc_server_drain(rpc_server *s, double seconds) {
    double at = clock_seconds() + (seconds > 0 ? seconds : 0);
    pthread_mutex_lock(&s->lock);
    if (at < s->stop_at) s->stop_at = at;
    if (!s->started) s->stopped = true;
    uint64_t one = 1;
    ssize_t written = write(s->core.wake_fd, &one, sizeof one);
    (void)written; /* fails only when the counter is full, which wakes just as well */
    pthread_mutex_unlock(&s->lock);
}

bool rpc_server_wait(rpc_server *s, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(fmin(seconds, 1e9)), part = fmin(seconds, 1e9) - whole;
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)(part * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&s->lock);
    while (!s->stopped && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0) {
    }
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);
    return stopped;
}

void rpc_server_destroy(rpc_server *s) {
    if (!s) return;
    if (s->started) {
        rpc_server_drain(s, 0);
        pthread_join(s->thread, NULL);
    }
    close_listeners(s);
    if (s->epoll >= 0) close(s->epoll);
    core_destroy(&s->core);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->receive_buffer);
    free(s->send_buffer);
    free(s);
}
