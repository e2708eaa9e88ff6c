#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/cupti/buffer_pool.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

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

TEST_CASE("buffers are aligned, zeroed and not given out twice") {
  open_buffer_pool(3);
  std::set<std::uint8_t*> taken;
  for (int i = 0; i < 10; ++i) {
    const Buffer buffer = take_buffer();
    REQUIRE(buffer.bytes == kBufferBytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.memory) % 8 == 0);
    CHECK(owner_of(buffer.memory) == BufferOwner::ours);
    CHECK(taken.insert(buffer.memory).second);
    CHECK(buffer.memory[0] == 0);
    buffer.memory[0] = buffer.memory[kBufferBytes - 1] = 1;
  }
  for (std::uint8_t* buffer : taken) give_back_buffer(buffer, kBufferBytes);
  const Buffer again = take_buffer();
  CHECK(taken.count(again.memory) == 1);
  CHECK(again.memory[0] == 0);
  CHECK(again.memory[kBufferBytes - 1] == 0);
  give_back_buffer(again.memory, 0);
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
  const Buffer buffer = take_buffer();
  CHECK(page_flags(buffer.memory).find(" nh") != std::string::npos);
  give_back_buffer(buffer.memory, 0);
}

TEST_CASE("there is always a buffer: small ones beyond the budget, then the sink") {
  open_buffer_pool(0);
  std::vector<Buffer> taken;
  std::set<std::uint8_t*> ours;
  for (std::size_t i = 0; i < kBuffers + kSmallBuffers; ++i) {
    taken.push_back(take_buffer());
    ours.insert(taken.back().memory);
  }
  CHECK(ours.size() == kBuffers + kSmallBuffers);
  CHECK(taken.back().bytes == kSmallBytes);
  const Buffer sink = take_buffer();
  CHECK(owner_of(sink.memory) == BufferOwner::sink);
  CHECK(sink.bytes >= 4096);
  CHECK(take_buffer().memory == sink.memory);
  std::uint8_t elsewhere = 0;
  CHECK(owner_of(&elsewhere) == BufferOwner::foreign);
  for (const Buffer& buffer : taken) give_back_buffer(buffer.memory, 8);
  const Buffer back = take_buffer();
  CHECK(owner_of(back.memory) == BufferOwner::ours);
  give_back_buffer(back.memory, 0);
}

TEST_CASE("threads that take and give back never share a buffer") {
  open_buffer_pool(2);
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([t, &shared] {
      for (int i = 0; i < 2000; ++i) {
        std::uint8_t* buffer = take_buffer().memory;
        shared += buffer[0] != 0;
        buffer[0] = static_cast<std::uint8_t>(t);
        shared += buffer[0] != t;
        give_back_buffer(buffer, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 0);
}
