// The Python stack of a thread as references to frames (trace::FrameRecord). One that comes back is defined once in the definitions region,
// as long as frames may take of it; else it is defined in the block of the stack. A call of a torch.nn.Module is a frame of its own kind, so
// that the way through the modules can be read off a stack.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/python/python_end.h"
#include "agent/python/python_frames.h"
#include "agent/python/python_objects.h"
#include "agent/ring/frame_table.h"
#include "agent/ring/recorder.h"

namespace agent {

// False: there is no Python in this process whose frames are known.
bool find_python_stacks() noexcept;
// Under the GIL, after that: compares the frames of all threads with what the C API says. Until that has succeeded there are no stacks.
void check_python_stacks() noexcept;
// Under the GIL: the names of the modules that are called now (module_names.h).
void name_seen_modules(const Guard& guard, const PythonObjects& objects) noexcept;

// An address in the object that holds the interpreter. Null: there are no stacks of Python.
const void* interpreter_code() noexcept;

// Where the calling thread is in its Python code, without its callers. Null: it runs no Python, or the frames cannot be told now.
PythonPosition python_position() noexcept;

class PythonStack {
 public:
  static constexpr std::size_t kMost = RecentFrames::kMost;  // frames; of deeper stacks the innermost
  static constexpr std::size_t kMostBytes = kMost * sizeof(std::uint32_t);

  // Of the calling thread, with the recording open. Empty: as above.
  explicit PythonStack(const Guard& guard) noexcept;
  // The stack of a thread that stands still, from python_places_of().
  PythonStack(const Guard& guard, const PythonPlace* places, std::size_t count) noexcept;
  std::size_t size() const noexcept { return count_; }

  // For a record of a writer that began with kMostBytes, before anything was named. kNoRef: it is empty, or its frames find no room: a
  // stack without one of its frames says what is not so.
  std::uint32_t write(HostWriter& writer) const noexcept;
  // For a stack that has it as a part: what is to be made room for at most, and its frames' references with that room made; 0: as above.
  std::size_t room() const noexcept;
  std::size_t defined(HostWriter& writer, std::uint32_t (&refs)[kMost]) const noexcept;

 private:
  PythonReading reading_;
  bool is_own_ = false;  // the calling thread's: its next stack has most of these frames again
  std::size_t count_ = 0;
  PythonPlace places_[kMost];
};

}  // namespace agent
