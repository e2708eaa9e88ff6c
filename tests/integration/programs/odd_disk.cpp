// Preloaded into a recorded program: makes a folder another kind of filesystem, and disks full or slow. And watches:
// what lies in that folder may be mapped by nobody and written by the agent's own threads only.
//
//   ODD_DISK_FOLDER=PATH  the folder, and all below it
//   ODD_DISK_IS=network        fstatfs says NFS
//               nofallocate    fallocate is not supported
//               full           fallocate finds no space
//   ODD_DISK_SPOOL_BYTES=N     *.spool takes N bytes, then the disk is full
//   ODD_DISK_SPOOL_US=N        each write to *.spool takes N microseconds
//   ODD_DISK_LOG=FILE          a line for each thing that may not be
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr long kNfs = 0x6969;
std::atomic<long> s_spooled{0};

long number(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : -1;
}

bool is_kind(const char* kind) {
  const char* is = std::getenv("ODD_DISK_IS");
  return is != nullptr && std::strcmp(is, kind) == 0;
}

// Where the descriptor leads; "" where that is not known.
void path_of(int file, char (&path)[4096]) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  path[length > 0 ? length : 0] = '\0';
}

bool is_in_folder(int file) {
  char path[4096];
  const char* folder = std::getenv("ODD_DISK_FOLDER");
  if (folder == nullptr || file < 0) return false;
  path_of(file, path);
  return std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_spool(int file) {
  char path[4096];
  path_of(file, path);
  const std::size_t length = std::strlen(path);
  return length > 6 && std::strcmp(path + length - 6, ".spool") == 0;
}

bool is_agents_thread() {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return std::strncmp(name, "tracetool", 9) == 0;
}

void complain(const char* what, int file) {
  const char* log = std::getenv("ODD_DISK_LOG");
  char path[4096], line[4200];
  path_of(file, path);
  const int size = snprintf(line, sizeof(line), "%s: %s\n", what, path);
  const int to = log != nullptr ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (to < 0) return;
  syscall(SYS_write, to, line, size);
  close(to);
}

void watch_writer(int file) {
  if (is_in_folder(file) && !is_agents_thread()) complain("written by an application thread", file);
}

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

int odd_fstatfs(int file, struct statfs* info) {
  const int result = next<int(int, struct statfs*)>("fstatfs")(file, info);
  if (result == 0 && is_kind("network") && is_in_folder(file)) info->f_type = kNfs;
  return result;
}

int odd_fallocate(int file, int mode, off_t offset, off_t bytes) {
  const int error = is_kind("nofallocate") ? EOPNOTSUPP : is_kind("full") ? ENOSPC : 0;
  if (error == 0 || !is_in_folder(file))
    return next<int(int, int, off_t, off_t)>("fallocate")(file, mode, offset, bytes);
  errno = error;
  return -1;
}

void* odd_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_SHARED) != 0 && is_in_folder(file) && !is_kind("full")) complain("mapped", file);
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

ssize_t write_spool(int file, const void* from, std::size_t bytes) {
  if (const long us = number("ODD_DISK_SPOOL_US"); us > 0) usleep(static_cast<useconds_t>(us));
  const long most = number("ODD_DISK_SPOOL_BYTES");
  const long room = most - s_spooled.load();
  if (most >= 0 && room <= 0) {
    errno = ENOSPC;
    return -1;
  }
  // The last one that fits is cut, as a disk does it.
  if (most >= 0 && static_cast<std::size_t>(room) < bytes) bytes = static_cast<std::size_t>(room);
  const ssize_t wrote = syscall(SYS_write, file, from, bytes);
  if (wrote > 0) s_spooled += wrote;
  return wrote;
}

}  // namespace

extern "C" {

int fstatfs(int file, struct statfs* info) noexcept { return odd_fstatfs(file, info); }
int fstatfs64(int file, struct statfs64* info) noexcept {
  return odd_fstatfs(file, reinterpret_cast<struct statfs*>(info));  // the same on 64 bits
}
int fallocate(int file, int mode, off_t offset, off_t bytes) { return odd_fallocate(file, mode, offset, bytes); }
int fallocate64(int file, int mode, off64_t offset, off64_t bytes) { return odd_fallocate(file, mode, offset, bytes); }

void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return odd_mmap(at, bytes, protection, flags, file, offset);
}
void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return odd_mmap(at, bytes, protection, flags, file, offset);
}

ssize_t write(int file, const void* from, std::size_t bytes) {
  watch_writer(file);
  return is_spool(file) ? write_spool(file, from, bytes) : syscall(SYS_write, file, from, bytes);
}

ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
  watch_writer(file);
  return syscall(SYS_pwrite64, file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, std::size_t bytes, off64_t offset) {
  watch_writer(file);
  return syscall(SYS_pwrite64, file, from, bytes, offset);
}

}  // extern "C"
