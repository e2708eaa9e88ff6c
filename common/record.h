// The record format: every byte that the agent writes and tracetool reads, defined once. common/FORMAT.md says the
// same in prose for readers in other languages; tests/unit/common/test_format_document.cpp keeps the two together.
//
// Framing. A record starts at a multiple of 8 bytes with `kind` and `size_words`; its size is size_words * 8, or, when
// size_words is 0, the u32 at byte 4 (a multiple of 8, at least 8). A reader skips a kind that it does not know by its
// size. Everything is little-endian. Evolution: fields are only appended, kinds are never reused.
//
// Times. `_cupti_ns` is CUPTI's clock, `_mono_ns` is CLOCK_MONOTONIC; the clock samples in every block header convert
// either to the wall clock (clock.h).
//
// References. A u32 `..._ref` names a definition (kinds 1 to 15). Top bit clear: ref * 8 is a byte offset in the
// file's definitions region. Top bit set: the rest * 8 is a byte offset in the payload of the record's own block,
// before the record. kNoRef is "none". So a definition that is used once dies with its block, and a full region costs
// bytes but never a name.
//
// A new record kind is one struct here and one name in AllRecords.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

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
};

inline constexpr std::uint32_t kNoRef = 0xffffffffu;
inline constexpr std::uint32_t kLocalRef = 0x80000000u;
inline constexpr std::size_t kEventKinds = 32;  // kinds 16 to 47 are events, counted as kind - 16
inline constexpr std::uint8_t kFirstEventKind = 16;

struct RecordHead {
  std::uint8_t kind;
  std::uint8_t size_words;
};

// ---- definitions ----------------------------------------------------------------------------------------------

// A name of any length: `length` bytes follow, then zeros up to size_bytes. size_words is always 0.
struct StringRecord {
  static constexpr RecordKind kKind = RecordKind::string;
  static constexpr std::string_view kName = "string";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t size_bytes;  // of the whole record
  std::uint32_t length;      // of the text
  std::uint32_t reserved2;
};

// What launches of one kernel with one configuration share.
struct LaunchShapeRecord {
  static constexpr RecordKind kKind = RecordKind::launch_shape;
  static constexpr std::string_view kName = "launch_shape";
  std::uint8_t kind, size_words;
  std::uint16_t registers_per_thread;
  std::uint32_t name_ref;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t static_shared_bytes;
  std::uint32_t dynamic_shared_bytes;
};

// The name of a CUDA API function. Written before the first call of that function in each block, unless the region
// has it.
struct ApiNameRecord {
  static constexpr RecordKind kKind = RecordKind::api_name;
  static constexpr std::string_view kName = "api_name";
  std::uint8_t kind, size_words;
  std::uint8_t domain;  // RecordKind::runtime or RecordKind::driver
  std::uint8_t reserved;
  std::uint32_t cbid;  // CUPTI callback id within the domain
  char name[64];       // zero-terminated, cut to fit
};

struct ThreadNameRecord {
  static constexpr RecordKind kKind = RecordKind::thread_name;
  static constexpr std::string_view kName = "thread_name";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  char name[16];  // zero-terminated
};

enum class IdentitySource : std::uint8_t { environment = 1, nccl_init = 2 };

// Who this process is. The last one in the file wins. -1 is unknown.
struct IdentityRecord {
  static constexpr RecordKind kKind = RecordKind::identity;
  static constexpr std::string_view kName = "identity";
  std::uint8_t kind, size_words;
  std::uint8_t source;  // IdentitySource
  std::uint8_t reserved;
  std::int32_t rank;
  std::int32_t local_rank;
  std::int32_t world_size;
  std::int32_t device;  // CUDA ordinal given to ncclCommInit
  std::int32_t reserved2;
  std::uint64_t communicator;  // 0 for the environment
  std::uint64_t time_mono_ns;
};

// What CUPTI and the driver say of a device; 0 where they do not. Limits are what occupancy is computed from.
struct DeviceRecord {
  static constexpr RecordKind kKind = RecordKind::device;
  static constexpr std::string_view kName = "device";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t device;  // as CUPTI and this process number it
  std::uint64_t memory_bytes;
  std::uint32_t multiprocessors;
  std::uint32_t compute_major;
  std::uint32_t compute_minor;
  std::uint32_t reserved2;
  char name[64];
  char pci_bus_id[16];  // "0000:1b:00.0"; empty: unknown
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
  static constexpr RecordKind kKind = RecordKind::context;
  static constexpr std::string_view kName = "context";
  std::uint8_t kind, size_words;
  std::uint16_t null_stream;  // number of the default stream
  std::uint32_t context;
  std::uint32_t device;
  std::uint32_t reserved;
};

struct StreamRecord {
  static constexpr RecordKind kKind = RecordKind::stream;
  static constexpr std::string_view kName = "stream";
  std::uint8_t kind, size_words;
  std::uint16_t flag;  // CUpti_ActivityStreamFlag: 0 unknown, 1 default, 2 non-blocking, 3 null
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t priority;  // lower numbers run first
};

enum class ResourceKind : std::uint8_t { device = 1, context = 2, stream = 3, event = 4, thread = 5 };

// A name that the program gave to a thing (nvtxNameCudaStreamA, nvtxNameOsThreadA, ...).
struct ResourceNameRecord {
  static constexpr RecordKind kKind = RecordKind::resource_name;
  static constexpr std::string_view kName = "resource_name";
  std::uint8_t kind, size_words;
  std::uint8_t resource;  // ResourceKind
  std::uint8_t reserved;
  std::uint32_t name_ref;
  std::uint32_t id;       // device ordinal, context number, stream number or tid; 0xffffffff: unknown
  std::uint32_t context;  // of a stream; 0: unknown
  std::uint64_t handle;   // CUcontext, CUstream, CUevent; 0: none
};

// nvtxDomainNameCategoryA: what a category number of a domain is called.
struct NvtxCategoryRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_category;
  static constexpr std::string_view kName = "nvtx_category";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t domain_ref;  // kNoRef: NVTX's default domain
  std::uint32_t category;
  std::uint32_t name_ref;
};

// A communicator as NCCL's init ranges describe it. -1 and 0 are unknown. A split does not tell rank and ranks of what it
// makes: its members are the parent's ranks with the same color, ordered by key, then by their rank in the parent.
struct CommunicatorRecord {
  static constexpr RecordKind kKind = RecordKind::communicator;
  static constexpr std::string_view kName = "communicator";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::int32_t rank;
  std::int32_t ranks;
  std::int32_t device;
  std::uint64_t communicator;
  std::uint64_t parent;  // of a split
  std::int32_t color;
  std::int32_t key;
  std::uint32_t epoch;
  std::uint32_t reserved2;
  std::uint64_t time_mono_ns;
};

// What was open on the capturing thread when a node of a CUDA graph was made: its launches happen long after. Kernels
// and copies refer to it by their graph_node. An instantiated graph has nodes of its own: `captured_node` is the one
// from which a node was cloned, and has such a record itself; then only these two numbers are set, and the record ends
// behind them.
struct GraphNodeRecord {
  static constexpr RecordKind kKind = RecordKind::graph_node;
  static constexpr std::string_view kName = "graph_node";
  std::uint8_t kind, size_words;
  std::uint8_t nccl_class;  // NcclClass; 0: no NCCL call was open
  std::uint8_t has;         // as in nccl_call
  std::uint32_t epoch;
  std::uint64_t node;
  std::uint64_t captured_node;  // 0: this is the captured one
  std::uint32_t range_ref;      // innermost NVTX range; kNoRef: none
  std::uint32_t domain_ref;     // of that range
  std::uint32_t nccl_name_ref;  // kNoRef: none
  std::uint32_t reduction_op;
  std::uint64_t communicator;
  std::uint64_t bytes;
  std::uint64_t ordinal;
  std::uint32_t peer;
  std::uint32_t tid;
};

// ---- device work (CUPTI's clock) ------------------------------------------------------------------------------

// An eager kernel shorter than 2^32 ns on a small device and context number; all others are kernel_wide.
struct KernelRecord {
  static constexpr RecordKind kKind = RecordKind::kernel;
  static constexpr std::string_view kName = "kernel";
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
  static constexpr RecordKind kKind = RecordKind::kernel_wide;
  static constexpr std::string_view kName = "kernel_wide";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;  // 0: had not ended
  std::uint32_t shape_ref;
  std::uint32_t stream;
  std::uint32_t context;
  std::uint32_t device;
  std::uint64_t graph_node;  // 0: none
  std::uint32_t graph;
  std::uint32_t reserved2;
};

struct MemcpyRecord {
  static constexpr RecordKind kKind = RecordKind::memcpy;
  static constexpr std::string_view kName = "memcpy";
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
  static constexpr RecordKind kKind = RecordKind::memcpy_peer;
  static constexpr std::string_view kName = "memcpy_peer";
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
  static constexpr RecordKind kKind = RecordKind::memset;
  static constexpr std::string_view kName = "memset";
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

// ---- host calls as CUPTI saw them (CUPTI's clock) -------------------------------------------------------------

// A CUDA runtime (kind 21) or driver (kind 22) call that returned 0 in less than 2^32 ns; others are wide.
template <RecordKind Kind>
struct ApiRecord {
  static constexpr RecordKind kKind = Kind;
  static constexpr std::string_view kName = Kind == RecordKind::runtime ? "runtime" : "driver";
  std::uint8_t kind, size_words;
  std::uint16_t cbid;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint32_t duration_ns;
  std::uint32_t tid;
};
using RuntimeRecord = ApiRecord<RecordKind::runtime>;
using DriverRecord = ApiRecord<RecordKind::driver>;

template <RecordKind Kind>
struct ApiWideRecord {
  static constexpr RecordKind kKind = Kind;
  static constexpr std::string_view kName = Kind == RecordKind::runtime_wide ? "runtime_wide" : "driver_wide";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;  // 0: had not returned
  std::uint32_t cbid;
  std::uint32_t tid;
  std::uint32_t return_value;  // cudaError_t or CUresult
  std::uint32_t reserved2;
};
using RuntimeWideRecord = ApiWideRecord<RecordKind::runtime_wide>;
using DriverWideRecord = ApiWideRecord<RecordKind::driver_wide>;

// ---- more of what CUPTI tells (CUPTI's clock) ------------------------------------------------------------------

// A wait of the host for the device, or of a stream for an event. Not work of the device.
struct SyncRecord {
  static constexpr RecordKind kKind = RecordKind::sync;
  static constexpr std::string_view kName = "sync";
  std::uint8_t kind, size_words;
  std::uint8_t type;  // CUpti_ActivitySynchronizationType: 1 event, 2 stream waits for event, 3 stream, 4 context
  std::uint8_t reserved;
  std::uint32_t correlation;
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint32_t context;
  std::uint32_t stream;  // 0xffffffff: none
  std::uint32_t event;   // CUPTI's number of the event; 0xffffffff: none
  std::uint32_t return_value;
};

// Time that CUPTI or the driver took for itself.
struct OverheadRecord {
  static constexpr RecordKind kKind = RecordKind::overhead;
  static constexpr std::string_view kName = "overhead";
  std::uint8_t kind, size_words;
  std::uint16_t object;    // CUpti_ActivityObjectKind: 1 process, 2 thread, 3 device, 4 context, 5 stream
  std::uint32_t overhead;  // CUpti_ActivityOverheadKind: 1 compiler, 0x10000 buffer flush, 0x40000 module loading, ...
  std::uint64_t start_cupti_ns;
  std::uint64_t end_cupti_ns;
  std::uint32_t tid;  // of objects 1 and 2
  std::uint32_t device, context, stream;  // of objects 3 to 5
  std::uint32_t correlation;  // 0: unknown
  std::uint32_t reserved;
};

// A whole launch of a CUDA graph, where TRACETOOL_EVENTS asks for that instead of its nodes.
struct GraphLaunchRecord {
  static constexpr RecordKind kKind = RecordKind::graph_launch;
  static constexpr std::string_view kName = "graph_launch";
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

// Memory of the device, allocated or released.
struct MemoryRecord {
  static constexpr RecordKind kKind = RecordKind::memory;
  static constexpr std::string_view kName = "memory";
  std::uint8_t kind, size_words;
  std::uint8_t operation;  // CUpti_ActivityMemoryOperationType: 1 allocate, 2 release
  std::uint8_t memory;     // CUpti_ActivityMemoryKind
  std::uint32_t correlation;
  std::uint64_t time_cupti_ns;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;  // 0xffffffff: none
  std::uint32_t is_async;
  std::uint64_t pool_address;  // 0: none
};

struct MemoryPoolRecord {
  static constexpr RecordKind kKind = RecordKind::memory_pool;
  static constexpr std::string_view kName = "memory_pool";
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

// ---- NVTX and NCCL, from our own injection (CLOCK_MONOTONIC) ---------------------------------------------------

// A range is two records, so that one that is open when the process dies is seen. Pushes and pops nest by
// (tid, domain); a domain_ref of kNoRef is NVTX's default domain.
struct NvtxPushRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_push;
  static constexpr std::string_view kName = "nvtx_push";
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;  // 0: none
  std::uint32_t category;
  std::uint64_t payload;  // the value's bytes, in its own type; absent where there is none
};

struct NvtxPopRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_pop;
  static constexpr std::string_view kName = "nvtx_pop";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t domain_ref;
  std::uint32_t reserved2;
};

// Ranges that start on one thread and may end on another; range_id joins them.
struct NvtxStartRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_start;
  static constexpr std::string_view kName = "nvtx_start";
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;
  std::uint32_t category;
  std::uint64_t range_id;
  std::uint64_t payload;  // the value's bytes, in its own type; absent where there is none
};

struct NvtxEndRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_end;
  static constexpr std::string_view kName = "nvtx_end";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint64_t range_id;
};

struct NvtxMarkRecord {
  static constexpr RecordKind kKind = RecordKind::nvtx_mark;
  static constexpr std::string_view kName = "nvtx_mark";
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;
  std::uint32_t category;
  std::uint64_t payload;  // the value's bytes, in its own type; absent where there is none
};

// Classes of NCCL calls that are numbered apart (capture.md section 4: ordinals match across ranks by construction).
enum class NcclClass : std::uint8_t { collective = 1, send = 2, receive = 3 };

// A host call into NCCL: a push in NCCL's NVTX domain; the next nvtx_pop of (tid, domain_ref) at its depth ends it.
// (communicator, epoch, nccl_class, ordinal) names the same collective on every rank.
struct NcclCallRecord {
  static constexpr RecordKind kKind = RecordKind::nccl_call;
  static constexpr std::string_view kName = "nccl_call";
  std::uint8_t kind, size_words;
  std::uint8_t nccl_class;  // NcclClass
  std::uint8_t has;         // bit 0: communicator, bit 1: bytes, bit 2: reduction_op, bit 3: peer (root or peer), bit 4: data_type
                            // and count, bit 5: stream
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;    // "ncclAllReduce"
  std::uint32_t domain_ref;  // "NCCL"
  std::uint64_t communicator;
  std::uint64_t bytes;  // NCCL's "size of one message" (capture.md section 4 says which per operation)
  std::uint64_t ordinal;
  std::uint32_t epoch;
  std::uint32_t reduction_op;
  std::uint32_t peer;
  std::uint32_t data_type;  // ncclDataType_t
  std::uint64_t count;      // elements of one message
  std::uint64_t stream;     // cudaStream_t
};

// The clocks read together: CUPTI's between two readings of CLOCK_MONOTONIC. Written about once a second.
struct ClockRecord {
  static constexpr RecordKind kKind = RecordKind::clock;
  static constexpr std::string_view kName = "clock";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t bracket_ns;  // distance of the two readings of CLOCK_MONOTONIC
  std::uint64_t cupti_ns;    // 0: CUPTI was not there
  std::uint64_t mono_ns;     // the middle of the two readings
  std::uint64_t real_ns;     // CLOCK_REALTIME at that moment
};

// What happened to the recording itself.
enum class NoticeCode : std::uint8_t {
  gap = 1,           // records of this time are missing: another tool had taken CUPTI's buffers or switched kinds off
  fatal = 2,         // CUPTI ended itself after an error that sticks (`value`: CUptiResult)
  stepped_down = 3,  // the cost guard reduced what is recorded
  source_on = 4,     // CUPTI, another's before, is ours from now on; a gap that this ends has the same start
  clock_changed = 5, // CUPTI's time base was changed by somebody: times before and after differ by more than drift
  graphs_unknown = 6,  // graphs were captured before we were there: their nodes have no ranges
  spool_ended = 7,  // the spool could not grow (`value`: errno): from here on only the ring is kept
};

struct NoticeRecord {
  static constexpr RecordKind kKind = RecordKind::notice;
  static constexpr std::string_view kName = "notice";
  std::uint8_t kind, size_words;
  std::uint8_t code;  // NoticeCode
  std::uint8_t reserved;
  std::uint32_t value;
  std::uint64_t start_mono_ns;
  std::uint64_t end_mono_ns;  // the same for a moment; 0: had not ended
  std::uint32_t text_ref;     // a sentence for people; kNoRef: none
  std::uint32_t reserved2;
};

using AllRecords =
    std::tuple<StringRecord, LaunchShapeRecord, ApiNameRecord, ThreadNameRecord, IdentityRecord, DeviceRecord,
               ContextRecord, StreamRecord, ResourceNameRecord, NvtxCategoryRecord, CommunicatorRecord, GraphNodeRecord,
               KernelRecord, KernelWideRecord, MemcpyRecord, MemcpyPeerRecord, MemsetRecord, RuntimeRecord,
               DriverRecord, RuntimeWideRecord, DriverWideRecord, NvtxPushRecord, NvtxPopRecord, NvtxStartRecord,
               NvtxEndRecord, NvtxMarkRecord, NcclCallRecord, ClockRecord, SyncRecord, OverheadRecord,
               GraphLaunchRecord, MemoryRecord, MemoryPoolRecord, NoticeRecord>;

// Calls f(static_cast<Record*>(nullptr)) for each kind of record, in the order of AllRecords.
template <typename F>
constexpr void for_each_record(F&& f) {
  [&]<typename... R>(std::tuple<R...>*) { (f(static_cast<R*>(nullptr)), ...); }(static_cast<AllRecords*>(nullptr));
}

template <typename R>
constexpr std::uint8_t size_words_of() {
  return R::kKind == RecordKind::string ? 0 : static_cast<std::uint8_t>(sizeof(R) / 8);
}

// A zeroed record with its head filled in.
template <typename R>
constexpr R make_record() {
  static_assert(sizeof(R) % 8 == 0 && sizeof(R) / 8 < 256);
  R record{};
  record.kind = static_cast<std::uint8_t>(R::kKind);
  record.size_words = size_words_of<R>();
  return record;
}

constexpr bool is_event(std::uint8_t kind) {
  return kind >= kFirstEventKind && kind < kFirstEventKind + kEventKinds;
}

// The name of a kind, or "unknown".
inline std::string_view record_name(std::uint8_t kind) {
  std::string_view name = "unknown";
  for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) name = R::kName;
  });
  return name;
}

static_assert(sizeof(KernelRecord) == 32 && sizeof(RuntimeRecord) == 24, "the budgets of bytes per record");
static_assert(sizeof(StringRecord) == 16 && sizeof(LaunchShapeRecord) == 40);

}  // namespace trace
