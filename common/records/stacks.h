// Stacks of host threads: frames of Python and native code, including calls of torch.nn.Module, and garbage
// collections, which delay a thread without a visible call. In CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

enum class FrameKind : std::uint8_t { python = 1, module = 2, native = 3 };

// A frame of a host thread's stack, or a call of a torch.nn.Module. In the definitions region, or in the block of its
// stack.
struct FrameRecord {
  static constexpr RecordKind kKind{13};
  static constexpr std::string_view kName = "frame";
  std::uint8_t kind, size_words;
  std::uint8_t what;  // FrameKind
  std::uint8_t reserved;
  std::int32_t line;       // 0 if unknown
  std::uint32_t name_ref;  // name of the function or the module's class; kNoRef if unknown
  std::uint32_t file_ref;  // source file or, for native code, the path of the loaded object; kNoRef if unknown
  std::uint64_t instance;  // of a module: its unique number in this recording, 0 if unknown; of native code: the address minus the object's load address
};

// The name of a torch.nn.Module in the outermost module, from its named_modules(). In the definitions region only.
struct ModuleNameRecord {
  static constexpr RecordKind kKind{14};
  static constexpr std::string_view kName = "module_name";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t name_ref;  // "transformer.blocks.0.attention"; empty for the outermost module itself
  std::uint64_t instance;  // number of the module, as in FrameRecord
  std::uint64_t root;      // number of the outermost module
};

// The loaded object of native frames: identifies the exact file, so that names can be found later. In the definitions
// region only, before the first frame with its path.
struct ObjectRecord {
  static constexpr RecordKind kKind{15};
  static constexpr std::string_view kName = "object";
  std::uint8_t kind, size_words;
  std::uint8_t build_id_bytes;  // 0 if it has none, or one that is longer than the field
  std::uint8_t reserved;
  std::uint32_t path_ref;
  std::uint8_t build_id[32];    // as the linker wrote it (NT_GNU_BUILD_ID)
};

enum class StackReason : std::uint8_t {
  call = 1,      // at a call of CUDA
  hang = 2,      // the process hangs
  nccl_call = 3  // at a call of NCCL, whose record on this thread has the same time
};

// The stack of a thread at a moment.
struct StackRecord {
  static constexpr RecordKind kKind{41};
  static constexpr std::string_view kName = "stack";
  static constexpr std::string_view kCountsAs = "stack";
  std::uint8_t kind, size_words;
  std::uint8_t reason;  // StackReason
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint32_t correlation_id;  // of the CUDA call's record on this thread; 0 if none
  std::uint32_t stack_ref;       // a string whose bytes are references (u32) to frames, the innermost first
  std::uint64_t time_mono_ns;
};

// A run of Python's garbage collector, on the thread that it blocked.
struct GarbageCollectionRecord {
  static constexpr RecordKind kKind{42};
  static constexpr std::string_view kName = "garbage_collection";
  static constexpr std::string_view kCountsAs = "garbage_collection";
  std::uint8_t kind, size_words;
  std::uint8_t generation;
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t start_mono_ns, end_mono_ns;
  std::uint32_t collected, uncollectable;  // objects
};

}  // namespace trace
