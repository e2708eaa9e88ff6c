#include "agent/python/python_door.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "agent/base/agent_settings.h"
#include "agent/base/guard.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/python/hang_stacks.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

constinit const PythonObjects* s_ending_python = nullptr;
constinit std::atomic<bool> s_may_read{false};

// The number of readers, in several counters, so that threads do not contend for one cache line.
struct alignas(64) Readers {
  std::atomic<std::uint32_t> count{0};
};
constexpr std::size_t kReaders = 16;
constinit Readers s_readers[kReaders];
std::atomic<std::uint32_t>& readers() { return s_readers[thread_id() % kReaders].count; }

// Waits for readers, which take microseconds, for a second at most. A forked child does not wait: its parent's readers are not there.
void* on_python_end(void*, void*) {
  constexpr int kMostTries = 10'000;
  const auto is_read = [](const Readers& each) { return each.count.load() != 0; };
  const int error = errno;
  s_may_read.store(false);
  for (int tries = 0; tries < kMostTries && is_recorded_process() && std::ranges::any_of(s_readers, is_read); ++tries)
    usleep(100);
  errno = error;
  s_ending_python->keep(s_ending_python->none);
  return s_ending_python->none;
}

constexpr int kAnyArguments = 1;  // METH_VARARGS
constinit PythonMethod s_end_method{"tracetool_end", on_python_end, kAnyArguments, nullptr};

constinit PythonObjects s_door_objects{};
constinit Worker s_door{};
constinit bool s_wants_stacks = false;

void begin_with_lock() {
  const PythonLock lock(s_door_objects);
  if (!watch_garbage_collections(s_door_objects)) say_verbose("Python's garbage collections are not recorded");
  if (s_wants_stacks && watch_python_end(s_door_objects)) return check_python_stacks();
  if (s_wants_stacks) say_verbose("the exit of this Python cannot be observed: stacks are not recorded");
}

void go_through_door() {
  const PythonLock lock(s_door_objects);
  const Guard guard;  // constructed here, because Python may end the thread before
  if (!guard || recording() != Recording::open) return;
  write_hang_stacks(guard);
  name_seen_modules(guard, s_door_objects);
}

// Until the process or Python ends.
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
  if (s_is_told || version == nullptr || !(has_python_stacks(settings().torch) || has_allocations(settings().torch)))
    return;
  s_is_told = true;
  const char* text = version();
  std::size_t length = std::strcspn(text, "(");
  while (length > 0 && text[length - 1] == ' ') --length;
  say("operators and allocations have no stacks: this Python is %.*s; supported are CPython 3.9 to 3.14 with a GIL",
      static_cast<int>(length), text);
}

}  // namespace

bool watch_python_end(const PythonObjects& python) noexcept {
  s_ending_python = &python;
  const PythonReference module(python, python.import("atexit"));
  if (!module) return false;
  const PythonReference at_exit(python, python.attribute(module.get(), "register"));
  const PythonReference function(python, python.function(&s_end_method, nullptr, nullptr));
  if (!at_exit || !function) return false;
  const PythonReference done(python, python.call(at_exit.get(), function.get(), nullptr));
  s_may_read.store(static_cast<bool>(done));
  return static_cast<bool>(done);
}

PythonReading::PythonReading() noexcept {
  readers().fetch_add(1);
  allowed_ = s_may_read.load();
}

PythonReading::~PythonReading() { readers().fetch_sub(1, std::memory_order_release); }

void watch_python(bool stacks) noexcept {
  static constinit bool s_done = false;
  if (s_done) return;
  if (!find_python_objects(s_door_objects)) return tell_unknown_python();
  s_done = true;
  s_wants_stacks = stacks && find_python_stacks();
  if (!s_wants_stacks) tell_unknown_python();
  if (!s_door.start("tracetool-py", run_door))
    say("cannot start a thread: events that need Python's lock are not recorded");
}

void wake_python_door() noexcept { s_door.wake(); }

}  // namespace agent
