// Records runs of Python's garbage collector (trace::GarbageCollectionRecord), using a callable in gc.callbacks. It
// raises no exceptions, and does nothing before and after the recording and in forked children. If a program empties
// the list, there are no more of these records.
#include <algorithm>
#include <limits>

#include "agent/base/guard.h"
#include "agent/python/python_door.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constinit const PythonObjects* s_collector_python = nullptr;

// The current collection. Only one runs at a time, under the GIL. `tid` is 0 if none does.
struct Collection {
  std::uint32_t tid;
  std::uint64_t start_mono_ns;
};
constinit Collection s_collection{};

std::uint32_t as_count(long number) {
  return static_cast<std::uint32_t>(std::clamp<long>(number, 0, std::numeric_limits<std::uint32_t>::max()));
}

// Reads the collector's statistics at its end. Returns false if the format is unknown.
bool read_result(void* info, trace::GarbageCollectionRecord& record) {
  const PythonObjects& python = *s_collector_python;
  if (!is_dict(python, info)) return false;
  long generation = 0, collected = 0, uncollectable = 0;
  if (!number_of(python, python.value_of(info, "generation"), generation) ||
      !number_of(python, python.value_of(info, "collected"), collected) ||
      !number_of(python, python.value_of(info, "uncollectable"), uncollectable)) {
    return false;
  }
  record.generation = static_cast<std::uint8_t>(std::clamp(generation, 0l, 255l));
  record.collected = as_count(collected);
  record.uncollectable = as_count(uncollectable);
  return true;
}

void end_collection(const Guard& guard, void* info) {
  auto record = trace::make_record<trace::GarbageCollectionRecord>();
  record.end_mono_ns = mono_ns();
  record.tid = thread_id();
  record.start_mono_ns = s_collection.start_mono_ns;
  const bool is_its_end = s_collection.tid == record.tid;
  s_collection.tid = 0;
  if (!is_its_end || !read_result(info, record)) return;
  HostWriter writer(guard, trace::GarbageCollectionRecord::kKind, sizeof(record), 0);
  if (writer) writer.append(record);
}

// callback(phase, info)
void tell(const Guard& guard, void* arguments) {
  const PythonObjects& python = *s_collector_python;
  void* phase = python.element(arguments, 0);
  void* info = phase != nullptr ? python.element(arguments, 1) : nullptr;
  if (info == nullptr) return python.clear_error();  // called by other code
  const std::string_view word = text_of(python, phase);
  if (word == "stop") return end_collection(guard, info);
  if (word == "start") s_collection = {thread_id(), mono_ns()};
}

void* on_collection(void*, void* arguments) {
  const Guard guard;
  if (guard && recording() == Recording::open) tell(guard, arguments);
  s_collector_python->keep(s_collector_python->none);
  return s_collector_python->none;
}

constexpr int kVariableArguments = 1;  // METH_VARARGS
constinit PythonMethod s_method{"tracetool_garbage_collection", on_collection, kVariableArguments, nullptr};

}  // namespace

bool watch_garbage_collections(const PythonObjects& python) noexcept {
  s_collector_python = &python;
  const PythonReference collector(python, python.import("gc"));
  if (!collector) return false;
  const PythonReference callbacks(python, python.attribute(collector.get(), "callbacks"));
  const PythonReference callback(python, python.function(&s_method, nullptr, nullptr));
  const bool is_added = callbacks && callback && python.append(callbacks.get(), callback.get()) == 0;
  if (!is_added) python.clear_error();
  return is_added;
}

}  // namespace agent
