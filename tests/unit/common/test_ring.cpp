#include <array>
#include <numeric>

#include "common/definitions.h"
#include "common/ring.h"
#include "common/ring_division.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

using namespace trace;

namespace {

constexpr std::size_t kKernel = static_cast<std::size_t>(KernelRecord::kKind) - kFirstEventKind;

bool append_numbered(BlockWriter<>& writer, const Ring& ring, std::uint64_t i) {
  if (!writer.enter(ring, 1, no_clock)) return false;
  const bool room = writer.make_room(sizeof(KernelRecord), no_clock);
  const KernelRecord record = numbered(i);
  if (room) writer.append(&record, sizeof(record));
  writer.leave();
  return room;
}

struct Totals {
  std::uint64_t kept = 0;
  std::uint64_t overwritten = 0;
};

Totals totals(const Ring& ring) {
  Totals sum;
  for (std::uint64_t i = 0; i < ring.header->block_count; ++i) {
    BlockHeader* block = ring.block(i);
    std::array<std::uint64_t, kEventKinds> counts{};
    count_events(payload_of(block), block->committed, counts.data());
    sum.kept += counts[kKernel];
    sum.overwritten += block->overwritten[overwritten_index(block->generation)][kKernel];
  }
  return sum;
}

}  // namespace

TEST_CASE("a ring of any size is divided so that it holds blocks and names") {
  for (std::uint64_t bytes : {64ull << 10, 100'000ull, 1ull << 20, 64ull << 20, 256ull << 20, 8ull << 30}) {
    trace::FileHeader header{};
    divide_ring(header, bytes);
    INFO(bytes);
    CHECK(header.file_bytes <= bytes);
    CHECK(header.file_bytes + header.block_bytes > bytes);
    CHECK(header.block_count >= 8);
    CHECK(header.block_bytes >= 4096);
    CHECK(header.block_bytes <= 64u << 10);
    CHECK(header.definitions_bytes >= 16u << 10);
    CHECK(header.definitions_offset + header.definitions_bytes == header.blocks_offset);
  }
}

TEST_CASE("what is appended stands in the payload, in order") {
  SmallRing memory(2, 4096);
  BlockWriter<> writer;
  for (std::uint64_t i = 0; i < 5; ++i) REQUIRE(append_numbered(writer, memory.ring, i));
  BlockHeader* block = memory.ring.block(1);  // the first ticket is 1
  REQUIRE(block->committed == 5 * sizeof(KernelRecord));
  for (std::uint64_t i = 0; i < 5; ++i) {
    KernelRecord record;
    std::memcpy(&record, payload_of(block) + i * sizeof(record), sizeof(record));
    CHECK(is_numbered(record));
    CHECK(record.correlation == i);
  }
  CHECK(block->ticket == 1);
  CHECK(block->generation == 2);
}

TEST_CASE("kept and overwritten add up to what was written, over many wraps") {
  SmallRing memory(3, 4096);
  BlockWriter<> writer;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    REQUIRE(append_numbered(writer, memory.ring, i));
    const Totals sum = totals(memory.ring);
    REQUIRE(sum.kept + sum.overwritten == i + 1);
  }
  CHECK(totals(memory.ring).kept > 200);
}

TEST_CASE("threads that wrote once and sleep pin nothing") {
  SmallRing memory(8, 4096);
  std::array<BlockWriter<>, 500> sleepers;
  for (std::uint64_t i = 0; i < sleepers.size(); ++i) REQUIRE(append_numbered(sleepers[i], memory.ring, i));
  BlockWriter<> busy;
  const std::uint64_t ten_rings = 10 * 8 * 4096 / sizeof(KernelRecord);
  for (std::uint64_t i = 0; i < ten_rings; ++i) REQUIRE(append_numbered(busy, memory.ring, 1000 + i));
  REQUIRE(append_numbered(sleepers[0], memory.ring, 7));
  const Totals sum = totals(memory.ring);
  CHECK(sum.kept + sum.overwritten == sleepers.size() + ten_rings + 1);
}

TEST_CASE("a block that is being written is passed over, and with none free the record is refused") {
  SmallRing memory(2, 4096);
  BlockWriter<> first, second, third;
  REQUIRE(first.enter(memory.ring, 1, no_clock));
  REQUIRE(second.enter(memory.ring, 2, no_clock));
  CHECK_FALSE(third.enter(memory.ring, 3, no_clock));
  third.leave();
  first.leave();
  CHECK(third.enter(memory.ring, 3, no_clock));
}

TEST_CASE("an owner notices that its block was taken, also by a claim that came back to the same place") {
  SmallRing memory(1, 4096);
  BlockWriter<> first, second;
  REQUIRE(append_numbered(first, memory.ring, 1));
  const std::uint64_t ticket = first.ticket();
  REQUIRE(append_numbered(second, memory.ring, 2));
  REQUIRE(append_numbered(first, memory.ring, 3));
  CHECK(first.ticket() != ticket);
  const Totals sum = totals(memory.ring);
  CHECK(sum.kept == 1);
  CHECK(sum.overwritten == 2);
}

TEST_CASE("a record that never fits is refused") {
  SmallRing memory(2, 4096);
  BlockWriter<> writer;
  REQUIRE(writer.enter(memory.ring, 1, no_clock));
  CHECK_FALSE(writer.make_room(4096, no_clock));
  CHECK(writer.make_room(memory.ring.payload_bytes(), no_clock));
}

TEST_CASE("definitions fill their region up to what is kept free") {
  SmallRing memory(1, 4096, 4096);
  auto api = make_record<ApiNameRecord>();
  std::uint32_t ref = 0;
  std::uint64_t count = 0;
  while ((ref = append_definition(memory.ring, 1024, &api, sizeof(api))) != kNoRef) {
    CHECK(ref_offset(ref) == count * sizeof(api));
    ++count;
  }
  CHECK(count == (4096 - 1024) / sizeof(api));
  CHECK(memory.header()->definitions_missed == 1);
  CHECK(append_definition(memory.ring, 0, &api, sizeof(api)) != kNoRef);
}

TEST_CASE("no size of a record leads out of its bytes") {
  std::array<std::byte, 64> bytes{};
  for (int words = 0; words < 256; ++words) {
    for (std::uint32_t size : {0u, 7u, 8u, 12u, 64u, 72u, 0x80000000u, 0xffffffffu}) {
      bytes[0] = std::byte{1};
      bytes[1] = static_cast<std::byte>(words);
      std::memcpy(bytes.data() + 4, &size, 4);
      for (std::size_t left = 0; left <= bytes.size(); ++left) CHECK(record_size(bytes.data(), left) <= left);
    }
  }
}
