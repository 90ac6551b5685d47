/* Faults of the system at one call of a program: preloaded (ld.so(8), LD_PRELOAD), it stands before the C library.
 *
 * Comes in: FAULT, `CALL:N:WHAT`, of which CALL is a name below or `disk` for all calls that may take room on a disk, N
 * counts these calls over all threads from 1 (`N+`: that one and all later), and WHAT is `kill` (SIGKILL before the call), an errno as a number, or `short` (a write
 * that takes one octet only). FAULT_ON, where it is given, is a part of the path that files must have to be counted. Goes
 * out: with FAULT_LOG, a file to which a line is added for each call, its name.
 *
 * strace can do the first two as well, but counts each thread's calls by themselves, and cannot shorten a write. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PASS = 0, SHORT = -1 };

/* How often each call was made, by its place in NAMES. */
static const char *const NAMES[] = {"write",   "pwrite",  "fsync",  "fdatasync", "connect",
                                    "send",    "recv",    "rename", "unlink",    "ftruncate"};
enum { WRITE, PWRITE, FSYNC, FDATASYNC, CONNECT, SEND, RECV, RENAME, UNLINK, FTRUNCATE, CALLS };
static atomic_long made[CALLS];

/* How often any call was made that may take room on a disk. */
static atomic_long made_on_disk;

/* Adds a line to the log, past the calls that are counted here. */
static void note(int call) {
    const char *path = getenv("FAULT_LOG");
    if (!path) return;
    char line[32];
    int length = snprintf(line, sizeof line, "%s\n", NAMES[call]);
    int log = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0) abort();
    if (syscall(SYS_write, log, line, length) != length) abort();
    syscall(SYS_close, log);
}

/* Whether a path is counted. */
static int counts(const char *path) {
    const char *part = getenv("FAULT_ON");
    return !part || strstr(path, part);
}

/* Whether a file is counted. */
static int counts_file(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return counts(path);
}

/* What is to become of a call: PASS, SHORT or an errno; it may not return. */
static int fate(int call) {
    const char *name = NAMES[call], *fault = getenv("FAULT");
    long number = atomic_fetch_add(&made[call], 1) + 1;
    note(call);
    if ((call == WRITE || call == PWRITE || call == FTRUNCATE) && fault && !strncmp(fault, "disk:", 5)) {
        name = "disk";
        number = atomic_fetch_add(&made_on_disk, 1) + 1;
    }
    size_t length = strlen(name);
    if (!fault || strncmp(fault, name, length) || fault[length] != ':') return PASS;
    char *rest;
    long wanted = strtol(fault + length + 1, &rest, 10);
    int and_later = *rest == '+';
    if (number != wanted && !(and_later && number > wanted)) return PASS;
    const char *what = rest + and_later + 1;
    if (!strcmp(what, "kill")) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
        for (;;) pause();
    }
    return !strcmp(what, "short") ? SHORT : atoi(what);
}

/* The function of the C library; what it is handed to is what it returns. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Ends a call with its errno. */
#define FAIL_IF(fate)      \
    if ((fate) > 0) {      \
        errno = (fate);    \
        return -1;         \
    }

/* What is left of a length. */
static size_t cut(int fate, size_t length) { return fate == SHORT && length > 1 ? 1 : length; }

ssize_t write(int file, const void *octets, size_t length) {
    int is = counts_file(file) ? fate(WRITE) : PASS;
    FAIL_IF(is)
    return NEXT(write)(file, octets, cut(is, length));
}

ssize_t pwrite(int file, const void *octets, size_t length, off_t at) {
    int is = counts_file(file) ? fate(PWRITE) : PASS;
    FAIL_IF(is)
    return NEXT(pwrite)(file, octets, cut(is, length), at);
}

ssize_t pwrite64(int file, const void *octets, size_t length, off64_t at) {
    int is = counts_file(file) ? fate(PWRITE) : PASS;
    FAIL_IF(is)
    return NEXT(pwrite64)(file, octets, cut(is, length), at);
}

int fsync(int file) {
    int is = counts_file(file) ? fate(FSYNC) : PASS;
    FAIL_IF(is)
    return NEXT(fsync)(file);
}

int fdatasync(int file) {
    int is = counts_file(file) ? fate(FDATASYNC) : PASS;
    FAIL_IF(is)
    return NEXT(fdatasync)(file);
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
    int is = fate(CONNECT);
    FAIL_IF(is)
    return NEXT(connect)(socket, address, length);
}

ssize_t send(int socket, const void *octets, size_t length, int flags) {
    int is = fate(SEND);
    FAIL_IF(is)
    return NEXT(send)(socket, octets, cut(is, length), flags);
}

ssize_t recv(int socket, void *octets, size_t length, int flags) {
    int is = fate(RECV);
    FAIL_IF(is)
    return NEXT(recv)(socket, octets, length, flags);
}

int rename(const char *from, const char *to) {
    int is = counts(to) ? fate(RENAME) : PASS;
    FAIL_IF(is)
    return NEXT(rename)(from, to);
}

int unlink(const char *path) {
    int is = counts(path) ? fate(UNLINK) : PASS;
    FAIL_IF(is)
    return NEXT(unlink)(path);
}

int ftruncate(int file, off_t length) {
    int is = counts_file(file) ? fate(FTRUNCATE) : PASS;
    FAIL_IF(is)
    return NEXT(ftruncate)(file, length);
}

int ftruncate64(int file, off64_t length) {
    int is = counts_file(file) ? fate(FTRUNCATE) : PASS;
    FAIL_IF(is)
    return NEXT(ftruncate64)(file, length);
}
