// The recordings that the agent would have made of events, as the reader gives them: so a job whose truth is known is files, too.
//
// Written are kernels, copies, memsets, calls of CUDA and NCCL, and NVTX's ranges and marks; of a process who it is, its GPUs and
// communicators, and what it lost; not nodes of graphs, and no names of streams and threads. CUPTI's clock and CLOCK_MONOTONIC run
// as the wall clock of the process does, at the distances of RingMaker::clock: one that drifts or is set does so in the times of
// the events.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/formats/ring/translator.h"
#include "cli/trace/catalog.h"
#include "tests/unit/common/ring_maker.h"

namespace cli {

struct KeptEvents : EventSink {
  void event(const Event& event, const Facts& facts) override { all.emplace_back(event, facts); }
  std::vector<std::pair<Event, KeptFacts>> all;
};

class RingOfProcess {
 public:
  // `events`: at most so many follow, the first one at `first_ns`.
  RingOfProcess(const Catalog& catalog, ProcessId process, std::size_t events, std::int64_t first_ns)
      : catalog_(catalog),
        process_(catalog.processes[process]),
        ring_(2 + events / kEventsPerBlock, kBlockBytes, kDefinitionsBytes) {
    const auto real_ns = static_cast<std::uint64_t>(first_ns), later_ns = real_ns - ring_.clock.real_ns;
    ring_.clock = {ring_.clock.cupti_ns + later_ns, ring_.clock.mono_ns + later_ns, real_ns,
                   ring_.clock.uncertainty_ns};
    write_header();
    define_process();
  }

  // Throws where it is of a kind that is not written.
  void event(const Event& event, const KeptFacts& kept) {
    const Facts facts = kept;
    if (!visit_payload(facts.tag(), facts.data(), [&](const auto& payload) { put(event, payload); })) refuse(event);
  }
  void write(const std::string& path) const { ring_.write(path); }

 private:
  static constexpr std::uint64_t kBlockBytes = 64 << 10, kDefinitionsBytes = 256 << 10;
  static constexpr std::size_t kLargest = sizeof(trace::NcclCallRecord) + sizeof(trace::NvtxPopRecord);  // of one event
  static constexpr std::size_t kEventsPerBlock = (kBlockBytes - sizeof(trace::BlockHeader)) / kLargest - 1;

  [[noreturn]] void refuse(const Event& event) const {
    throw std::runtime_error("'" + std::string(catalog_.strings[event.name]) + "' is of a kind that is not written");
  }

  void write_header() {
    trace::FileHeader& header = *ring_.memory.header();
    const Recorder& recorder = process_.recorder;
    header.pid = static_cast<std::uint32_t>(process_.pid);
    process_.host.copy(header.host, sizeof(header.host) - 1);
    process_.boot_id.copy(header.boot_id, sizeof(header.boot_id) - 1);
    process_.run_id.copy(header.run_id, sizeof(header.run_id) - 1);
    process_.program.copy(header.program, sizeof(header.program) - 1);
    header.created_clock = ring_.clock;
    header.created_real_ns = static_cast<std::uint64_t>(recorder.created_ns);
    header.heartbeat_real_ns = static_cast<std::uint64_t>(recorder.heartbeat_ns);
    if (process_.state == RecordingState::clean)
      header.closed_real_ns = std::max<std::uint64_t>(1, header.heartbeat_real_ns);
    header.cupti_state = header.nvtx_state = static_cast<std::uint32_t>(trace::SourceState::on);
    header.cupti_dropped = process_.lost_unknown_kind;
    KindCounts lost = process_.lost;
    for (std::size_t i = 0; i < trace::kEventKinds; ++i) {  // several kinds of records may be of one kind of event
      const Kind kind = ring::event_kind(static_cast<std::uint8_t>(trace::kFirstEventKind + i));
      if (kind != Kind::count_) header.lost[i] = std::exchange(lost[static_cast<std::size_t>(kind)], 0);
    }
  }

  void define_process() {
    auto identity = trace::make_record<trace::IdentityRecord>();
    identity.source = static_cast<std::uint8_t>(trace::IdentitySource::environment);
    identity.rank = static_cast<std::int32_t>(process_.rank),
    identity.local_rank = static_cast<std::int32_t>(process_.local_rank);
    identity.world_size = static_cast<std::int32_t>(process_.world_size), identity.device = -1;
    ring_.define(identity);
    for (const Device& device : process_.devices) define(device);
    for (const Communicator& told : process_.communicators) {
      auto record = trace::make_record<trace::CommunicatorRecord>();
      record.communicator = told.communicator, record.parent = told.parent, record.epoch = told.epoch;
      record.rank = static_cast<std::int32_t>(told.rank), record.ranks = static_cast<std::int32_t>(told.ranks);
      record.device = static_cast<std::int32_t>(told.device);
      record.time_mono_ns = ring_.memory.header()->definitions_used;  // those without a hash are told apart by it
      record.color = static_cast<std::int32_t>(told.color), record.key = static_cast<std::int32_t>(told.key);
      ring_.define(record);
    }
  }

  // What occupancy is estimated from, and the name.
  void define(const Device& device) {
    auto record = trace::make_record<trace::DeviceRecord>();
    record.device = static_cast<std::uint32_t>(device.device);
    device.name.copy(record.name, sizeof(record.name) - 1);
    record.compute_major = device.compute_major, record.compute_minor = device.compute_minor;
    record.multiprocessors = device.multiprocessors, record.threads_per_warp = device.threads_per_warp;
    record.max_threads_per_block = device.max_threads_per_block;
    record.max_warps_per_multiprocessor = device.max_warps_per_multiprocessor;
    record.max_blocks_per_multiprocessor = device.max_blocks_per_multiprocessor;
    record.max_registers_per_block = device.max_registers_per_block;
    record.max_registers_per_multiprocessor = device.max_registers_per_multiprocessor;
    record.max_shared_bytes_per_block = device.max_shared_bytes_per_block;
    record.max_shared_bytes_per_multiprocessor = device.max_shared_bytes_per_multiprocessor;
    ring_.define(record);
  }

  // Each is defined once, at its first use.
  std::uint32_t name(StringId id) {
    if (id == 0) return trace::kNoRef;
    const auto [known, is_new] = names_.try_emplace(id, 0);
    if (is_new) known->second = ring_.name(catalog_.strings[id]);
    return known->second;
  }
  std::uint32_t nccl_domain() {
    if (nccl_domain_ == trace::kNoRef) nccl_domain_ = ring_.name("NCCL");
    return nccl_domain_;
  }
  std::uint32_t shape(StringId kernel, LaunchId id) {
    const auto [known, is_new] = shapes_.try_emplace({kernel, id}, 0);
    if (!is_new) return known->second;
    const Launch& launch = catalog_.launches[id];
    auto record = trace::make_record<trace::LaunchShapeRecord>();
    record.name_ref = name(kernel);
    std::copy_n(launch.grid, 3, record.grid), std::copy_n(launch.block, 3, record.block),
        std::copy_n(launch.cluster, 3, record.cluster);
    record.registers_per_thread = static_cast<std::uint16_t>(launch.registers_per_thread);
    record.static_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
    record.local_bytes_per_thread = launch.local_bytes_per_thread;
    record.launch_type = launch.launch_type;
    return known->second = ring_.define(record);
  }
  void define_api(trace::RecordKind domain, std::uint32_t cbid, StringId function) {
    const auto [known, is_new] = apis_.try_emplace({static_cast<std::uint8_t>(domain), cbid}, function);
    if (known->second != function) throw std::runtime_error("two functions with one callback id");
    if (!is_new) return;
    auto record = trace::make_record<trace::ApiNameRecord>();
    record.domain = static_cast<std::uint8_t>(domain), record.cbid = cbid;
    catalog_.strings[function].copy(record.name, sizeof(record.name) - 1);
    ring_.define(record);
  }
  void define_stream(const Track& track, std::uint32_t context) {
    if (!track.priority || !streams_.try_emplace({context, track.id}, true).second) return;
    auto record = trace::make_record<trace::StreamRecord>();
    record.context = context, record.stream = static_cast<std::uint32_t>(track.id),
    record.priority = static_cast<std::int32_t>(*track.priority);
    ring_.define(record);
  }
  void define_category(const RangeFacts& facts) {
    if (facts.category_name == 0 || !categories_.try_emplace({facts.domain, facts.category}, true).second) return;
    auto record = trace::make_record<trace::NvtxCategoryRecord>();
    record.domain_ref = name(facts.domain), record.category = facts.category,
    record.name_ref = name(facts.category_name);
    ring_.define(record);
  }

  static bool is_short(const Event& event) { return event.duration_ns >= 0 && event.duration_ns <= 0xffffffff; }

  // Fills in what an event of CUPTI's says itself.
  template <typename Record>
  void add(Record record, const Event& event) {
    const Track& track = catalog_.tracks[event.track];
    record.correlation = static_cast<std::uint32_t>(event.correlation);
    record.start_cupti_ns = cupti(event.start_ns);
    if constexpr (requires { record.duration_ns; }) record.duration_ns = static_cast<std::uint32_t>(event.duration_ns);
    if constexpr (requires { record.end_cupti_ns; })
      record.end_cupti_ns = event.duration_ns < 0 ? 0 : cupti(event.start_ns + event.duration_ns);
    if constexpr (requires { record.bytes; }) record.bytes = event.bytes;
    if constexpr (requires { record.tid; }) record.tid = static_cast<std::uint32_t>(track.id);
    if constexpr (requires { record.stream; }) {
      record.device = static_cast<decltype(record.device)>(track.group),
      record.stream = static_cast<std::uint32_t>(track.id);
      define_stream(track, record.context);
    }
    ring_.add(record);
  }

  template <typename Record>
  void add_kernel(const Event& event, const KernelFacts& facts) {
    auto record = trace::make_record<Record>();
    record.shape_ref = shape(event.name, facts.launch), record.context = facts.context;
    add(record, event);
  }
  void put(const Event& event, const KernelFacts& facts) {
    if (facts.graph.any()) refuse(event);
    is_short(event) ? add_kernel<trace::KernelRecord>(event, facts) : add_kernel<trace::KernelWideRecord>(event, facts);
  }

  template <typename Record>
  Record copy(const Event& event, const CopyFacts& facts) const {
    if (facts.graph.any()) refuse(event);
    auto record = trace::make_record<Record>();
    record.copy_kind = facts.direction, record.src_memory = facts.from_memory, record.dst_memory = facts.to_memory;
    record.flags = facts.flags, record.context = facts.context;
    return record;
  }
  void put(const Event& event, const CopyFacts& facts) {
    if (!facts.between_devices) return add(copy<trace::MemcpyRecord>(event, facts), event);
    auto record = copy<trace::MemcpyPeerRecord>(event, facts);
    record.src_device = facts.from_device, record.src_context = facts.from_context;
    record.dst_device = facts.to_device, record.dst_context = facts.to_context;
    add(record, event);
  }
  void put(const Event& event, const SetFacts& facts) {
    if (facts.graph.any()) refuse(event);
    auto record = trace::make_record<trace::MemsetRecord>();
    record.memory = facts.memory, record.flags = facts.flags, record.value = facts.value,
    record.context = facts.context;
    add(record, event);
  }

  template <typename Short, typename Wide>
  void add_call(const Event& event, const CallFacts& facts) {
    define_api(Short::kKind, facts.cbid, event.name);
    if (facts.return_value == 0 && is_short(event)) {
      auto record = trace::make_record<Short>();
      record.cbid = static_cast<std::uint16_t>(facts.cbid);
      return add(record, event);
    }
    auto record = trace::make_record<Wide>();
    record.cbid = facts.cbid, record.return_value = facts.return_value;
    add(record, event);
  }
  void put(const Event& event, const CallFacts& facts) {
    if (event.kind == Kind::driver) return add_call<trace::DriverRecord, trace::DriverWideRecord>(event, facts);
    add_call<trace::RuntimeRecord, trace::RuntimeWideRecord>(event, facts);
  }

  void put(const Event& event, const EventRecordFacts& facts) {
    auto record = trace::make_record<trace::CudaEventRecord>();
    record.correlation = static_cast<std::uint32_t>(event.correlation), record.stream = facts.stream,
    record.event = facts.event;
    ring_.add(record);
    put(event, CallFacts{facts.cbid, 0});
  }

  // A range is ended by the next record, whatever is open: the order of records is not that of times.
  template <typename Record>
  void add_range(Record record, const Event& event, std::uint32_t domain_ref) {
    record.tid = static_cast<std::uint32_t>(catalog_.tracks[event.track].id);
    record.time_mono_ns = mono(event.start_ns);
    record.name_ref = name(event.name), record.domain_ref = domain_ref;
    ring_.add(record);
    if (event.phase != 'X' || event.duration_ns < 0) return;
    auto end = trace::make_record<trace::NvtxPopRecord>();
    end.tid = record.tid, end.time_mono_ns = mono(event.start_ns + event.duration_ns), end.domain_ref = domain_ref;
    ring_.add(end);
  }
  template <typename Record>
  Record with_facts(const RangeFacts& facts) {
    auto record = trace::make_record<Record>();
    record.payload_type = facts.payload_type, record.payload = facts.payload;
    record.category = facts.category, record.color_argb = facts.color_argb;
    return record;
  }
  void put(const Event& event, const RangeFacts& facts) {
    define_category(facts);
    const std::uint32_t domain = facts.has_domain ? name(facts.domain) : trace::kNoRef;
    if (event.phase == 'i') return add_range(with_facts<trace::NvtxMarkRecord>(facts), event, domain);
    add_range(with_facts<trace::NvtxPushRecord>(facts), event, domain);
  }
  void put(const Event& event, const NcclFacts& facts) {
    const Collective& call = facts.collective;
    auto record = trace::make_record<trace::NcclCallRecord>();
    record.nccl_class = call.nccl_class, record.has = call.has, record.communicator = call.communicator,
    record.epoch = call.epoch;
    record.bytes = event.bytes, record.ordinal = call.ordinal, record.reduction_op = call.reduction;
    record.peer = static_cast<std::uint32_t>(call.peer), record.data_type = call.data_type, record.count = call.count,
    record.stream = call.stream;
    add_range(record, event, nccl_domain());
  }
  template <typename Other>
  void put(const Event& event, const Other&) {
    refuse(event);
  }

  std::uint64_t cupti(std::int64_t real_ns) const {
    return static_cast<std::uint64_t>(real_ns) - (ring_.clock.real_ns - ring_.clock.cupti_ns);
  }
  std::uint64_t mono(std::int64_t real_ns) const {
    return static_cast<std::uint64_t>(real_ns) - (ring_.clock.real_ns - ring_.clock.mono_ns);
  }

  const Catalog& catalog_;
  const Process& process_;
  trace::RingMaker ring_;
  std::uint32_t nccl_domain_ = trace::kNoRef;
  std::map<StringId, std::uint32_t> names_;
  std::map<std::pair<StringId, LaunchId>, std::uint32_t> shapes_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, StringId> apis_;
  std::map<std::pair<std::uint32_t, std::int64_t>, bool> streams_;
  std::map<std::pair<StringId, std::uint32_t>, bool> categories_;
};

// A file of each process, in the order of processes: `path(id)` says where.
template <typename Path>
void write_rings(const Catalog& catalog, const std::vector<std::pair<Event, KeptFacts>>& events, const Path& path) {
  std::vector<std::vector<const std::pair<Event, KeptFacts>*>> of(catalog.processes.size());
  for (const auto& each : events) of[catalog.tracks[each.first.track].process].push_back(&each);
  for (ProcessId id = 0; id < of.size(); ++id) {
    RingOfProcess ring(catalog, id, of[id].size(), of[id].empty() ? 0 : of[id].front()->first.start_ns);
    for (const auto* each : of[id]) ring.event(each->first, each->second);
    ring.write(path(id));
  }
}

}  // namespace cli
