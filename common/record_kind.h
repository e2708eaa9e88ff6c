// The kinds of records, how a record begins, and what a reference is. record.h says what all records share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trace {

enum class RecordKind : std::uint8_t {
  none = 0,  // nothing here yet: the end of what a block or the region holds
  string = 1,
  launch_shape = 2,
  api_name = 3,
  thread_name = 4,
  identity = 5,
  device = 6,
  context = 7,
  stream = 8,
  resource_name = 9,
  nvtx_category = 10,
  communicator = 11,
  graph_node = 12,
  kernel = 16,
  kernel_wide = 17,
  memcpy = 18,
  memcpy_peer = 19,
  memset = 20,
  runtime = 21,
  driver = 22,
  runtime_wide = 23,
  driver_wide = 24,
  nvtx_push = 25,
  nvtx_pop = 26,
  nvtx_start = 27,
  nvtx_end = 28,
  nvtx_mark = 29,
  nccl_call = 30,
  clock = 31,
  sync = 32,
  overhead = 33,
  graph_launch = 34,
  memory = 35,
  memory_pool = 36,
  notice = 37,
  cuda_event = 38,
};

inline constexpr std::uint32_t kNoRef = 0xffffffffu;
inline constexpr std::uint32_t kLocalRef = 0x80000000u;
inline constexpr std::size_t kEventKinds = 32;  // kinds 16 to 47 are events, counted as kind - 16
inline constexpr std::uint8_t kFirstEventKind = 16;

struct RecordHead {
  std::uint8_t kind;
  std::uint8_t size_words;
};

constexpr bool is_event(std::uint8_t kind) {
  return kind >= kFirstEventKind && kind < kFirstEventKind + kEventKinds;
}

}  // namespace trace
