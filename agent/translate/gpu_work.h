// Progress of the GPU, from CUPTI's records of its work (kernels, copies, memsets, graphs).
#pragma once
#include <cupti.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/cupti/cupti_library.h"

namespace agent {

// Fields that CUPTI's records have only from some version on; in older ones the next record begins there.
//
// All other fields are read through the structs of CUDA 11.8, the oldest supported version: newer headers keep them,
// and newer CUPTI versions only append fields. tests/scripts/test_cupti_headers.py contains the list of all fields that
// are read and compares it with any headers; this was done for 11.8, 12.0 to 12.6, 12.8, 12.9 and 13.0. The structs
// grew in these versions (cuptiGetVersion in parentheses; 11.8, 12.0 and 12.1 have the same):
//   Overhead2 12.3 (21), Overhead3 12.4 (22), Synchronization2 and CudaEvent2 12.8 (26), GraphTrace2 12.3 (21),
//   Memory4 12.6 (24), MemoryPool3 13.0 (130000), Context2 12.4 (22), Context3 12.5 (23), Memcpy6 12.8 (26),
//   Kernel9 12.0 (18), Kernel10 13.0 (130000).

// Blocks of a thread block cluster; 0 if none.
struct Cluster {
  std::uint32_t x = 0, y = 0, z = 0;
  bool operator==(const Cluster&) const = default;
};

template <typename T>
struct LateField {
  std::uint32_t since;  // cuptiGetVersion
  std::size_t offset;
};

inline constexpr LateField<Cluster> kKernelCluster{18, 176};             // CUpti_ActivityKernel8::clusterX, Y, Z
inline constexpr LateField<std::uint32_t> kOverheadCorrelation{22, 40};  // CUpti_ActivityOverhead3::correlationId
inline constexpr LateField<std::uint32_t> kSyncResult{26, 48};           // CUpti_ActivitySynchronization2::returnValue
inline constexpr LateField<std::uint64_t> kSyncOfEvent{26, 40};  // CUpti_ActivitySynchronization2::cudaEventSyncId
inline constexpr LateField<std::uint64_t> kEventSync{26, 48};    // CUpti_ActivityCudaEvent2::cudaEventSyncId

// Returns 0 if the CUPTI of this process is older.
template <typename T>
T late_field(const CUpti_Activity* activity, LateField<T> field) noexcept {
  T value{};
  if (cupti().version < field.since) return value;
  std::memcpy(&value, reinterpret_cast<const char*>(activity) + field.offset, sizeof(value));
  return value;
}

struct GpuWork {
  std::uint64_t ended = 0;       // records with an end
  std::uint64_t unfinished = 0;  // without an end, from a forced flush
  std::uint64_t newest_end_cupti_ns = 0;

  void note(std::uint64_t end_cupti_ns) noexcept {
    ended += end_cupti_ns != 0;
    unfinished += end_cupti_ns == 0;
    newest_end_cupti_ns = std::max(newest_end_cupti_ns, end_cupti_ns);
  }
};

}  // namespace agent
