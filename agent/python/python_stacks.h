// The Python stack of a thread as references to frames (trace::FrameRecord). A frame is defined in the block of its stack; if it recurs, in the
// definitions region while its share has room. A call of a torch.nn.Module is a frame of its own kind, so that a stack contains the path
// through the modules.
#pragma once
#include <cstddef>
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/python/python_door.h"
#include "agent/python/python_frames.h"
#include "agent/python/python_objects.h"
#include "agent/ring/interner.h"
#include "agent/ring/recorder.h"

namespace agent {

// Returns false if this process has no Python with supported frames.
bool find_python_stacks() noexcept;
// Compares the frames of all threads with the C API. Called under the GIL, after find_python_stacks(). Until it has
// succeeded there are no stacks.
void check_python_stacks() noexcept;
// Records the names of the modules that are called now (module_names.h). Called under the GIL.
void name_seen_modules(const Guard& guard, const PythonObjects& objects) noexcept;

// Returns an address in the object that contains the interpreter; null if there are no Python stacks.
const void* interpreter_code() noexcept;

class PythonStack {
 public:
  static constexpr std::size_t kMost = 64;  // frames; a deeper stack loses its outermost ones
  static constexpr std::size_t kMostBytes = kMost * sizeof(std::uint32_t);

  // The calling thread's stack, with the recording open. It is empty before read(), and if the thread runs no Python or its frames cannot be
  // read now.
  explicit PythonStack(const Guard& guard) noexcept;
  // Returns the position of the thread in its Python code, without its callers. The frame is null if the stack is
  // empty.
  PythonPosition position() const noexcept;
  void read() noexcept;
  // Takes the places of a paused thread, from python_places_of().
  PythonStack(const Guard& guard, const PythonPlace* places, std::size_t count) noexcept;
  std::size_t size() const noexcept { return count_; }

  // Writes the stack and returns its reference, or kNoRef if it is empty or a frame has no room. The writer must have been made with kMostBytes
  // and must not have named anything yet.
  std::uint32_t write(HostWriter& writer) const noexcept;
  // For stacks that contain this one: the maximum block bytes, and, after making that room, the frames' references. defined() returns their number,
  // or 0 if a frame has no names.
  std::size_t room() const noexcept;
  std::size_t defined(HostWriter& writer, std::uint32_t (&refs)[kMost]) const noexcept;

 private:
  struct RecentFrames* recent_frames() const noexcept;  // of the calling thread; null if the stack is another thread's

  PythonReading reading_;
  bool is_own_ = false;  // the calling thread's stack, which may be read
  std::size_t count_ = 0;
  PythonPlace places_[kMost];
};

}  // namespace agent
