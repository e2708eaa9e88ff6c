#include "cli/read/window.h"

#include <cstring>
#include <utility>

namespace cli {

Window::Window(std::unique_ptr<ByteSource> source, std::size_t capacity)
    : source_(std::move(source)), bytes_(capacity + kPadding) {}

bool Window::more() {
  if (at_end_) return false;
  make_room();
  const std::size_t before = end_, capacity = bytes_.size() - kPadding;
  while (end_ < capacity && !at_end_) {
    const std::size_t got = source_->read(bytes_.data() + end_, capacity - end_);
    end_ += got;
    at_end_ = got == 0;
  }
  std::memset(bytes_.data() + end_, 0, kPadding);
  return end_ > before;
}

void Window::make_room() {
  std::memmove(bytes_.data(), bytes_.data() + begin_, size());
  base_offset_ += begin_;
  end_ -= begin_;
  begin_ = 0;
  const std::size_t capacity = bytes_.size() - kPadding;
  if (end_ == capacity) bytes_.resize(capacity * 2 + kPadding);
}

}  // namespace cli
