// A ring in ordinary memory, to which records are added as the agent adds them; for tests.
#pragma once
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/definitions.h"
#include "tests/unit/common/small_ring.h"

namespace trace {

// All throw where there is no room.
class RingMaker {
 public:
  explicit RingMaker(std::uint64_t blocks = 4, std::uint64_t block_bytes = 4096, std::uint64_t definitions_bytes = 4096)
      : memory(blocks, block_bytes, definitions_bytes) {}

  template <typename Record>
  void add(const Record& record) {
    add(&record, sizeof(record));
  }
  // As an older or newer writer does it: another size.
  void add(const void* record, std::size_t bytes) {
    const auto now = [this] { return clock; };
    if (!writer.enter(memory.ring, 0, now) || !writer.make_room(bytes, now))
      throw std::runtime_error("a record that fits in no block");
    writer.append(record, bytes);
    writer.leave();
  }
  template <typename Record>
  std::uint32_t define(const Record& record) {
    return placed(append_definition(memory.ring, 0, &record, sizeof(record)));
  }
  std::uint32_t name(std::string_view text) {
    auto head = make_record<StringRecord>();
    head.length = static_cast<std::uint32_t>(text.size());
    head.size_bytes = static_cast<std::uint32_t>(sizeof(head) + (text.size() + 7) / 8 * 8);
    return placed(append_definition(memory.ring, 0, &head, sizeof(head), text.data(), text.size()));
  }
  // Its first bytes; all of it, where nothing else is said.
  void write(const std::string& path, std::size_t bytes) const {
    std::ofstream file(path, std::ios::binary);
    file.write(memory.bytes(), static_cast<std::streamsize>(bytes));
    if (!file.flush()) throw std::runtime_error(path + " cannot be written");
  }
  void write(const std::string& path) const { write(path, memory.size()); }

  // Of the blocks that are claimed from now on. Wall = CUPTI + 1 s = monotonic + 5 s.
  ClockSample clock{9'000'000'000, 5'000'000'000, 10'000'000'000, 10};
  SmallRing memory;
  BlockWriter<> writer;

 private:
  static std::uint32_t placed(std::uint32_t ref) {
    if (ref == kNoRef) throw std::runtime_error("a definition that fits not in the region");
    return ref;
  }
};

}  // namespace trace
