// PyTorch's operators, from its RecordFunction (agent/torch): operators, autograd's backward operators, and ranges of
// PyTorch and of the program. Also the allocations of its caching allocator. In CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// at::RecordScope (agent/torch/record_function.h); its numbers are the same in all releases since 2.1.
enum class OperatorScope : std::uint8_t {
  function = 0,           // an operator
  backward_function = 1,  // a node of autograd
  torchscript_function = 2,
  kernel_function_dtype = 3,
  custom_class = 4,
  build_feature = 5,
  lite_interpreter = 6,
  user_scope = 7,  // record_function(), and PyTorch's own marks: Optimizer.step#..., DataLoader, DDP, FSDP
  static_runtime_op = 8,
  static_runtime_model = 9
};
inline constexpr std::uint8_t kOperatorScopes = 10;

// Bits of `has`: the known facts about an operator.
enum OperatorHas : std::uint8_t {
  kHasSequence = 1,       // sequence
  kHasForwardThread = 2,  // forward_thread
};

// An operator has two records, so that one that is open when the process dies is visible. Operators are nested on a
// thread. One that ends on another thread (an asynchronous range) has the same id in both records.
struct OperatorBeginRecord {
  static constexpr RecordKind kKind{39};
  static constexpr std::string_view kName = "operator_begin";
  static constexpr std::string_view kCountsAs = "cpu_op";
  std::uint8_t kind, size_words;
  std::uint8_t scope;  // OperatorScope
  std::uint8_t has;    // OperatorHas
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t id;              // the same in the end record; reused after that
  std::uint32_t thread;          // PyTorch's number of the thread, from 1
  std::uint32_t forward_thread;  // of a backward operator: thread of its forward operator, in the same numbering
  std::uint64_t sequence;        // autograd's number, counted on each thread; equal for a forward operator and its backward operator
  std::uint32_t inputs_ref;      // a string whose bytes are OperatorInputs; kNoRef if unknown
  std::uint32_t stack_ref;       // a string whose bytes are references (u32) to frames, the innermost first; kNoRef or 0 if unknown
};

struct OperatorEndRecord {
  static constexpr RecordKind kKind{40};
  static constexpr std::string_view kName = "operator_end";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t id;
  std::uint32_t reserved2;
};

// The kind of an operator's input. Other inputs (generators, devices, streams, ...) are recorded without details.
enum class InputKind : std::uint8_t { none = 0, tensor = 1, tensor_list = 2, integer = 3, real = 4, boolean = 5, number_list = 6, other = 7 };

// The inputs of an operator: one head per input, in order, each followed by:
//   tensor          `count` sizes of its dimensions, i64 each, then as many strides unless it is contiguous
//   tensor_list     `count` tensors, each with its own head
//   integer, real   its value, i64 or f64
//   number_list     `count` values of 8 bytes each: i64 or, if `type` is 1, bools as i64 or, if it is 2, f64
//   boolean         nothing: `count` is 0 or 1
struct OperatorInput {
  std::uint8_t kind;           // InputKind
  std::uint8_t type;           // of a tensor its c10::ScalarType: 0 uint8, 1 int8, 2 int16, 3 int32, 4 int64, 5 float16, 6 float32, ...
  std::uint8_t is_contiguous;  // 1 if a tensor's strides follow from its sizes
  std::uint8_t is_cut;         // 1 if some of its elements, or of the inputs after it, could not be kept
  std::uint32_t count;
};
static_assert(sizeof(OperatorInput) == 8);

enum class AllocatorAction : std::uint8_t { allocate = 1, release = 2, fail = 3 };

// An allocation or release of PyTorch's caching allocator, or an allocation that failed (agent/torch/allocations.h).
struct AllocatorRecord {
  static constexpr RecordKind kKind{43};
  static constexpr std::string_view kName = "allocator";
  static constexpr std::string_view kCountsAs = "memory";
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint8_t kind, size_words;
  std::uint8_t action;       // AllocatorAction
  std::uint8_t device_type;  // c10::DeviceType: 1 is CUDA
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint64_t address;     // of the block; of a failed allocation: free bytes of the device, all ones if unknown
  std::uint64_t bytes;       // of the block, with the allocator's rounding; requested by a failed allocation
  std::uint64_t allocated_bytes, reserved_bytes;  // totals of the device, after it
  std::uint64_t stream;      // c10::StreamId that is current on the thread of an allocation; all ones if unknown
  std::int32_t device;
  std::uint32_t stack_ref;   // as in OperatorBeginRecord; releases have none
};

}  // namespace trace
