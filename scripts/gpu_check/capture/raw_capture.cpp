// libraw_capture.so, for CUDA_INJECTION64_PATH: keeps what CUPTI and NVTX hand over, untranslated, in a small file
// (raw_capture_file.h). Without RAW_CAPTURE_DIR it does nothing. It is for programs with known work; the recorder's own
// loader finds libcupti (TRACETOOL_CUPTI decides when set).
#include <dlfcn.h>
#include <sys/auxv.h>
#include <time.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/cupti/cupti_library.h"
#include "scripts/gpu_check/capture/capture_writer.h"

namespace raw_capture {
namespace {

using agent::cupti;

constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kTexts = 1024;

// What the agent can translate (agent/translate/translate.cpp), without whole graphs, which hide their nodes.
constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_OVERHEAD,
    CUPTI_ACTIVITY_KIND_MEMORY2,           CUPTI_ACTIVITY_KIND_MEMORY_POOL,
    CUPTI_ACTIVITY_KIND_CONTEXT,           CUPTI_ACTIVITY_KIND_STREAM,
};

void* driver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); }

std::int32_t driver_version() {
  void* library = driver();
  if (library == nullptr) return 0;
  const auto get = reinterpret_cast<CUresult (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  return get != nullptr && get(&version) == CUDA_SUCCESS ? version : 0;
}

// Not before there is a buffer: CUDA may be used by then.
void write_device_once() {
  static constinit std::atomic<bool> s_once{false};
  if (s_once.exchange(true)) return;
  void* library = driver();
  if (library == nullptr) return;
  const auto name_of = reinterpret_cast<CUresult (*)(char*, int, CUdevice)>(dlsym(library, "cuDeviceGetName"));
  char name[256] = "";
  if (name_of == nullptr || name_of(name, sizeof(name), 0) != CUDA_SUCCESS) return;
  write_section(SectionType::device, {{name, std::strlen(name)}});
}

void write_clocks() {
  Clocks clocks{};
  const std::uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  cupti().get_timestamp(&clocks.cupti_ns);
  clocks.real_ns = clock_ns(CLOCK_REALTIME);
  clocks.uncertainty_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
  clocks.mono_ns = before_ns + clocks.uncertainty_ns / 2;
  write_section(SectionType::clocks, {{&clocks, sizeof(clocks)}});
}

// Names are pointers, which mean nothing in a file. One that is not in the table any more is written again.
void write_text_once(const char* text) {
  static constinit std::atomic<const char*> s_written[kTexts]{};
  if (text == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  if (s_written[address / 8 % kTexts].exchange(text) == text) return;
  const std::uint64_t wide = address;
  write_section(SectionType::text, {{&wide, sizeof(wide)}, {text, std::strlen(text)}});
}

std::size_t list_records(std::uint8_t* buffer, std::size_t valid, RecordPlace* places, std::size_t room) {
  CUpti_Activity* activity = nullptr;
  std::size_t count = 0;
  while (count < room && cupti().get_next_record(buffer, valid, &activity) == CUPTI_SUCCESS) {
    places[count++] = {static_cast<std::uint32_t>(reinterpret_cast<std::uint8_t*>(activity) - buffer),
                       static_cast<std::uint32_t>(activity->kind)};
    if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      write_text_once(reinterpret_cast<const CUpti_ActivityKernel5*>(activity)->name);
  }
  return count;
}

void keep(std::uint8_t* buffer, std::size_t valid) {
  if (!has_room(SectionType::buffer, valid)) {
    __atomic_fetch_add(&totals().buffers_left_out, 1, __ATOMIC_RELAXED);
    return;
  }
  write_device_once();
  write_clocks();
  constexpr std::size_t kMost = kBufferBytes / 16;
  auto* places = static_cast<RecordPlace*>(std::malloc(kMost * sizeof(RecordPlace)));
  if (places == nullptr) return;
  const std::size_t count = list_records(buffer, valid, places, kMost);
  write_section(SectionType::records, {{places, count * sizeof(RecordPlace)}});
  write_section(SectionType::buffer, {{buffer, valid}});
  std::free(places);
  __atomic_fetch_add(&totals().buffers, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&totals().records, count, __ATOMIC_RELAXED);
}

alignas(64) constinit std::uint8_t s_sink[kBufferBytes]{};  // where there is no memory: what comes in it is lost

void on_exit_before_driver();

void CUPTIAPI on_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  static constinit std::atomic<bool> s_registered{false};  // behind the driver's own, so that it comes before it
  if (!s_registered.exchange(true)) std::atexit(on_exit_before_driver);
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, kBufferBytes));
  if (*buffer == nullptr) *buffer = s_sink;
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI on_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                           std::size_t valid) {
  if (buffer == nullptr) return;
  std::size_t dropped = 0;
  if (is_open() && valid > 0 && buffer != s_sink) keep(buffer, valid);
  if (cupti().get_dropped(context, stream, &dropped) == CUPTI_SUCCESS)
    __atomic_fetch_add(&totals().cupti_dropped, dropped, __ATOMIC_RELAXED);
  if (buffer != s_sink) std::free(buffer);
}

bool enable() {
  cupti().set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (cupti().register_callbacks(on_requested, on_completed) != CUPTI_SUCCESS) return false;
  for (const CUpti_ActivityKind kind : kKinds) cupti().activity_enable(kind);
  return true;
}

// CUPTI is not called once the driver has begun to leave.
void on_exit_before_driver() {
  if (!is_open()) return;
  cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  write_clocks();
}

void on_exit() {
  if (!is_open()) return;
  write_section(SectionType::totals, {{&totals(), sizeof(Totals)}});
}

// NVTX has no other way to find us. Only while the library is loaded: later another thread may read the environment.
__attribute__((constructor)) void on_load() {
  Dl_info info;
  char path[PATH_MAX];
  if (getauxval(AT_SECURE) != 0 || std::getenv("RAW_CAPTURE_DIR") == nullptr) return;
  agent::remember_stderr();
  if (dladdr(reinterpret_cast<void*>(&on_exit), &info) == 0 || realpath(info.dli_fname, path) == nullptr) return;
  setenv("NVTX_INJECTION64_PATH", path, 0);
}

}  // namespace
}  // namespace raw_capture

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace raw_capture;
  static constinit std::atomic<bool> s_once{false};
  if (getauxval(AT_SECURE) != 0 || std::getenv("RAW_CAPTURE_DIR") == nullptr || s_once.exchange(true)) return 1;
  agent::read_settings();
  const bool loaded = agent::load_cupti();
  if (!open_file(cupti().version, driver_version())) {
    agent::say("raw capture: no new file can be made in RAW_CAPTURE_DIR=%s", std::getenv("RAW_CAPTURE_DIR"));
    return 1;
  }
  if (loaded) write_clocks();
  if (!loaded || !enable()) agent::say("raw capture: CUPTI cannot be had: only NVTX is captured");
  std::atexit(on_exit);
  return 1;
}
