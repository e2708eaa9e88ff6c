#include "agent/native/native_stacks.h"

#include <unistd.h>

#include <climits>
#include <cstring>

#include "agent/base/lock.h"
#include "agent/cupti/cupti_library.h"
#include "agent/native/backtrace.h"
#include "agent/native/loaded_code.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/frame_table.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

// What objects had been unloaded at the thread's last stack.
thread_local std::uint64_t t_unloaded __attribute__((tls_model("initial-exec"))) = 0;

constinit Spinlock s_lock{};  // of what follows
constinit LoadedCodes s_codes{};
constinit FrameTable s_native_frames{};
// The objects that are defined, by their numbers.
constexpr std::size_t kMostDefined = 1024;
constinit std::uint32_t s_defined[kMostDefined]{};
constinit std::size_t s_defined_count = 0;

bool is_defined(std::uint32_t number) {
  for (std::size_t i = 0; i < s_defined_count; ++i) {
    if (s_defined[i] == number) return true;
  }
  return false;
}

bool define_object(const LoadedCode& code, std::string_view path) {
  auto record = trace::make_record<trace::ObjectRecord>();
  record.build_id_bytes = code.build_id_bytes;
  std::memcpy(record.build_id, code.build_id, sizeof(record.build_id));
  if (!interner().lock().try_lock_for_moments()) return false;
  record.path_ref = interner().permanent_string(ring(), path);
  const bool done = record.path_ref != trace::kNoRef &&
                    trace::append_definition(ring(), kNamesReserve, &record, sizeof(record)) != trace::kNoRef;
  interner().lock().unlock();
  if (done && s_defined_count < kMostDefined) s_defined[s_defined_count++] = code.number;
  return done;
}

// The program itself has no path in the loader's list.
std::string_view path_of(const LoadedCode& code, char (&room)[PATH_MAX]) {
  if (code.path[0] != '\0') return code.path;
  const ssize_t length = readlink("/proc/self/exe", room, sizeof(room));
  return {room, length > 0 ? static_cast<std::size_t>(length) : 0};
}

std::uint32_t define_native(const FrameKey& key, const LoadedCode& code) {
  static constinit char s_room[PATH_MAX];  // under the lock
  const std::string_view path = path_of(code, s_room);
  if (!is_defined(code.number) && !define_object(code, path)) return trace::kNoRef;
  auto record = trace::make_record<trace::FrameRecord>();
  record.what = static_cast<std::uint8_t>(trace::FrameKind::native);
  record.instance = key.words[0];
  return s_native_frames.define(key, {}, path, record);
}

// Code that no file holds (compiled at run time) has its address alone.
std::uint32_t define_unnamed(const FrameKey& key) {
  auto record = trace::make_record<trace::FrameRecord>();
  record.what = static_cast<std::uint8_t>(trace::FrameKind::native);
  record.instance = key.words[0];
  return s_native_frames.define(key, {}, {}, record);
}

std::uint32_t ref_of(const void* address, const LoadedCode* code) {
  const FrameKey key{{reinterpret_cast<std::uintptr_t>(address) - (code != nullptr ? code->base : 0), code != nullptr ? code->number : 0, 0, 0}};
  const std::uint32_t known = s_native_frames.find(key);
  if (known != trace::kNoRef) return known;
  return code != nullptr ? define_native(key, *code) : define_unnamed(key);
}

// An address returned to is that behind the call, which may be another function's.
const LoadedCode* code_at(const void* address) { return s_codes.find(static_cast<const std::byte*>(address) - 1); }

// The agent's own frames and CUPTI's are left out: those up to the first that is neither's.
bool is_ours(const LoadedCode* code) {
  return code != nullptr && (code == s_codes.find(reinterpret_cast<const void*>(&loader_counts)) ||
                             code == s_codes.find(reinterpret_cast<const void*>(cupti().enable_callback)));
}

// Under the lock. How many refs; 0: a frame cannot be told, and a stack without it says what is not so.
std::size_t tell(const void* const* addresses, std::size_t count, std::string_view of_python, std::uint32_t* refs) {
  const LoadedCode* interpreter = of_python.empty() ? nullptr : s_codes.find(interpreter_code());
  std::size_t i = 0, told = 0;
  while (i < count && is_ours(code_at(addresses[i]))) ++i;
  for (; i < count; ++i) {
    const LoadedCode* code = code_at(addresses[i]);
    if (interpreter != nullptr && code == interpreter) break;
    refs[told] = ref_of(addresses[i], code);
    if (refs[told++] == trace::kNoRef) return 0;
  }
  std::memcpy(refs + told, of_python.data(), of_python.size());
  return told + of_python.size() / sizeof(refs[0]);
}

}  // namespace

NativeStack::NativeStack(const Guard& guard) noexcept {
  const LoaderCounts counts = loader_counts();
  if (counts.unloaded != t_unloaded) forget_unloaded_code();
  t_unloaded = counts.unloaded;
  const void* addresses[kMost];
  const std::size_t count = backtrace_here(addresses, kMost);
  const PythonStack python(guard);
  if (count == 0 || !s_lock.try_lock_for_moments()) return;
  s_codes.refresh(counts);
  count_ = tell(addresses, count, python.bytes(), refs_);
  s_lock.unlock();
}

}  // namespace agent
