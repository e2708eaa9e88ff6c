// For one process: the start times of calls that launch work, by correlation, and the chunks with work that waits for
// its call. Such work has an earlier start than its call because of the GPU's clock. A call that launched nothing is
// never looked up, and the call of some work never arrives, so old entries are removed and the latest ones are kept.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/hash.h"

namespace cli::ttrace {

class LaunchStarts {
 public:
  static constexpr std::size_t kNoChunk = ~std::size_t{0};

  // What waits for a call: GPU work, or the flow endpoint at it.
  enum Waiting : std::uint8_t { work, flow };
  using Chunks = std::array<std::size_t, 2>;  // indexed by Waiting

  // Adds a call. About the latest `calls` calls are kept; the number has to be the same in all calls. Returns the
  // chunks with the work that waited for it.
  Chunks note(std::uint64_t correlation, std::int64_t start_ns, std::size_t calls) {
    if (sets_.empty()) sets_.resize(std::max<std::size_t>(calls / kWays, 1));
    Set& set = sets_[set_of(correlation)];
    Call* to = set.data();
    for (Call& call : set) {
      if (call.correlation == correlation) return chunks_of(correlation);  // a call within one that is already added
      if (call.correlation < to->correlation) to = &call;
    }
    forgotten_ = std::max(forgotten_, to->correlation);
    *to = {correlation, start_ns};
    return chunks_of(correlation);
  }
  // Records that `chunk` waits for a call that has not arrived. Returns the chunks that no longer wait because this
  // entry replaced theirs.
  Chunks wait(std::uint64_t correlation, Waiting what, std::size_t chunk) {
    if (early_.empty()) early_.resize(kEarlySlots);
    Early& early = early_[correlation % kEarlySlots];
    Chunks given_up = kNone;
    if (early.correlation != correlation) {
      if (early.correlation != 0) {
        given_up = early.chunks;
        most_given_up_ = std::max(most_given_up_, early.correlation);
      }
      early = {correlation, kNone};
    }
    early.chunks[what] = chunk;
    return given_up;
  }
  // Returns true if wait() may have removed the entry for this call.
  bool may_be_given_up(std::uint64_t correlation) const { return correlation <= most_given_up_; }

  enum class Found : std::uint8_t { no, yes, forgotten };
  // Sets start_ns if the result is `yes`. `forgotten` means that later calls may have replaced the call.
  Found find(std::uint64_t correlation, std::int64_t& start_ns) const {
    if (sets_.empty()) return Found::no;
    for (const Call& call : sets_[set_of(correlation)]) {
      if (call.correlation == correlation) {
        start_ns = call.start_ns;
        return Found::yes;
      }
    }
    return correlation <= forgotten_ ? Found::forgotten : Found::no;
  }

 private:
  static constexpr std::size_t kWays = 8;  // 16 bytes each: a set is two cache lines
  static constexpr Chunks kNone = {kNoChunk, kNoChunk};
  static constexpr std::size_t kEarlySlots = 1024;

  struct Call {
    std::uint64_t correlation = 0;  // 0 if free
    std::int64_t start_ns = 0;
  };
  using Set = std::array<Call, kWays>;
  struct Early {
    std::uint64_t correlation = 0;  // 0 if free
    Chunks chunks = kNone;
  };

  std::size_t set_of(std::uint64_t correlation) const { return (trace::spread(correlation) >> 32) % sets_.size(); }
  Chunks chunks_of(std::uint64_t correlation) const {
    if (early_.empty()) return kNone;
    const Early& early = early_[correlation % kEarlySlots];
    return early.correlation == correlation ? early.chunks : kNone;
  }

  std::vector<Set> sets_;
  std::uint64_t forgotten_ = 0;      // largest correlation of a call that was replaced
  std::uint64_t most_given_up_ = 0;  // largest correlation that no longer waits
  std::vector<Early> early_;         // by correlation modulo kEarlySlots; empty until the first one
};

}  // namespace cli::ttrace
