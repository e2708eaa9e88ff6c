#include "cli/formats/json/window.h"

#include <cstring>
#include <utility>

namespace cli {

Window::Window(std::unique_ptr<ByteSource> source, std::size_t capacity)
    : source_(std::move(source)), capacity_(capacity), bytes_(std::make_unique_for_overwrite<char[]>(capacity + kPadding)) {
  std::memset(bytes_.get(), 0, kPadding);  // which stand at end() from the first on
}

bool Window::more() {
  if (at_end_) return false;
  make_room();
  const std::size_t before = end_;
  while (end_ < capacity_ && !at_end_) {
    const std::size_t got = source_->read(bytes_.get() + end_, capacity_ - end_);
    end_ += got;
    at_end_ = got == 0;
  }
  std::memset(bytes_.get() + end_, 0, kPadding);
  return end_ > before;
}

void Window::make_room() {
  base_offset_ += begin_;
  end_ -= begin_;
  const char* const held = bytes_.get() + std::exchange(begin_, 0);
  if (end_ < capacity_) {
    std::memmove(bytes_.get(), held, end_);
    return;
  }
  capacity_ *= 2;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_ + kPadding);
  std::memcpy(larger.get(), held, end_);
  bytes_ = std::move(larger);
}

}  // namespace cli
