// libunwind's Linit.c without its pipe. Before it reads at an address that may be none, it has the kernel write what stands there
// into a pipe of its own. A program that closes all descriptors closes that too, and the byte would go into a file of the program's
// that got its number. process_vm_readv(2) on ourselves asks the same of the kernel without a descriptor; where it is forbidden,
// no address is good, and frames that are only guessed end the stack.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_readable(const void* address) {
  char byte;
  const struct iovec to = {&byte, 1}, from = {(void*)address, 1};
  errno = 0;
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 ? 1 : -1;
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
