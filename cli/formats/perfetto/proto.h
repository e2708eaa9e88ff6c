// Buffer and field numbers for Perfetto's protobuf.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <protozero/basic_pbf_writer.hpp>
#include <protozero/buffer_tmpl.hpp>
#include <string_view>

// Buffer for protozero, with the interface of std::string. All functions are inline, because a packet consists of some
// twenty short appends.
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

// Numbers of the fields that are written, from Perfetto's public protos (protos/perfetto/trace/**, as of v58).
namespace cli::perfetto {

using Field = std::uint32_t;

namespace trace {
inline constexpr Field packet = 1;
}

namespace packet {
inline constexpr Field clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned_data = 12,
                       sequence_flags = 13, compressed_packets = 50, gpu_render_stage_event = 53, defaults = 59,
                       track_descriptor = 60, first_on_sequence = 87, trace_attributes = 126, gpu_info = 128,
                       zstd_compressed_packets = 133;
inline constexpr std::uint32_t state_cleared = 1;  // a sequence flag: resets interned data
}  // namespace packet

namespace defaults {
inline constexpr Field track_event = 11, clock = 58;
inline constexpr Field track_uuid = 11;  // of its track_event
}  // namespace defaults

namespace snapshot {
inline constexpr Field clocks = 1, primary_trace_clock = 2;
inline constexpr Field clock_id = 1, timestamp = 2, is_incremental = 3;
inline constexpr std::uint32_t realtime = 1, boottime = 6;  // builtin clocks
inline constexpr std::uint32_t sequence_clock = 64;         // the first id of clocks that belong to one sequence
}  // namespace snapshot

namespace track {
inline constexpr Field uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8, child_ordering = 11,
                       order = 12, description = 14, merging = 15, process_ordering = 19, thread_ordering = 20;
inline constexpr std::uint32_t explicit_children = 3, never_merged = 2, explicit_rows = 1;
inline constexpr Field process_pid = 1, process_name = 6;
inline constexpr Field thread_pid = 1, thread_tid = 2, thread_name = 5;
inline constexpr Field counter_unit = 3, counter_unit_name = 6, counter_scale = 7;
inline constexpr std::uint32_t unit_unspecified = 0, unit_bytes = 3;
}  // namespace track

namespace event {
inline constexpr Field category = 3, annotation = 4, type = 9, name = 10, inline_name = 23, counter_int = 30,
                       counter_double = 44, flows = 47, gpu_correlation = 3000;
inline constexpr std::uint32_t begin = 1, end = 2, instant = 3, counter = 4;
inline constexpr Field submissions = 1;  // of gpu_correlation
}  // namespace event

namespace interned {
inline constexpr Field categories = 1, names = 2, annotation_names = 3, graphics_contexts = 23, gpu_specifications = 24,
                       string_values = 29, kernels = 1000, compute_arg_names = 1001;
inline constexpr Field iid = 1, text = 2;
inline constexpr Field context_pid = 2, context_api = 3;
inline constexpr std::uint32_t api_cuda = 4;
inline constexpr Field specification_category = 4;
inline constexpr std::uint32_t category_compute = 2;
inline constexpr Field kernel_demangled = 3;
}  // namespace interned

namespace stage {
inline constexpr Field event_id = 1, duration = 2, context = 5, gpu = 11, queue = 13, stage = 14, kernel = 19,
                       name = 20, launch = 21;
inline constexpr Field grid = 1, block = 2, argument = 3;  // of launch
}  // namespace stage

namespace gpu_info {
inline constexpr Field gpus = 1;
inline constexpr Field name = 1, vendor = 2, model = 3, architecture = 4, pci = 7;
}  // namespace gpu_info

namespace attribute {
inline constexpr Field attribute = 1, key = 1, number = 2, text = 3;
}

}  // namespace cli::perfetto
