#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "agent/cupti/buffer_pool.h"
#include "tests/unit/catch.h"

TEST_CASE("buffers are aligned, zeroed and not given out twice") {
  agent::keep_spare_buffers(3);
  std::set<std::uint8_t*> taken;
  for (int i = 0; i < 10; ++i) {
    std::uint8_t* buffer = agent::take_buffer();
    REQUIRE(buffer != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer) % 8 == 0);
    CHECK(taken.insert(buffer).second);
    CHECK(buffer[0] == 0);
    buffer[0] = buffer[agent::kBufferBytes - 1] = 1;
  }
  for (std::uint8_t* buffer : taken) agent::give_back_buffer(buffer, agent::kBufferBytes);
  std::uint8_t* again = agent::take_buffer();
  CHECK(taken.count(again) == 1);
  CHECK(again[0] == 0);
  CHECK(again[agent::kBufferBytes - 1] == 0);
  agent::give_back_buffer(again, 0);
}

TEST_CASE("threads that take and give back never share a buffer") {
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([t, &shared] {
      for (int i = 0; i < 2000; ++i) {
        std::uint8_t* buffer = agent::take_buffer();
        shared += buffer[0] != 0;
        buffer[0] = static_cast<std::uint8_t>(t);
        shared += buffer[0] != t;
        agent::give_back_buffer(buffer, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 0);
}
