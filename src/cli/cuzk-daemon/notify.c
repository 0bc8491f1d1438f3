#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* The address is a path, or with '@' first a name in the abstract space, whose first byte is NUL. */
static bool socket_address(struct sockaddr_un *address, socklen_t *length) {
    const char *name = getenv("NOTIFY_SOCKET");
    size_t size = name ? strlen(name) : 0;
    if (size < 2 || size > sizeof address->sun_path || (name[0] != '/' && name[0] != '@')) return false;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, size);
    if (name[0] == '@') address->sun_path[0] = 0;
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    return true;
}

bool notify_wanted(void) {
    struct sockaddr_un address;
    socklen_t length;
    return socket_address(&address, &length);
}

bool notify_send(const char *lines) {
    struct sockaddr_un address;
    socklen_t length;
    if (!socket_address(&address, &length)) return false;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    struct timeval patience = {1, 0}; /* a manager that does not read must not stop its service */
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    size_t size = strlen(lines);
    ssize_t sent;
    do {
        sent = sendto(fd, lines, size, MSG_NOSIGNAL, (struct sockaddr *)&address, length);
    } while (sent < 0 && errno == EINTR);
    close(fd);
    return sent == (ssize_t)size;
}

/* A whole positive number in a variable; 0 when it is none. */
static unsigned long variable_number(const char *name) {
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return 0;
    unsigned long value = strtoul(text, &end, 10);
    return *end ? 0 : value;
}

double notify_watchdog_seconds(void) {
    unsigned long pid = variable_number("WATCHDOG_PID");
    if (pid && pid != (unsigned long)getpid()) return 0; /* meant for a parent */
    return (double)variable_number("WATCHDOG_USEC") * 1e-6;
}
