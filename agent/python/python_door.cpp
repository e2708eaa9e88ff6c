#include "agent/python/python_door.h"

#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/python/garbage_collections.h"
#include "agent/python/hang_stacks.h"
#include "agent/python/python_end.h"
#include "agent/python/python_objects.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

constinit PythonObjects s_door_objects{};
constinit Worker s_door{};
constinit bool s_wants_stacks = false;

void begin_with_lock() {
  const PythonLock lock(s_door_objects);
  if (!watch_garbage_collections(s_door_objects)) say_verbose("Python's garbage collections are not recorded");
  if (s_wants_stacks && watch_python_end(s_door_objects)) return check_python_stacks();
  if (s_wants_stacks) say_verbose("the exit of this Python cannot be observed: stacks are not recorded");
}

void work_with_lock(const Guard& guard) {
  write_hang_stacks(guard);
  name_seen_modules(guard, s_door_objects);
}

void go_through_door() {
  const PythonLock lock(s_door_objects);
  const Guard guard;  // not before: Python may end the thread there
  if (guard && recording() == Recording::open) work_with_lock(guard);
}

// Until the process ends, or Python does.
void run_door() {
  constexpr double kLong_ms = 3'600'000;
  if (s_door_objects.is_initialized() == 0) return;
  begin_with_lock();
  while (s_wants_stacks && s_door.wait_ms(kLong_ms)) {
    if (s_door_objects.is_initialized() == 0) return;
    go_through_door();
  }
}

// Reports once that the process has an unsupported Python.
void tell_unknown_python() {
  static constinit bool s_is_told = false;
  const auto version = reinterpret_cast<const char* (*)()>(symbol_in(handle_of(nullptr), "Py_GetVersion"));
  if (s_is_told || version == nullptr || !has_python_stacks(settings().torch)) return;
  s_is_told = true;
  const char* text = version();
  std::size_t length = std::strcspn(text, "(");
  while (length > 0 && text[length - 1] == ' ') --length;
  say("operators have no stacks: this Python is %.*s; supported are CPython 3.9 to 3.14 with a GIL", static_cast<int>(length), text);
}

}  // namespace

void watch_python(bool stacks) noexcept {
  static constinit bool s_done = false;
  if (s_done) return;
  if (!find_python_objects(s_door_objects)) return tell_unknown_python();
  s_done = true;
  s_wants_stacks = stacks && find_python_stacks();
  if (!s_wants_stacks) tell_unknown_python();
  if (!s_door.start("tracetool-py", run_door)) say("cannot start a thread: events that need Python's lock are not recorded");
}

void wake_python_door() noexcept { s_door.wake(); }

}  // namespace agent
