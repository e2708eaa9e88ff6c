#include "cli/read/ring_device_events.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/read/occupancy.h"
#include "cli/read/ring_words.h"

namespace cli {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;  // no stream, no event

template <typename... Values>
void append(std::string& to, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(to), format, std::forward<Values>(values)...);
}

// The most that there is, where it is more: sizes of a damaged recording.
std::uint64_t volume(const std::uint32_t (&size)[3]) {
  std::uint64_t product = std::uint64_t{size[0]} * size[1];
  return __builtin_mul_overflow(product, std::uint64_t{size[2]}, &product) ? UINT64_MAX : product;
}

// By Kineto's names.
void add_occupancy(const Device& device, const trace::LaunchShapeRecord& launch, std::string& args) {
  const auto estimate = estimate_occupancy(
      device, {volume(launch.grid), volume(launch.block), launch.registers_per_thread,
               std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes});
  if (!estimate) return;
  append(args, ", \"blocks per SM\": {}, \"warps per SM\": {}", estimate->blocks_per_multiprocessor,
         estimate->warps_per_multiprocessor);
  if (estimate->achieved_percent) append(args, ", \"est. achieved occupancy %\": {}", *estimate->achieved_percent);
}

}  // namespace

const RingDeviceEvents::Place& RingDeviceEvents::place(PlaceKey key) {
  const auto [entry, is_new] = places_.try_emplace(key);
  if (!is_new) return entry->second;
  out_.definitions.note_context(key.context, key.device);
  entry->second.track = out_.catalog.track(out_.process, TrackKind::stream, key.device, key.stream);
  append(entry->second.args, "\"device\": {}, \"context\": {}, \"stream\": {}", key.device, key.context, key.stream);
  return entry->second;
}

// What most kernels do not have.
void RingDeviceEvents::add_launch(const trace::LaunchShapeRecord& shape, std::string& args) {
  if (shape.local_bytes_per_thread != 0) append(args, ", \"local memory per thread\": {}", shape.local_bytes_per_thread);
  if (volume(shape.cluster) != 0) {
    append(args, ", \"cluster\": [{}, {}, {}]", shape.cluster[0], shape.cluster[1], shape.cluster[2]);
  }
  if (shape.launch_type != 0) append(args, ", \"launch type\": \"{}\"", launch_type_name(shape.launch_type));
}

const RingDeviceEvents::KernelText& RingDeviceEvents::kernel_text(std::uint32_t shape_ref, PlaceKey key,
                                                                  std::size_t at) {
  KernelTexts& known = trace::is_local(shape_ref) ? block_kernels_ : kernels_;
  const auto [entry, is_new] = known.try_emplace({shape_ref, key});
  if (!is_new) return entry->second;
  const trace::LaunchShapeRecord shape = out_.names.shape(shape_ref, at);
  const Place& on = place(key);
  entry->second.name = out_.names.kernel_name(shape, at);
  entry->second.track = on.track;
  entry->second.args = on.args;
  append(entry->second.args,
         ", \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"registers per thread\": {}, \"shared memory\": {}",
         shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
         shape.registers_per_thread, std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes);
  add_launch(shape, entry->second.args);
  if (const auto priority = out_.definitions.priority_of(key.context, key.stream)) {
    append(entry->second.args, ", \"priority\": {}", *priority);
  }
  if (const Device* device = out_.definitions.limits_of(key.device)) add_occupancy(*device, shape, entry->second.args);
  return entry->second;
}

// A record with start_cupti_ns, end_cupti_ns and correlation.
template <typename Record>
Event RingDeviceEvents::work(Kind kind, const Record& record, const Place& place) const {
  Event event;
  event.kind = kind;
  event.track = place.track;
  event.start_ns = out_.axis.from_cupti(record.start_cupti_ns);
  event.duration_ns = RingOutput::duration(record.start_cupti_ns, record.end_cupti_ns);
  event.correlation = record.correlation;
  return event;
}

// Adds to args_ where in a graph it comes from.
template <typename Record>
void RingDeviceEvents::add_graph(const Record& record) {
  if (record.graph == 0 && record.graph_node == 0) return;
  append(args_, ", \"graph id\": {}, \"graph node id\": {}", record.graph, record.graph_node);
  const std::string& captured = out_.definitions.captured(record.graph_node);
  if (!captured.empty()) args_.append(", ").append(captured);
}

void RingDeviceEvents::translate(const trace::KernelRecord& record, std::size_t at) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const KernelText& text = kernel_text(record.shape_ref, {record.device, record.context, record.stream}, at);
  Event event;
  event.kind = Kind::kernel;
  event.track = text.track;
  event.name = text.name;
  event.start_ns = out_.axis.from_cupti(record.start_cupti_ns);
  event.duration_ns = record.duration_ns;
  event.correlation = record.correlation;
  out_.emit(event, text.args);
}

void RingDeviceEvents::translate(const trace::KernelWideRecord& record, std::size_t at) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const PlaceKey key{record.device, record.context, record.stream};
  const KernelText& text = kernel_text(record.shape_ref, key, at);
  Event event = work(Kind::kernel, record, place(key));
  event.name = text.name;
  args_ = text.args;
  add_graph(record);
  out_.emit(event, args_);
}

// A copy of either kind; its places are in args_.
template <typename Record>
void RingDeviceEvents::copy(const Record& record, std::string_view args, TrackId track) {
  const std::uint32_t which = record.copy_kind | record.src_memory << 8 | record.dst_memory << 16;
  const auto [known, is_new] = copy_names_.try_emplace(which, 0);
  if (is_new) known->second = name(copy_name(record.copy_kind, record.src_memory, record.dst_memory));
  Event event = work(Kind::memcpy, record, {track, {}});
  event.name = known->second;
  event.bytes = record.bytes;
  event.has_bytes = true;
  args_ = args;
  add_graph(record);
  out_.emit(event, args_);
}

void RingDeviceEvents::translate(const trace::MemcpyRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const Place& on = place({record.device, record.context, record.stream});
  copy(record, on.args, on.track);
}

void RingDeviceEvents::translate(const trace::MemcpyPeerRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const Place& on = place({record.device, record.context, record.stream});
  copy(record,
       fmt::format("\"fromDevice\": {}, \"inDevice\": {}, \"toDevice\": {}, \"fromContext\": {}, \"inContext\": {}, "
                   "\"toContext\": {}, \"stream\": {}",
                   record.src_device, record.device, record.dst_device, record.src_context, record.context,
                   record.dst_context, record.stream),
       on.track);
}

void RingDeviceEvents::translate(const trace::MemsetRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const Place& on = place({record.device, record.context, record.stream});
  Event event = work(Kind::memset, record, on);
  event.name = name(fmt::format("Memset ({})", memory_name(record.memory)));
  event.bytes = record.bytes;
  event.has_bytes = true;
  args_ = on.args;
  append(args_, ", \"value\": {}", record.value);
  add_graph(record);
  out_.emit(event, args_);
}

void RingDeviceEvents::translate(const trace::GraphLaunchRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const Place& on = place({record.device, record.context, record.stream});
  Event event = work(Kind::graph, record, on);
  event.name = name(fmt::format("CUDA graph {}", record.graph));
  args_ = on.args;
  append(args_, ", \"graph id\": {}", record.graph);
  out_.emit(event, args_);
}

void RingDeviceEvents::translate(const trace::SyncRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  const std::uint32_t device = out_.definitions.device_of(record.context);
  args_.clear();
  append(args_, "\"cuda_sync_kind\": \"{}\", \"device\": {}, \"context\": {}", sync_name(record.type), device,
         record.context);
  if (record.stream != kNone) append(args_, ", \"stream\": {}", record.stream);
  if (record.return_value != 0) append(args_, ", \"return value\": {}", record.return_value);
  const TrackId track = record.stream != kNone
                            ? out_.catalog.track(out_.process, TrackKind::stream, device, record.stream)
                            : out_.gpu_track(device, "waits");
  Event event = work(Kind::sync, record, {track, {}});
  event.name = name(sync_name(record.type));
  if (record.event != kNone) return out_.cuda_events.hold_wait(event, args_, record);
  out_.emit(event, args_);
}

// On the thread that paid for it, where it is known.
TrackId RingDeviceEvents::overhead_track(const trace::OverheadRecord& record) {
  constexpr std::uint16_t kThread = 2, kDevice = 3;
  if (record.object == kThread && record.tid != 0) return out_.thread_track(record.tid);
  if (record.object >= kDevice) return out_.gpu_track(record.device, "overhead");
  return out_.other_track(0, "overhead");
}

void RingDeviceEvents::translate(const trace::OverheadRecord& record, std::size_t) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  args_.clear();
  append(args_, "\"overhead\": {}", record.overhead);
  if (record.object <= 2 && record.tid != 0) append(args_, ", \"tid\": {}", record.tid);
  if (record.object >= 3) append(args_, ", \"device\": {}", record.device);
  if (record.object >= 4) append(args_, ", \"context\": {}", record.context);
  if (record.object >= 5) append(args_, ", \"stream\": {}", record.stream);
  Event event = work(Kind::overhead, record, {overhead_track(record), {}});
  event.name = name(overhead_name(record.overhead));
  out_.emit(event, args_);
}

// An instant: the one moment that CUPTI gives.
Event RingDeviceEvents::memory_event(std::uint64_t time_cupti_ns, std::uint32_t device, std::uint64_t bytes,
                                     std::uint32_t correlation) {
  Event event;
  event.kind = Kind::memory;
  event.phase = 'i';
  event.track = out_.gpu_track(device, "memory");
  event.start_ns = out_.axis.from_cupti(time_cupti_ns);
  event.correlation = correlation;
  event.bytes = bytes;
  event.has_bytes = true;
  return event;
}

void RingDeviceEvents::translate(const trace::MemoryRecord& record, std::size_t) {
  if (!out_.has_time(record.time_cupti_ns)) return;
  Event event = memory_event(record.time_cupti_ns, record.device, record.bytes, record.correlation);
  const auto [known, is_new] = memory_names_.try_emplace(record.operation | record.memory << 8, 0);
  if (is_new)
    known->second = name(fmt::format("{} ({})", memory_operation(record.operation), memory_name(record.memory)));
  event.name = known->second;
  args_.clear();
  append(args_, "\"device\": {}, \"context\": {}", record.device, record.context);
  if (record.stream != kNone) append(args_, ", \"stream\": {}", record.stream);
  append(args_, ", \"address\": \"{:#x}\"", record.address);
  if (record.is_async != 0) args_ += ", \"asynchronous\": true";
  if (record.pool_address != 0) append(args_, ", \"pool address\": \"{:#x}\"", record.pool_address);
  out_.emit(event, args_);
}

void RingDeviceEvents::translate(const trace::MemoryPoolRecord& record, std::size_t) {
  if (!out_.has_time(record.time_cupti_ns)) return;
  Event event = memory_event(record.time_cupti_ns, record.device, record.bytes, record.correlation);
  event.name = name(pool_operation(record.operation));
  args_.clear();
  append(args_, "\"device\": {}, \"pool address\": \"{:#x}\", \"pool type\": {}", record.device, record.address,
         record.pool);
  append(args_, ", \"used bytes\": {}, \"release threshold bytes\": {}", record.used_bytes,
         record.release_threshold_bytes);
  out_.emit(event, args_);
}

}  // namespace cli
