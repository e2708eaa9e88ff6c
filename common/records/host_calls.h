// CUDA activity of host threads, in CUPTI's clock: calls as CUPTI reports them, waits, and overhead of CUPTI and the
// driver.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

inline constexpr RecordKind kRuntime{21}, kDriver{22}, kRuntimeWide{23}, kDriverWide{24};

// A CUDA runtime (kind 21) or driver (kind 22) call that returned 0 in less than 2^32 ns; others are wide.
template <RecordKind Kind>
struct ApiRecord {
  static constexpr RecordKind kKind = Kind;
  static constexpr std::string_view kName = Kind == kRuntime ? "runtime" : "driver";
  static constexpr std::string_view kCountsAs = kName;
  static constexpr Choice kChoice{kName, FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint16_t cbid;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint32_t duration_ns;
  std::uint32_t tid;
};
using RuntimeRecord = ApiRecord<kRuntime>;
using DriverRecord = ApiRecord<kDriver>;

template <RecordKind Kind>
struct ApiWideRecord {
  static constexpr RecordKind kKind = Kind;
  static constexpr std::string_view kName = Kind == kRuntimeWide ? "runtime_wide" : "driver_wide";
  static constexpr std::string_view kCountsAs = Kind == kRuntimeWide ? "runtime" : "driver";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;  // 0 if it had not returned
  std::uint32_t cbid;
  std::uint32_t tid;
  std::uint32_t return_value;  // cudaError_t or CUresult
  std::uint32_t reserved2;
};
using RuntimeWideRecord = ApiWideRecord<kRuntimeWide>;
using DriverWideRecord = ApiWideRecord<kDriverWide>;

// A wait of the host for the device, or of a stream for an event. It is not device work.
struct SyncRecord {
  static constexpr RecordKind kKind{32};
  static constexpr std::string_view kName = "sync";
  static constexpr std::string_view kCountsAs = "sync";
  static constexpr Choice kChoice{"sync", FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint8_t type;  // CUpti_ActivitySynchronizationType: 1 event, 2 stream waits for event, 3 stream, 4 context
  std::uint8_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint32_t context;
  std::uint32_t stream;  // 0xffffffff if none
  std::uint32_t event;   // CUPTI's number of the event; 0xffffffff if none
  std::uint32_t return_value;
  std::uint64_t event_sync_id;  // event_sync_id of the awaited cuda_event record; 0 if unknown
};

// A call that recorded a CUDA event into a stream; its time is that of the call with the same correlation. A wait
// (sync) for the event waits for its last recording before the wait's own call: the one with the same event_sync_id or,
// if CUPTI has none (before 12.8), the one of the same context and event with the last correlation before its own.
struct CudaEventRecord {
  static constexpr RecordKind kKind{38};
  static constexpr std::string_view kName = "cuda_event";
  static constexpr Choice kChoice{"cuda_event", FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;  // CUPTI's number of the event, which may be recorded many times
  std::uint32_t reserved2;
  std::uint64_t event_sync_id;  // identifies this recording of the event; 0 if unknown
};

// Overhead of CUPTI or the driver.
struct OverheadRecord {
  static constexpr RecordKind kKind{33};
  static constexpr std::string_view kName = "overhead";
  static constexpr std::string_view kCountsAs = "overhead";
  static constexpr Choice kChoice{"overhead", FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint16_t object;    // CUpti_ActivityObjectKind: 1 process, 2 thread, 3 device, 4 context, 5 stream
  std::uint32_t overhead;  // CUpti_ActivityOverheadKind: 1 compiler, 0x10000 buffer flush, 0x40000 module loading, ...
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint32_t tid;  // of objects 1 and 2
  std::uint32_t device, context, stream;  // of objects 3 to 5
  std::uint32_t correlation;  // 0 if unknown
  std::uint32_t reserved;
};

}  // namespace trace
