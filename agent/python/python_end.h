// Stops the reading of frames when the interpreter ends. Frames are read without the GIL, and a Python that shuts down frees thread states
// while daemon and C++ threads still run operators. An atexit function runs before that; it blocks new readers and waits for current ones,
// which never wait themselves.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Registers the atexit function. Needs the GIL. Returns false if that is not possible.
bool watch_python_end(const PythonObjects& python) noexcept;

// While one exists and is true, Python does not free what frames lead to.
class PythonReading {
 public:
  PythonReading() noexcept;
  ~PythonReading();
  PythonReading(const PythonReading&) = delete;
  PythonReading& operator=(const PythonReading&) = delete;
  // False if the interpreter ends, or if watch_python_end() did not succeed.
  explicit operator bool() const noexcept { return allowed_; }

 private:
  bool allowed_;
};

}  // namespace agent
