#include "agent/python/python_end.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>

#include "agent/base/guard.h"
#include "agent/ring/recorder.h"

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

bool anyone_reads() {
  return std::any_of(std::begin(s_readers), std::end(s_readers), [](const Readers& each) { return each.count.load() != 0; });
}

// Waits for readers, which take microseconds, for a second at most. A forked child does not wait: its parent's readers are not there.
void* on_python_end(void*, void*) {
  constexpr int kMostTries = 10'000;
  const int error = errno;
  s_may_read.store(false);
  for (int tries = 0; tries < kMostTries && is_recorded_process() && anyone_reads(); ++tries) usleep(100);
  errno = error;
  s_ending_python->keep(s_ending_python->none);
  return s_ending_python->none;
}

constexpr int kAnyArguments = 1;  // METH_VARARGS
constinit PythonMethod s_end_method{"tracetool_end", on_python_end, kAnyArguments, nullptr};

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

}  // namespace agent
