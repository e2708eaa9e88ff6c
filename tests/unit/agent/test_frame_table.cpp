#include <memory>
#include <thread>
#include <vector>

#include "agent/ring/interner.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

FrameKey key(std::uint64_t i) { return {{i, i * 3, i * 5, i * 7}}; }

}  // namespace

TEST_CASE("a table of frames forgets, and never says what is not so") {
  const auto table = std::make_unique<FrameTable>();
  CHECK(table->find(key(1)) == trace::kNoRef);
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    table->remember(key(i), i);
    REQUIRE(table->find(key(i)) == i);
  }
  std::size_t known = 0;
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    const std::uint32_t ref = table->find(key(i));
    REQUIRE((ref == i || ref == trace::kNoRef));
    known += ref == i;
  }
  CHECK(known > 5'000);
}

TEST_CASE("a table of frames: threads that write and read at once find their own or nothing") {
  const auto table = std::make_unique<FrameTable>();
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 1; i < 200'000; ++i) {
        const std::uint32_t number = i * 7 % 50'000 + 1;
        table->remember(key(number), number);
        const std::uint32_t ref = table->find(key(i % 50'000 + 1));
        wrong += ref != trace::kNoRef && ref != i % 50'000 + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("recent frames: a place finds its own frame, in its own block or the definitions region") {
  const auto frames = std::make_unique<RecentFrames>();
  const int code = 0, module = 0;
  const RecentFrames::Place place{&code, nullptr, 8}, call{&code, &module, 0};
  CHECK_FALSE(frames->at(place).is_in(7));
  frames->at(place) = {place, 1, key(1), 7, 21};
  CHECK(&frames->at(place) == &frames->at({&code, nullptr, 8}));
  CHECK(frames->at(place).place == place);
  CHECK_FALSE(frames->at(place).place == call);
  CHECK(frames->at(place).is_in(7));
  CHECK_FALSE(frames->at(place).is_in(8));
  frames->at(place).ticket = 0;
  CHECK(frames->at(place).is_in(8));
}
