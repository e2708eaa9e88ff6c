#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "agent/ring/ring_location.h"
#include "common/definitions.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"
#include "tests/unit/common/small_ring.h"

using namespace agent;

namespace {

// A copy in memory, as a reader maps it.
struct Read {
  explicit Read(const std::string& path) : bytes(read_file(path)) {
    REQUIRE(bytes.size() > trace::kHeaderBytes);
    ring.header = reinterpret_cast<trace::FileHeader*>(bytes.data());
  }
  // Kept and overwritten; fails on a torn record.
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < ring.header->block_count; ++i) {
      trace::BlockHeader* block = ring.block(i);
      REQUIRE(block->generation % 2 == 0);
      all += block->overwritten[trace::overwritten_index(block->generation)][0];
      for (std::size_t at = 0; at < block->committed; at += sizeof(trace::KernelRecord), ++all) {
        trace::KernelRecord record;
        std::memcpy(&record, trace::payload_of(block) + at, sizeof(record));
        REQUIRE(trace::is_numbered(record));
      }
    }
    return all;
  }
  std::string bytes;
  trace::Ring ring;
};

void append(trace::SmallRing& small, trace::BlockWriter<>& writer, std::uint64_t number) {
  const auto record = trace::numbered(number);
  if (!writer.enter(small.ring, 1, trace::no_clock)) return;
  if (writer.make_room(sizeof(record), trace::no_clock)) writer.append(&record, sizeof(record));
  writer.leave();
}

}  // namespace

TEST_CASE("a copy holds what the ring holds, and says that it is one") {
  const Scratch scratch;
  trace::SmallRing small(8, 4096);
  trace::BlockWriter<> writer;
  for (std::uint64_t i = 0; i < 2000; ++i) append(small, writer, i);
  auto name = trace::make_record<trace::ThreadNameRecord>();
  REQUIRE(trace::append_definition(small.ring, 0, &name, sizeof(name)) != trace::kNoRef);
  const int directory = open(scratch.folder().c_str(), O_RDONLY | O_DIRECTORY);
  const std::uint64_t before = ring_fingerprint(small.ring, 0xffffffff);
  REQUIRE(copy_ring(small.ring, directory, "x.ring", nullptr));
  CHECK(scratch.files() == 1);
  const Read copy(scratch.path("x.ring"));
  CHECK(copy.bytes.size() == small.size());
  CHECK(copy.count() == 2000);
  CHECK(copy.ring.header->copied_real_ns > 0);
  CHECK(small.header()->copied_real_ns == 0);
  CHECK(std::memcmp(copy.ring.definitions(), small.ring.definitions(), sizeof(name)) == 0);
  CHECK(ring_fingerprint(small.ring, 0xffffffff) == before);
  append(small, writer, 1);
  CHECK(ring_fingerprint(small.ring, 0xffffffff) != before);
  close(directory);
}

TEST_CASE("copies that are made while threads write are whole") {
  const Scratch scratch;
  trace::SmallRing small(8, 4096);
  const int directory = open(scratch.folder().c_str(), O_RDONLY | O_DIRECTORY);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> written{0};
  std::thread thread([&] {
    trace::BlockWriter<> writer;
    for (std::uint64_t i = 0; !stop; ++i, ++written) append(small, writer, i);
  });
  for (int i = 0; i < 50; ++i) {
    REQUIRE(copy_ring(small.ring, directory, "x.ring", nullptr));
    const std::uint64_t count = Read(scratch.path("x.ring")).count();
    CHECK(count <= written + 1);
  }
  stop = true;
  thread.join();
  close(directory);
}

TEST_CASE("a copy that cannot be made leaves the one before") {
  const Scratch scratch;
  trace::SmallRing small(8, 4096);
  const int directory = open(scratch.folder().c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(copy_ring(small.ring, directory, "x.ring", nullptr));
  const std::string before = read_file(scratch.path("x.ring"));
  std::filesystem::create_directory(scratch.path(".x.ring.part"));
  CHECK(!copy_ring(small.ring, directory, "x.ring", nullptr));
  CHECK(read_file(scratch.path("x.ring")) == before);
  close(directory);
}
