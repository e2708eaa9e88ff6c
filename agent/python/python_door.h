// What needs the GIL: a thread of our own takes it, which may have to wait for it for ever, and may be ended by Python when that ends. It
// holds none of our locks while it waits, and nobody waits for it.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Stops the reading of frames when the interpreter ends. Frames are read without the GIL, and a Python that shuts down frees thread states
// while daemon and C++ threads still run operators. An atexit function runs before that; it blocks new readers and waits for current ones,
// which never wait themselves.

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

// Where there is Python in the process: has that thread started, once. From then on the runs of the garbage collector are recorded; with
// `stacks` its frames are compared with what the C API says, so that there are stacks, names of modules and of hangs. To be called again
// and again; for our own thread.
void watch_python(bool stacks) noexcept;

// Has the thread do what it was asked for: names of modules, stacks of a hang. For any thread: it takes no lock.
void wake_python_door() noexcept;

}  // namespace agent
