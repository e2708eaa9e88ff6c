// A ring and its spool are one recording; whatever is damaged in the spool is left out and counted.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/base/error.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/file.h"
#include "spool_maker.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::ring;

namespace {

struct Seen {
  std::vector<std::uint64_t> numbers;  // of the kernels, in the order in which they came
  std::uint64_t overwritten = 0, holes = 0;
  std::vector<std::string> notes;
  std::uint64_t all() const { return numbers.size() + overwritten; }
  bool in_order() const { return std::is_sorted(numbers.begin(), numbers.end()); }
};

class Pair {
 public:
  explicit Pair(std::uint64_t records) : made(records) {
    for (const auto& [ticket, chunk] : made.chunks) every.push_back(ticket);
  }
  Seen read(const std::string& spool) {
    write_file(scratch.path("x.ring"), made.ring());
    write_file(scratch.path("x.spool"), spool);
    return read();
  }
  Seen read() {
    RingFile file(scratch.path("x.ring"));
    Seen seen;
    file.for_each_block([&](const RingBlock& block) {
      walk_records(block.payload, [&](std::size_t at, std::uint8_t, std::size_t size) {
        const auto kernel = record_at<trace::KernelRecord>(block.payload, at, size);
        REQUIRE(trace::is_numbered(kernel));
        seen.numbers.push_back(kernel.start_cupti_ns / 1'000'003u);
      });
    });
    seen.overwritten = file.overwritten()[0];
    seen.holes = file.holes();
    seen.notes = file.notes();
    return seen;
  }

  SpoolMaker made;
  std::vector<std::uint64_t> every;  // tickets
  Scratch scratch;
};

constexpr std::uint64_t kRecords = 205;

}  // namespace

TEST_CASE("what the ring has no longer comes from the spool, once, in order") {
  Pair pair(kRecords);
  const Seen seen = pair.read(pair.made.spool(pair.every));
  CHECK(seen.numbers.size() == kRecords);
  CHECK(seen.in_order());
  CHECK(seen.overwritten == 0);
  CHECK(seen.holes == 0);
  CHECK(seen.notes.empty());
}

TEST_CASE("the order of the chunks does not matter, nor does a chunk that is there twice") {
  Pair pair(kRecords);
  std::vector<std::uint64_t> tickets(pair.every.rbegin(), pair.every.rend());
  tickets.push_back(3);
  const Seen seen = pair.read(pair.made.spool(tickets));
  CHECK(seen.numbers.size() == kRecords);
  CHECK(seen.in_order());
  CHECK(seen.overwritten == 0);
}

TEST_CASE("blocks that were overwritten before they were spooled are counted, and are holes") {
  Pair pair(kRecords);
  std::vector<std::uint64_t> tickets = pair.every;
  tickets.erase(tickets.begin() + 5, tickets.begin() + 8);
  const Seen seen = pair.read(pair.made.spool(tickets));
  CHECK(seen.overwritten == 3 * SpoolMaker::kPerBlock);
  CHECK(seen.all() == kRecords);
  CHECK(seen.holes == 1);
}

TEST_CASE("of a block that is in both the longer one counts") {
  Pair pair(15);  // the second block grew after it was spooled
  auto record = trace::numbered(15);
  trace::BlockHeader* block = pair.made.memory.ring.block(2);
  std::memcpy(trace::payload_of(block) + block->committed, &record, sizeof(record));
  block->committed += sizeof(record);
  CHECK(pair.read(pair.made.spool(pair.every)).numbers.size() == 16);
  block->committed = sizeof(record);  // or the ring's lost its end
  CHECK(pair.read(pair.made.spool(pair.every)).numbers.size() == 15);
}

TEST_CASE("a block that was being recycled when the process was killed is in the spool") {
  Pair pair(kRecords);
  trace::BlockHeader* block = pair.made.memory.ring.block((pair.every.back() - 1) % SpoolMaker::kBlocks);
  const std::uint64_t next = trace::overwritten_index(block->generation + 1);
  block->overwritten[next][0] = block->overwritten[1 - next][0] + block->committed / sizeof(trace::KernelRecord);
  block->generation += 1;
  const Seen seen = pair.read(pair.made.spool(pair.every));
  CHECK(seen.numbers.size() == kRecords);
  CHECK(seen.overwritten == 0);
}

// A copy of a ring that lies on local storage: its spool goes on, the copy does not.
TEST_CASE("a ring that is older than its spool: what was overwritten is not made up for by what came later") {
  Pair pair(kRecords);
  const SpoolMaker early(100);
  std::vector<std::uint64_t> tickets = pair.every;
  std::erase(tickets, 2);
  const auto read = [&](const SpoolMaker& ring) {
    write_file(pair.scratch.path("x.ring"), ring.ring());
    write_file(pair.scratch.path("x.spool"), pair.made.spool(tickets));
    return pair.read();
  };
  Seen seen = read(early);
  CHECK(seen.overwritten == SpoolMaker::kPerBlock);
  CHECK(seen.all() == kRecords);
  CHECK(seen.holes == 1);
  tickets = pair.every;
  seen = read(early);
  CHECK((seen.overwritten == 0 && seen.holes == 0 && seen.all() == kRecords));
  std::erase(tickets, 15);  // was it a block? The ring is too old to tell
  seen = read(early);
  CHECK((seen.overwritten == 0 && seen.holes == 1));
  seen = read(SpoolMaker(1));
  CHECK((seen.overwritten == 0 && seen.holes == 1));
}

TEST_CASE("a spool that ends anywhere gives what is whole; the rest is counted") {
  Pair pair(kRecords);
  const std::string spool = pair.made.spool(pair.every);
  for (std::size_t length = 0; length < spool.size(); length += length < 300 ? 1 : 37) {
    const Seen seen = pair.read(spool.substr(0, length));
    INFO(length);
    REQUIRE(seen.all() == kRecords);
    REQUIRE(seen.in_order());
    REQUIRE(seen.notes.size() == (length < sizeof(trace::SpoolHeader)));
  }
}

TEST_CASE("a byte that changed costs one block at most, and is said where it cost one") {
  Pair pair(kRecords);
  const std::string spool = pair.made.spool(pair.every);
  for (std::size_t at = sizeof(trace::SpoolHeader); at < spool.size(); at += 11) {
    std::string changed = spool;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    const Seen seen = pair.read(changed);
    INFO(at);
    REQUIRE(seen.all() == kRecords);
    REQUIRE(seen.overwritten <= SpoolMaker::kPerBlock);
    REQUIRE((seen.overwritten == 0 || seen.notes.size() == 1));
  }
}

TEST_CASE("sizes that cannot be are not believed") {
  Pair pair(kRecords);
  const auto with = [&](const auto& change) {
    std::string spool = pair.made.head();
    trace::SpoolChunk chunk;
    std::string first = pair.made.chunks.at(1);
    std::memcpy(&chunk, first.data(), sizeof(chunk));
    change(chunk);
    set_crc(chunk);
    std::memcpy(first.data(), &chunk, sizeof(chunk));
    spool += first;
    for (std::uint64_t ticket = 2; ticket <= pair.every.back(); ++ticket) spool += pair.made.chunks.at(ticket);
    return pair.read(spool);
  };
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.payload_bytes = 0x7ffffff8; }).all() == kRecords);
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.payload_bytes += 8; }).all() == kRecords);
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.stored_bytes = 0xffffffff; }).all() == kRecords);
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.stored_bytes = 2000; }).overwritten == SpoolMaker::kPerBlock);
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.ticket = 0; }).all() == kRecords);
  CHECK(with([](trace::SpoolChunk& chunk) { chunk.event_count = 0xffffffff; }).all() == kRecords);
}

TEST_CASE("another recording's spool is not read, and a missing one is said") {
  Pair pair(kRecords);
  std::string spool = pair.made.spool(pair.every);
  spool[offsetof(trace::SpoolHeader, created_real_ns)] ^= 1;
  Seen seen = pair.read(spool);
  CHECK(seen.all() == kRecords);
  REQUIRE(seen.notes.size() == 1);
  CHECK_THAT(seen.notes[0], contains_text("another recording"));
  std::filesystem::remove(pair.scratch.path("x.spool"));
  seen = pair.read();
  REQUIRE(seen.notes.size() == 1);
  CHECK_THAT(seen.notes[0], contains_text("missing"));
}

TEST_CASE("a spool leads to its ring, and is no file of its own in a folder") {
  Pair pair(kRecords);
  pair.read(pair.made.spool(pair.every));
  const std::string ring = pair.scratch.path("x.ring"), spool = pair.scratch.path("x.spool");
  CHECK(readable_file(spool) == ring);
  CHECK(readable_file(ring) == ring);
  CHECK(expand_paths({pair.scratch.folder()}) == std::vector{ring});
  CHECK(expand_paths({pair.scratch.path("x.*")}) == std::vector{ring});
  std::filesystem::remove(ring);
  CHECK_THROWS_AS(readable_file(spool), Error);
}
