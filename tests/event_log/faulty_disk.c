/* A library to preload into a daemon: the daemon's disk fails for as long as the file named by FAULTS exists.

   The file says what fails ("sync", "write" or "read") and with which errno. Writes to sockets, pipes and terminals use
   other calls and go on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(const char *what)
{
    char failing[16] = "";
    int number = 0;
    const char *name = getenv("FAULTS");
    FILE *file = name ? fopen(name, "r") : NULL;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%15s %d", failing, &number) != 2)
        number = 0;
    fclose(file);
    if (number == 0 || strcmp(failing, what) != 0)
        return 0;
    errno = number;
    return 1;
}

#define FAULTY(what, result, name, parameters, arguments)                      \
    result name parameters                                                     \
    {                                                                          \
        result(*real) parameters = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
        return fails(what) ? -1 : real arguments;                              \
    }

FAULTY("sync", int, fsync, (int file), (file))
FAULTY("sync", int, fdatasync, (int file), (file))
FAULTY("write", ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
FAULTY("write", ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
FAULTY("write", int, ftruncate, (int file, off_t size), (file, size))
FAULTY("write", int, ftruncate64, (int file, off64_t size), (file, size))
FAULTY("read", ssize_t, pread, (int file, void *data, size_t size, off_t at), (file, data, size, at))
FAULTY("read", ssize_t, pread64, (int file, void *data, size_t size, off64_t at), (file, data, size, at))
