// The thread for work that needs the GIL. It may wait for the GIL forever, and Python may end it at shutdown. It holds
// none of our locks while it waits, and no other thread waits for it.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Stops the reading of frames when the interpreter ends. Frames are read without the GIL, and a Python that shuts down
// frees thread states while daemon and C++ threads still run operators. An atexit function runs before that; it blocks
// new readers and waits for current ones, which never wait themselves.

// Registers the atexit function. Needs the GIL. Returns false if that is not possible.
bool watch_python_end(const PythonObjects& python) noexcept;

// Called once under the GIL. Returns false if there is no such list. `python` has to outlive the process's last
// collection.
bool watch_garbage_collections(const PythonObjects& python) noexcept;

// While an object of this class exists and is true, Python does not free the memory that frames refer to.
class PythonReading {
 public:
  PythonReading() noexcept;
  ~PythonReading();
  PythonReading(PythonReading&&) = delete;
  // False if the interpreter ends, or if watch_python_end() did not succeed.
  explicit operator bool() const noexcept { return allowed_; }

 private:
  bool allowed_;
};

// If the process has Python, starts that thread once. Runs of the garbage collector are then recorded. If `stacks`, its
// frames are compared with the C API, which is required for stacks, module names and hang stacks. Called repeatedly;
// for our own thread.
void watch_python(bool stacks) noexcept;

// Makes the thread do its pending work: module names, stacks of a hang. For any thread: it takes no lock.
void wake_python_door() noexcept;

}  // namespace agent
