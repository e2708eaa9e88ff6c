#include "cli/read/ring_dump.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/error.h"
#include "cli/read/ring_file.h"

namespace cli {
namespace {

// The fields of each kind that are worth a column; references are printed as they stand.
using Text = std::string;
template <typename... Fields>
Text fields(const char* format, const Fields&... values) {
  return fmt::format(fmt::runtime(format), values...);
}

Text show(const trace::StringRecord& r) { return fields("length {}", r.length); }
Text show(const trace::LaunchShapeRecord& r) {
  return fields("name @{:x} grid {},{},{} block {},{},{} registers {} shared {}+{}", r.name_ref, r.grid[0], r.grid[1],
                r.grid[2], r.block[0], r.block[1], r.block[2], r.registers_per_thread, r.static_shared_bytes,
                r.dynamic_shared_bytes);
}
Text show(const trace::ApiNameRecord& r) { return fields("domain {} cbid {} {:.64s}", r.domain, r.cbid, r.name); }
Text show(const trace::ThreadNameRecord& r) { return fields("tid {} {:.16s}", r.tid, r.name); }
Text show(const trace::IdentityRecord& r) {
  return fields("source {} rank {} local {} of {} device {} communicator {:#x}", r.source, r.rank, r.local_rank,
                r.world_size, r.device, r.communicator);
}
Text show(const trace::DeviceRecord& r) { return fields("device {} {:.64s}", r.device, r.name); }
Text show(const trace::KernelRecord& r) {
  return fields("start {} duration {} shape @{:x} device {} context {} stream {} correlation {}", r.start_cupti_ns,
                r.duration_ns, r.shape_ref, r.device, r.context, r.stream, r.correlation);
}
Text show(const trace::KernelWideRecord& r) {
  return fields("start {} end {} shape @{:x} device {} context {} stream {} correlation {} graph {} node {}",
                r.start_cupti_ns, r.end_cupti_ns, r.shape_ref, r.device, r.context, r.stream, r.correlation, r.graph,
                r.graph_node);
}
Text show(const trace::MemcpyRecord& r) {
  return fields("start {} end {} bytes {} kind {} memory {}->{} device {} stream {} correlation {}", r.start_cupti_ns,
                r.end_cupti_ns, r.bytes, r.copy_kind, r.src_memory, r.dst_memory, r.device, r.stream, r.correlation);
}
Text show(const trace::MemcpyPeerRecord& r) {
  return fields("start {} end {} bytes {} device {}->{} stream {} correlation {}", r.start_cupti_ns, r.end_cupti_ns,
                r.bytes, r.src_device, r.dst_device, r.stream, r.correlation);
}
Text show(const trace::MemsetRecord& r) {
  return fields("start {} end {} bytes {} value {} device {} stream {} correlation {}", r.start_cupti_ns,
                r.end_cupti_ns, r.bytes, r.value, r.device, r.stream, r.correlation);
}
template <trace::RecordKind K>
Text show(const trace::ApiRecord<K>& r) {
  return fields("start {} duration {} cbid {} tid {} correlation {}", r.start_cupti_ns, r.duration_ns, r.cbid, r.tid,
                r.correlation);
}
template <trace::RecordKind K>
Text show(const trace::ApiWideRecord<K>& r) {
  return fields("start {} end {} cbid {} tid {} correlation {} returned {}", r.start_cupti_ns, r.end_cupti_ns, r.cbid,
                r.tid, r.correlation, r.return_value);
}
Text show(const trace::NvtxPushRecord& r) {
  return fields("time {} tid {} name @{:x} domain @{:x} category {} color {:#x}", r.time_mono_ns, r.tid, r.name_ref,
                r.domain_ref, r.category, r.color_argb);
}
Text show(const trace::NvtxPopRecord& r) {
  return fields("time {} tid {} domain @{:x}", r.time_mono_ns, r.tid, r.domain_ref);
}
Text show(const trace::NvtxStartRecord& r) {
  return fields("time {} tid {} name @{:x} domain @{:x} id {}", r.time_mono_ns, r.tid, r.name_ref, r.domain_ref,
                r.range_id);
}
Text show(const trace::NvtxEndRecord& r) { return fields("time {} tid {} id {}", r.time_mono_ns, r.tid, r.range_id); }
Text show(const trace::NvtxMarkRecord& r) {
  return fields("time {} tid {} name @{:x} domain @{:x}", r.time_mono_ns, r.tid, r.name_ref, r.domain_ref);
}
Text show(const trace::NcclCallRecord& r) {
  return fields("time {} tid {} name @{:x} communicator {:#x} epoch {} class {} ordinal {} bytes {} peer {}",
                r.time_mono_ns, r.tid, r.name_ref, r.communicator, r.epoch, r.nccl_class, r.ordinal, r.bytes, r.peer);
}
Text show(const trace::ClockRecord& r) {
  return fields("cupti {} mono {} real {} bracket {}", r.cupti_ns, r.mono_ns, r.real_ns, r.bracket_ns);
}

// "byte 4096: kernel start ..."; a string also shows its text.
void print_record(const std::vector<std::byte>& bytes, std::uint64_t offset, std::size_t at, std::uint8_t kind,
                  std::size_t size, ByteSink& out) {
  Text line = fmt::format("byte {}: {} ", offset + at, trace::record_name(kind));
  trace::for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) line += show(record_at<R>(bytes, at, size));
  });
  if (kind == static_cast<std::uint8_t>(trace::RecordKind::string) && size >= sizeof(trace::StringRecord)) {
    const auto head = record_at<trace::StringRecord>(bytes, at, size);
    const std::size_t room = size - sizeof(head);
    line += " ";
    line.append(reinterpret_cast<const char*>(bytes.data()) + at + sizeof(head),
                head.length < room ? head.length : room);
  }
  out.write(line + '\n');
}

// Returns the damage in it: 0 or 1.
std::uint64_t print_records(const std::vector<std::byte>& bytes, std::uint64_t offset, ByteSink& out) {
  const std::size_t end = walk_records(bytes, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
    print_record(bytes, offset, at, kind, size, out);
  });
  if (end == bytes.size()) return 0;
  out.write(fmt::format("# byte {}: not a record; {} bytes are left out\n", offset + end, bytes.size() - end));
  return 1;
}

void print_header(const RingFile& file, ByteSink& out) {
  const trace::FileHeader& h = file.header();
  out.write(fmt::format("# {}\n# {} host {} boot {} pid {} run {} program {}\n", file.path(), file.state(), h.host,
                        h.boot_id, h.pid, h.run_id, h.program));
  out.write(fmt::format("# {} blocks of {} bytes, definitions {} of {} bytes, CUPTI {} state {} error {}\n",
                        h.block_count, h.block_bytes, h.definitions_used, h.definitions_bytes, h.cupti_version,
                        h.cupti_state, h.cupti_error));
}

}  // namespace

void dump_ring(const std::string& path, ByteSink& out) {
  RingFile file(path);
  print_header(file, out);
  std::uint64_t damaged = print_records(file.definitions(), file.header().definitions_offset, out);
  file.for_each_block([&](const RingBlock& block) {
    const trace::BlockHeader& h = block.header;
    out.write(fmt::format("# block {} writer {} cupti {} mono {} real {}\n", h.ticket, h.tid, h.clock.cupti_ns,
                          h.clock.mono_ns, h.clock.real_ns));
    damaged += print_records(block.payload, block.offset, out);
  });
  if (file.changed_blocks() > 0) {
    out.write(fmt::format("# {} blocks changed while they were read, and were left out\n", file.changed_blocks()));
  }
  out.finish();
  if (damaged > 0) {
    throw Error(Exit::bad_content,
                fmt::format("{}: {} places are not records (lines beginning with '# byte'); the rest is above", path,
                            damaged));
  }
}

}  // namespace cli
