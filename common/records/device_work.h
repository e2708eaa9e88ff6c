// Activity on a device, in CUPTI's clock: kernels, copies, memsets, launches of whole graphs, and device memory.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// A kernel outside of CUDA graphs that is shorter than 2^32 ns and has a small device and context number; all others
// are kernel_wide.
struct KernelRecord {
  static constexpr RecordKind kKind{16};
  static constexpr std::string_view kName = "kernel";
  static constexpr std::string_view kCountsAs = "kernel";
  static constexpr Choice kChoice{"kernel", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint16_t device;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint32_t duration_ns;
  std::uint32_t shape_ref;
  std::uint32_t stream;
  std::uint32_t context;
};

struct KernelWideRecord {
  static constexpr RecordKind kKind{17};
  static constexpr std::string_view kName = "kernel_wide";
  static constexpr std::string_view kCountsAs = "kernel";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;  // 0 if it had not ended
  std::uint32_t shape_ref;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;
  std::uint64_t graph_node;  // 0 if none
  std::uint32_t graph;
  std::uint32_t reserved2;
};

struct MemcpyRecord {
  static constexpr RecordKind kKind{18};
  static constexpr std::string_view kName = "memcpy";
  static constexpr std::string_view kCountsAs = "memcpy";
  static constexpr Choice kChoice{"memcpy", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint8_t copy_kind;  // CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, ... 8 DtoD
  std::uint8_t flags;      // CUpti_ActivityFlag: 1 = asynchronous
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint64_t bytes;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;
  std::uint8_t src_memory;  // CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device, ...
  std::uint8_t dst_memory;
  std::uint16_t reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t reserved2;
};

struct MemcpyPeerRecord {
  static constexpr RecordKind kKind{19};
  static constexpr std::string_view kName = "memcpy_peer";
  static constexpr std::string_view kCountsAs = "memcpy";
  static constexpr Choice kChoice{"memcpy_peer", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint8_t copy_kind;
  std::uint8_t flags;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint64_t bytes;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;
  std::uint32_t src_device;
  std::uint32_t src_context;
  std::uint32_t dst_device;
  std::uint32_t dst_context;
  std::uint8_t src_memory;
  std::uint8_t dst_memory;
  std::uint16_t reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t reserved2;
};

struct MemsetRecord {
  static constexpr RecordKind kKind{20};
  static constexpr std::string_view kName = "memset";
  static constexpr std::string_view kCountsAs = "memset";
  static constexpr Choice kChoice{"memset", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint8_t memory;  // CUpti_ActivityMemoryKind
  std::uint8_t flags;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint64_t bytes;
  std::uint32_t value;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;
  std::uint64_t graph_node;
  std::uint32_t graph;
  std::uint32_t reserved2;
};

// A launch of a whole CUDA graph, if TRACETOOL_EVENTS requests it instead of the graph's nodes.
struct GraphLaunchRecord {
  static constexpr RecordKind kKind{34};
  static constexpr std::string_view kName = "graph_launch";
  static constexpr std::string_view kCountsAs = "graph";
  static constexpr Choice kChoice{"graph_launch", FirstSet::none};
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t graph;
};

// Device memory that was allocated or released.
struct MemoryRecord {
  static constexpr RecordKind kKind{35};
  static constexpr std::string_view kName = "memory";
  static constexpr std::string_view kCountsAs = "memory";
  static constexpr Choice kChoice{"memory", FirstSet::all};
  std::uint8_t kind, size_words;
  std::uint8_t operation;  // CUpti_ActivityMemoryOperationType: 1 allocate, 2 release
  std::uint8_t memory;     // CUpti_ActivityMemoryKind
  std::uint32_t correlation;
  std::uint64_t time_cupti_ns;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;  // 0xffffffff if none
  std::uint32_t is_async;
  std::uint64_t pool_address;  // 0 if none
};

struct MemoryPoolRecord {
  static constexpr RecordKind kKind{36};
  static constexpr std::string_view kName = "memory_pool";
  static constexpr std::string_view kCountsAs = "memory";
  static constexpr Choice kChoice{"memory_pool", FirstSet::all};
  std::uint8_t kind, size_words;
  std::uint8_t operation;  // CUpti_ActivityMemoryPoolOperationType: 1 created, 2 destroyed, 3 trimmed
  std::uint8_t pool;       // CUpti_ActivityMemoryPoolType: 1 local, 2 imported
  std::uint32_t correlation;
  std::uint64_t time_cupti_ns;
  std::uint64_t address;
  std::uint64_t bytes;      // size of the pool
  std::uint64_t used_bytes;
  std::uint64_t release_threshold_bytes;
  std::uint32_t device;
  std::uint32_t reserved;
};

}  // namespace trace
