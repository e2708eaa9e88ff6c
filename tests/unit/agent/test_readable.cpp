#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "agent/base/loaded_objects.h"
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
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{0xa5a5a5a5a5a5a5a0},
                                      ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    CHECK(!is_readable(reinterpret_cast<const void*>(address), 16));
  }
  CHECK(is_readable(&before, sizeof(before)));
  CHECK(errno == 7);
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) CHECK(sigismember(&before, signal) == sigismember(&after, signal));
}

TEST_CASE("a text ends at its NUL, at the limit or at memory that nobody can read") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  std::memset(pages, 'x', 3 * page);
  REQUIRE(mprotect(pages + 3 * page, page, PROT_NONE) == 0);
  CHECK(agent::readable_text(pages, 10 * page).size() == 3 * page);
  CHECK(agent::readable_text(pages + 3 * page - 1, 10) == "x");
  CHECK(agent::readable_text(pages + 3 * page, 10).empty());
  CHECK(agent::readable_text(pages + 5, page) == std::string(page, 'x'));
  pages[2 * page] = '\0';
  CHECK(agent::readable_text(pages + 7, 10 * page).size() == 2 * page - 7);
  std::uint64_t word = 0;
  CHECK(agent::read_guarded(pages + 3 * page - 8, word));
  CHECK(!agent::read_guarded(pages + 3 * page - 7, word));
  munmap(pages, 4 * page);
}

TEST_CASE("what was readable is looked at once, and bad addresses every time") {
  static const char text[] = "text";
  for (int i = 0; i < 3; ++i) {
    CHECK(agent::readable_text(text, 16) == "text");
    for (const std::uint64_t address :
         {std::uint64_t{1}, std::uint64_t{4095}, std::uint64_t{0xa5a5a5a5a5a5a5a0}, ~std::uint64_t{0}}) {
      CHECK(!agent::was_readable(reinterpret_cast<const void*>(address), 1));
    }
  }
  CHECK(!agent::was_readable(text, ~std::size_t{0}));
}
