// Memory for many small arrays that are never moved and go all at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace cli {

// `T`: copied byte by byte.
template <typename T>
class Arena {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  // Where these lie from now on. Null of none.
  const T* keep(const T* from, std::size_t count) {
    if (count == 0) return nullptr;
    if (count > left_) {
      left_ = std::max(kChunkBytes / sizeof(T), count);
      chunks_.push_back(std::make_unique_for_overwrite<T[]>(left_));
      end_ = chunks_.back().get() + left_;
    }
    T* const kept = end_ - left_;
    std::memcpy(kept, from, count * sizeof(T));
    left_ -= count;
    return kept;
  }

 private:
  static constexpr std::size_t kChunkBytes = 64 << 10;

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* end_ = nullptr;       // of the last one
  std::size_t left_ = 0;  // free before it
};

}  // namespace cli
