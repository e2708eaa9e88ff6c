#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "agent/base/readable.h"
#include "tests/unit/catch.h"

using agent::is_readable;

TEST_CASE("memory is readable up to the first page that is not") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<std::byte*>(mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages + 2 * page, page, PROT_NONE) == 0);
  CHECK(is_readable(pages, 2 * page));
  CHECK(is_readable(pages + 2 * page - 1, 1));
  CHECK(!is_readable(pages + 2 * page - 1, 2));
  CHECK(!is_readable(pages + 2 * page, 1));
  CHECK(!is_readable(pages, 3 * page));
  CHECK(is_readable(pages + 2 * page, 0));
  munmap(pages, 3 * page);
  CHECK(!is_readable(pages, 8));
}

TEST_CASE("addresses that are none are not readable, and nothing changes") {
  sigset_t before, after;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  errno = 7;
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{0xa5a5a5a5a5a5a5a0}, ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    CHECK(!is_readable(reinterpret_cast<const void*>(address), 16));
  }
  CHECK(is_readable(&before, sizeof(before)));
  CHECK(errno == 7);
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) CHECK(sigismember(&before, signal) == sigismember(&after, signal));
}
