// What happens in the simulated driver, in neutral terms: the truth is written from it (cuda/truth.h), and the CUPTI
// stand-in makes its records of it. Times: nanoseconds; `start_ns` and `end_ns` are the machine's own CLOCK_REALTIME,
// never shifted; `cupti_..._ns` is what CUPTI says (the simulated host's clock, or the client's timestamp callback).
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

// What became of an event in CUPTI: nobody asked for it; it went (or will go) into a buffer; it was dropped and
// counted.
enum class Fate : std::uint8_t { off, emitted, dropped };

// The reserved place of a record in an activity buffer; the CUPTI stand-in's own.
struct Slot;

// graph: a whole launch of a CUDA graph, from its first node's start to its last node's end.
enum class DeviceKind : std::uint8_t { kernel, memcpy, memcpy_peer, memset, graph };

// One piece of work on the device. `seq` numbers all events of a process, calls too.
struct DeviceEvent {
  DeviceKind kind;
  Fate fate;
  Slot* slot;
  std::uint64_t seq;
  std::uint32_t correlation, device, context, stream;
  std::uint32_t graph;       // of an executable graph; 0: none
  std::uint64_t graph_node;  // of its node; 0: none
  std::uint64_t start_ns, end_ns, cupti_start_ns, cupti_end_ns;
  // kernel
  const char* name;
  std::uint32_t grid[3], block[3];
  std::uint32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
  std::uint32_t cluster[3];  // blocks of a thread block cluster; 0: none
  std::uint8_t launch_type;  // CUpti_ActivityLaunchType
  // memcpy, memcpy_peer, memset; the numbers are CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind
  std::uint64_t bytes;
  std::uint8_t copy_kind, src_memory, dst_memory;
  std::uint8_t flags;  // CUpti_ActivityFlag: ..._MEMCPY_ASYNC, ..._MEMSET_ASYNC
  std::uint32_t src_device, src_context, dst_device, dst_context;
  std::uint32_t value;
  bool communicates;     // the program says so (work.h); CUPTI is not told
  bool meets;            // a collective in which ranks wait for each other:
  std::int64_t late_ns;  // its start minus the median one, of an even number of ranks the earlier in the middle
};

// A call into the runtime or the driver.
struct CallEvent {
  std::uint32_t domain;  // CUpti_CallbackDomain: 1 driver, 2 runtime
  std::uint32_t cbid;
  const char* name;    // as cuptiGetCallbackName says it
  const char* symbol;  // of the kernel that is launched; null otherwise
  const void* params;  // the call's ..._params struct; null where none is made
  void* context;       // current CUcontext
  std::uint32_t context_id;
  std::uint32_t correlation;
  std::uint32_t tid;
  std::uint32_t result;
  std::uint64_t callback_data;  // correlationData of the callbacks
  Fate fate;
  std::uint64_t seq;
  std::uint64_t start_ns, end_ns, cupti_start_ns, cupti_end_ns;
};

enum class NoteKind : std::uint8_t {
  sync,
  cuda_event,  // recorded into a stream; has no time
  overhead,
  device,
  context,
  stream,
  memory,
  memory_pool,
  external_correlation,
  unknown
};

// What is told at once and whole: no work of the device and no call.
struct Note {
  NoteKind kind;
  Fate fate;
  std::uint64_t seq;
  std::uint32_t correlation, device, context, stream, tid;
  std::uint64_t start_ns, end_ns, cupti_start_ns, cupti_end_ns;  // equal for a moment
  // CUpti_ActivitySynchronizationType, ..OverheadKind, ..MemoryOperationType, ..MemoryPoolOperationType, StreamFlag,
  // ExternalCorrelationKind
  std::uint32_t type;
  std::uint32_t object;         // overhead: CUpti_ActivityObjectKind
  std::uint32_t event;          // sync, cuda_event: number of the event; kNoNumber: none
  std::uint32_t record;         // sync: the call that recorded the event last before this wait; 0: none
  std::uint64_t event_sync_id;  // cuda_event: of this recording of the event; sync: of the one that is awaited, or 0
  std::uint32_t result;
  std::int32_t priority;  // stream; the least number runs first
  std::uint16_t null_stream;
  // memory, memory_pool; `bytes` of a pool is its size
  std::uint8_t memory, pool;
  bool is_async;
  std::uint64_t address, bytes, pool_address, pool_bytes, used_bytes, release_threshold_bytes;
  std::uint64_t external_id;
};

inline constexpr std::uint32_t kNoNumber = 0xffffffffu;

// What a device says of itself, to cuDeviceGet... and to CUPTI alike.
struct DeviceFacts {
  const char* name;
  char pci_bus_id[16];
  unsigned char uuid[16];
  std::uint64_t memory_bytes, bandwidth_kbps;
  std::uint32_t multiprocessors, compute_major, compute_minor, core_clock_khz, l2_bytes, threads_per_warp;
  std::uint32_t max_threads_per_block, max_warps, max_blocks, max_registers_per_block, max_registers;
  std::uint32_t max_shared_per_block_bytes, max_shared_bytes, copy_engines, constant_bytes;
};

// One event of a graph's life, for CUPTI's resource callbacks.
struct GraphEvent {
  void *graph, *original_graph, *node, *original_node, *dependency, *exec;
  std::uint32_t node_type;  // CUgraphNodeType
};

}  // namespace sim
