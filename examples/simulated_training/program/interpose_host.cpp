// The host's name and boot id as the agent sees them.
#undef _FILE_OFFSET_BITS  // both names of each function are defined here
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host_shift.h"

namespace {

bool is_boot_id(const char* path) {
  return strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 && sim::host_shift().boot_id[0] != '\0';
}

// A file that holds the simulated boot id, as the kernel's does.
int open_boot_id() {
  const int file = memfd_create("boot_id", MFD_CLOEXEC);
  if (file >= 0) dprintf(file, "%s\n", sim::host_shift().boot_id);
  if (file >= 0) lseek(file, 0, SEEK_SET);
  return file;
}

int open_file(const char* function, int directory, const char* path, int flags, mode_t mode) {
  if (is_boot_id(path)) return open_boot_id();
  return sim::real<int(int, const char*, int, ...)>(function)(directory, path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

FILE* open_stream(const char* function, const char* path, const char* mode) {
  if (is_boot_id(path)) return fdopen(open_boot_id(), mode);
  return sim::real<FILE*(const char*, const char*)>(function)(path, mode);
}

}  // namespace

#define SIM_MODE(flags)                          \
  va_list arguments;                             \
  va_start(arguments, flags);                    \
  const mode_t mode = mode_of(flags, arguments); \
  va_end(arguments)

extern "C" {

int open(const char* path, int flags, ...) {
  SIM_MODE(flags);
  return open_file("openat", AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  SIM_MODE(flags);
  return open_file("openat64", AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  SIM_MODE(flags);
  return open_file("openat", directory, path, flags, mode);
}

int openat64(int directory, const char* path, int flags, ...) {
  SIM_MODE(flags);
  return open_file("openat64", directory, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) { return open_stream("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return open_stream("fopen64", path, mode); }

int gethostname(char* name, size_t size) noexcept {
  if (!sim::host_shift().active) return sim::real<int(char*, size_t)>("gethostname")(name, size);
  const size_t length = strlen(sim::host_shift().name);
  strncpy(name, sim::host_shift().name, size);
  if (length < size) return 0;
  errno = ENAMETOOLONG;
  return -1;
}

int uname(utsname* about) noexcept {
  const int result = sim::real<int(utsname*)>("uname")(about);
  if (result == 0 && sim::host_shift().active) {
    snprintf(about->nodename, sizeof(about->nodename), "%s", sim::host_shift().name);
  }
  return result;
}

}  // extern "C"
