// How much may be judged after damage. What looks like an event there is judged as far as it is sound, and the next
// may begin a few bytes on: text that is made for it would be judged hundreds of times over. So each byte of the file
// pays for a few; where more was spent, candidates are passed over until it is earned again.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cli {

class JsonEffort {
 public:
  // The bytes before `offset`, which never falls, pay.
  void earn_until(std::uint64_t offset) {
    const auto passed = static_cast<std::int64_t>(std::min(offset - earned_until_, kEnough));
    left_ = std::min(kMost, left_ + kPerByte * passed);
    earned_until_ = offset;
  }
  void spend(std::size_t judged_bytes) { left_ -= static_cast<std::int64_t>(judged_bytes); }
  bool is_spent() const { return left_ <= 0; }

 private:
  static constexpr std::int64_t kPerByte = 16, kMost = 128 << 20;
  static constexpr std::uint64_t kEnough = 64 << 20;  // earns more than can be owed

  std::int64_t left_ = kMost;
  std::uint64_t earned_until_ = 0;
};

}  // namespace cli
