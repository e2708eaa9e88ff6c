// libunwind's Linit.c without its pipe. Before it reads at an address that may be none, it has the kernel write what stands there
// into a pipe of its own. A program that closes all descriptors closes that too, and the byte would go into a file of the program's
// that got its number. rt_sigprocmask(2) asks the same of the kernel without a descriptor: it reads the set at the address first
// (EFAULT), and refuses to do anything with it then, for there is no such way to change a mask (EINVAL).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kNoWay = -1, kSetBytes = 8 };

static int is_readable(const void* address) {
  const uintptr_t set = (uintptr_t)address / kSetBytes * kSetBytes;
  errno = 0;
  return syscall(SYS_rt_sigprocmask, kNoWay, set, NULL, kSetBytes) == -1 && errno == EINVAL ? 1 : -1;
}

// Whether what is said above holds here: systems that only look like Linux may do otherwise.
int unwind_can_check_memory(void) {
  const uint64_t readable = 0;
  return is_readable(&readable) == 1 && is_readable(NULL) == -1;
}

static inline int has_nothing_to_read(void) {
  errno = EAGAIN;
  return -1;
}

// What open_pipe() and write_validate() call, in src/x86_64/Ginit.c and src/aarch64/Ginit.c.
#define pipe2(descriptors, flags) ((void)(descriptors))
#define read(descriptor, buffer, size) ((void)(buffer), has_nothing_to_read())
#define write(descriptor, address, size) is_readable(address)
#define syscall(number, descriptor, address, size) is_readable(address)
#include "Linit.c"
