// Frames are read without the GIL, and an interpreter that ends frees the states of its threads while daemon threads, or those of C++,
// still run operators. So a function of Python's module atexit, which runs before that, has the reading stop: it waits for those that
// read, who never wait themselves.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Under the GIL. False: Python has no such module, or not the functions for it.
bool watch_python_end(const PythonObjects& python) noexcept;

// From its begin to its end Python does not free what is read.
class PythonReading {
 public:
  PythonReading() noexcept;
  ~PythonReading();
  PythonReading(const PythonReading&) = delete;
  PythonReading& operator=(const PythonReading&) = delete;
  // False: the interpreter ends, or its end is not watched.
  explicit operator bool() const noexcept { return allowed_; }

 private:
  bool allowed_;
};

}  // namespace agent
