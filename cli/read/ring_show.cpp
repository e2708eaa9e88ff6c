#include "cli/read/ring_show.h"

#include <fmt/format.h>

#include "cli/model/device_words.h"
#include "cli/read/ring_file.h"
#include "cli/read/ring_names.h"

namespace cli {
namespace {

std::string show(const trace::StringRecord& r) { return fmt::format("length {}", r.length); }
std::string show(const trace::LaunchShapeRecord& r) {
  return fmt::format("name @{:x} grid {},{},{} block {},{},{} registers {} shared {}+{} local {} cluster {},{},{} launch {}",
                     r.name_ref, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                     r.registers_per_thread, r.static_shared_bytes, r.dynamic_shared_bytes, r.local_bytes_per_thread,
                     r.cluster[0], r.cluster[1], r.cluster[2], launch_type_name(r.launch_type));
}
std::string show(const trace::ApiNameRecord& r) {
  return fmt::format("domain {} cbid {} {}", r.domain, r.cbid, terminated(r.name));
}
std::string show(const trace::ThreadNameRecord& r) { return fmt::format("tid {} {}", r.tid, terminated(r.name)); }
std::string show(const trace::IdentityRecord& r) {
  return fmt::format("source {} rank {} local {} of {} device {} communicator {:#x}", r.source, r.rank, r.local_rank,
                     r.world_size, r.device, r.communicator);
}
std::string show(const trace::DeviceRecord& r) {
  return fmt::format("device {} {} pci {} memory {} SMs {} compute {}.{} clock {} kHz", r.device, terminated(r.name),
                     terminated(r.pci_bus_id), r.memory_bytes, r.multiprocessors, r.compute_major, r.compute_minor,
                     r.core_clock_khz);
}
std::string show(const trace::ContextRecord& r) {
  return fmt::format("context {} device {} default stream {}", r.context, r.device, r.null_stream);
}
std::string show(const trace::StreamRecord& r) {
  return fmt::format("context {} stream {} flag {} priority {}", r.context, r.stream, r.flag, r.priority);
}
std::string show(const trace::ResourceNameRecord& r) {
  return fmt::format("resource {} id {} context {} handle {:#x} name @{:x}", r.resource, r.id, r.context, r.handle,
                     r.name_ref);
}
std::string show(const trace::NvtxCategoryRecord& r) {
  return fmt::format("domain @{:x} category {} name @{:x}", r.domain_ref, r.category, r.name_ref);
}
std::string show(const trace::CommunicatorRecord& r) {
  return fmt::format("communicator {:#x} epoch {} rank {} of {} device {} parent {:#x} color {} key {}", r.communicator,
                     r.epoch, r.rank, r.ranks, r.device, r.parent, r.color, r.key);
}
std::string show(const trace::GraphNodeRecord& r) {
  if (r.captured_node != 0) return fmt::format("node {} captured as {}", r.node, r.captured_node);
  return fmt::format(
      "node {} tid {} range @{:x} domain @{:x} nccl @{:x} class {} communicator {:#x} epoch {} ordinal {} "
      "bytes {} peer {}",
      r.node, r.tid, r.range_ref, r.domain_ref, r.nccl_name_ref, r.nccl_class, r.communicator, r.epoch, r.ordinal,
      r.bytes, r.peer);
}
std::string show(const trace::KernelRecord& r) {
  return fmt::format("start {} duration {} shape @{:x} device {} context {} stream {} correlation {}", r.start_cupti_ns,
                     r.duration_ns, r.shape_ref, r.device, r.context, r.stream, r.correlation);
}
std::string show(const trace::KernelWideRecord& r) {
  return fmt::format("start {} end {} shape @{:x} device {} context {} stream {} correlation {} graph {} node {}",
                     r.start_cupti_ns, r.end_cupti_ns, r.shape_ref, r.device, r.context, r.stream, r.correlation,
                     r.graph, r.graph_node);
}
std::string show(const trace::MemcpyRecord& r) {
  return fmt::format(
      "start {} end {} bytes {} kind {} memory {}->{} device {} stream {} correlation {} graph {} node {}",
      r.start_cupti_ns, r.end_cupti_ns, r.bytes, r.copy_kind, r.src_memory, r.dst_memory, r.device, r.stream,
      r.correlation, r.graph, r.graph_node);
}
std::string show(const trace::MemcpyPeerRecord& r) {
  return fmt::format("start {} end {} bytes {} device {}->{} stream {} correlation {}", r.start_cupti_ns,
                     r.end_cupti_ns, r.bytes, r.src_device, r.dst_device, r.stream, r.correlation);
}
std::string show(const trace::MemsetRecord& r) {
  return fmt::format("start {} end {} bytes {} value {} device {} stream {} correlation {}", r.start_cupti_ns,
                     r.end_cupti_ns, r.bytes, r.value, r.device, r.stream, r.correlation);
}
template <trace::RecordKind K>
std::string show(const trace::ApiRecord<K>& r) {
  return fmt::format("start {} duration {} cbid {} tid {} correlation {}", r.start_cupti_ns, r.duration_ns, r.cbid,
                     r.tid, r.correlation);
}
template <trace::RecordKind K>
std::string show(const trace::ApiWideRecord<K>& r) {
  return fmt::format("start {} end {} cbid {} tid {} correlation {} returned {}", r.start_cupti_ns, r.end_cupti_ns,
                     r.cbid, r.tid, r.correlation, r.return_value);
}
std::string show(const trace::NvtxPushRecord& r) {
  return fmt::format("time {} tid {} name @{:x} domain @{:x} category {} color {:#x} payload {} {:#x}", r.time_mono_ns,
                     r.tid, r.name_ref, r.domain_ref, r.category, r.color_argb, r.payload_type, r.payload);
}
std::string show(const trace::NvtxPopRecord& r) {
  return fmt::format("time {} tid {} domain @{:x}", r.time_mono_ns, r.tid, r.domain_ref);
}
std::string show(const trace::NvtxStartRecord& r) {
  return fmt::format("time {} tid {} name @{:x} domain @{:x} category {} color {:#x} payload {} {:#x} id {}",
                     r.time_mono_ns, r.tid, r.name_ref, r.domain_ref, r.category, r.color_argb, r.payload_type,
                     r.payload, r.range_id);
}
std::string show(const trace::NvtxEndRecord& r) {
  return fmt::format("time {} tid {} id {}", r.time_mono_ns, r.tid, r.range_id);
}
std::string show(const trace::NvtxMarkRecord& r) {
  return fmt::format("time {} tid {} name @{:x} domain @{:x} category {} color {:#x} payload {} {:#x}", r.time_mono_ns,
                     r.tid, r.name_ref, r.domain_ref, r.category, r.color_argb, r.payload_type, r.payload);
}
std::string show(const trace::NcclCallRecord& r) {
  return fmt::format(
      "time {} tid {} name @{:x} communicator {:#x} epoch {} class {} ordinal {} bytes {} peer {} "
      "data type {} count {} stream {:#x} has {:#x}",
      r.time_mono_ns, r.tid, r.name_ref, r.communicator, r.epoch, r.nccl_class, r.ordinal, r.bytes, r.peer, r.data_type,
      r.count, r.stream, r.has);
}
std::string show(const trace::ClockRecord& r) {
  return fmt::format("cupti {} mono {} real {} bracket {}", r.cupti_ns, r.mono_ns, r.real_ns, r.bracket_ns);
}
std::string show(const trace::SyncRecord& r) {
  return fmt::format("start {} end {} type {} context {} stream {} event {} sync id {} correlation {} returned {}",
                     r.start_cupti_ns, r.end_cupti_ns, r.type, r.context, r.stream, r.event, r.event_sync_id,
                     r.correlation, r.return_value);
}
std::string show(const trace::CudaEventRecord& r) {
  return fmt::format("context {} stream {} event {} sync id {} correlation {}", r.context, r.stream, r.event,
                     r.event_sync_id, r.correlation);
}
std::string show(const trace::OverheadRecord& r) {
  return fmt::format("start {} end {} overhead {:#x} object {} tid {} device {} context {} stream {} correlation {}",
                     r.start_cupti_ns, r.end_cupti_ns, r.overhead, r.object, r.tid, r.device, r.context, r.stream,
                     r.correlation);
}
std::string show(const trace::GraphLaunchRecord& r) {
  return fmt::format("start {} end {} graph {} device {} context {} stream {} correlation {}", r.start_cupti_ns,
                     r.end_cupti_ns, r.graph, r.device, r.context, r.stream, r.correlation);
}
std::string show(const trace::MemoryRecord& r) {
  return fmt::format(
      "time {} operation {} memory {} address {:#x} bytes {} device {} context {} stream {} async {} "
      "pool {:#x} correlation {}",
      r.time_cupti_ns, r.operation, r.memory, r.address, r.bytes, r.device, r.context, r.stream, r.is_async,
      r.pool_address, r.correlation);
}
std::string show(const trace::MemoryPoolRecord& r) {
  return fmt::format(
      "time {} operation {} pool {} address {:#x} bytes {} used {} threshold {} device {} correlation {}",
      r.time_cupti_ns, r.operation, r.pool, r.address, r.bytes, r.used_bytes, r.release_threshold_bytes, r.device,
      r.correlation);
}
std::string show(const trace::NoticeRecord& r) {
  return fmt::format("start {} end {} {} value {} text @{:x}", r.start_mono_ns, r.end_mono_ns, word(static_cast<trace::NoticeCode>(r.code)),
                     r.value, r.text_ref);
}

}  // namespace

std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size) {
  std::string text;
  trace::for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) text = show(record_at<R>(bytes, at, size));
  });
  return text;
}

}  // namespace cli
