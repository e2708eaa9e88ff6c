#include "agent/python/python_stacks.h"

#include <atomic>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/python/hang_stacks.h"
#include "agent/python/module_names.h"
#include "agent/python/python_door.h"
#include "agent/python/python_end.h"
#include "agent/python/python_frames.h"
#include "agent/ring/frame_table.h"
#include "agent/ring/recorder.h"
#include "agent/ring/thread_state.h"

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

const void* called_module(const PythonPlace& place) {
  return place.code == s_module_call.load(std::memory_order_relaxed) ? place.first_local : nullptr;
}

// `recent`: of the thread, and where in it. Null: none.
std::uint32_t ref_of(const PythonPlace& place, RecentFrames* recent, std::size_t at) {
  const void* module = called_module(place);
  std::uint64_t check = identity_of(s_python, place.code);
  if (module != nullptr) check ^= reinterpret_cast<std::uintptr_t>(class_of(module));
  const FrameKey key = key_of(place, module, check);
  std::uint32_t ref = recent != nullptr ? recent->find(at, key) : trace::kNoRef;
  if (ref != trace::kNoRef) return ref;
  ref = s_python_frames.find(key);
  if (ref == trace::kNoRef) ref = define_frame(place, module, check);
  if (recent != nullptr && ref != trace::kNoRef) recent->remember(at, key, ref);
  return ref;
}

}  // namespace

bool find_python_stacks() noexcept { return find_python(s_python); }

void check_python_stacks() noexcept {
  std::size_t compared = 0;
  if (!check_python_frames(s_python, compared)) {
    constexpr char kWhat[] = "the frames of this Python are not laid out as in the versions that are known: there are no stacks";
    return has_python_stacks(settings().torch) ? say(kWhat) : say_verbose(kWhat);
  }
  if (compared > 0) prepare_hang_stacks(s_python);
  s_is_checked.store(compared > 0, std::memory_order_release);
}

void name_seen_modules(const Guard& guard, const PythonObjects& objects) noexcept {
  if (s_is_checked.load(std::memory_order_relaxed)) name_modules(guard, objects, s_python, s_module_call.load(std::memory_order_relaxed));
}

const void* interpreter_code() noexcept {
  return s_is_checked.load(std::memory_order_acquire) ? reinterpret_cast<const void*>(s_python.is_initialized) : nullptr;
}

PythonPosition python_position() noexcept {
  if (!s_is_checked.load(std::memory_order_acquire)) return {};
  const PythonReading reading;
  return reading ? python_position(s_python) : PythonPosition{};
}

PythonStack::PythonStack(const Guard&) noexcept {
  if (!s_is_checked.load(std::memory_order_acquire)) return;
  const PythonReading reading;
  if (!reading) return;
  PythonPlace places[kMost];
  const std::size_t count = python_places(s_python, places, kMost);
  ThreadState* const state = count > 0 ? thread_state() : nullptr;
  const void* outermost = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    refs_[i] = ref_of(places[i], state != nullptr ? &state->frames : nullptr, count - 1 - i);
    if (refs_[i] == trace::kNoRef) return;  // a stack without one of its frames says what is not so
    if (const void* module = called_module(places[i])) outermost = module;
  }
  count_ = count;
  if (outermost != nullptr && wants_module_names(outermost)) wake_python_door();
}

PythonStack::PythonStack(const Guard&, const PythonPlace* places, std::size_t count) noexcept {
  constexpr int kTries = 1000;
  const PythonReading reading;
  if (!reading || count > kMost) return;
  for (std::size_t i = 0; i < count; ++i) {
    for (int tries = 0; (refs_[i] = ref_of(places[i], nullptr, 0)) == trace::kNoRef; ++tries) {
      if (tries == kTries) return;
      sched_yield();
    }
  }
  count_ = count;
}

}  // namespace agent
