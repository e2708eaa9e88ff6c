// The reading of Python's frames against the end of its interpreter, with functions in place of Python's.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <optional>

#include "agent/base/guard.h"
#include "agent/python/python_door.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

int s_object = 0;  // stands for all of Python's
PythonMethod* s_registered = nullptr;

void* call(void*, ...) { return &s_object; }

PythonObjects standin() {
  PythonObjects python{};
  python.keep = python.release = [](void*) {};
  python.clear_error = [] {};
  python.import = [](const char* name) -> void* { return std::strcmp(name, "atexit") == 0 ? &s_object : nullptr; };
  python.attribute = [](void*, const char* name) -> void* {
    return std::strcmp(name, "register") == 0 ? &s_object : nullptr;
  };
  python.function = [](PythonMethod* method, void*, void*) -> void* { return s_registered = method; };
  python.call = call;
  python.none = &s_object;
  return python;
}

std::atomic<bool> s_has_ended{false};
void* end_python(void*) {
  s_registered->function(nullptr, nullptr);
  s_has_ended = true;
  return nullptr;
}

}  // namespace

TEST_CASE("an interpreter ends when nobody reads its frames any more, and nobody begins to") {
  static const PythonObjects s_python = standin();
  REQUIRE(install_fork_page());
  CHECK(!static_cast<bool>(PythonReading()));
  REQUIRE(watch_python_end(s_python));
  std::optional<PythonReading> reading, other;
  reading.emplace();
  CHECK(*reading);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, nullptr, end_python, nullptr) == 0);
  while (static_cast<bool>(PythonReading())) sched_yield();  // until it has begun to end
  CHECK(!s_has_ended);
  other.emplace();
  CHECK(!*other);
  other.reset();
  reading.reset();
  REQUIRE(pthread_join(thread, nullptr) == 0);
  CHECK(s_has_ended);
}
