#include "agent/translate.h"

#include <cstdio>
#include <cstring>

#include "agent/cupti_library.h"
#include "agent/host.h"
#include "agent/recorder.h"

namespace agent {

const TranslatorRow kTranslators[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, trace::RecordKind::kernel, translate_kernel},
    {CUPTI_ACTIVITY_KIND_MEMCPY, trace::RecordKind::memcpy, translate_memcpy},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, trace::RecordKind::memcpy_peer, translate_memcpy_peer},
    {CUPTI_ACTIVITY_KIND_MEMSET, trace::RecordKind::memset, translate_memset},
    {CUPTI_ACTIVITY_KIND_RUNTIME, trace::RecordKind::runtime, translate_runtime},
    {CUPTI_ACTIVITY_KIND_DRIVER, trace::RecordKind::driver, translate_driver},
    {CUPTI_ACTIVITY_KIND_INVALID, trace::RecordKind::none, nullptr},
};

// A host that has no thread of its own in this: tid 0 names the agent's flushing.
bool Translation::begin() noexcept { return writer_.enter(ring(), 0, carried_clocks); }

void Translation::end() noexcept { writer_.leave(); }

void Translation::record(const CUpti_Activity* activity) noexcept {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (row->activity == activity->kind) return row->translate(*this, activity);
  }
  trace::SharedMemory::add(ring().header->unknown_activities, 1);
}

bool Translation::room(trace::RecordKind kind, std::size_t bytes) noexcept {
  if (writer_.make_room(bytes, carried_clocks)) return true;
  count_lost(kind);
  return false;
}

bool Translation::is_known(const KnownShape& known, const char* name,
                           const trace::LaunchShapeRecord& launch) const noexcept {
  return known.name == name && (known.ticket == 0 || known.ticket == writer_.ticket()) &&
         std::memcmp(&known.launch, &launch, sizeof(launch)) == 0 &&
         std::strncmp(name, known.text, known.length) == 0 && name[known.length] == '\0';
}

void Translation::remember(KnownShape& known, const char* name, const trace::LaunchShapeRecord& launch,
                           std::uint32_t ref) noexcept {
  const auto place = [&](std::uint32_t at) {
    return (trace::is_local(at) ? writer_.payload() : ring().definitions()) + trace::ref_offset(at);
  };
  trace::LaunchShapeRecord written;
  std::memcpy(&written, place(ref), sizeof(written));
  trace::StringRecord text;
  std::memcpy(&text, place(written.name_ref), sizeof(text));
  known = {name, trace::is_local(ref) ? writer_.ticket() : 0, launch, ref, text.length,
           reinterpret_cast<const char*>(place(written.name_ref)) + sizeof(text)};
}

std::uint32_t Translation::kernel_shape(const CUpti_ActivityKernel5& kernel) noexcept {
  auto launch = trace::make_record<trace::LaunchShapeRecord>();
  launch.registers_per_thread = kernel.registersPerThread;
  const std::int32_t grid[3] = {kernel.gridX, kernel.gridY, kernel.gridZ};
  const std::int32_t block[3] = {kernel.blockX, kernel.blockY, kernel.blockZ};
  std::memcpy(launch.grid, grid, sizeof(grid));
  std::memcpy(launch.block, block, sizeof(block));
  launch.static_shared_bytes = static_cast<std::uint32_t>(kernel.staticSharedMemory);
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamicSharedMemory);
  const char* name = kernel.name != nullptr ? kernel.name : "";

  const std::uint64_t hash = hash_bytes(&launch, sizeof(launch), reinterpret_cast<std::uintptr_t>(name));
  KnownShape& known = shapes_[hash % kShapes];
  if (is_known(known, name, launch)) return known.ref;
  const Locked locked(interner().lock());
  const std::uint32_t ref = interner().shape(ring(), writer_, {launch, name});
  remember(known, name, launch, ref);
  return ref;
}

// Into the region while there is room; else again in every block that needs it.
template <typename Make>
void Translation::write_once(Written& written, std::uint32_t key, const Make& make) noexcept {
  if (written.key == key && (written.in_region || written.ticket == writer_.ticket())) return;
  const auto record = make();
  const bool in_region = define(record, kIdentityReserve);
  if (!in_region) writer_.append(&record, sizeof(record));
  written = {writer_.ticket(), key, in_region};
}

void Translation::name_api(trace::RecordKind domain, std::uint32_t cbid) noexcept {
  const std::uint32_t key = (cbid << 1 | (domain == trace::RecordKind::driver)) + 1;  // 0 is an unused slot
  write_once(apis_[key % kApis], key, [&] {
    auto record = trace::make_record<trace::ApiNameRecord>();
    record.domain = static_cast<std::uint8_t>(domain);
    record.cbid = cbid;
    const char* name = nullptr;
    const auto callbacks =
        domain == trace::RecordKind::driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    if (cupti().get_callback_name(callbacks, cbid, &name) != CUPTI_SUCCESS || name == nullptr) name = "";
    snprintf(record.name, sizeof(record.name), "%s", name);
    return record;
  });
}

void Translation::name_thread(std::uint32_t tid) noexcept {
  write_once(threads_[tid % kThreads], tid, [&] {
    auto record = trace::make_record<trace::ThreadNameRecord>();
    record.tid = tid;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    read_small_file(path, record.name, sizeof(record.name));
    record.name[std::strcspn(record.name, "\n")] = '\0';
    return record;
  });
}

}  // namespace agent
