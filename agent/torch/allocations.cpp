#include "agent/torch/allocations.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "agent/base/agent_settings.h"
#include "agent/base/call_slot.h"
#include "agent/base/guard.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/torch/operators.h"

namespace agent {
namespace {

using trace::AllocatorAction;
using trace::AllocatorRecord;

// c10::Device, passed in one register.
struct TorchDevice {
  std::int8_t type, index;
};
constexpr std::int8_t kCuda = 1;

// c10::cuda::CUDAStream, returned in two registers.
struct TorchStream {
  TorchDevice device;
  std::uint64_t id;
};

using ReportUsage = void (*)(void* block, std::int64_t change, std::size_t allocated, std::size_t reserved,
                             TorchDevice);
using CurrentStream = TorchStream (*)(std::int8_t device);
using ReportFailure = void (*)(std::int64_t requested, std::size_t allocated, std::size_t reserved, TorchDevice);
constexpr char kReportUsage[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr char kReportFailure[] = "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE";
constexpr char kCurrentStream[] = "_ZN3c104cuda20getCurrentCUDAStreamEa";

constexpr char kAllocationsUnfit[] = "this PyTorch reports no allocations in a supported way: they are not recorded";

constinit std::atomic<ReportUsage> s_report_usage{nullptr};
constinit std::atomic<ReportFailure> s_report_failure{nullptr};
constinit CurrentStream s_current_stream = nullptr;                     // null if not found
constinit std::atomic<decltype(&cuMemGetInfo)> s_memory_info{nullptr};  // null if not found yet
constinit std::atomic<bool> s_allocations_refused{false};
constinit std::atomic<std::uint64_t> s_recorded{0};

bool are_allocations_recorded() {
  return recording() == Recording::open && !s_allocations_refused.load(std::memory_order_relaxed) &&
         torch_has_allocations();
}

void refuse_allocations(const Guard& guard) {
  if (s_allocations_refused.exchange(true)) return;
  say("%s", kAllocationsUnfit);
  if (recording() != Recording::open) return note_torch_unknown(kAllocationsUnfit);
  write_notice(guard, trace::NoticeCode::torch_unknown, 0, kAllocationsUnfit);
}

bool is_device(TorchDevice device) {
  constexpr std::int8_t kMostDevices = 64;
  return device.type == kCuda && device.index >= 0 && device.index < kMostDevices;
}

// Returns false if a value is impossible. No further report is then recorded.
bool is_expected_report(const Guard& guard, TorchDevice device, std::size_t allocated, std::size_t reserved) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 50;
  if (is_device(device) && allocated < kMostBytes && reserved < kMostBytes) return true;
  refuse_allocations(guard);
  return false;
}

// Returns the current stream of this thread. Call it without a Guard: PyTorch's function may throw, and the agent is
// compiled without exceptions, so the Guard's destructor would not run.
std::uint64_t current_stream(TorchDevice device) {
  if (s_current_stream == nullptr || !is_device(device) || !is_recorded_process() || !are_allocations_recorded())
    return AllocatorRecord::kUnknown;
  return s_current_stream(device.index).id;
}

// PyTorch itself has just asked the driver for the free memory, so the driver can be called here.
std::uint64_t free_bytes() {
  const auto memory_info = s_memory_info.load(std::memory_order_relaxed);
  std::size_t available = 0, total = 0;
  const bool is_known = memory_info != nullptr && memory_info(&available, &total) == CUDA_SUCCESS;
  return is_known ? available : AllocatorRecord::kUnknown;
}

// `address` is ignored for a failure.
void record_report(AllocatorAction action, std::uint64_t address, std::uint64_t bytes, std::size_t allocated,
                   std::size_t reserved, TorchDevice device) {
  const bool is_release = action == AllocatorAction::release;
  const std::uint64_t stream = is_release ? AllocatorRecord::kUnknown : current_stream(device);
  const Guard guard;
  if (!guard || !are_allocations_recorded() || !is_expected_report(guard, device, allocated, reserved)) return;
  s_recorded.fetch_add(1, std::memory_order_relaxed);
  auto record = trace::make_record<AllocatorRecord>();
  record.action = static_cast<std::uint8_t>(action);
  record.device_type = static_cast<std::uint8_t>(device.type);
  record.tid = thread_id();
  record.address = action == AllocatorAction::fail ? free_bytes() : address;
  record.bytes = bytes;
  record.allocated_bytes = allocated;
  record.reserved_bytes = reserved;
  record.stream = stream;
  record.device = device.index;
  record.stack_ref = trace::kNoRef;
  HostWriter writer(guard, AllocatorRecord::kKind, sizeof(record), is_release ? 0 : PythonStack::kMostBytes);
  if (!writer) return;
  if (!is_release) {
    PythonStack stack(guard);
    stack.read();
    record.stack_ref = stack.write(writer);
    if (!writer) return;  // counted as lost
  }
  record.time_mono_ns = mono_ns();
  writer.append(record);
}

void on_usage(void* block, std::int64_t change, std::size_t allocated, std::size_t reserved, TorchDevice device) {
  s_report_usage.load(std::memory_order_acquire)(block, change, allocated, reserved, device);
  if (change == 0) return;
  const auto bytes = static_cast<std::uint64_t>(change);
  record_report(change > 0 ? AllocatorAction::allocate : AllocatorAction::release,
                reinterpret_cast<std::uintptr_t>(block), change > 0 ? bytes : -bytes, allocated, reserved, device);
}

void on_failure(std::int64_t requested, std::size_t allocated, std::size_t reserved, TorchDevice device) {
  s_report_failure.load(std::memory_order_acquire)(requested, allocated, reserved, device);
  record_report(AllocatorAction::fail, 0, static_cast<std::uint64_t>(requested), allocated, reserved, device);
}

// Finds the entry through which libc10_cuda calls a function. Sets `original` to the function that the agent passes calls
// on to.
template <typename Function>
bool find_entry(void* library, const char* path, const char* name, CallSlot& slot, std::atomic<Function>& original) {
  Function function = nullptr;
  // The loader searches the global scope first, where another tool may have its own function.
  if (!find_in(RTLD_DEFAULT, name, function) && !find_in(library, name, function)) return false;
  if (!find_call_slot(path, name, slot)) return false;
  // The entry points into the library itself until its first call, or to another tool's function if that replaced it.
  const bool is_unbound = slot.points_into_caller();
  original.store(is_unbound ? function : reinterpret_cast<Function>(const_cast<void*>(slot.target())),
                 std::memory_order_release);
  return true;
}

constinit CallSlot s_usage_slot{}, s_failure_slot{};

bool replace_entries(void* library, const char* path) {
  return find_entry(library, path, kReportUsage, s_usage_slot, s_report_usage) &&
         find_entry(library, path, kReportFailure, s_failure_slot, s_report_failure) &&
         s_usage_slot.set(reinterpret_cast<const void*>(on_usage)) &&
         s_failure_slot.set(reinterpret_cast<const void*>(on_failure));
}

// Replaces an entry again if the loader has overwritten it: it was resolving the first call when the agent replaced it. An
// entry that another tool has replaced since then stays as it is.
template <typename Function>
void keep_entry(const CallSlot& slot, const std::atomic<Function>& original, Function mine) {
  if (slot.target() == reinterpret_cast<const void*>(original.load(std::memory_order_relaxed)))
    slot.set(reinterpret_cast<const void*>(mine));
}

void keep_entries() {
  if (s_allocations_refused.load(std::memory_order_relaxed)) return;
  keep_entry<ReportUsage>(s_usage_slot, s_report_usage, on_usage);
  keep_entry<ReportFailure>(s_failure_slot, s_report_failure, on_failure);
}

// Returns false if libc10_cuda is not loaded.
bool find_c10_cuda(const char*& path, void*& library) {
  ObjectPaths found{};
  objects_named("libc10_cuda.so", found);
  if (found.count == 0) return false;
  path = found.paths[0];
  // Waits until the library is relocated; it stays loaded.
  library = handle_of(path);
  return library != nullptr;
}

void find_driver_function() {
  if (s_memory_info.load(std::memory_order_relaxed) != nullptr) return;
  decltype(&cuMemGetInfo) memory_info = nullptr;
  void* driver = handle_of("libcuda.so.1");
  if (driver != nullptr && find_in(driver, "cuMemGetInfo_v2", memory_info))
    s_memory_info.store(memory_info, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t allocations_recorded() noexcept { return s_recorded.load(std::memory_order_relaxed); }

void watch_allocations() noexcept {
  static constinit bool s_is_found = false;
  if (!torch_has_allocations()) return;
  if (s_is_found) {
    keep_entries();
    return find_driver_function();
  }
  const char* path = nullptr;
  void* library = nullptr;
  if (!find_c10_cuda(path, library)) return;
  s_is_found = true;
  find_in(library, kCurrentStream, s_current_stream);
  if (!replace_entries(library, path)) {
    const Guard guard;
    return refuse_allocations(guard);
  }
  find_driver_function();
  say_verbose("allocations of PyTorch are recorded");
}

}  // namespace agent
