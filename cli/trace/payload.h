// The payload of an event: a struct per kind of fact, with numbers as numbers. Readers fill it once, exporters turn it
// into words and JSON (cli/formats/export/args_text.h), and the code between them never creates or parses text.
//
// An Event has the members common to all events (56 bytes). Its payload is one of the structs below, chosen by a tag,
// or none. In memory and on disk a payload takes only the size of its own struct: a batch stores payloads in one array
// of words (batch.h), a file stores a column per field (columns.h). Values that repeat are interned in
// the catalogue and are ids here: strings, launch configurations (Launch), what was open when a graph node was captured
// (Capture). A recorded kernel thus takes 32 bytes next to its Event; its arguments as JSON text took about 200.
// Rejected alternatives: std::variant (as large as its largest member in every event), fields by number as in protobuf
// (a lookup per field), one table per kind (loses the single order of events).
//
// Foreign arguments (Kineto, Chrome JSON) are kept verbatim: as a shape with integers (shapes.h), or as text if no
// other event has this shape. The payload next to them contains the values that computations use.
//
// fields() of a struct lists its fields once: name, value, and if it is shown. Columns, equality in tests, `dump` and the
// translation of ids follow from that list. A new payload needs a struct with its list, and its name in AllPayloads; the
// compiler then requires its words (args_text.cpp).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cli/base/interning.h"
#include "cli/trace/event.h"
#include "cli/trace/shapes.h"
#include "common/records/ranges.h"
#include "common/records/stacks.h"

namespace cli {

// Interned types, in the order of AllInterned. Id 0 of each type means none or unknown.
struct Launch;
struct Capture;
struct CollectiveOp;
struct Dims;
struct OperatorInput;
struct StackFrame;
using LaunchId = InternedId<Launch>;
using CaptureId = InternedId<Capture>;
using CollectiveOpId = InternedId<CollectiveOp>;
using DimsId = InternedId<Dims>;
using OperatorInputId = InternedId<OperatorInput>;
using StackId = InternedId<StackFrame>;

inline constexpr std::uint32_t kNoNumber = 0xffffffff;  // no stream, event or thread
inline constexpr std::uint8_t kNoFlags = 0xff;          // unknown flags
inline constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};

// A launch configuration, and the values computed from it for a GPU with its limits (cli/formats/reading/devices.h).
// The kernel's name is in the event.
struct Launch {
  std::uint32_t grid[3] = {};   // blocks
  std::uint32_t block[3] = {};  // threads
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  // static + dynamic
  std::uint32_t local_bytes_per_thread = 0;
  std::uint32_t cluster[3] = {};  // blocks; 0 if no cluster
  std::uint8_t launch_type = 0;   // CUpti_ActivityLaunchType: 0 regular, 1 cooperative, 2 on several devices
  bool estimated = false;         // true if the next three are set
  float blocks_per_multiprocessor = 0;
  float warps_per_multiprocessor = 0;
  // Achieved, as a share of the threads that a multiprocessor can hold; -1 if unknown
  std::int32_t occupancy_percent = -1;

  bool has_cluster() const { return cluster[0] != 0 && cluster[1] != 0 && cluster[2] != 0; }
  bool operator==(const Launch&) const = default;

  static constexpr void fields(auto& f, auto& l) {
    f.number("grid_x", l.grid[0]);
    f.number("grid_y", l.grid[1]);
    f.number("grid_z", l.grid[2]);
    f.number("block_x", l.block[0]);
    f.number("block_y", l.block[1]);
    f.number("block_z", l.block[2]);
    f.number("registers_per_thread", l.registers_per_thread);
    f.number("shared_bytes", l.shared_bytes);
    f.number("local_bytes_per_thread", l.local_bytes_per_thread, l.local_bytes_per_thread != 0);
    f.number("cluster_x", l.cluster[0], l.has_cluster());
    f.number("cluster_y", l.cluster[1], l.has_cluster());
    f.number("cluster_z", l.cluster[2], l.has_cluster());
    f.number("launch_type", l.launch_type, l.launch_type != 0);
    f.number("estimated", l.estimated, false);
    f.number("blocks_per_multiprocessor", l.blocks_per_multiprocessor, l.estimated);
    f.number("warps_per_multiprocessor", l.warps_per_multiprocessor, l.estimated);
    f.number("occupancy_percent", l.occupancy_percent, l.occupancy_percent >= 0);
  }
};

// An NCCL call. `has` contains which fields are valid.
struct Collective {
  enum Has : std::uint8_t {  // values as in the records
    kCommunicator = trace::kHasCommunicator,
    kBytes = trace::kHasBytes,
    kReduction = trace::kHasReductionOp,
    kPeer = trace::kHasPeer,
    kTypeAndCount = trace::kHasDataType,
    kStream = trace::kHasStream
  };
  std::uint64_t communicator = 0;      // NCCL's hash
  std::uint64_t ordinal = kNoOrdinal;  // index within its class on this communicator and epoch; equal on every rank
  std::uint64_t count = 0;             // elements of one message
  std::uint64_t stream = 0;            // cudaStream_t
  std::uint32_t epoch = 0;             // how many communicators with this hash were created so far; 0 if unknown
  std::uint32_t reduction = 0;         // ncclRedOp_t
  std::uint32_t data_type = 0;         // ncclDataType_t
  std::int32_t peer = 0;               // root or peer
  std::uint8_t nccl_class = 0;         // trace::NcclClass; 0 if unknown
  std::uint8_t has = 0;

  bool operator==(const Collective&) const = default;

  static constexpr void fields(auto& f, auto& c) {
    f.hex("communicator", c.communicator, (c.has & Collective::kCommunicator) != 0);
    f.number("epoch", c.epoch, c.epoch != 0);
    f.number("class", c.nccl_class, c.nccl_class != 0);
    f.delta("ordinal", c.ordinal, c.ordinal != kNoOrdinal);
    f.number("reduction", c.reduction, (c.has & Collective::kReduction) != 0);
    f.number("peer", c.peer, (c.has & Collective::kPeer) != 0);
    f.number("data_type", c.data_type, (c.has & Collective::kTypeAndCount) != 0);
    f.number("count", c.count, (c.has & Collective::kTypeAndCount) != 0);
    f.hex("stream_handle", c.stream, (c.has & Collective::kStream) != 0);
    f.number("has", c.has, false);
  }
};

// What was open on the capturing thread when a CUDA graph node was created.
struct Capture {
  bool known = false;
  bool has_range = false, has_domain = false;
  StringId range = 0, domain = 0;  // the innermost NVTX range
  bool in_call = false;            // an NCCL call was open
  bool has_call = false;
  StringId call = 0;            // "ncclAllReduce"
  bool first_of_group = false;  // the group has several calls and this is the first; the node may belong to any of them
  std::uint64_t bytes = 0;      // of one message, if `collective` has kBytes
  Collective collective;

  bool operator==(const Capture&) const = default;

  static constexpr void fields(auto& f, auto& c) {
    f.number("captured", c.known, c.known);
    f.number("has_range", c.has_range, false);
    f.number("has_domain", c.has_domain, false);
    f.string("range", c.range, c.has_range);
    f.string("range_domain", c.domain, c.has_domain);
    f.number("in_call", c.in_call, false);
    f.number("has_call", c.has_call, false);
    f.string("call", c.call, c.has_call);
    f.number("first_of_group", c.first_of_group, c.first_of_group);
    f.number("call_bytes", c.bytes, (c.collective.has & Collective::kBytes) != 0);
    Collective::fields(f, c.collective);
  }
};

// A collective as PyTorch describes it, on the operator that records it and on the kernels that the operator launched.
// Source of the members: libkineto/src/output_json.cpp, torch/csrc/distributed/c10d/ParamCommsUtils.hpp.
struct CollectiveOp {
  StringId name = 0;                                 // "_allgather_base"
  StringId data_type = 0;                            // "BFloat16"
  StringId group_name = 0, group_description = 0;    // of the process group: "0", "default_pg"
  StringId group_ranks = 0;                          // verbatim and possibly abbreviated: "[0, 1, 2, 3]"
  std::int64_t in_elements = -1, out_elements = -1;  // of this rank's message; -1 if unknown (also below)
  std::int64_t group_size = -1;                      // ranks
  std::int64_t group_first_rank = -1, group_rank_stride = -1;
  std::int64_t source_rank = -1, destination_rank = -1;  // peer in the group, of a receive or a send

  bool operator==(const CollectiveOp&) const = default;

  static constexpr void fields(auto& f, auto& c) {
    f.string("collective", c.name, c.name != 0);
    f.string("data_type_name", c.data_type, c.data_type != 0);
    f.string("group_name", c.group_name, c.group_name != 0);
    f.string("group_description", c.group_description, c.group_description != 0);
    f.string("group_ranks", c.group_ranks, c.group_ranks != 0);
    f.number("in_elements", c.in_elements, c.in_elements >= 0);
    f.number("out_elements", c.out_elements, c.out_elements >= 0);
    f.number("group_size", c.group_size, c.group_size >= 0);
    f.number("group_first_rank", c.group_first_rank, c.group_first_rank >= 0);
    f.number("group_rank_stride", c.group_rank_stride, c.group_rank_stride >= 0);
    f.number("source_rank", c.source_rank, c.source_rank >= 0);
    f.number("destination_rank", c.destination_rank, c.destination_rank >= 0);
  }
};

// A list of a tensor's dimensions or strides, in elements. Each entry refers to the entry before it, so all entries
// have one size. The id of the last entry represents the list; 0 is the empty list.
struct Dims {
  DimsId before;
  std::int64_t last = 0;
  std::uint32_t count = 0;  // number of entries up to this one

  bool operator==(const Dims&) const = default;

  static constexpr void fields(auto& f, auto& d) {
    f.id("before", d.before);
    f.number("last", d.last, false);
    f.number("count", d.count, false);
  }
};

// A list of an operator's inputs (tensors and scalars), as PyTorch's profiler records them. Linked like Dims.
struct OperatorInput {
  OperatorInputId before;
  std::uint32_t count = 0;   // number of entries up to this one
  StringId type = 0;         // "c10::BFloat16", "Scalar", "TensorList"
  DimsId dims, strides;      // of a tensor
  OperatorInputId elements;  // of a list of tensors; these have only dims and strides
  StringId value = 0;        // of a scalar, verbatim: "0.5", "[2, 3]"

  bool operator==(const OperatorInput&) const = default;

  static constexpr void fields(auto& f, auto& i) {
    f.id("before", i.before);
    f.number("count", i.count, false);
    f.string("type", i.type, false);
    f.id("dims", i.dims);
    f.id("strides", i.strides);
    f.id("elements", i.elements);
    f.string("value", i.value, false);
  }
};

// A stack frame of a host thread. It refers to its caller's frame, and the id of the innermost frame represents the
// stack. Stacks thus share their common frames and form the call tree.
struct StackFrame {
  enum What : std::uint8_t {  // values as in the records
    kPython = static_cast<std::uint8_t>(trace::FrameKind::python),
    kModule = static_cast<std::uint8_t>(trace::FrameKind::module),  // the call of a torch.nn.Module
    kNative = static_cast<std::uint8_t>(trace::FrameKind::native)
  };
  StackId outer;               // frame of the caller; 0 if there is none or it was not recorded
  StringId name = 0;           // name of the function or the module's class; 0 if unknown
  StringId file = 0;           // source file or, for native code, the loaded object; 0 if unknown
  StringId path = 0;           // module: its name in the outermost module's named_modules(); 0 if unknown or outermost
  std::int32_t line = 0;       // 0 if unknown
  std::uint64_t instance = 0;  // module: address of its object; native code: address in the loaded object
  std::uint8_t what = 0;

  bool operator==(const StackFrame&) const = default;

  static constexpr void fields(auto& f, auto& s) {
    f.id("outer", s.outer);
    f.string("function", s.name, false);
    f.string("file", s.file, false);
    f.string("module_path", s.path, false);
    f.number("line", s.line, false);
    f.number("instance", s.instance, false);
    f.number("what", s.what, false);
  }
};

using AllInterned = std::tuple<Launch, Capture, CollectiveOp, Dims, OperatorInput, StackFrame>;

// Calls f(static_cast<const T*>(nullptr)) for each interned type.
template <typename F>
constexpr void for_each_interned(F&& f) {
  [&]<typename... T>(std::tuple<T...>*) {
    (f(static_cast<const T*>(nullptr)), ...);
  }(static_cast<AllInterned*>(nullptr));
}

// Position of GPU work in a CUDA graph; all 0 if it is not part of one.
struct GraphNode {
  std::uint64_t node = 0;
  std::uint32_t graph = 0;
  CaptureId capture = 0;

  bool any() const { return graph != 0 || node != 0; }

  static constexpr void fields(auto& f, auto& g) {
    const bool any = g.graph != 0 || g.node != 0;
    f.number("graph", g.graph, any);
    f.delta("graph_node", g.node, any);
    f.id("capture", g.capture, any);
  }
};

// The payloads. The device and stream of GPU work are in its track.

struct KernelFacts {
  LaunchId launch = 0;
  std::uint32_t context = 0;
  GraphNode graph;

  static constexpr void fields(auto& f, auto& p) {
    f.id("launch", p.launch);
    f.number("context", p.context);
    GraphNode::fields(f, p.graph);
  }
};

// A kernel of a profile: the facts of a recorded kernel, and the ids that join it with operators.
struct ProfiledKernelFacts : KernelFacts {
  std::uint64_t external_id = 0;  // id of the operator that launched it; 0 if unknown
  // Index of its collective in the process group, from the kernel or its operator
  std::uint64_t sequence = kNoOrdinal;
  CollectiveOpId collective_op = 0;

  static constexpr void fields(auto& f, auto& p) {
    KernelFacts::fields(f, p);
    f.delta("external_id", p.external_id, p.external_id != 0);
    f.id("collective_op", p.collective_op);
    f.delta("sequence", p.sequence, p.sequence != kNoOrdinal);
  }
};

struct CopyFacts {
  std::uint8_t direction = 0;                   // CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, ... 8 DtoD
  std::uint8_t from_memory = 0, to_memory = 0;  // CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device, ...
  std::uint8_t flags = 0;                       // CUpti_ActivityFlag: 1 = asynchronous; kNoFlags if unknown
  bool between_devices = false;                 // true if the next four are set
  std::uint32_t from_device = 0, to_device = 0, from_context = 0, to_context = 0;
  std::uint32_t context = 0;
  GraphNode graph;

  static constexpr void fields(auto& f, auto& p) {
    f.number("direction", p.direction);
    f.number("from_memory", p.from_memory);
    f.number("to_memory", p.to_memory);
    f.number("flags", p.flags, p.flags != kNoFlags);
    f.number("between_devices", p.between_devices, false);
    f.number("from_device", p.from_device, p.between_devices);
    f.number("to_device", p.to_device, p.between_devices);
    f.number("from_context", p.from_context, p.between_devices);
    f.number("to_context", p.to_context, p.between_devices);
    f.number("context", p.context);
    GraphNode::fields(f, p.graph);
  }
};

struct SetFacts {
  std::uint8_t memory = 0;  // CUpti_ActivityMemoryKind
  std::uint8_t flags = 0;   // as in CopyFacts
  bool value_is_known = true;
  std::uint32_t value = 0;
  std::uint32_t context = 0;
  GraphNode graph;

  static constexpr void fields(auto& f, auto& p) {
    f.number("memory", p.memory);
    f.number("flags", p.flags, p.flags != kNoFlags);
    f.number("value_is_known", p.value_is_known, false);
    f.number("value", p.value, p.value_is_known);
    f.number("context", p.context);
    GraphNode::fields(f, p.graph);
  }
};

struct GraphLaunchFacts {
  std::uint32_t graph = 0;
  std::uint32_t context = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.number("graph", p.graph);
    f.number("context", p.context);
  }
};

// A CUDA runtime or driver call. The event's kind is the domain.
struct CallFacts {
  std::uint32_t cbid = 0;          // CUPTI callback id within the domain
  std::uint32_t return_value = 0;  // cudaError_t or CUresult

  static constexpr void fields(auto& f, auto& p) {
    f.number("cbid", p.cbid);
    f.number("return_value", p.return_value, p.return_value != 0);
  }
};

// A successful call that recorded a CUDA event.
struct EventRecordFacts {
  std::uint32_t cbid = 0;
  std::uint32_t event = 0;  // CUPTI's number of the event
  std::uint32_t stream = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.number("cbid", p.cbid);
    f.number("event", p.event);
    f.number("stream", p.stream);
  }
};

struct SyncFacts {
  std::uint8_t type = 0;  // CUpti_ActivitySynchronizationType
  std::uint32_t device = 0, context = 0;
  std::uint32_t stream = kNoNumber;
  std::uint32_t event = kNoNumber;  // CUPTI's number of the event
  std::uint32_t return_value = 0;
  bool producer_is_known = false;          // true if the next two are set; only for a wait for an event
  std::uint32_t producer_stream = 0;       // stream on which the event was recorded
  std::uint32_t producer_correlation = 0;  // correlation of the call that recorded it

  static constexpr void fields(auto& f, auto& p) {
    f.number("type", p.type);
    f.number("device", p.device);
    f.number("context", p.context);
    f.number("stream", p.stream, p.stream != kNoNumber);
    f.number("event", p.event, p.event != kNoNumber);
    f.number("return_value", p.return_value, p.return_value != 0);
    f.number("producer_is_known", p.producer_is_known, false);
    f.number("producer_stream", p.producer_stream, p.producer_is_known);
    f.delta("producer_correlation", p.producer_correlation, p.producer_is_known);
  }
};

struct OverheadFacts {
  std::uint32_t overhead = 0;                         // CUpti_ActivityOverheadKind
  std::uint16_t object = 0;                           // CUpti_ActivityObjectKind
  std::uint32_t tid = 0;                              // for objects 1 and 2; 0 if unknown
  std::uint32_t device = 0, context = 0, stream = 0;  // for objects 3 to 5

  static constexpr void fields(auto& f, auto& p) {
    f.number("overhead", p.overhead);
    f.number("object", p.object);
    f.number("tid", p.tid, p.object <= 2 && p.tid != 0);
    f.number("device", p.device, p.object >= 3);
    f.number("context", p.context, p.object >= 4);
    f.number("stream", p.stream, p.object >= 5);
  }
};

// Device memory that the driver allocated or released; its size is in Event::bytes.
struct MemoryFacts {
  std::uint8_t operation = 0;  // CUpti_ActivityMemoryOperationType: 1 allocate, 2 release
  std::uint8_t memory = 0;     // CUpti_ActivityMemoryKind
  bool asynchronous = false;
  std::uint32_t device = 0, context = 0, stream = kNoNumber;
  std::uint64_t address = 0;
  std::uint64_t pool_address = 0;  // 0 if not from a pool

  bool is_release() const { return operation == 2; }
  bool is_known() const { return operation == 1 || operation == 2; }

  static constexpr void fields(auto& f, auto& p) {
    f.number("operation", p.operation);
    f.number("memory", p.memory);
    f.number("asynchronous", p.asynchronous, p.asynchronous);
    f.number("device", p.device);
    f.number("context", p.context);
    f.number("stream", p.stream, p.stream != kNoNumber);
    f.hex("address", p.address);
    f.hex("pool_address", p.pool_address, p.pool_address != 0);
  }
};

// A pool of device memory; its size is in Event::bytes.
struct PoolFacts {
  std::uint8_t operation = 0;  // CUpti_ActivityMemoryPoolOperationType
  std::uint8_t pool = 0;       // CUpti_ActivityMemoryPoolType: 1 local, 2 imported
  std::uint32_t device = 0;
  std::uint64_t address = 0, used_bytes = 0, release_threshold_bytes = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.number("operation", p.operation);
    f.number("pool", p.pool);
    f.number("device", p.device);
    f.hex("pool_address", p.address);
    f.number("used_bytes", p.used_bytes);
    f.number("release_threshold_bytes", p.release_threshold_bytes);
  }
};

// An NVTX range or mark.
struct RangeFacts {
  bool has_domain = false;
  std::uint8_t payload_type = 0;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  StringId domain = 0;
  std::uint32_t category = 0;  // 0 if none
  StringId category_name = 0;
  std::uint32_t color_argb = 0;  // 0 if none
  std::uint64_t payload = 0;     // bytes of the value, in its own type

  static constexpr void fields(auto& f, auto& p) {
    f.number("has_domain", p.has_domain, false);
    f.string("domain", p.domain, p.has_domain);
    f.number("category", p.category, p.category != 0);
    f.string("category_name", p.category_name, p.category_name != 0);
    f.hex("color_argb", p.color_argb, p.color_argb != 0);
    f.number("payload_type", p.payload_type, p.payload_type != 0);
    f.hex("payload", p.payload, p.payload_type != 0);
  }
};

// A host call of NCCL. Event::bytes, if set, is the size of one message.
struct NcclFacts {
  Collective collective;

  static constexpr void fields(auto& f, auto& p) { Collective::fields(f, p.collective); }
};

struct NoticeFacts {
  std::uint8_t code = 0;  // trace::NoticeCode
  std::uint32_t value = 0;
  StringId text = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.number("code", p.code);
    f.number("value", p.value);
    f.string("text", p.text, p.text != 0);
  }
};

// An allocation or release of PyTorch's caching allocator, or an allocation that failed: Kineto's "[memory]" and
// "[OutOfMemory]".
struct AllocatorFacts {
  enum Has : std::uint8_t {
    kAllocated = 1,
    kReserved = 2,
    kDeviceId = 4,
    kAddress = 8,
    kBytes = 16,
    kFree = 32,
    kStream = 64,
    kFailure = 128  // an allocation failed
  };
  std::int32_t device_type = 0;  // c10::DeviceType: 0 is the host
  std::int64_t device = 0;
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;  // totals of the device, after it
  std::uint8_t has = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;        // allocated or requested; negative if released
  std::uint64_t free_bytes = 0;  // of the device, when an allocation failed
  std::uint64_t stream = 0;      // c10::StreamId
  StackId stack = 0;             // of the allocation; 0 if unknown

  bool is_failure() const { return (has & kFailure) != 0; }

  static constexpr void fields(auto& f, auto& p) {
    f.number("device_type", p.device_type);
    f.number("device", p.device, (p.has & AllocatorFacts::kDeviceId) != 0);
    f.delta("total_allocated_bytes", p.allocated_bytes, (p.has & AllocatorFacts::kAllocated) != 0);
    f.delta("total_reserved_bytes", p.reserved_bytes, (p.has & AllocatorFacts::kReserved) != 0);
    f.hex("address", p.address, (p.has & AllocatorFacts::kAddress) != 0);
    f.number("block_bytes", p.bytes, (p.has & AllocatorFacts::kBytes) != 0);
    f.number("device_free_bytes", p.free_bytes, (p.has & AllocatorFacts::kFree) != 0);
    f.number("stream_id", p.stream, (p.has & AllocatorFacts::kStream) != 0);
    f.id("stack", p.stack);
    f.number("has", p.has, false);
  }
};

// An operator or annotation of a profile.
struct OperatorFacts {
  enum Has : std::uint8_t { kSequenceNumber = 1, kForwardThread = 2, kRecordFunction = 4 };
  std::uint64_t external_id = 0;        // 0 if unknown
  std::uint64_t sequence_number = 0;    // of autograd; the same for a forward operator and its backward operator
  std::uint64_t forward_thread = 0;     // PyTorch's number of the thread that ran the forward operator
  std::uint64_t record_function = 0;    // id of the call in an execution trace
  std::uint64_t sequence = kNoOrdinal;  // index of its collective in the process group
  CollectiveOpId collective_op = 0;
  OperatorInputId inputs = 0;
  StackId stack = 0;         // of the call; 0 if unknown
  std::uint32_t thread = 0;  // PyTorch's thread number, as in forward_thread; 0 if unknown
  StringId module = 0;       // call site of a TorchScript operator: "TOP(Net)::forward.SELF(Net)::conv"; 0 if unknown
  std::uint8_t has = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.delta("external_id", p.external_id, p.external_id != 0);
    f.id("collective_op", p.collective_op);
    f.delta("sequence", p.sequence, p.sequence != kNoOrdinal);
    f.delta("sequence_number", p.sequence_number, (p.has & OperatorFacts::kSequenceNumber) != 0);
    f.number("forward_thread", p.forward_thread, (p.has & OperatorFacts::kForwardThread) != 0);
    f.delta("record_function", p.record_function, (p.has & OperatorFacts::kRecordFunction) != 0);
    f.id("inputs", p.inputs);
    f.id("stack", p.stack);
    f.number("torch_thread", p.thread, p.thread != 0);
    f.string("module", p.module, p.module != 0);
    f.number("has", p.has, false);
  }
};

// A Python frame in a profile: a function or a module call.
struct FrameFacts {
  static constexpr std::int64_t kNone = -1;
  std::int64_t id = kNone, parent_id = kNone;  // kNone if absent
  std::int64_t module_id = kNone;              // instance; module calls only

  static constexpr void fields(auto& f, auto& p) {
    f.delta("frame", p.id, p.id != FrameFacts::kNone);
    f.delta("parent_frame", p.parent_id, p.parent_id != FrameFacts::kNone);
    f.number("module_id", p.module_id, p.module_id != FrameFacts::kNone);
  }
};

// A run of Python's garbage collector.
struct GarbageCollectionFacts {
  std::uint32_t generation = 0;
  std::uint32_t collected = 0, uncollectable = 0;  // objects

  static constexpr void fields(auto& f, auto& p) {
    f.number("generation", p.generation);
    f.number("collected", p.collected);
    f.number("uncollectable", p.uncollectable);
  }
};

// The stack of a thread at a moment.
struct StackFacts {
  StackId stack = 0;
  std::uint8_t reason = 0;  // trace::StackReason

  static constexpr void fields(auto& f, auto& p) {
    f.id("stack", p.stack);
    f.number("reason", p.reason);
  }
};

// A value of a counter with one series. Counters with several series have only foreign arguments.
struct CounterFacts {
  StringId series = 0;  // "bytes"
  double value = 0;

  static constexpr void fields(auto& f, auto& p) {
    f.string("series", p.series);
    f.number("series_value", p.value);
  }
};

// The tag of a payload is its index here + 1; tag 0 is no payload. Merged files contain tags: append new payloads. Frequent
// ones are first, because tags are compared in this order.
using AllPayloads =
    std::tuple<CallFacts, KernelFacts, RangeFacts, NcclFacts, CopyFacts, SetFacts, SyncFacts, GraphLaunchFacts,
               OverheadFacts, MemoryFacts, PoolFacts, NoticeFacts, AllocatorFacts, EventRecordFacts,
               ProfiledKernelFacts, OperatorFacts, FrameFacts, CounterFacts, GarbageCollectionFacts, StackFacts>;
inline constexpr std::size_t kPayloads = std::tuple_size_v<AllPayloads>;

// Calls f(static_cast<P*>(nullptr)) for each payload type, in the order of AllPayloads.
template <typename F>
constexpr void for_each_payload(F&& f) {
  [&]<typename... P>(std::tuple<P...>*) { (f(static_cast<P*>(nullptr)), ...); }(static_cast<AllPayloads*>(nullptr));
}

template <typename P>
constexpr std::uint8_t payload_tag() {
  std::uint8_t tag = 0, at = 0;
  for_each_payload([&]<typename Q>(Q*) {
    ++at;
    if (std::is_same_v<P, Q>) tag = at;
  });
  return tag;
}

// Calls f(static_cast<P*>(nullptr)) for the payload with this tag. Returns false if the tag is 0 or unknown.
template <typename F>
bool with_payload(std::uint8_t tag, F&& f) {
  return [&]<typename... P>(std::tuple<P...>*) {
    return ((payload_tag<P>() == tag ? (f(static_cast<P*>(nullptr)), true) : false) || ...);
  }(static_cast<AllPayloads*>(nullptr));
}

// Calls f(payload) for the payload with this tag at `data`. Returns false if the tag is 0 or unknown.
template <typename Data, typename F>
bool visit_payload(std::uint8_t tag, Data* data, F&& f) {
  return with_payload(
      tag, [&]<typename P>(P*) { f(*static_cast<std::conditional_t<std::is_const_v<Data>, const P, P>*>(data)); });
}

// Indexed by tag.
inline constexpr auto kPayloadBytes = [] {
  std::array<std::size_t, kPayloads + 1> bytes{};
  for_each_payload([&]<typename P>(P*) {
    static_assert(std::is_trivially_copyable_v<P> && alignof(P) <= alignof(std::uint64_t));
    bytes[payload_tag<P>()] = sizeof(P);
  });
  return bytes;
}();
inline constexpr std::size_t kMostPayloadBytes = *std::max_element(kPayloadBytes.begin(), kPayloadBytes.end());

// An event's payload and foreign arguments, as passed to a sink. Valid during the call. Foreign arguments alone convert
// to it implicitly.
class Facts {
 public:
  Facts() = default;
  Facts(std::string_view foreign) : args(foreign) {}
  Facts(const std::string& foreign) : args(foreign) {}
  Facts(const char* foreign) : args(foreign) {}
  template <typename P>
  requires(payload_tag<std::remove_cv_t<P>>() != 0) Facts(const P& payload, std::string_view foreign = {})
      : args(foreign), data_(&payload), tag_(payload_tag<P>()) {}
  Facts(std::uint8_t tag, const void* data, std::string_view foreign) : args(foreign), data_(data), tag_(tag) {}

  // Null if the payload is of another type. A ProfiledKernelFacts is also a KernelFacts.
  template <typename P>
  const P* get() const {
    if constexpr (std::is_same_v<P, KernelFacts>) {
      if (const auto* profiled = get<ProfiledKernelFacts>()) return profiled;
    }
    return tag_ == payload_tag<P>() ? static_cast<const P*>(data_) : nullptr;
  }
  std::uint8_t tag() const { return tag_; }
  const void* data() const { return data_; }

  bool has_foreign() const { return shape != nullptr || !args.empty(); }
  // Returns the foreign arguments. If they have a shape, their text is built in `scratch`.
  std::string_view foreign(std::string& scratch) const {
    if (shape == nullptr) return args;
    scratch.clear();
    shape->put_together(integers, scratch);
    return scratch;
  }

  // Foreign arguments: the body of a JSON object without braces, valid JSON. At most one of `args` and `shape` is set.
  std::string_view args;
  const Shape* shape = nullptr;
  const std::int64_t* integers = nullptr;  // one per hole of the shape

 private:
  const void* data_ = nullptr;
  std::uint8_t tag_ = 0;
};

// An owning copy of Facts. Foreign arguments are kept as text.
class KeptFacts {
 public:
  KeptFacts() = default;
  KeptFacts(const Facts& facts) : args(facts.args), tag_(facts.tag()) {
    if (facts.shape != nullptr) facts.foreign(args);
    if (tag_ != 0) std::memcpy(words_, facts.data(), kPayloadBytes[tag_]);
  }
  template <typename P>
  requires(payload_tag<P>() != 0) KeptFacts(const P& payload) : KeptFacts(Facts(payload)) {}
  KeptFacts(std::string text) : args(std::move(text)) {}
  KeptFacts(const char* text) : args(text) {}

  operator Facts() const { return {tag_, words_, args}; }
  template <typename P>
  const P* get() const {
    return Facts(*this).get<P>();
  }
  std::uint8_t tag() const { return tag_; }

  std::string args;

 private:
  std::uint64_t words_[(kMostPayloadBytes + 7) / 8] = {};
  std::uint8_t tag_ = 0;
};

// Receives the events of a trace in the reader's order; the merge sorts them.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event, const Facts& facts) = 0;
  // Called after the last event of a process. Only walks that deliver events process by process call this.
  virtual void end_of(ProcessId /*process*/) {}
};

// Passes each event to a function.
template <typename F>
struct EachEvent : EventSink {
  explicit EachEvent(F passed) : function(std::move(passed)) {}
  void event(const Event& event, const Facts& facts) override { function(event, facts); }

  F function;
};

}  // namespace cli
