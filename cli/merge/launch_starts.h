// When the calls began that launch work: by correlation, the latest of one process. A call that launched nothing is never
// asked for, so that old ones must go: `slots` are kept, of 16 bytes each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

class LaunchStarts {
 public:
  void note(std::uint64_t correlation, std::int64_t start_ns, std::size_t slots) {
    if (slots_.empty()) slots_.resize(slots);
    slots_[correlation % slots_.size()] = {correlation, start_ns};
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
  struct Slot {
    std::uint64_t correlation = 0;  // 0: none yet
    std::int64_t start_ns = 0;
  };
  std::vector<Slot> slots_;  // by correlation modulo their number
};

}  // namespace cli
