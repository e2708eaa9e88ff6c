// Of one process: when the calls began that launch work, by correlation, and which chunks hold work whose call has not
// come yet, because by its clock the GPU ran it before. A call that launched nothing is never asked for, and the call of
// some work never comes, so that old ones must go: the latest are kept, 16 bytes each.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

class LaunchStarts {
 public:
  static constexpr std::size_t kNoChunk = ~std::size_t{0};

  // What waits for a call: some work, and the end of a flow at it.
  enum Waiting : std::uint8_t { work, flow };
  using Chunks = std::array<std::size_t, 2>;  // by Waiting; kNoChunk: none waits

  // A call. The chunks of what waited for it.
  Chunks note(std::uint64_t correlation, std::int64_t start_ns, std::size_t slots) {
    if (slots_.empty()) slots_.resize(slots);
    Slot& slot = slots_[correlation % slots_.size()];
    if (slot.correlation != correlation) slot = {correlation, start_ns};  // else a call within one that is noted
    if (early_.empty()) return kNone;
    const Early& early = early_[correlation % kEarlySlots];
    return early.correlation == correlation ? early.chunks : kNone;
  }
  // The call has not come.
  void wait(std::uint64_t correlation, Waiting what, std::size_t chunk) {
    if (early_.empty()) early_.resize(kEarlySlots);
    Early& early = early_[correlation % kEarlySlots];
    if (early.correlation != correlation) early = {correlation, kNone};
    early.chunks[what] = chunk;
  }
  enum class Found : std::uint8_t { no, yes, forgotten };
  // `forgotten`: its place was taken by a later call. Writes to start_ns where it is `yes`.
  Found find(std::uint64_t correlation, std::int64_t& start_ns) const {
    if (slots_.empty()) return Found::no;
    const Slot& slot = slots_[correlation % slots_.size()];
    if (slot.correlation == correlation) return start_ns = slot.start_ns, Found::yes;
    return slot.correlation > correlation ? Found::forgotten : Found::no;
  }

 private:
  static constexpr Chunks kNone = {kNoChunk, kNoChunk};
  static constexpr std::size_t kEarlySlots = 1024;  // by far more than the clocks of a GPU and its host lie apart

  struct Slot {
    std::uint64_t correlation = 0;  // 0: none yet
    std::int64_t start_ns = 0;
  };
  struct Early {
    std::uint64_t correlation = 0;  // 0: none yet
    Chunks chunks = kNone;
  };
  std::vector<Slot> slots_;   // by correlation modulo their number
  std::vector<Early> early_;  // likewise; empty until one came
};

}  // namespace cli
