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

enum class DeviceKind : std::uint8_t { kernel, memcpy, memcpy_peer, memset };

// One piece of work on the device. `seq` numbers all events of a process, calls too.
struct DeviceEvent {
  DeviceKind kind;
  Fate fate;
  Slot* slot;
  std::uint64_t seq;
  std::uint32_t correlation, device, context, stream;
  std::uint64_t start_ns, end_ns, cupti_start_ns, cupti_end_ns;
  // kernel
  const char* name;
  std::uint32_t grid[3], block[3];
  std::uint32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
  // memcpy, memcpy_peer, memset; the numbers are CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind
  std::uint64_t bytes;
  std::uint8_t copy_kind, src_memory, dst_memory;
  std::uint8_t flags;  // CUpti_ActivityFlag: ..._MEMCPY_ASYNC, ..._MEMSET_ASYNC
  std::uint32_t src_device, src_context, dst_device, dst_context;
  std::uint32_t value;
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

}  // namespace sim
