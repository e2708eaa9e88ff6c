// Many writers and a reader on one mapping, as ThreadSanitizer can see them: the reader follows the protocol of
// FORMAT.md with atomic loads.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

using namespace trace;

namespace {

constexpr std::size_t kKernelIndex = static_cast<std::size_t>(KernelRecord::kKind) - kFirstEventKind;

// The block's payload if it did not change meanwhile.
bool copy_block(BlockHeader* block, std::vector<std::uint64_t>& copy) {
  const std::uint64_t generation = SharedMemory::load_acquire(block->generation);
  if (generation == 0 || generation % 2 != 0) return false;
  copy.resize(SharedMemory::load_acquire(block->committed) / 8);
  auto* words = reinterpret_cast<std::uint64_t*>(payload_of(block));
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = SharedMemory::load(words[i]);
  SharedMemory::load_load_barrier();
  return SharedMemory::load(block->generation) == generation;
}

std::uint64_t check_block(const std::vector<std::uint64_t>& copy) {
  const auto* bytes = reinterpret_cast<const std::byte*>(copy.data());
  std::uint64_t torn = 0;
  std::size_t size;
  for (std::size_t at = 0; (size = record_size(bytes + at, copy.size() * 8 - at)) != 0; at += size) {
    KernelRecord record;
    std::memcpy(&record, bytes + at, sizeof(record));
    torn += !is_numbered(record);
  }
  return torn;
}

}  // namespace

TEST_CASE("writers on many threads and a reader: nothing torn, nothing uncounted") {
  SmallRing memory(16, 4096);
  constexpr std::uint64_t kThreads = 4, kEach = 20'000;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> refused{0}, torn{0}, looked{0};
  std::thread reader([&] {
    std::vector<std::uint64_t> copy;
    for (std::uint64_t i = 0; !done || looked == 0; ++i) {
      if (!copy_block(memory.ring.block(i % 16), copy)) continue;
      torn += check_block(copy);
      ++looked;
    }
  });
  std::vector<std::thread> writers;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      BlockWriter<> writer;
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const KernelRecord record = numbered(t * kEach + i);
        const bool entered = writer.enter(memory.ring, static_cast<std::uint32_t>(t + 1), no_clock);
        if (entered && writer.make_room(sizeof(record), no_clock))
          writer.append(&record, sizeof(record));
        else
          ++refused;
        writer.leave();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  CHECK(torn == 0);
  CHECK(looked > 0);
  std::uint64_t counts[kEventKinds] = {};
  std::uint64_t overwritten = 0;
  for (std::uint64_t i = 0; i < 16; ++i) {
    BlockHeader* block = memory.ring.block(i);
    count_events(payload_of(block), block->committed, counts);
    overwritten += block->overwritten[overwritten_index(block->generation)][kKernelIndex];
  }
  CHECK(counts[kKernelIndex] + overwritten + refused == kThreads * kEach);
}
