// Definitions (kinds 1 to 15): data that events refer to, and facts about the whole recording.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// A name of any length: `length` bytes, padded with zeros up to size_bytes. size_words is always 0.
struct StringRecord {
  static constexpr RecordKind kKind{1};
  static constexpr std::string_view kName = "string";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t size_bytes;  // of the whole record
  std::uint32_t length;      // of the text
  std::uint32_t reserved2;
};

// Properties shared by launches of one kernel with one configuration.
struct LaunchShapeRecord {
  static constexpr RecordKind kKind{2};
  static constexpr std::string_view kName = "launch_shape";
  std::uint8_t kind, size_words;
  std::uint16_t registers_per_thread;
  std::uint32_t name_ref;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t static_shared_bytes;
  std::uint32_t dynamic_shared_bytes;
  std::uint32_t local_bytes_per_thread;
  std::uint8_t launch_type;  // CUpti_ActivityLaunchType: 0 regular, 1 cooperative, 2 cooperative on several devices
  std::uint8_t reserved[3];
  std::uint32_t cluster[3];  // blocks per cluster; 0 if none or unknown
  std::uint32_t reserved2;
};

// The name of a CUDA API function. Written to each block before the first call of that function, unless it is in the
// region.
struct ApiNameRecord {
  static constexpr RecordKind kKind{3};
  static constexpr std::string_view kName = "api_name";
  std::uint8_t kind, size_words;
  std::uint8_t domain;  // 21 runtime, 22 driver
  std::uint8_t reserved;
  std::uint32_t cbid;  // CUPTI callback id within the domain
  char name[64];       // zero-terminated, cut to fit
};

struct ThreadNameRecord {
  static constexpr RecordKind kKind{4};
  static constexpr std::string_view kName = "thread_name";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  char name[16];  // zero-terminated
};

enum class IdentitySource : std::uint8_t { environment = 1, nccl_init = 2 };

// Identity of the process. The last record in the file counts. -1 is unknown.
struct IdentityRecord {
  static constexpr RecordKind kKind{5};
  static constexpr std::string_view kName = "identity";
  std::uint8_t kind, size_words;
  std::uint8_t source;  // IdentitySource
  std::uint8_t reserved;
  std::int32_t rank;
  std::int32_t local_rank;
  std::int32_t world_size;
  std::int32_t device;  // CUDA ordinal given to ncclCommInit
  std::int32_t reserved2;
  std::uint64_t communicator;  // 0 if the source is the environment, or if unknown
  std::uint64_t time_mono_ns;
};

// A device as described by CUPTI and the driver; unknown values are 0. Occupancy is computed from the limits.
struct DeviceRecord {
  static constexpr RecordKind kKind{6};
  static constexpr std::string_view kName = "device";
  static constexpr Choice kChoice{"device", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t device;  // CUDA device number in this process
  std::uint64_t memory_bytes;
  std::uint32_t multiprocessors;
  std::uint32_t compute_major;
  std::uint32_t compute_minor;
  std::uint32_t reserved2;
  char name[64];
  char pci_bus_id[16];  // "0000:1b:00.0"; empty if unknown
  std::uint8_t uuid[16];
  std::uint64_t memory_bandwidth_kbps;  // kB/s
  std::uint32_t core_clock_khz;
  std::uint32_t l2_bytes;
  std::uint32_t threads_per_warp;
  std::uint32_t max_threads_per_block;
  std::uint32_t max_warps_per_multiprocessor;
  std::uint32_t max_blocks_per_multiprocessor;
  std::uint32_t max_registers_per_block;
  std::uint32_t max_registers_per_multiprocessor;
  std::uint32_t max_shared_bytes_per_block;
  std::uint32_t max_shared_bytes_per_multiprocessor;
  std::uint32_t copy_engines;
  std::uint32_t reserved3;
};

struct ContextRecord {
  static constexpr RecordKind kKind{7};
  static constexpr std::string_view kName = "context";
  static constexpr Choice kChoice{"context", FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint16_t null_stream;  // number of the default stream
  std::uint32_t context;
  std::uint32_t device;
  std::uint32_t reserved;
};

struct StreamRecord {
  static constexpr RecordKind kKind{8};
  static constexpr std::string_view kName = "stream";
  static constexpr Choice kChoice{"stream", FirstSet::standard};
  std::uint8_t kind, size_words;
  std::uint16_t flag;  // CUpti_ActivityStreamFlag: 0 unknown, 1 default, 2 non-blocking, 3 null
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t priority;  // lower numbers run first
};

enum class ResourceKind : std::uint8_t { device = 1, context = 2, stream = 3, event = 4, thread = 5 };

// A name that the program gave to a resource (nvtxNameCudaStreamA, nvtxNameOsThreadA, ...).
struct ResourceNameRecord {
  static constexpr RecordKind kKind{9};
  static constexpr std::string_view kName = "resource_name";
  std::uint8_t kind, size_words;
  std::uint8_t resource;  // ResourceKind
  std::uint8_t reserved;
  std::uint32_t name_ref;
  std::uint32_t id;       // device ordinal, context number, stream number or tid; 0xffffffff if unknown
  std::uint32_t context;  // of a stream; 0 if unknown
  std::uint64_t handle;   // CUcontext, CUstream, CUevent; 0 if none
};

// The name of a category in a domain, from nvtxDomainNameCategoryA.
struct NvtxCategoryRecord {
  static constexpr RecordKind kKind{10};
  static constexpr std::string_view kName = "nvtx_category";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t domain_ref;  // kNoRef for NVTX's default domain
  std::uint32_t category;
  std::uint32_t name_ref;
};

// A communicator, from NCCL's init ranges. -1 and 0 are unknown. The records of a split contain no rank and size of the
// new communicator: its members are the parent's ranks with the same color, ordered by key, then by their rank in the
// parent.
struct CommunicatorRecord {
  static constexpr RecordKind kKind{11};
  static constexpr std::string_view kName = "communicator";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::int32_t rank;
  std::int32_t ranks;
  std::int32_t device;
  std::uint64_t communicator;
  std::uint64_t parent;  // of a split: hash of the communicator it was split from
  std::int32_t color;
  std::int32_t key;
  std::uint32_t epoch;
  std::uint32_t reserved2;
  std::uint64_t time_mono_ns;
};

// What was open on the capturing thread when a CUDA graph node was created, because its launches happen long after.
// Kernels and copies refer to it by their graph_node. An instantiated graph has its own nodes: `captured_node` is the
// node from which a node was cloned, and has a record of this kind itself. In the record of a clone only these two
// numbers are set, and the record ends after them.
struct GraphNodeRecord {
  static constexpr RecordKind kKind{12};
  static constexpr std::string_view kName = "graph_node";
  static constexpr Choice kChoice{"graph_node", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint8_t nccl_class;  // NcclClass; 0 if no NCCL call was open
  std::uint8_t has;         // NcclHas, of the open NCCL call
  std::uint32_t epoch;
  std::uint64_t node;
  std::uint64_t captured_node;  // 0 if this is the captured node
  std::uint32_t range_ref;      // innermost NVTX range; kNoRef if none
  std::uint32_t domain_ref;     // of that range
  std::uint32_t nccl_name_ref;  // kNoRef if none
  std::uint32_t reduction_op;
  std::uint64_t communicator;
  std::uint64_t bytes;
  std::uint64_t ordinal;
  std::uint32_t peer;
  std::uint32_t tid;
};

}  // namespace trace
