#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "agent/ring/spool_walk.h"
#include "agent/ring/whole_block.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

using namespace agent;
using trace::BlockWriter;
using trace::SmallRing;

namespace {

constexpr std::uint64_t kBlocks = 8, kBlockBytes = sizeof(trace::BlockHeader) + 4 * sizeof(trace::KernelRecord);

struct Walk {
  explicit Walk(SmallRing& small) : done(small.header()->block_count) { walk.begin(small.ring, done.data()); }
  std::vector<std::uint64_t> pass(bool last = false, bool every = false) {
    std::vector<std::uint64_t> taken;
    waiting = walk.pass(every, last, [&](std::uint64_t, std::uint64_t ticket) {
      taken.push_back(ticket);
      return true;
    });
    return taken;
  }
  std::vector<std::uint64_t> done;
  std::uint64_t waiting = 0;
  SpoolWalk walk;
};

using Tickets = std::vector<std::uint64_t>;

void append(SmallRing& small, BlockWriter<>& writer, int count, bool leave = true) {
  REQUIRE(writer.enter(small.ring, 1, trace::no_clock));
  for (int i = 0; i < count; ++i) {
    REQUIRE(writer.make_room(sizeof(trace::KernelRecord), trace::no_clock));
    const auto record = trace::numbered(static_cast<std::uint64_t>(i));
    writer.append(&record, sizeof(record));
  }
  if (leave) writer.leave();
}

}  // namespace

TEST_CASE("a full block is taken once, one that is held waits") {
  SmallRing small(kBlocks, kBlockBytes);
  Walk walk(small);
  BlockWriter<> writer;
  CHECK(walk.pass().empty());
  append(small, writer, 9);
  CHECK(walk.pass() == Tickets{1, 2});
  CHECK(walk.waiting == 1);
  CHECK(walk.walk.done_up_to() == 2);
  append(small, writer, 4);
  CHECK(walk.pass() == Tickets{3});
  CHECK(walk.pass().empty());
  CHECK(walk.walk.done_up_to() == 3);
}

TEST_CASE("an idle owner's block is taken before the ring comes round to it, not earlier") {
  SmallRing small(kBlocks, kBlockBytes);
  Walk walk(small);
  BlockWriter<> idle, busy;
  append(small, idle, 1);
  append(small, busy, 16);
  CHECK(walk.pass() == Tickets{2, 3, 4});
  append(small, busy, 4);
  CHECK(walk.pass() == Tickets{1, 5});
  append(small, idle, 1);  // finds its block sealed, and takes another
  CHECK(idle.ticket() == 7);
}

TEST_CASE("a block that is being written waits, also at the end") {
  SmallRing small(kBlocks, kBlockBytes);
  Walk walk(small);
  BlockWriter<> writer, other;
  append(small, writer, 2, false);
  append(small, other, 1);
  CHECK(walk.pass(true, true) == Tickets{2});
  CHECK(walk.waiting == 1);
  writer.leave();
  CHECK(walk.pass(true, true) == Tickets{1});
  CHECK(walk.waiting == 0);
}

TEST_CASE("a ticket that was drawn and not claimed yet is waited for, half a lap long") {
  SmallRing small(kBlocks, kBlockBytes);
  Walk walk(small);
  BlockWriter<> writer;
  small.header()->claimed_blocks = 1;
  append(small, writer, 8);
  CHECK(walk.pass() == Tickets{2});
  CHECK(walk.walk.done_up_to() == 0);
  append(small, writer, 20);
  walk.pass();
  CHECK(walk.walk.done_up_to() >= 1);
}

TEST_CASE("a walk that was ended goes on where it was") {
  SmallRing small(kBlocks, kBlockBytes);
  std::vector<std::uint64_t> done(kBlocks);
  SpoolWalk walk;
  walk.begin(small.ring, done.data());
  BlockWriter<> writer;
  append(small, writer, 12);
  int calls = 0;
  walk.pass(false, false, [&](std::uint64_t, std::uint64_t) { return ++calls < 2; });
  CHECK(calls == 2);
  Tickets taken;
  walk.pass(false, false, [&](std::uint64_t, std::uint64_t ticket) {
    taken.push_back(ticket);
    return true;
  });
  CHECK(taken == Tickets{2});
}

TEST_CASE("while threads write, what is spooled is whole, and spooled + kept + overwritten is all there was") {
  constexpr int kWriters = 3, kRecords = 20'000;
  SmallRing small(32, kBlockBytes * 4);
  std::vector<std::uint64_t> done(32);
  SpoolWalk walk;
  walk.begin(small.ring, done.data());
  std::map<std::uint64_t, std::size_t> spooled;  // ticket -> records
  std::vector<std::byte> payload(small.ring.payload_bytes());
  std::uint64_t torn = 0;
  const auto take = [&](std::uint64_t index, std::uint64_t ticket) {
    trace::BlockHeader header;
    if (!copy_whole_block(small.ring, index, header, payload.data()) || header.ticket != ticket) return true;
    for (std::size_t at = 0; at < header.committed; at += sizeof(trace::KernelRecord)) {
      trace::KernelRecord record;
      std::memcpy(&record, payload.data() + at, sizeof(record));
      torn += !trace::is_numbered(record);
    }
    torn += spooled.count(ticket);
    spooled[ticket] = header.committed / sizeof(trace::KernelRecord);
    return true;
  };
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([&] {
      BlockWriter<> writer;
      for (int i = 0; i < kRecords; ++i) {
        const auto record = trace::numbered(static_cast<std::uint64_t>(i));
        if (!writer.enter(small.ring, 1, trace::no_clock)) continue;
        if (writer.make_room(sizeof(record), trace::no_clock)) writer.append(&record, sizeof(record));
        writer.leave();
      }
      --writing;
    });
  }
  for (int i = 0; writing > 0; ++i) walk.pass(i % 100 == 0, false, take);
  for (std::thread& thread : threads) thread.join();
  walk.pass(true, true, take);

  std::uint64_t overwritten = 0, saved = 0;
  std::set<std::uint64_t> in_ring;
  for (std::uint64_t i = 0; i < 32; ++i) {
    const trace::BlockHeader* block = small.ring.block(i);
    overwritten += block->overwritten[trace::overwritten_index(block->generation)][0];
    in_ring.insert(block->ticket);
    if (block->committed > 0) CHECK(spooled.count(block->ticket) == 1);
  }
  std::uint64_t all = 0;
  for (const auto& [ticket, records] : spooled) {
    all += records;
    if (in_ring.count(ticket) == 0) saved += records;
  }
  CHECK(torn == 0);
  CHECK(saved <= overwritten);
  CHECK(all + (overwritten - saved) == kWriters * kRecords);
}
