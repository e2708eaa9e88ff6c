#include <memory>
#include <string>

#include "agent/ring/interner.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

using namespace agent;

namespace {

struct Bench {
  explicit Bench(std::uint64_t definitions) : memory(4, 4096, definitions) {}

  std::uint32_t string(std::string_view text) {
    REQUIRE(writer.enter(memory.ring, 0, trace::no_clock));
    REQUIRE(writer.make_room(string_room(text.size()), trace::no_clock));
    const std::uint32_t ref = interner->string(memory.ring, writer, text);
    writer.leave();
    return ref;
  }
  void next_block() {
    REQUIRE(writer.enter(memory.ring, 0, trace::no_clock));
    REQUIRE(writer.make_room(memory.ring.payload_bytes(), trace::no_clock));
    writer.leave();
  }
  std::string text(std::uint32_t ref) {
    const std::byte* at =
        (trace::is_local(ref) ? writer.payload() : memory.ring.definitions()) + trace::ref_offset(ref);
    trace::StringRecord head;
    std::memcpy(&head, at, sizeof(head));
    return {reinterpret_cast<const char*>(at) + sizeof(head), head.length};
  }

  trace::SmallRing memory;
  Writer writer;
  std::unique_ptr<Interner> interner = std::make_unique<Interner>();
};

}  // namespace

TEST_CASE("a name is defined in its block, found again there, and promoted when it comes back") {
  Bench bench(64 << 10);
  const std::uint32_t first = bench.string("Train step 1");
  CHECK(trace::is_local(first));
  CHECK(bench.string("Train step 1") == first);
  bench.next_block();
  const std::uint32_t promoted = bench.string("Train step 1");
  CHECK_FALSE(trace::is_local(promoted));
  CHECK(bench.text(promoted) == "Train step 1");
  bench.next_block();
  CHECK(bench.string("Train step 1") == promoted);
}

TEST_CASE("a full region costs bytes, never a name") {
  Bench bench(9 << 10);  // 8 KiB of it are reserved
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      const std::string name = "name number " + std::to_string(i);
      CHECK(bench.text(bench.string(name)) == name);
    }
    bench.next_block();
  }
  CHECK(bench.memory.header()->definitions_missed > 0);
}

TEST_CASE("names that appear once leave nothing in the region") {
  Bench bench(64 << 10);
  for (int i = 0; i < 20'000; ++i) bench.string("unique " + std::to_string(i));
  CHECK(bench.memory.header()->definitions_used == 0);
}

TEST_CASE("a name too long for a block is cut, and equal cut names are one") {
  Bench bench(64 << 10);
  const std::string name(100'000, 'x');
  const std::string_view cut = std::string_view(name).substr(0, longest_name(bench.memory.ring));
  const std::uint32_t ref = bench.string(cut);
  CHECK(bench.text(ref) == cut);
}

TEST_CASE("launch shapes differ by name and by every field") {
  Bench bench(64 << 10);
  const auto shape = [&](std::string_view name, std::uint32_t grid) {
    REQUIRE(bench.writer.enter(bench.memory.ring, 0, trace::no_clock));
    REQUIRE(bench.writer.make_room(string_room(name.size()) + sizeof(trace::LaunchShapeRecord), trace::no_clock));
    auto record = trace::make_record<trace::LaunchShapeRecord>();
    record.grid[0] = grid;
    const std::uint32_t ref = bench.interner->shape(bench.memory.ring, bench.writer, {record, name});
    bench.writer.leave();
    return ref;
  };
  const std::uint32_t a = shape("gemm", 1);
  CHECK(shape("gemm", 1) == a);
  CHECK(shape("gemm", 2) != a);
  CHECK(shape("gemv", 1) != a);
  bench.next_block();
  const std::uint32_t promoted = shape("gemm", 1);
  CHECK_FALSE(trace::is_local(promoted));
  trace::LaunchShapeRecord record;
  std::memcpy(&record, bench.memory.ring.definitions() + trace::ref_offset(promoted), sizeof(record));
  CHECK_FALSE(trace::is_local(record.name_ref));
  CHECK(bench.text(record.name_ref) == "gemm");
}

TEST_CASE("frames are defined in their block, come back to the region, and leave half of it to others") {
  Bench bench(64 << 10);
  const auto frame = [&](std::string_view name, std::string_view file, std::int32_t line) {
    REQUIRE(bench.writer.enter(bench.memory.ring, 0, trace::no_clock));
    REQUIRE(bench.writer.make_room(frame_room(name.size() + file.size()), trace::no_clock));
    Frame frame{trace::make_record<trace::FrameRecord>(), name, file};
    frame.record.line = line;
    const std::uint32_t ref = bench.interner->frame(bench.memory.ring, bench.writer, frame);
    bench.writer.leave();
    return ref;
  };
  const std::uint32_t first = frame("forward", "<gen 1>", 1);
  CHECK(trace::is_local(first));
  CHECK(frame("forward", "<gen 1>", 1) == first);
  CHECK(frame("forward", "<gen 2>", 1) != first);
  CHECK(frame("forward", "<gen 1>", 2) != first);
  CHECK(frame("forward", "", 1) != first);
  bench.next_block();
  const std::uint32_t promoted = frame("forward", "<gen 1>", 1);
  CHECK_FALSE(trace::is_local(promoted));
  trace::FrameRecord record;
  std::memcpy(&record, bench.memory.ring.definitions() + trace::ref_offset(promoted), sizeof(record));
  CHECK((bench.text(record.name_ref) == "forward" && bench.text(record.file_ref) == "<gen 1>" && record.line == 1));

  for (int i = 0; i < 4'000; ++i) {
    const std::string file = "<gen " + std::to_string(i) + ">";
    frame("forward", file, i);
    bench.next_block();
    frame("forward", file, i);
  }
  const std::uint64_t used = bench.memory.header()->definitions_used;
  CHECK((used > 16 << 10 && used <= 32 << 10));
  bench.string("a kernel");
  bench.next_block();
  CHECK_FALSE(trace::is_local(bench.string("a kernel")));
}
