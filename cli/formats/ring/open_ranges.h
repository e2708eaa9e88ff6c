// Joins begins and ends of ranges: pushes and pops by (thread, domain), starts and ends by id.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/trace/payload.h"

namespace cli::ring {

struct OpenRange {
  Event event;  // all members except the duration
  KeptFacts facts;
};

class OpenRanges {
 public:
  using Emit = std::function<void(const OpenRange&)>;
  explicit OpenRanges(Emit emit) : emit_(std::move(emit)) {}

  void push(std::uint32_t tid, StringId domain, OpenRange range);
  void pop(std::uint32_t tid, StringId domain, std::int64_t end_ns);
  void start(std::uint64_t range_id, OpenRange range);
  void end(std::uint64_t range_id, std::int64_t end_ns);
  // Emits open ranges with an unknown duration.
  void finish();

  // Valid after finish(): number of ranges without an end, and of ends without a range.
  std::uint64_t endless() const { return endless_; }
  std::uint64_t unmatched_ends() const { return unmatched_ends_; }

 private:
  void close(OpenRange& range, std::int64_t end_ns);

  Emit emit_;
  std::unordered_map<std::uint64_t, std::vector<OpenRange>> stacks_;  // by tid << 32 | domain
  std::unordered_map<std::uint64_t, OpenRange> started_;
  // Ends by id. A range may end on a thread whose block was claimed, and is therefore read, before the block of its
  // start.
  std::unordered_map<std::uint64_t, std::int64_t> ended_ns_;
  std::uint64_t unmatched_ends_ = 0, endless_ = 0;
};

}  // namespace cli::ring
