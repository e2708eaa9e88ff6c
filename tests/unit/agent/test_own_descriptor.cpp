#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/ring/run_directory.h"
#include "tests/unit/catch.h"

using agent::OwnDescriptor;

namespace {

int nameless_file() {
  char path[] = "/tmp/descriptor-XXXXXX";
  const int file = mkstemp(path);
  unlink(path);
  return file;
}

// In a child, whose descriptors are its own.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a kept descriptor is out of the way of the program's") {
  const int low = nameless_file();
  OwnDescriptor own;
  CHECK(own.get() == -1);
  REQUIRE(own.take(low));
  CHECK(own.get() >= 64);
  CHECK((fcntl(own.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(fcntl(low, F_GETFD) == -1);
  CHECK(own.drop());
  CHECK(!own.held());
}

TEST_CASE("a failed open is passed on") {
  OwnDescriptor own;
  errno = EACCES;
  CHECK(!own.take(-1));
  CHECK(errno == EACCES);
  CHECK(!own.held());
}

TEST_CASE("it is never a standard file's, whatever the limit") {
  for (const rlim_t limit : {rlim_t{4}, rlim_t{16}, rlim_t{256}}) {
    const int status = in_child([limit] {
      const rlimit few{limit, limit};
      for (int file = 3; file < 64; ++file) close(file);
      if (setrlimit(RLIMIT_NOFILE, &few) != 0) return false;
      close(1);
      OwnDescriptor own;
      return own.take(nameless_file()) && own.get() > 2 && fcntl(1, F_GETFD) == -1;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("where no number is left it is refused, not kept low") {
  const int status = in_child([] {
    const rlimit few{3, 3};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return false;
    close(1);
    OwnDescriptor own;
    return !own.take(nameless_file()) && !own.held() && fcntl(1, F_GETFD) == -1;
  });
  CHECK(status == 0);
}

TEST_CASE("what the program closed, or uses again, is not touched") {
  OwnDescriptor own;
  REQUIRE(own.take(nameless_file()));
  const int number = own.get();
  close(number);
  CHECK(own.get() == -1);
  CHECK(own.held());
  const int theirs = nameless_file();
  REQUIRE(dup2(theirs, number) == number);
  CHECK(own.get() == -1);
  errno = 0;
  CHECK(!own.drop());
  CHECK(errno == EBADF);
  CHECK(fcntl(number, F_GETFD) != -1);
  close(number);
  close(theirs);
}

TEST_CASE("a lock stays with the file") {
  char path[] = "/tmp/descriptor-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(agent::hold_lock(file));
  OwnDescriptor own;
  REQUIRE(own.take(file));
  const int other = open(path, O_RDWR);
  CHECK(agent::is_locked(other));
  CHECK(own.drop());
  CHECK(!agent::is_locked(other));
  close(other);
  unlink(path);
}
