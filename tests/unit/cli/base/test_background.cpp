#include <stdexcept>
#include <vector>

#include "cli/base/threads.h"
#include "no_threads.h"
#include "tests/unit/catch.h"

using cli::Background;

TEST_CASE("background: pieces are done in order") {
  std::vector<int> done;
  Background background;
  for (int i = 0; i < 1000; ++i) background.run([&done, i] { done.push_back(i); });
  background.wait();
  REQUIRE(done.size() == 1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("background: a failure comes back to the caller and ends the work") {
  int done = 0;
  Background background;
  background.run([] { throw std::runtime_error("disk"); });
  CHECK_THROWS_WITH(background.wait(), "disk");
  CHECK_THROWS_WITH((background.run([&done] { ++done; })), "disk");
  CHECK(done == 0);
}

TEST_CASE("background: ends with work still waiting") {
  Background background;
  background.run([] {});
  background.run([] {});
}

TEST_CASE("background: does the work at once where no thread can be started") {
  const NoThreads none;
  Background background;
  int done = 0;
  background.run([&] { ++done; });
  CHECK(done == 1);
  background.wait();
  CHECK_THROWS_AS(background.run([] { throw std::runtime_error("no"); }), std::runtime_error);
}
