// Converts GPU work, and other data from CUPTI, to events: one function per kind of record.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "cli/formats/reading/devices.h"
#include "cli/formats/ring/translator.h"
#include "cli/trace/words.h"
#include "common/hash.h"

namespace cli::ring {
namespace {

// Returns the maximum of the type for larger values, which are sizes of a damaged recording.
std::uint64_t volume(const std::uint32_t (&size)[3]) {
  std::uint64_t product = std::uint64_t{size[0]} * size[1];
  return __builtin_mul_overflow(product, std::uint64_t{size[2]}, &product) ? UINT64_MAX : product;
}

Launch launch_of(const trace::LaunchShapeRecord& shape, const Device* limits) {
  Launch launch;
  std::copy_n(shape.grid, 3, launch.grid);
  std::copy_n(shape.block, 3, launch.block);
  launch.registers_per_thread = shape.registers_per_thread;
  launch.shared_bytes = std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes;
  launch.local_bytes_per_thread = shape.local_bytes_per_thread;
  std::copy_n(shape.cluster, 3, launch.cluster);
  launch.launch_type = shape.launch_type;
  if (limits == nullptr) return launch;
  const auto estimate = estimate_occupancy(
      *limits, {volume(shape.grid), volume(shape.block), shape.registers_per_thread, launch.shared_bytes});
  if (!estimate) return launch;
  launch.estimated = true;
  launch.blocks_per_multiprocessor = estimate->blocks_per_multiprocessor;
  launch.warps_per_multiprocessor = estimate->warps_per_multiprocessor;
  if (estimate->achieved_percent) launch.occupancy_percent = static_cast<std::int32_t>(*estimate->achieved_percent);
  return launch;
}

class DeviceEvents : public RingTranslator {
  // The stream of a record, with its context and device.
  struct PlaceKey {
    std::uint32_t device, context, stream;
    bool operator==(const PlaceKey&) const = default;
  };
  // Data shared by kernels of one launch configuration on one stream.
  struct Launched {
    StringId name;
    TrackId track;
    KernelFacts facts;
  };
  struct KernelKey {
    std::uint32_t shape_ref;
    PlaceKey position;
    bool operator==(const KernelKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const PlaceKey& key) const {
      const std::uint64_t where = std::uint64_t{key.device} << 48 ^ std::uint64_t{key.context} << 32 ^ key.stream;
      return static_cast<std::size_t>(where * 0xc2b2ae3d27d4eb4fu);
    }
    std::size_t operator()(const KernelKey& key) const {
      return static_cast<std::size_t>(trace::spread(key.shape_ref) ^ (*this)(key.position));
    }
  };
  using Launches = std::unordered_map<KernelKey, Launched, Hash>;

 public:
  explicit DeviceEvents(RingOutput& out) : out_(out) {}
  void enter_block() override { block_kernels_.clear(); }

  TrackId stream(PlaceKey key) {
    const auto [entry, is_new] = streams_.try_emplace(key, 0);
    if (!is_new) return entry->second;
    out_.definitions.note_context(key.context, key.device);
    entry->second = out_.catalog.track(out_.process, TrackKind::stream, key.device, key.stream);
    if (const auto priority = out_.definitions.priority_of(key.context, key.stream)) {
      out_.catalog.tracks[entry->second].priority = *priority;
    }
    return entry->second;
  }

  const Launched& launched(std::uint32_t shape_ref, PlaceKey key, std::size_t at) {
    Launches& known = trace::is_local(shape_ref) ? block_kernels_ : kernels_;
    const auto [entry, is_new] = known.try_emplace({shape_ref, key});
    if (!is_new) return entry->second;
    const trace::LaunchShapeRecord shape = out_.names.shape(shape_ref, at);
    Launched& made = entry->second;
    made.track = stream(key);
    made.name = out_.names.kernel_name(shape, at);
    made.facts.launch = out_.catalog.launches.intern(launch_of(shape, out_.definitions.limits_of(key.device)));
    made.facts.context = key.context;
    return made;
  }

  // Sets the members of an event from start_cupti_ns, end_cupti_ns and correlation of a record.
  template <typename Record>
  Event work(Kind kind, const Record& record, TrackId track) const {
    Event event;
    event.kind = kind;
    event.track = track;
    out_.set_times(event, record);
    event.correlation = record.correlation;
    return event;
  }

  template <typename Record>
  GraphNode graph_node(const Record& record) const {
    if (record.graph == 0 && record.graph_node == 0) return {};
    return {record.graph_node, record.graph, out_.definitions.captured(record.graph_node)};
  }

  void translate(const trace::KernelRecord& record, std::size_t at) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    const Launched& known = launched(record.shape_ref, {record.device, record.context, record.stream}, at);
    Event event;
    event.kind = Kind::kernel;
    event.track = known.track;
    event.name = known.name;
    out_.set_times(event, record);
    event.correlation = record.correlation;
    out_.emit(event, known.facts);
  }

  void translate(const trace::KernelWideRecord& record, std::size_t at) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    const Launched& known = launched(record.shape_ref, {record.device, record.context, record.stream}, at);
    Event event = work(Kind::kernel, record, known.track);
    event.name = known.name;
    KernelFacts facts = known.facts;
    facts.graph = graph_node(record);
    out_.emit(event, facts);
  }

  // Emits a copy of either kind.
  template <typename Record>
  void copy(const Record& record, CopyFacts facts) {
    const std::uint32_t which = record.copy_kind | record.src_memory << 8 | record.dst_memory << 16;
    const auto [known, is_new] = copy_names_.try_emplace(which, 0);
    if (is_new) known->second = name(copy_name(record.copy_kind, record.src_memory, record.dst_memory));
    Event event = work(Kind::memcpy, record, stream({record.device, record.context, record.stream}));
    event.name = known->second;
    event.bytes = record.bytes;
    event.has_bytes = true;
    facts.direction = record.copy_kind, facts.from_memory = record.src_memory, facts.to_memory = record.dst_memory;
    facts.flags = record.flags, facts.context = record.context;
    facts.graph = graph_node(record);
    out_.emit(event, facts);
  }

  void translate(const trace::MemcpyRecord& record, std::size_t) {
    if (out_.has_time(record.start_cupti_ns)) copy(record, {});
  }

  void translate(const trace::MemcpyPeerRecord& record, std::size_t) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    CopyFacts facts;
    facts.between_devices = true;
    facts.from_device = record.src_device;
    facts.to_device = record.dst_device;
    facts.from_context = record.src_context;
    facts.to_context = record.dst_context;
    copy(record, facts);
  }

  void translate(const trace::MemsetRecord& record, std::size_t) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    Event event = work(Kind::memset, record, stream({record.device, record.context, record.stream}));
    event.name = name(set_name(record.memory));
    event.bytes = record.bytes;
    event.has_bytes = true;
    SetFacts facts;
    facts.memory = record.memory;
    facts.flags = record.flags;
    facts.value = record.value;
    facts.context = record.context;
    facts.graph = graph_node(record);
    out_.emit(event, facts);
  }

  void translate(const trace::GraphLaunchRecord& record, std::size_t) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    Event event = work(Kind::graph, record, stream({record.device, record.context, record.stream}));
    event.name = name(fmt::format("CUDA graph {}", record.graph));
    out_.emit(event, GraphLaunchFacts{record.graph, record.context});
  }

  void translate(const trace::CudaEventRecord& record, std::size_t) { out_.cuda_events.add(record); }

  void translate(const trace::SyncRecord& record, std::size_t) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    SyncFacts facts;
    facts.type = record.type;
    facts.context = record.context;
    facts.stream = record.stream;
    facts.event = record.event;
    facts.device = out_.definitions.device_of(record.context);
    facts.return_value = record.return_value;
    const TrackId track = facts.stream != kNoNumber
                              ? out_.catalog.track(out_.process, TrackKind::stream, facts.device, facts.stream)
                              : out_.gpu_track(facts.device, "waits");
    Event event = work(Kind::sync, record, track);
    event.name = name(sync_name(record.type));
    if (facts.event != kNoNumber) return out_.cuda_events.hold_wait(event, facts, record.event_sync_id);
    out_.emit(event, facts);
  }

  // On the thread that was delayed, if known.
  TrackId overhead_track(const trace::OverheadRecord& record) {
    constexpr std::uint16_t kThread = 2, kDevice = 3;
    if (record.object == kThread && record.tid != 0) return out_.thread_track(record.tid);
    if (record.object >= kDevice) return out_.gpu_track(record.device, "overhead");
    return out_.other_track(0, "overhead");
  }

  void translate(const trace::OverheadRecord& record, std::size_t) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    OverheadFacts facts;
    facts.overhead = record.overhead;
    facts.object = record.object;
    facts.tid = record.tid;
    facts.device = record.device;
    facts.context = record.context;
    facts.stream = record.stream;
    Event event = work(Kind::overhead, record, overhead_track(record));
    event.name = name(overhead_name(record.overhead));
    out_.emit(event, facts);
  }

  // An instant, because CUPTI records only one time.
  template <typename Record>
  Event memory_event(const Record& record) {
    Event event;
    event.kind = Kind::memory;
    event.phase = 'i';
    event.track = out_.gpu_track(record.device, "memory");
    out_.set_times(event, record);
    event.correlation = record.correlation;
    event.bytes = record.bytes;
    event.has_bytes = true;
    return event;
  }

  void translate(const trace::MemoryRecord& record, std::size_t) {
    if (!out_.has_time(record.time_cupti_ns)) return;
    Event event = memory_event(record);
    const auto [known, is_new] = memory_names_.try_emplace(record.operation | record.memory << 8, 0);
    if (is_new)
      known->second = name(fmt::format("{} ({})", memory_operation(record.operation), memory_name(record.memory)));
    event.name = known->second;
    MemoryFacts facts;
    facts.operation = record.operation;
    facts.memory = record.memory;
    facts.asynchronous = record.is_async != 0;
    facts.device = record.device;
    facts.context = record.context;
    facts.stream = record.stream;
    facts.address = record.address;
    facts.pool_address = record.pool_address;
    out_.emit(event, facts);
  }

  void translate(const trace::MemoryPoolRecord& record, std::size_t) {
    if (!out_.has_time(record.time_cupti_ns)) return;
    Event event = memory_event(record);
    event.name = name(pool_operation(record.operation));
    PoolFacts facts;
    facts.operation = record.operation;
    facts.pool = record.pool;
    facts.device = record.device;
    facts.address = record.address;
    facts.used_bytes = record.used_bytes;
    facts.release_threshold_bytes = record.release_threshold_bytes;
    out_.emit(event, facts);
  }

 private:
  StringId name(std::string_view text) { return out_.catalog.strings.intern(text); }

  RingOutput& out_;
  std::unordered_map<PlaceKey, TrackId, Hash> streams_;
  Launches kernels_;
  Launches block_kernels_;  // by references that are valid only in the current block
  std::unordered_map<std::uint32_t, StringId> copy_names_;
  std::unordered_map<std::uint32_t, StringId> memory_names_;
};

}  // namespace

std::unique_ptr<RingTranslator> device_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<DeviceEvents>(out, handlers);
}

}  // namespace cli::ring
