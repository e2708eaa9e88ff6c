// Where host threads were: frames of Python and of native code, calls of torch.nn.Modules among them, stacks of frames, and what held
// a thread up that no call shows. In CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

enum class FrameKind : std::uint8_t { python = 1, module = 2, native = 3 };

// A frame of a host thread's stack; a call of a torch.nn.Module is one, too. In the definitions region, or in the block of its stack.
struct FrameRecord {
  static constexpr RecordKind kKind{13};
  static constexpr std::string_view kName = "frame";
  std::uint8_t kind, size_words;
  std::uint8_t what;  // FrameKind
  std::uint8_t reserved;
  std::int32_t line;       // 0: unknown
  std::uint32_t name_ref;  // of the function; of a module its class; kNoRef: unknown
  std::uint32_t file_ref;  // of native code the loaded object, by its path; kNoRef: unknown
  std::uint64_t instance;  // of a module: its unique number in this recording, 0: unknown; of native code: the address minus the object's load address
};

// What a torch.nn.Module is called in the module that holds all others, as its named_modules() says. In the definitions region only.
struct ModuleNameRecord {
  static constexpr RecordKind kKind{14};
  static constexpr std::string_view kName = "module_name";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t name_ref;  // "transformer.blocks.0.attention"; of the outermost itself an empty string
  std::uint64_t instance;  // the module's number, as in FrameRecord
  std::uint64_t root;      // the outermost module's number
};

// What native frames lie in: which file it was exactly, so that their names can be found later. In the definitions region only, before
// the first frame that has its path.
struct ObjectRecord {
  static constexpr RecordKind kKind{15};
  static constexpr std::string_view kName = "object";
  std::uint8_t kind, size_words;
  std::uint8_t build_id_bytes;  // 0: it has none, or one that is longer than the field
  std::uint8_t reserved;
  std::uint32_t path_ref;
  std::uint8_t build_id[32];    // as the linker wrote it (NT_GNU_BUILD_ID)
};

enum class StackReason : std::uint8_t {
  call = 1,      // of a call into CUDA
  hang = 2,      // the process did not go on
  nccl_call = 3  // of a call into NCCL, whose record on this thread has the same time
};

// Where a thread was at a moment.
struct StackRecord {
  static constexpr RecordKind kKind{41};
  static constexpr std::string_view kName = "stack";
  static constexpr std::string_view kCountsAs = "stack";
  std::uint8_t kind, size_words;
  std::uint8_t reason;  // StackReason
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint32_t correlation_id;  // of the CUDA call's record on this thread; 0: there is none
  std::uint32_t stack_ref;       // a string whose bytes are references (u32) to frames, the innermost first
  std::uint64_t time_mono_ns;
};

// A run of Python's garbage collector, on the thread that it held up.
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
