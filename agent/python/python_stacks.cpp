#include "agent/python/python_stacks.h"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "agent/base/message.h"
#include "agent/python/python_frames.h"
#include "agent/ring/frame_table.h"
#include "agent/ring/recorder.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

constinit PythonFunctions s_python{};
constinit std::atomic<bool> s_is_checked{false};

// A frame by its place: where the code object lies, and, because addresses are used again, its name and first line. Of a module's call
// the module and its class besides.
constinit FrameTable s_python_frames{};
FrameKey key_of(const PythonPlace& place, const void* module, std::uint64_t check) {
  return {{reinterpret_cast<std::uintptr_t>(place.code), static_cast<std::uint32_t>(place.offset), reinterpret_cast<std::uintptr_t>(module), check}};
}

// torch.nn.Module's function through which each module is called, whose first argument is the module; 0: not seen so far.
constinit std::atomic<const void*> s_module_call{nullptr};
bool is_module_call(const PythonNames& names) {
  return names.function.ends_with("_wrapped_call_impl") && names.file.ends_with("torch/nn/modules/module.py");
}

std::uint32_t define_frame(const PythonPlace& place, const void* module, std::uint64_t check) {
  PythonNames names{};
  auto record = trace::make_record<trace::FrameRecord>();
  record.what = static_cast<std::uint8_t>(trace::FrameKind::python);
  if (module != nullptr) {
    record.what = static_cast<std::uint8_t>(trace::FrameKind::module);
    record.instance = reinterpret_cast<std::uintptr_t>(module);
    names.function = class_of(module);
  } else if (!names_of(s_python, place, names)) {
    return trace::kNoRef;
  } else if (is_module_call(names)) {
    s_module_call.store(place.code, std::memory_order_relaxed);
    return define_frame(place, place.first_local, check);
  }
  record.line = names.line;
  return s_python_frames.define(key_of(place, module, check), names.function, names.file, record);
}

std::uint32_t ref_of(const PythonPlace& place) {
  const bool is_call = place.code == s_module_call.load(std::memory_order_relaxed);
  const void* module = is_call ? place.first_local : nullptr;
  std::uint64_t check = identity_of(s_python, place.code);
  if (module != nullptr) check ^= reinterpret_cast<std::uintptr_t>(class_of(module));
  const std::uint32_t known = s_python_frames.find(key_of(place, module, check));
  return known != trace::kNoRef ? known : define_frame(place, module, check);
}

constinit Worker s_thread{};

void check() {
  if (s_python.is_initialized() == 0) return;
  const int state = s_python.gil_ensure();
  std::size_t compared = 0;
  const bool same = check_python_frames(s_python, compared);
  s_python.gil_release(state);
  if (!same) return say("the frames of this Python are not laid out as in the versions that are known: there are no stacks");
  s_is_checked.store(compared > 0, std::memory_order_release);
}

}  // namespace

void watch_python() noexcept {
  static constinit bool s_done = false;
  if (s_done || !find_python(s_python)) return;
  s_done = true;
  if (!s_thread.start("tracetool-py", check)) say("cannot start a thread: there are no Python stacks");
}

const void* interpreter_code() noexcept {
  return s_is_checked.load(std::memory_order_acquire) ? reinterpret_cast<const void*>(s_python.is_initialized) : nullptr;
}

PythonStack::PythonStack(const Guard&) noexcept {
  if (!s_is_checked.load(std::memory_order_acquire)) return;
  PythonPlace places[kMost];
  const std::size_t count = python_places(s_python, places, kMost);
  for (std::size_t i = 0; i < count; ++i) {
    refs_[i] = ref_of(places[i]);
    if (refs_[i] == trace::kNoRef) return;  // a stack without one of its frames says what is not so
  }
  count_ = count;
}

}  // namespace agent
