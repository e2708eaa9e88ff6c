// A kill can stop the writer after any store. This stops after each one, writes the memory out as the file that the
// kernel would have kept, and reads it as tracetool does.
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "cli/formats/ring/file.h"
#include "common/definitions.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

using namespace trace;

namespace {

std::function<void()> g_after_store;

// Compare-and-swap and additions are stores too. Only one thread here.
struct SteppingMemory {
  static void store(std::uint64_t& word, std::uint64_t value) {
    word = value;
    g_after_store();
  }
  static void store_release(std::uint64_t& word, std::uint64_t value) { store(word, value); }
  static std::uint64_t load(const std::uint64_t& word) { return word; }
  static std::uint64_t load_acquire(const std::uint64_t& word) { return word; }
  static bool exchange_if(std::uint64_t& word, std::uint64_t expected, std::uint64_t desired) {
    if (word != expected) return false;
    store(word, desired);
    return true;
  }
  static std::uint64_t add(std::uint64_t& word, std::uint64_t value) {
    const std::uint64_t before = word;
    store(word, before + value);
    return before;
  }
  static void store_store_barrier() {}
};

class Snapshot {
 public:
  Snapshot() : path_("/tmp/tracetool-order-XXXXXX") { file_ = mkstemp(path_.data()); }
  ~Snapshot() {
    close(file_);
    unlink(path_.c_str());
  }
  const std::string& write(const SmallRing& memory) {
    REQUIRE(pwrite(file_, memory.bytes(), memory.size(), 0) == static_cast<ssize_t>(memory.size()));
    return path_;
  }

 private:
  std::string path_;
  int file_;
};

struct Seen {
  std::vector<std::uint64_t> numbers;
  std::uint64_t overwritten = 0;
};

Seen read_back(const std::string& path) {
  cli::ring::RingFile file(path);
  Seen seen;
  file.for_each_block([&](const cli::ring::RingBlock& block) {
    const std::size_t end =
        cli::ring::walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
          if (kind != static_cast<std::uint8_t>(KernelRecord::kKind)) return;
          const auto record = cli::ring::record_at<KernelRecord>(block.payload, at, size);
          REQUIRE(is_numbered(record));
          seen.numbers.push_back(record.correlation);
        });
    REQUIRE(end == block.payload.size());
  });
  seen.overwritten = file.overwritten()[static_cast<std::size_t>(KernelRecord::kKind) - kFirstEventKind];
  return seen;
}

}  // namespace

TEST_CASE("after every single store of an append and of a recycle the file reads exactly") {
  SmallRing memory(3, 1024);  // 20 records a block
  Snapshot snapshot;
  std::uint64_t appended = 0;
  std::uint64_t stores = 0;
  g_after_store = [&] {
    ++stores;
    const Seen seen = read_back(snapshot.write(memory));
    // One run of numbers without a hole: what was overwritten is counted, at once and once, and nothing is missing.
    for (std::size_t i = 0; i < seen.numbers.size(); ++i) REQUIRE(seen.numbers[i] == seen.overwritten + i);
    const std::uint64_t end = seen.overwritten + seen.numbers.size();
    REQUIRE((end == appended || end == appended + 1));
  };
  BlockWriter<SteppingMemory> writer;
  for (; appended < 150; ++appended) {
    REQUIRE(writer.enter(memory.ring, 1, no_clock));
    REQUIRE(writer.make_room(sizeof(KernelRecord), no_clock));
    const KernelRecord record = numbered(appended);
    writer.append(&record, sizeof(record));
    writer.leave();
    REQUIRE(read_back(snapshot.write(memory)).numbers.back() == appended);
  }
  CHECK(stores > 150 * 6);
}

TEST_CASE("after every single store of a definition the region reads whole") {
  SmallRing memory(1, 1024);
  Snapshot snapshot;
  std::uint64_t defined = 0;
  g_after_store = [&] {
    cli::ring::RingFile file(snapshot.write(memory));
    std::uint64_t found = 0;
    const auto count = [&](std::size_t, std::uint8_t kind, std::size_t) {
      REQUIRE(kind == static_cast<std::uint8_t>(ThreadNameRecord::kKind));
      ++found;
    };
    REQUIRE(cli::ring::walk_records(file.definitions(), count) == file.definitions().size());
    REQUIRE((found == defined || found == defined + 1));
  };
  for (; defined < 20; ++defined) {
    auto record = make_record<ThreadNameRecord>();
    record.tid = static_cast<std::uint32_t>(defined);
    REQUIRE(append_definition<SteppingMemory>(memory.ring, 0, &record, sizeof(record)) != kNoRef);
  }
}
