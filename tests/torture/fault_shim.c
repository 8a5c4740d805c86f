// SPDX-License-Identifier: Apache-2.0
//
// Loaded before a program (LD_PRELOAD), makes the N-th call of a kind fail, or ends the process there: for the calls
// that libraries make behind our own seam. TORTURE="write:3:fail" or "rename:1:die"; kinds: open, read, write, sync,
// rename, map, large (allocations of a megabyte or more). Only calls on files below the folder TORTURE_FOLDER count,
// and large allocations and maps everywhere, once the program's own code runs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char* kind;
static size_t kind_length;
static long at = -1;
static int dies;
static const char* folder;
static atomic_long calls;
static int ready;

__attribute__((constructor)) static void read_wish(void) {
  const char* wish = getenv("TORTURE");
  folder = getenv("TORTURE_FOLDER");
  if (wish == NULL || folder == NULL) return;
  const char* colon = strchr(wish, ':');
  if (colon == NULL) return;
  kind = wish;
  kind_length = (size_t)(colon - wish);
  at = strtol(colon + 1, NULL, 10);
  dies = strstr(wish, ":die") != NULL;
  ready = 1;
}

static int fails(const char* call, int code) {
  if (!ready || strlen(call) != kind_length || strncmp(kind, call, kind_length) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != at) return 0;
  if (dies) kill(getpid(), SIGKILL);
  errno = code;
  return 1;
}

static int is_ours(const char* path) {
  if (!ready || path == NULL) return 0;
  return path[0] != '/' || strncmp(path, folder, strlen(folder)) == 0;
}

static int is_our_file(int file) {
  char link[64], path[4096];
  if (!ready) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const int saved = errno;
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  errno = saved;
  if (size <= 0) return 0;
  path[size] = 0;
  return path[0] == '/' && strncmp(path, folder, strlen(folder)) == 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_as(int (*real)(const char*, int, ...), const char* path, int flags, mode_t mode) {
  if (is_ours(path) && fails("open", EIO)) return -1;
  return real(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as(NEXT(open), path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as(NEXT(open64), path, flags, mode);
}
FILE* fopen(const char* path, const char* how) {
  if (is_ours(path) && fails("open", EIO)) return NULL;
  return NEXT(fopen)(path, how);
}
ssize_t read(int file, void* bytes, size_t size) {
  if (is_our_file(file) && fails("read", EIO)) return -1;
  return NEXT(read)(file, bytes, size);
}
ssize_t pread(int file, void* bytes, size_t size, off_t place) {
  if (is_our_file(file) && fails("read", EIO)) return -1;
  return NEXT(pread)(file, bytes, size, place);
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t place) {
  if (is_our_file(file) && fails("read", EIO)) return -1;
  return NEXT(pread64)(file, bytes, size, place);
}
ssize_t write(int file, const void* bytes, size_t size) {
  if (is_our_file(file) && fails("write", ENOSPC)) return -1;
  return NEXT(write)(file, bytes, size);
}
int fsync(int file) { return fails("sync", EIO) ? -1 : NEXT(fsync)(file); }
int rename(const char* from, const char* to) { return fails("rename", EIO) ? -1 : NEXT(rename)(from, to); }
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t place) {
  if (file >= 0 && is_our_file(file) && fails("map", ENOMEM)) return MAP_FAILED;
  return NEXT(mmap)(address, size, protection, flags, file, place);
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t place) {
  if (file >= 0 && is_our_file(file) && fails("map", ENOMEM)) return MAP_FAILED;
  return NEXT(mmap64)(address, size, protection, flags, file, place);
}

// Allocations of a megabyte or more: those that grow with the data.
extern void* __libc_malloc(size_t);
extern void* __libc_realloc(void*, size_t);
static const size_t kLarge = (size_t)1 << 20;
void* malloc(size_t size) { return size >= kLarge && fails("large", ENOMEM) ? NULL : __libc_malloc(size); }
void* realloc(void* data, size_t size) {
  return size >= kLarge && fails("large", ENOMEM) ? NULL : __libc_realloc(data, size);
}
