/* Replaces a file while it is read.
 *
 * A read() of the file REPLACE gives no more than REPLACE_AFTER octets; then the file is overwritten, in its place, with the
 * content of REPLACE_BY, as by a copy that nobody waits for. Whatever is read after that comes from the new content. Only the
 * first REPLACE_TIMES reads of it are disturbed so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int done;

/* Whether a descriptor is open on the file. */
static int is_it(int fd)
{
    char link[64], path[PATH_MAX];
    const char *file = getenv("REPLACE");
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (!file || length < 0)
        return 0;
    path[length] = 0;
    return strcmp(path, file) == 0;
}

/* Overwrites the file. */
static void replace(ssize_t (*real)(int, void *, size_t))
{
    int from = open(getenv("REPLACE_BY"), O_RDONLY);
    int to = open(getenv("REPLACE"), O_WRONLY | O_TRUNC);
    char buffer[4096];
    ssize_t length;

    if (from < 0 || to < 0)
        abort();
    while ((length = real(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)length) != length)
            abort();
    close(from);
    close(to);
}

ssize_t read(int fd, void *buffer, size_t count)
{
    static ssize_t (*real)(int, void *, size_t);
    size_t most;
    ssize_t length;

    if (!real)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    if (!is_it(fd) || atomic_fetch_add(&done, 1) >= atoi(getenv("REPLACE_TIMES")))
        return real(fd, buffer, count);
    most = strtoul(getenv("REPLACE_AFTER"), NULL, 10);
    length = real(fd, buffer, count < most ? count : most);
    replace(real);
    return length;
}
