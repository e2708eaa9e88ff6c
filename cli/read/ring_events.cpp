#include "cli/read/ring_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/error.h"
#include "cli/read/ring_words.h"

namespace cli {
namespace {

constexpr std::int64_t kNever = 0;  // an end of 0: had not ended

std::int64_t duration(std::uint64_t start, std::uint64_t end) {
  if (end == kNever) return kUnknownDuration;
  return end >= start ? static_cast<std::int64_t>(end - start) : 0;
}

std::string graph_args(std::uint32_t graph, std::uint64_t node) {
  return graph == 0 && node == 0 ? "" : fmt::format(", \"graph id\": {}, \"graph node id\": {}", graph, node);
}

}  // namespace

RingEvents::RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis)
    : file_(file),
      catalog_(catalog),
      process_(process),
      sink_(sink),
      axis_(axis),
      names_(file, catalog, process),
      ranges_([this](const OpenRange& range) { emit(range.event, range.args); }) {}

void RingEvents::emit(const Event& event, std::string_view args) {
  Process& process = catalog_.processes[process_];
  ++process.counts[static_cast<std::size_t>(event.kind)];
  const std::int64_t end = event.start_ns + std::max<std::int64_t>(event.duration_ns, 0);
  process.first_ns = any_ ? std::min(process.first_ns, event.start_ns) : event.start_ns;
  process.last_ns = any_ ? std::max(process.last_ns, end) : end;
  any_ = true;
  sink_.event(event, args);
}

bool RingEvents::has_time(std::uint64_t start_cupti_ns) {
  timeless_records_ += start_cupti_ns == 0;
  return start_cupti_ns != 0;
}

void RingEvents::block(const RingBlock& block) {
  if (file_.changed_blocks() != holes_) {  // what was open may have ended in what we did not see
    holes_ = file_.changed_blocks();
    ranges_.finish();
  }
  axis_.enter_block(block.header.clock);
  names_.enter_block(block);
  block_kernels_.clear();
  const std::size_t end = walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
    names_.define(kind, at, size);
    bool known = false;
    trace::for_each_record([&]<typename R>(R*) {
      if (static_cast<std::uint8_t>(R::kKind) != kind) return;
      known = true;
      translate(record_at<R>(block.payload, at, size), at);
    });
    unknown_records_ += !known;
  });
  if (end != block.payload.size()) {
    throw Error(Exit::bad_content,
                fmt::format("{}: byte {}: not a record; the file is damaged", file_.path(), block.offset + end));
  }
}

Event RingEvents::device_event(Kind kind, std::uint32_t device, std::uint32_t stream, std::uint64_t start,
                               std::uint64_t end, std::uint32_t correlation) {
  Event event;
  event.kind = kind;
  event.track = catalog_.track(process_, TrackKind::stream, device, stream);
  event.start_ns = axis_.from_cupti(start);
  event.duration_ns = duration(start, end);
  event.correlation = correlation;
  return event;
}

const RingEvents::KernelText& RingEvents::kernel_text(std::uint32_t shape_ref, std::uint32_t device,
                                                      std::uint32_t context, std::uint32_t stream, std::size_t at) {
  KernelTexts& known = trace::is_local(shape_ref) ? block_kernels_ : kernels_;
  const auto [entry, is_new] = known.try_emplace({shape_ref, device, context, stream});
  if (!is_new) return entry->second;
  const trace::LaunchShapeRecord shape = names_.shape(shape_ref, at);
  entry->second.name = names_.kernel_name(shape, at);
  entry->second.track = catalog_.track(process_, TrackKind::stream, device, stream);
  entry->second.args = fmt::format(
      "\"device\": {}, \"context\": {}, \"stream\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], "
      "\"registers per thread\": {}, \"shared memory\": {}",
      device, context, stream, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
      shape.block[2], shape.registers_per_thread, shape.static_shared_bytes + shape.dynamic_shared_bytes);
  return entry->second;
}

void RingEvents::translate(const trace::KernelRecord& record, std::size_t at) {
  if (!has_time(record.start_cupti_ns)) return;
  const KernelText& text = kernel_text(record.shape_ref, record.device, record.context, record.stream, at);
  Event event;
  event.kind = Kind::kernel;
  event.track = text.track;
  event.name = text.name;
  event.start_ns = axis_.from_cupti(record.start_cupti_ns);
  event.duration_ns = record.duration_ns;
  event.correlation = record.correlation;
  emit(event, text.args);
}

void RingEvents::translate(const trace::KernelWideRecord& record, std::size_t at) {
  if (!has_time(record.start_cupti_ns)) return;
  const KernelText& text = kernel_text(record.shape_ref, record.device, record.context, record.stream, at);
  Event event = device_event(Kind::kernel, record.device, record.stream, record.start_cupti_ns, record.end_cupti_ns,
                             record.correlation);
  event.name = text.name;
  emit(event, text.args + graph_args(record.graph, record.graph_node));
}

void RingEvents::translate(const trace::MemcpyRecord& record, std::size_t) {
  if (!has_time(record.start_cupti_ns)) return;
  Event event = device_event(Kind::memcpy, record.device, record.stream, record.start_cupti_ns, record.end_cupti_ns,
                             record.correlation);
  event.name = name(copy_name(record.copy_kind, record.src_memory, record.dst_memory));
  event.bytes = record.bytes;
  event.has_bytes = true;
  emit(event, fmt::format("\"device\": {}, \"context\": {}, \"stream\": {}{}", record.device, record.context,
                          record.stream, graph_args(record.graph, record.graph_node)));
}

void RingEvents::translate(const trace::MemcpyPeerRecord& record, std::size_t) {
  if (!has_time(record.start_cupti_ns)) return;
  Event event = device_event(Kind::memcpy, record.device, record.stream, record.start_cupti_ns, record.end_cupti_ns,
                             record.correlation);
  event.name = name(copy_name(record.copy_kind, record.src_memory, record.dst_memory));
  event.bytes = record.bytes;
  event.has_bytes = true;
  emit(event, fmt::format("\"fromDevice\": {}, \"inDevice\": {}, \"toDevice\": {}, \"fromContext\": {}, "
                          "\"inContext\": {}, \"toContext\": {}, \"stream\": {}{}",
                          record.src_device, record.device, record.dst_device, record.src_context, record.context,
                          record.dst_context, record.stream, graph_args(record.graph, record.graph_node)));
}

void RingEvents::translate(const trace::MemsetRecord& record, std::size_t) {
  if (!has_time(record.start_cupti_ns)) return;
  Event event = device_event(Kind::memset, record.device, record.stream, record.start_cupti_ns, record.end_cupti_ns,
                             record.correlation);
  event.name = name(fmt::format("Memset ({})", memory_name(record.memory)));
  event.bytes = record.bytes;
  event.has_bytes = true;
  emit(event, fmt::format("\"device\": {}, \"context\": {}, \"stream\": {}, \"value\": {}{}", record.device,
                          record.context, record.stream, record.value, graph_args(record.graph, record.graph_node)));
}

void RingEvents::api_event(Kind kind, trace::RecordKind domain, std::uint32_t cbid, std::uint32_t tid,
                           std::uint64_t start, std::uint64_t end, std::uint32_t correlation,
                           std::uint32_t return_value) {
  if (!has_time(start)) return;
  const auto [track, is_new] = threads_.try_emplace(tid, 0);
  if (is_new) track->second = catalog_.track(process_, TrackKind::thread, file_.header().pid, tid);
  Event event;
  event.kind = kind;
  event.track = track->second;
  event.name = names_.api_name(domain, cbid);
  event.start_ns = axis_.from_cupti(start);
  event.duration_ns = duration(start, end);
  event.correlation = correlation;
  std::string& args = api_args_[cbid];
  if (args.empty()) args = fmt::format("\"cbid\": {}", cbid);
  if (return_value == 0) return emit(event, args);
  emit(event, fmt::format("{}, \"return value\": {}", args, return_value));
}

template <trace::RecordKind K>
void RingEvents::translate(const trace::ApiRecord<K>& record, std::size_t) {
  const Kind kind = K == trace::RecordKind::runtime ? Kind::runtime : Kind::driver;
  api_event(kind, K, record.cbid, record.tid, record.start_cupti_ns, record.start_cupti_ns + record.duration_ns,
            record.correlation, 0);
}

template <trace::RecordKind K>
void RingEvents::translate(const trace::ApiWideRecord<K>& record, std::size_t) {
  const bool runtime = K == trace::RecordKind::runtime_wide;
  api_event(runtime ? Kind::runtime : Kind::driver, runtime ? trace::RecordKind::runtime : trace::RecordKind::driver,
            record.cbid, record.tid, record.start_cupti_ns, record.end_cupti_ns, record.correlation,
            record.return_value);
}

template <typename Record>
OpenRange RingEvents::host_range(const Record& record, std::size_t at) {
  OpenRange range;
  range.event.kind = Kind::nvtx;
  range.event.track = catalog_.track(process_, TrackKind::thread, file_.header().pid, record.tid);
  range.event.name = names_.string(record.name_ref, at);
  range.event.start_ns = axis_.from_mono(record.time_mono_ns);
  if (record.domain_ref != trace::kNoRef) {
    range.args = fmt::format("\"domain\": {}", json_quoted(catalog_.strings[names_.string(record.domain_ref, at)]));
  }
  return range;
}

template <typename Record>
void add_category(const Record& record, std::string& args) {
  if (record.category != 0) args += fmt::format("{}\"category\": {}", args.empty() ? "" : ", ", record.category);
}

void RingEvents::translate(const trace::NvtxPushRecord& record, std::size_t at) {
  OpenRange range = host_range(record, at);
  add_category(record, range.args);
  ranges_.push(record.tid, names_.string(record.domain_ref, at), std::move(range));
}

void RingEvents::translate(const trace::NvtxPopRecord& record, std::size_t at) {
  ranges_.pop(record.tid, names_.string(record.domain_ref, at), axis_.from_mono(record.time_mono_ns));
}

void RingEvents::translate(const trace::NvtxStartRecord& record, std::size_t at) {
  OpenRange range = host_range(record, at);
  add_category(record, range.args);
  ranges_.start(record.range_id, std::move(range));
}

void RingEvents::translate(const trace::NvtxEndRecord& record, std::size_t) {
  ranges_.end(record.range_id, axis_.from_mono(record.time_mono_ns));
}

void RingEvents::translate(const trace::NvtxMarkRecord& record, std::size_t at) {
  OpenRange mark = host_range(record, at);
  add_category(record, mark.args);
  mark.event.phase = 'i';
  emit(mark.event, mark.args);
}

void RingEvents::translate(const trace::NcclCallRecord& record, std::size_t at) {
  OpenRange range = host_range(record, at);
  range.event.kind = Kind::nccl;
  range.event.has_bytes = (record.has & 2) != 0;
  range.event.bytes = record.bytes;
  range.args = nccl_args(record);
  ranges_.push(record.tid, names_.string(record.domain_ref, at), std::move(range));
}

void RingEvents::finish() {
  ranges_.finish();
  names_.name_threads(catalog_, process_);
  Process& process = catalog_.processes[process_];
  const auto note = [&](std::uint64_t count, const char* what) {
    if (count > 0) process.notes.push_back(fmt::format("{} {}", count, what));
  };
  note(ranges_.unmatched_ends(), "ends of ranges without their start (it was overwritten)");
  note(timeless_records_, "records without a time (CUPTI took none): left out");
  note(unknown_records_, "records of kinds that this tracetool does not know; use a newer one");
  note(axis_.stepped_blocks(), "blocks in which the wall clock or CUPTI's time base had been changed");
  note(file_.changed_blocks(), "blocks changed while they were read, and were left out");
}

}  // namespace cli
