#include "agent/translate/translate.h"

#include <cstdio>
#include <cstring>

#include "agent/base/host.h"
#include "agent/cupti/api_choice.h"
#include "agent/ring/recorder.h"
#include "common/hash.h"

namespace agent {

// Each is defined in a translate_*.cpp.
using Translate = void(Translation& out, const CUpti_Activity* activity) noexcept;
Translate translate_kernel, translate_memcpy, translate_memcpy_peer, translate_memset, translate_runtime,
    translate_driver, translate_sync, translate_cuda_event, translate_overhead, translate_graph_launch,
    translate_memory, translate_memory_pool, translate_context, translate_stream;

constexpr Translator kTranslators[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, trace::KernelRecord::kKind, translate_kernel},
    {CUPTI_ACTIVITY_KIND_MEMCPY, trace::MemcpyRecord::kKind, translate_memcpy},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, trace::MemcpyPeerRecord::kKind, translate_memcpy_peer},
    {CUPTI_ACTIVITY_KIND_MEMSET, trace::MemsetRecord::kKind, translate_memset},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, trace::GraphLaunchRecord::kKind, translate_graph_launch},
    {CUPTI_ACTIVITY_KIND_RUNTIME, trace::RuntimeRecord::kKind, translate_runtime},
    {CUPTI_ACTIVITY_KIND_DRIVER, trace::DriverRecord::kKind, translate_driver},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, trace::SyncRecord::kKind, translate_sync},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, trace::CudaEventRecord::kKind, translate_cuda_event},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, trace::OverheadRecord::kKind, translate_overhead},
    {CUPTI_ACTIVITY_KIND_MEMORY2, trace::MemoryRecord::kKind, translate_memory},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, trace::MemoryPoolRecord::kKind, translate_memory_pool},
    {CUPTI_ACTIVITY_KIND_CONTEXT, trace::ContextRecord::kKind, translate_context},
    {CUPTI_ACTIVITY_KIND_STREAM, trace::StreamRecord::kKind, translate_stream},
    {CUPTI_ACTIVITY_KIND_INVALID, trace::RecordKind::none, nullptr},
};

namespace {

constexpr std::size_t kKinds = 64;  // number of bits in Translation::wanted_

struct ByKind {
  decltype(Translator::translate) translate[kKinds]{};
};
constexpr ByKind kByKind = [] {
  ByKind table;
  // row->translate != nullptr is not used, because g++ 12 with -fsanitize=undefined does not accept it as constant.
  for (const Translator* row = kTranslators; row->activity != CUPTI_ACTIVITY_KIND_INVALID; ++row)
    table.translate[row->activity] = row->translate;
  return table;
}();

std::uint64_t wanted_kinds() {
  std::uint64_t wanted = 0;
  for (const Translator* row = kTranslators; row->translate != nullptr; ++row) {
    if (wants(row->record)) wanted |= std::uint64_t{1} << row->activity;
  }
  return wanted;
}

}  // namespace

// These records belong to no host thread: tid 0 stands for the agent's flushing.
bool Translation::begin() noexcept {
  ++buffer_;
  wanted_ = wanted_kinds();
  window_ = cupti_window();
  return writer_.enter(ring(), 0, carried_clocks);
}

void Translation::end() noexcept { writer_.leave(); }

void Translation::record(const CUpti_Activity* activity) noexcept {
  const auto kind = static_cast<std::uint32_t>(activity->kind);
  if (kind < kKinds && (wanted_ >> kind & 1) != 0) return kByKind.translate[kind](*this, activity);
  trace::SharedMemory::add(ring().header->unknown_activities, 1);
}

bool Translation::room(trace::RecordKind kind, std::size_t bytes) noexcept {
  if (writer_.make_room(bytes, carried_clocks)) return true;
  count_lost(kind);
  return false;
}

Translation::Launch Translation::launch_of(const CUpti_ActivityKernel5& kernel) noexcept {
  static_assert(offsetof(CUpti_ActivityKernel5, dynamicSharedMemory) == offsetof(CUpti_ActivityKernel5, gridX) + 28);
  Launch launch{kernel.name != nullptr ? kernel.name : "",
                {},
                kernel.registersPerThread,
                kernel.launchType,
                kernel.localMemoryPerThread,
                late_field(reinterpret_cast<const CUpti_Activity*>(&kernel), kKernelCluster)};
  std::memcpy(launch.dimensions, reinterpret_cast<const char*>(&kernel) + offsetof(CUpti_ActivityKernel5, gridX),
              sizeof(launch.dimensions));
  return launch;
}

bool Translation::is_known(KnownShape& known, const Launch& launch) const noexcept {
  const bool same = known.launch.name == launch.name && known.launch.registers == launch.registers &&
                    known.launch.launch_type == launch.launch_type &&
                    known.launch.local_bytes_per_thread == launch.local_bytes_per_thread &&
                    known.launch.cluster == launch.cluster &&
                    std::memcmp(known.launch.dimensions, launch.dimensions, sizeof(launch.dimensions)) == 0 &&
                    (known.ticket == 0 || known.ticket == writer_.ticket());
  if (!same || known.verified_in == buffer_) return same;
  known.verified_in = buffer_;
  if (std::strncmp(launch.name, known.text, known.length) == 0 && launch.name[known.length] == '\0') return true;
  known = {};
  return false;
}

void Translation::remember(KnownShape& known, const Launch& launch, std::uint32_t ref) noexcept {
  trace::LaunchShapeRecord written;
  std::memcpy(&written, record_at(ring(), writer_, ref), sizeof(written));
  const std::string_view text = text_at(record_at(ring(), writer_, written.name_ref));
  const std::uint64_t ticket = trace::is_local(ref) ? writer_.ticket() : 0;
  known = {launch, ref, static_cast<std::uint32_t>(text.size()), ticket, buffer_, text.data()};
}

std::uint32_t Translation::kernel_shape(const CUpti_ActivityKernel5& kernel, std::size_t record_bytes) noexcept {
  constexpr std::uint64_t kOdd = trace::spread(1);
  const Launch launch = launch_of(kernel);
  // One independent multiplication each, which the processor executes in parallel.
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(launch.name) * kOdd;
  for (std::uint64_t i = 0; i < 4; ++i) hash ^= (launch.dimensions[i] + i) * (kOdd + 2 * i * kOdd);
  const Cluster& cluster = launch.cluster;
  const std::uint32_t rest = cluster.x << 24 ^ cluster.y << 16 ^ cluster.z << 8 ^ launch.launch_type;
  hash ^= (std::uint64_t{launch.local_bytes_per_thread} << 32 | rest) * kOdd;
  const std::size_t set = hash >> 54;
  static_assert(kSets == 1u << (64 - 54));
  const auto tag = static_cast<std::uint32_t>(hash >> 20) | 1;
  for (std::size_t way = 0; way < kWays; ++way) {
    if (tags_[set][way] == tag && is_known(shapes_[set][way], launch)) return shapes_[set][way].ref;
  }
  const std::uint32_t ref = new_shape(launch, record_bytes);
  if (ref == trace::kNoRef) return ref;
  std::size_t way = 0;
  while (way < kWays && tags_[set][way] != tag && tags_[set][way] != 0) ++way;
  if (way == kWays) way = next_way_++ % kWays;
  tags_[set][way] = tag;
  remember(shapes_[set][way], launch, ref);
  return ref;
}

std::uint32_t Translation::new_shape(const Launch& launch, std::size_t record_bytes) noexcept {
  const std::string_view name = clipped(launch.name, longest_name(ring()));
  count_cut_name(launch.name, name);
  const std::size_t bytes = record_bytes + sizeof(trace::LaunchShapeRecord) + string_room(name.size());
  if (!room(trace::KernelRecord::kKind, bytes)) return trace::kNoRef;
  auto record = trace::make_record<trace::LaunchShapeRecord>();
  record.registers_per_thread = launch.registers;
  std::memcpy(record.grid, launch.dimensions, sizeof(launch.dimensions));
  record.local_bytes_per_thread = launch.local_bytes_per_thread;
  record.launch_type = launch.launch_type;
  std::memcpy(record.cluster, &launch.cluster, sizeof(record.cluster));
  const Locked locked(interner().lock());
  return interner().shape(ring(), writer_, {record, name});
}

// Defined in the region while there is space, otherwise again in every block that needs it.
template <typename Make>
void Translation::write_once(Written& written, std::uint32_t key, const Make& make) noexcept {
  if (written.key == key && (written.in_region || written.ticket == writer_.ticket())) return;
  const auto record = make();
  const bool in_region = define(record, kIdentityReserve);
  if (!in_region) writer_.append(&record, sizeof(record));
  written = {writer_.ticket(), key, in_region};
}

void Translation::name_api(trace::RecordKind domain, std::uint32_t cbid) noexcept {
  const std::uint32_t key = (cbid << 1 | (domain == trace::DriverRecord::kKind)) + 1;  // 0 is an unused slot
  write_once(apis_[key % kApis], key, [&] {
    auto record = trace::make_record<trace::ApiNameRecord>();
    record.domain = static_cast<std::uint8_t>(domain);
    record.cbid = cbid;
    snprintf(record.name, sizeof(record.name), "%s", api_name(domain, cbid));
    return record;
  });
}

void Translation::name_thread(std::uint32_t tid) noexcept {
  // Two threads whose numbers share a slot must not replace each other at every call.
  Written* slot = &threads_[tid % kThreads];
  for (std::size_t i = 0; i < kProbes && slot->key != tid && slot->key != 0; ++i)
    slot = &threads_[(tid + i + 1) % kThreads];
  write_once(*slot, tid, [&] {
    auto record = trace::make_record<trace::ThreadNameRecord>();
    record.tid = tid;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    read_small_file(path, record.name, sizeof(record.name));
    record.name[std::strcspn(record.name, "\n")] = '\0';
    return record;
  });
}

template <typename Record>
void Translation::define_once(Record& known, const Record& record, std::size_t keep_free) noexcept {
  if (std::memcmp(&known, &record, sizeof(record)) == 0) return;
  if (define(record, keep_free)) {
    known = record;
  } else if (room(Record::kKind, sizeof(record))) {
    append(record);
  }
}

void Translation::define_context(const trace::ContextRecord& record) noexcept {
  define_once(contexts_[record.context % kContexts], record, kIdentityReserve);
}

// A program that creates streams continually leaves half of the region for other definitions.
void Translation::define_stream(const trace::StreamRecord& record) noexcept {
  define_once(streams_[(record.context * 61 + record.stream) % kStreams], record, ring().header->definitions_bytes / 2);
}

std::uint64_t Translation::foreign_time(std::uint64_t cupti_ns) noexcept {
  strange_ = true;
  return from_foreign_cupti(cupti_ns);
}

void Translation::count_invalid_timestamps() noexcept {
  trace::SharedMemory::add(ring().header->invalid_timestamps, 1);
}

}  // namespace agent
