// Bytes that protozero writes to: as std::string, with everything inline, since a packet is some twenty short appends.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <protozero/basic_pbf_writer.hpp>
#include <protozero/buffer_tmpl.hpp>
#include <string_view>

namespace cli::perfetto {

class Buffer {
 public:
  std::size_t size() const { return used_; }
  bool empty() const { return used_ == 0; }
  void clear() { used_ = 0; }
  std::string_view view() const { return {bytes_.get(), used_}; }

  [[gnu::always_inline]] void append(const char* data, std::size_t count) {
    if (count == 0) return;  // `data` may be null
    if (room_ - used_ < count) grow(count);
    std::memcpy(bytes_.get() + used_, data, count);
    used_ += count;
  }
  [[gnu::always_inline]] void push_back(char byte) {
    if (room_ == used_) grow(1);
    bytes_[used_++] = byte;
  }
  void resize(std::size_t size) {
    if (size > room_) grow(size - used_);
    if (size > used_) std::memset(bytes_.get() + used_, 0, size - used_);
    used_ = size;
  }
  void reserve_additional(std::size_t count) {
    if (room_ - used_ < count) grow(count);
  }
  void erase(std::size_t from, std::size_t to) {
    std::memmove(bytes_.get() + from, bytes_.get() + to, used_ - to);
    used_ -= to - from;
  }
  char* at(std::size_t position) { return bytes_.get() + position; }

 private:
  [[gnu::noinline]] void grow(std::size_t count) {
    const std::size_t room = std::max({room_ * 2, used_ + count, std::size_t{256}});
    std::unique_ptr<char[]> bytes(new char[room]);
    if (used_ > 0) std::memcpy(bytes.get(), bytes_.get(), used_);
    bytes_ = std::move(bytes);
    room_ = room;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t used_ = 0, room_ = 0;
};

using Writer = protozero::basic_pbf_writer<Buffer>;

}  // namespace cli::perfetto

namespace protozero {

template <>
struct buffer_customization<cli::perfetto::Buffer> {
  using B = cli::perfetto::Buffer;
  static std::size_t size(const B* b) noexcept { return b->size(); }
  static void append(B* b, const char* data, std::size_t count) { b->append(data, count); }
  static void append_zeros(B* b, std::size_t count) { b->resize(b->size() + count); }
  static void resize(B* b, std::size_t size) { b->resize(size); }
  static void reserve_additional(B* b, std::size_t count) { b->reserve_additional(count); }
  static void erase_range(B* b, std::size_t from, std::size_t to) { b->erase(from, to); }
  static char* at_pos(B* b, std::size_t position) { return b->at(position); }
  static void push_back(B* b, char byte) { b->push_back(byte); }
};

}  // namespace protozero
