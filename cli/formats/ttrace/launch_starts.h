// Of one process: when the calls began that launch work, by correlation, and which chunks hold work whose call has not
// come yet, because by its clock the GPU ran it before. A call that launched nothing is never asked for, and the call of
// some work never comes, so that old ones must go: the latest are kept.
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

  // What waits for a call: some work, and the end of a flow at it.
  enum Waiting : std::uint8_t { work, flow };
  using Chunks = std::array<std::size_t, 2>;  // by Waiting; kNoChunk: none waits

  // A call; of about `calls` the latest are kept, the same number each time. The chunks of what waited for it.
  Chunks note(std::uint64_t correlation, std::int64_t start_ns, std::size_t calls) {
    if (sets_.empty()) sets_.resize(std::max<std::size_t>(calls / kWays, 1));
    Set& set = sets_[set_of(correlation)];
    Call* to = set.data();
    for (Call& call : set) {
      if (call.correlation == correlation) return chunks_of(correlation);  // a call within one that is noted
      if (call.correlation < to->correlation) to = &call;
    }
    forgotten_ = std::max(forgotten_, to->correlation);
    *to = {correlation, start_ns};
    return chunks_of(correlation);
  }
  // The call has not come. The chunks of what does not wait any more, because this took its place.
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
  // Whether this call may be that of what wait() gave up.
  bool may_be_given_up(std::uint64_t correlation) const { return correlation <= most_given_up_; }

  enum class Found : std::uint8_t { no, yes, forgotten };
  // `forgotten`: later calls may have taken its place. Writes to start_ns where it is `yes`.
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
  static constexpr std::size_t kWays = 8;  // 16 bytes each: a set is two lines of the cache
  static constexpr Chunks kNone = {kNoChunk, kNoChunk};
  static constexpr std::size_t kEarlySlots = 1024;

  struct Call {
    std::uint64_t correlation = 0;  // 0: none yet
    std::int64_t start_ns = 0;
  };
  using Set = std::array<Call, kWays>;
  struct Early {
    std::uint64_t correlation = 0;  // 0: none yet
    Chunks chunks = kNone;
  };

  std::size_t set_of(std::uint64_t correlation) const { return (trace::spread(correlation) >> 32) % sets_.size(); }
  Chunks chunks_of(std::uint64_t correlation) const {
    if (early_.empty()) return kNone;
    const Early& early = early_[correlation % kEarlySlots];
    return early.correlation == correlation ? early.chunks : kNone;
  }

  std::vector<Set> sets_;
  std::uint64_t forgotten_ = 0;      // the latest call that had to go
  std::uint64_t most_given_up_ = 0;  // the largest correlation that does not wait any more
  std::vector<Early> early_;         // by correlation modulo their number; empty until one came
};

}  // namespace cli::ttrace
