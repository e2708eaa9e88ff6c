// Recordings as events, and every way in which a file can be damaged.
#include <string>

#include "cli/base/error.h"
#include "ring_recording.h"
#include "tests/case_step.h"

using namespace cli;

namespace {

template <typename Push>
Push push(std::uint32_t tid, std::uint64_t time, std::uint32_t name) {
  auto record = trace::make_record<Push>();
  record.tid = tid;
  record.time_mono_ns = time;
  record.name_ref = name;
  record.domain_ref = trace::kNoRef;
  return record;
}

}  // namespace

TEST_CASE("a kernel gets its name, its place and its time on the wall clock") {
  Recording recording;
  auto shape = trace::make_record<trace::LaunchShapeRecord>();
  shape.name_ref = recording.name("_Z4gemmIfLi4EEvPKT_i");
  shape.grid[0] = 12;
  const std::uint32_t ref = trace::append_definition(recording.memory.ring, 0, &shape, sizeof(shape));
  auto kernel = trace::make_record<trace::KernelRecord>();
  kernel.shape_ref = ref;
  kernel.start_cupti_ns = 9'500'000'001;
  kernel.duration_ns = 0xffffffff;
  kernel.correlation = 77;
  kernel.stream = 20;
  kernel.device = 3;
  recording.add(kernel);
  const auto events = recording.read().all;
  REQUIRE(events.size() == 1);
  const Event& event = events[0].event;
  CHECK(recording.catalog.strings[event.name] == "void gemm<float, 4>(float const*, int)");
  CHECK(event.start_ns == 10'500'000'001);
  CHECK(event.duration_ns == 0xffffffff);
  CHECK(event.correlation == 77);
  CHECK(recording.catalog.tracks[event.track].id == 20);
  CHECK(recording.catalog.tracks[event.track].group == 3);
  CHECK(events[0].args.find("\"grid\": [12, 0, 0]") != std::string::npos);
}

TEST_CASE("a kernel that had not ended has an unknown duration, a longer one than 2^32 ns its own") {
  Recording recording;
  auto shape = trace::make_record<trace::LaunchShapeRecord>();
  shape.name_ref = recording.name("spin");
  auto wide = trace::make_record<trace::KernelWideRecord>();
  wide.shape_ref = trace::append_definition(recording.memory.ring, 0, &shape, sizeof(shape));
  wide.start_cupti_ns = 1000;
  recording.add(wide);
  wide.end_cupti_ns = 1000 + (1ull << 32);
  recording.add(wide);
  const auto events = recording.read().all;
  REQUIRE(events.size() == 2);
  CHECK(events[0].event.duration_ns == kUnknownDuration);
  CHECK(events[1].event.duration_ns == std::int64_t{1} << 32);
}

TEST_CASE("ranges nest per thread; what lacks its other end is said") {
  Recording recording;
  const std::uint32_t step = recording.name("Train step 1"), layer = recording.name("layer");
  auto pop = trace::make_record<trace::NvtxPopRecord>();
  pop.domain_ref = trace::kNoRef;
  pop.tid = 1;
  recording.add(pop);  // its push was overwritten
  recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'100, step));
  recording.add(push<trace::NvtxPushRecord>(2, 5'000'000'150, layer));
  recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'200, layer));
  pop.time_mono_ns = 5'000'000'300;
  recording.add(pop);
  pop.time_mono_ns = 5'000'000'400;
  recording.add(pop);
  const auto events = recording.read().all;
  REQUIRE(events.size() == 3);
  CHECK(events[0].event.start_ns == 10'000'000'200);
  CHECK(events[0].event.duration_ns == 100);
  CHECK(events[1].event.duration_ns == 300);
  CHECK(events[2].event.duration_ns == kUnknownDuration);
  REQUIRE(recording.catalog.processes[0].notes.size() == 2);
  CHECK(recording.catalog.processes[0].notes[0].find("1 ranges without an end") == 0);
  CHECK(recording.catalog.processes[0].notes[1].find("1 range ends without a start") == 0);
}

TEST_CASE("the last identity wins, field by field") {
  Recording recording;
  auto identity = trace::make_record<trace::IdentityRecord>();
  identity.rank = 5;
  identity.local_rank = 1;
  identity.world_size = 8;
  trace::append_definition(recording.memory.ring, 0, &identity, sizeof(identity));
  identity.rank = 6;
  identity.local_rank = -1;
  trace::append_definition(recording.memory.ring, 0, &identity, sizeof(identity));
  recording.read();
  CHECK(recording.catalog.processes[0].rank == 6);
  CHECK(recording.catalog.processes[0].local_rank == 1);
  CHECK(recording.catalog.processes[0].world_size == 8);
}

TEST_CASE("a cut file is read as far as it goes, and says what is missing; within its header it is refused") {
  Recording recording(2);
  recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'100, recording.name("x")));
  const trace::BlockHeader* block = recording.memory.ring.block(0);
  if (block->committed == 0) block = recording.memory.ring.block(1);
  const std::size_t begin = static_cast<std::size_t>(reinterpret_cast<const char*>(block) - recording.memory.bytes());
  const std::size_t end = begin + sizeof(trace::BlockHeader) + block->committed;
  for (std::size_t length = 0; length < recording.memory.size(); length += (length < 4200 ? 1 : 8) * case_step()) {
    Catalog catalog;
    KeepingSink sink(catalog);
    std::string reason;
    try {
      cli::ring::open_ring(recording.write(length))->read(catalog, sink);
    } catch (const Error& error) {
      reason = error.what();
      CHECK(error.exit() == Exit::bad_content);
    }
    CAPTURE(length);
    REQUIRE(reason.empty() == (length >= trace::kHeaderBytes));
    if (!reason.empty()) {
      REQUIRE(reason.find("byte " + std::to_string(length)) != std::string::npos);
      continue;
    }
    REQUIRE(sink.all.size() == (length >= end ? 1 : 0));
    const std::string expected = length >= end ? "0 of its 1 blocks in use are missing" : "1 of its 1 blocks";
    REQUIRE(catalog.processes[0].cut.find(expected) != std::string::npos);
    REQUIRE(catalog.processes[0].cut.find("byte " + std::to_string(length)) == 0);
  }
  CHECK(recording.read().all.size() == 1);
  CHECK(recording.process().cut.empty());
}

TEST_CASE("a damaged block costs itself, from the damage on") {
  Recording recording;
  const std::uint32_t name = recording.name("x");
  recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'100, name));
  recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'200, name));
  const trace::BlockHeader* block = recording.memory.ring.block(1);
  SECTION("something that is no record") {
    trace::payload_of(recording.memory.ring.block(1))[block->committed / 2 + 1] = std::byte{0xff};
    CHECK(recording.read().all.size() == 1);
    REQUIRE(recording.process().notes.size() == 2);
    CHECK(recording.process().notes[0].find("1 ranges without an end") == 0);
    CHECK(recording.process().notes[1].find(": not a record; the rest of its block") != std::string::npos);
  }
  SECTION("more records than fit") {
    recording.memory.ring.block(1)->committed = 1ull << 40;
    CHECK(recording.read().all.empty());
    REQUIRE(recording.process().notes.size() == 1);
    CHECK(recording.process().notes[0].find("1 blocks changed") == 0);
  }
}

TEST_CASE("of a ring of which little was used all of that is read, also what was claimed after the header was read") {
  Recording recording(1000);
  const std::uint32_t name = recording.name("mark");
  const auto mark = [&](std::uint64_t time) { recording.add(push<trace::NvtxMarkRecord>(7, time, name)); };
  for (std::uint64_t i = 0; i < 300; ++i) mark(6'000'000'000 + i);
  const std::uint64_t claimed = recording.memory.header()->claimed_blocks;
  REQUIRE(claimed > 1);
  CHECK(recording.read().all.size() == 300);
  recording.memory.header()->claimed_blocks = 0;
  CHECK(recording.read().all.size() == 300);
}

TEST_CASE("another version, an unknown feature, sizes that cannot be and references to nowhere are refused") {
  const auto refused = [](void (*damage)(Recording&)) {
    Recording recording;
    recording.add(push<trace::NvtxPushRecord>(1, 5'000'000'100, recording.name("x")));
    damage(recording);
    CHECK_THROWS_AS(recording.read(), Error);
  };
  refused([](Recording& r) { r.memory.header()->magic[0] = 'x'; });
  refused([](Recording& r) { r.memory.header()->version = 99; });
  refused([](Recording& r) { r.memory.header()->features = 1; });
  refused([](Recording& r) { r.memory.header()->block_bytes = 0; });
  refused([](Recording& r) { r.memory.header()->block_count = 1ull << 40; });
  refused([](Recording& r) { r.memory.header()->definitions_used = 1ull << 40; });
  refused([](Recording& r) { r.memory.header()->blocks_offset = ~0ull; });
  refused([](Recording& r) { r.add(push<trace::NvtxPushRecord>(1, 1, 0x1000)); });
  refused([](Recording& r) { r.add(push<trace::NvtxPushRecord>(1, 1, trace::kLocalRef | 4)); });
}
