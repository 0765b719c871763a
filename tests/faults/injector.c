/* Preloaded before a program's other libraries, this counts its file operations under given folders, and at the
 * operation it is told of it gives an error, or sends the program a signal. It sees what the C library's functions are
 * called with, so Python and pyarrow are both reached. injector.py builds it and says how to call it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READS = 1, CHANGES = 2 };
#define MOST_FOLDERS 8
#define MOST_DESCRIPTORS 65536

static char folders[MOST_FOLDERS][PATH_MAX];
static int number_of_folders;
static unsigned char is_watched[MOST_DESCRIPTORS]; /* READS or CHANGES, by how it was opened; 0: not watched */
static atomic_long operations;
static long target;
static long second_target;
static int kinds, error_number, is_lasting, signal_number, second_signal, trace = -1;

/* The folders whose operations count: absolute, without links, separated by line ends. */
void faults_watch(const char *lines) {
    number_of_folders = 0;
    while (*lines && number_of_folders < MOST_FOLDERS) {
        size_t length = strcspn(lines, "\n");
        snprintf(folders[number_of_folders++], PATH_MAX, "%.*s", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

/* Counts operations of these kinds from now on. At the `at`th (0: never), and if `lasting` at all later ones, the error
 * is given, or the signal sent before the operation is done. Each is noted at the descriptor `traced`, unless that is -1. */
void faults_arm(long at, int of_kinds, int error, int lasting, int sent, int traced) {
    atomic_store(&operations, 0);
    target = at, kinds = of_kinds, error_number = error, is_lasting = lasting, signal_number = sent, trace = traced;
    second_target = second_signal = 0;
}

/* Another signal is sent before the `at`th operation, which may be that of the first one. */
void faults_arm_second(long at, int sent) { second_target = at, second_signal = sent; }

long faults_operations(void) { return atomic_load(&operations); }

static int is_under_a_folder(const char *path) {
    for (int i = 0; i < number_of_folders; i++) {
        size_t length = strlen(folders[i]);
        if (!strncmp(path, folders[i], length) && (path[length] == '/' || !path[length])) return 1;
    }
    return 0;
}

static void whole_path(int directory, const char *path, char *whole) {
    char link[64];
    if (path[0] == '/') { snprintf(whole, PATH_MAX, "%s", path); return; }
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, whole, PATH_MAX - 1);
    if (length < 0) length = 0;
    snprintf(whole + length, PATH_MAX - length, "/%s", path);
}

/* 0, or the error that this operation gives. */
static int counted(int kind, const char *name, const char *path) {
    if (!(kinds & kind)) return 0;
    long number = atomic_fetch_add(&operations, 1) + 1;
    if (trace >= 0) {
        int before = errno;
        dprintf(trace, "%ld\t%s\t%s\n", number, name, path);
        errno = before;
    }
    int is_met = target && (number == target || (number > target && is_lasting));
    if (is_met && signal_number) kill(getpid(), signal_number);
    if (second_signal && number == second_target) kill(getpid(), second_signal);
    return is_met ? error_number : 0;
}

static int at_path(int kind, const char *name, int directory, const char *path) {
    char whole[PATH_MAX];
    int before = errno;
    if (!kinds || !path) return 0;
    whole_path(directory, path, whole);
    errno = before;
    return is_under_a_folder(whole) ? counted(kind, name, whole) : 0;
}

static int at_descriptor(int kind, const char *name, int descriptor) {
    char path[PATH_MAX] = "", link[64];
    if (!kinds || descriptor < 0 || descriptor >= MOST_DESCRIPTORS || !is_watched[descriptor]) return 0;
    if (trace >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, path, PATH_MAX - 1);
        path[length < 0 ? 0 : length] = 0;
    }
    return counted(kind, name, path);
}

static int watched(int descriptor, int flags, int directory, const char *path) {
    char whole[PATH_MAX];
    int before = errno;
    if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS && number_of_folders) {
        whole_path(directory, path, whole);
        is_watched[descriptor] = !is_under_a_folder(whole) ? 0 : (flags & O_ACCMODE) == O_RDONLY ? READS : CHANGES;
    }
    errno = before;
    return descriptor;
}

#define NEXT(type, name, ...) \
    static type (*next)(__VA_ARGS__); \
    if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define FAIL(call) do { int given = (call); if (given) { errno = given; return -1; } } while (0)

static int kind_of_open(int flags) {
    return flags & (O_CREAT | O_TRUNC) ? CHANGES : READS;
}

#define OPEN(name) \
int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    NEXT(int, #name, const char *, int, ...); \
    FAIL(at_path(kind_of_open(flags), flags & O_CREAT ? "create" : "open", AT_FDCWD, path)); \
    return watched(next(path, flags, mode), flags, AT_FDCWD, path); }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
int name(int directory, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    NEXT(int, #name, int, const char *, int, ...); \
    FAIL(at_path(kind_of_open(flags), flags & O_CREAT ? "create" : "open", directory, path)); \
    return watched(next(directory, path, flags, mode), flags, directory, path); }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name) \
FILE *name(const char *path, const char *mode) { \
    NEXT(FILE *, #name, const char *, const char *); \
    int given = at_path(strpbrk(mode, "wa") ? CHANGES : READS, strpbrk(mode, "wa") ? "create" : "open", AT_FDCWD, path); \
    if (given) { errno = given; return NULL; } \
    return next(path, mode); }
FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path) {
    NEXT(DIR *, "opendir", const char *);
    int given = at_path(READS, "list", AT_FDCWD, path);
    if (given) { errno = given; return NULL; }
    return next(path);
}

/* Whatever error it gives, the descriptor is closed, as Linux has it. */
int close(int descriptor) {
    NEXT(int, "close", int);
    if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS || !is_watched[descriptor]) return next(descriptor);
    int given = at_descriptor(is_watched[descriptor], "close", descriptor);
    is_watched[descriptor] = 0;
    int result = next(descriptor);
    if (given) { errno = given; return -1; }
    return result;
}

#define AT_DESCRIPTOR(type, name, kind, word, parameters, arguments) \
type name parameters { \
    static type (*next) parameters; \
    if (!next) next = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
    FAIL(at_descriptor(kind, word, descriptor)); \
    return next arguments; }

AT_DESCRIPTOR(ssize_t, read, READS, "read", (int descriptor, void *to, size_t size), (descriptor, to, size))
AT_DESCRIPTOR(ssize_t, pread, READS, "read", (int descriptor, void *to, size_t size, off_t at), (descriptor, to, size, at))
AT_DESCRIPTOR(ssize_t, pread64, READS, "read", (int descriptor, void *to, size_t size, off64_t at), (descriptor, to, size, at))
AT_DESCRIPTOR(ssize_t, write, CHANGES, "write", (int descriptor, const void *from, size_t size), (descriptor, from, size))
AT_DESCRIPTOR(ssize_t, pwrite, CHANGES, "write", (int descriptor, const void *from, size_t size, off_t at), (descriptor, from, size, at))
AT_DESCRIPTOR(ssize_t, pwrite64, CHANGES, "write", (int descriptor, const void *from, size_t size, off64_t at), (descriptor, from, size, at))
AT_DESCRIPTOR(ssize_t, writev, CHANGES, "write", (int descriptor, const struct iovec *from, int parts), (descriptor, from, parts))
AT_DESCRIPTOR(int, fsync, CHANGES, "sync", (int descriptor), (descriptor))
AT_DESCRIPTOR(int, fdatasync, CHANGES, "sync", (int descriptor), (descriptor))
AT_DESCRIPTOR(int, ftruncate, CHANGES, "cut", (int descriptor, off_t size), (descriptor, size))
AT_DESCRIPTOR(int, ftruncate64, CHANGES, "cut", (int descriptor, off64_t size), (descriptor, size))
AT_DESCRIPTOR(int, flock, CHANGES, "lock", (int descriptor, int how), (descriptor, how))
AT_DESCRIPTOR(int, fchmod, CHANGES, "chmod", (int descriptor, mode_t mode), (descriptor, mode))

ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    NEXT(ssize_t, "sendfile", int, int, off_t *, size_t);
    FAIL(at_descriptor(CHANGES, "write", to));
    return next(to, from, at, size);
}

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags) {
    NEXT(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    FAIL(at_descriptor(CHANGES, "write", to));
    return next(from, in, to, out, size, flags);
}

#define AT_PATH(name, kind, word, directory, parameters, arguments) \
int name parameters { \
    static int (*next) parameters; \
    if (!next) next = (int (*) parameters)dlsym(RTLD_NEXT, #name); \
    FAIL(at_path(kind, word, directory, path)); \
    return next arguments; }

AT_PATH(mkdir, CHANGES, "mkdir", AT_FDCWD, (const char *path, mode_t mode), (path, mode))
AT_PATH(mkdirat, CHANGES, "mkdir", directory, (int directory, const char *path, mode_t mode), (directory, path, mode))
AT_PATH(rmdir, CHANGES, "remove", AT_FDCWD, (const char *path), (path))
AT_PATH(unlink, CHANGES, "remove", AT_FDCWD, (const char *path), (path))
AT_PATH(unlinkat, CHANGES, "remove", directory, (int directory, const char *path, int flags), (directory, path, flags))
AT_PATH(remove, CHANGES, "remove", AT_FDCWD, (const char *path), (path))
AT_PATH(rename, CHANGES, "rename", AT_FDCWD, (const char *path, const char *to), (path, to))
AT_PATH(renameat, CHANGES, "rename", directory, (int directory, const char *path, int other, const char *to), (directory, path, other, to))
AT_PATH(renameat2, CHANGES, "rename", directory, (int directory, const char *path, int other, const char *to, unsigned flags), (directory, path, other, to, flags))
AT_PATH(chmod, CHANGES, "chmod", AT_FDCWD, (const char *path, mode_t mode), (path, mode))
AT_PATH(fchmodat, CHANGES, "chmod", directory, (int directory, const char *path, mode_t mode, int flags), (directory, path, mode, flags))
AT_PATH(utimensat, CHANGES, "date", directory, (int directory, const char *path, const struct timespec times[2], int flags), (directory, path, times, flags))
AT_PATH(stat, READS, "stat", AT_FDCWD, (const char *restrict path, struct stat *restrict to), (path, to))
AT_PATH(lstat, READS, "stat", AT_FDCWD, (const char *restrict path, struct stat *restrict to), (path, to))
AT_PATH(fstatat, READS, "stat", directory, (int directory, const char *restrict path, struct stat *restrict to, int flags), (directory, path, to, flags))
AT_PATH(stat64, READS, "stat", AT_FDCWD, (const char *restrict path, struct stat64 *restrict to), (path, to))
AT_PATH(lstat64, READS, "stat", AT_FDCWD, (const char *restrict path, struct stat64 *restrict to), (path, to))
AT_PATH(fstatat64, READS, "stat", directory, (int directory, const char *restrict path, struct stat64 *restrict to, int flags), (directory, path, to, flags))
