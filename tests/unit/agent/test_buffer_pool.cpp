#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/activity/delivery.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

constexpr std::uint32_t kThread = 7;

// Of the mapping that the address is in; "" where the system does not tell.
std::string page_flags(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  for (bool here = false; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) here = address >= begin && address < end;
    if (here && line.rfind("VmFlags:", 0) == 0) return line;
  }
  return "";
}

}  // namespace

TEST_CASE("buffers are aligned and not given out twice") {
  open_buffer_pool(3);
  std::set<std::uint8_t*> taken;
  for (int i = 0; i < 10; ++i) {
    std::uint8_t* const buffer = take_buffer(kThread);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer) % 8 == 0);
    CHECK(owner_of(buffer) == BufferOwner::ours);
    CHECK(taken.insert(buffer).second);
    buffer[0] = buffer[kBufferBytes - 1] = 1;
  }
  for (std::uint8_t* buffer : taken) give_back_buffer(buffer);
  std::uint8_t* const again = take_buffer(kThread);
  CHECK(taken.count(again) == 1);
  give_back_buffer(again);
}

TEST_CASE("buffers lie in small pages") {
  const std::size_t bytes = 4 << 20;
  void* probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(probe != MAP_FAILED);
  const bool huge_ones = madvise(probe, bytes, MADV_NOHUGEPAGE) == 0;
  const bool is_told = page_flags(probe).find(" nh") != std::string::npos;
  munmap(probe, bytes);
  if (!huge_ones || !is_told) {
    WARN("this system has no huge pages, or does not tell of them (an emulator does not)");
    return;
  }
  open_buffer_pool(1);
  std::uint8_t* const buffer = take_buffer(kThread);
  CHECK(page_flags(buffer).find(" nh") != std::string::npos);
  give_back_buffer(buffer);
}

TEST_CASE("there is always a buffer: beyond the budget the sink") {
  open_buffer_pool(0);
  std::vector<std::uint8_t*> taken;
  std::set<std::uint8_t*> ours;
  for (std::size_t i = 0; i < kBuffers; ++i) {
    taken.push_back(take_buffer(kThread));
    ours.insert(taken.back());
  }
  CHECK(ours.size() == kBuffers);
  CHECK(owner_of(taken.back()) == BufferOwner::ours);
  CHECK(held_buffers().of_a_thread == kBuffers);
  std::uint8_t* const sink = take_buffer(kThread);
  CHECK(owner_of(sink) == BufferOwner::sink);
  CHECK(take_buffer(kThread) == sink);
  std::uint8_t elsewhere = 0;
  CHECK(owner_of(&elsewhere) == BufferOwner::foreign);
  for (std::uint8_t* buffer : taken) give_back_buffer(buffer);
  std::uint8_t* const back = take_buffer(kThread);
  CHECK(owner_of(back) == BufferOwner::ours);
  give_back_buffer(back);
}

TEST_CASE("what is out is known, and of whom") {
  open_buffer_pool(1);
  CHECK(held_buffers().all == 0);
  std::vector<std::uint8_t*> taken;
  for (const std::uint32_t thread : {11u, 12u, 11u, 13u, 11u, 12u}) taken.push_back(take_buffer(thread));
  CHECK(held_buffers().all == 6);
  CHECK(held_buffers().of_a_thread == 3);
  give_back_buffer(taken[2]);
  CHECK(held_buffers().all == 5);
  CHECK(held_buffers().of_a_thread == 2);
  taken[2] = take_buffer(14);
  CHECK(held_buffers().of_a_thread == 2);
  forget_held_buffers();
  CHECK(held_buffers().all == 0);
  taken.push_back(take_buffer(11));
  CHECK(held_buffers().all == 1);
  for (std::uint8_t* buffer : taken) give_back_buffer(buffer);
  CHECK(held_buffers().all == 0);
}

TEST_CASE("threads that take and give back never share a buffer") {
  open_buffer_pool(2);
  std::vector<std::uint8_t*> all;
  for (int i = 0; i < 64; ++i) all.push_back(take_buffer(kThread));
  for (std::uint8_t* buffer : all) {
    buffer[0] = 0;
    give_back_buffer(buffer);
  }
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([t, &shared] {
      for (int i = 0; i < 2000; ++i) {
        std::uint8_t* buffer = take_buffer(static_cast<std::uint32_t>(t));
        auto* const first = reinterpret_cast<std::atomic<std::uint8_t>*>(buffer);
        shared += first->exchange(static_cast<std::uint8_t>(t)) != 0;
        shared += first->exchange(0) != t;
        give_back_buffer(buffer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 0);
}
