#include <stdexcept>
#include <vector>

#include "cli/io/background.h"
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
