// Reads the Python frames of a thread without using the interpreter. On the thread itself the frames do not change
// during our callback, so no lock is needed, not even the GIL, which operators release. Nothing is modified, and no
// reference is counted.
//
// Supports CPython 3.9 to 3.14, using the offsets of each minor version (Include/cpython, Include/internal of 3.9.18,
// 3.10.13, 3.11.7, 3.12.1, 3.13.0, 3.14.10). They are valid for builds with these headers: check_python_frames()
// compares them with the C API's results for all threads before they are used. Frames are not available in other
// versions, debug builds and builds without a GIL.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agent {

// Functions of the C API, found in the process. All except the last are in the limited API, or in every version from
// 3.9 on.
struct PythonFunctions {
  int (*is_initialized)();
  void* (*own_thread_state)();  // PyGILState_GetThisThreadState: null on a thread unknown to Python
  void* (*interpreter)();       // PyInterpreterState_Get, under the GIL
  void* (*first_thread)(void* interpreter);
  void* (*next_thread)(void* thread);
  void* (*frame_of)(void* thread);         // PyThreadState_GetFrame: a new reference
  void* (*frame_back)(void* frame);        // a new reference
  void* (*frame_code)(void* frame);        // a new reference
  void (*release)(void* object);           // Py_DecRef
  int (*line_of)(void* code, int offset);  // PyCode_Addr2Line
  int minor;                               // of 3.minor
};

// Returns false if this process has no Python, or an unsupported one.
bool find_python(PythonFunctions& python) noexcept;

// A position in a frame: its code object and the offset of the current instruction (bytes of code). Equal pairs are the
// same position as long as the code object lives.
struct PythonPlace {
  const void* code;
  std::int32_t offset;
  const void* first_local;  // its first argument: an object, or null
  friend bool operator==(const PythonPlace&, const PythonPlace&) = default;
};

// The innermost frame and its current instruction. A frame that has called C code does not change until that returns,
// nor do its callers.
struct PythonPosition {
  const void* frame = nullptr;    // null if there is none
  std::uint64_t instruction = 0;  // format of this version: an address or a number
  friend bool operator==(const PythonPosition&, const PythonPosition&) = default;
};

// Returns the position of the calling thread.
PythonPosition python_position(const PythonFunctions& python) noexcept;
// Stores the positions of the calling thread, innermost first, at most `most`, and returns their number; 0 if it runs
// no Python.
std::size_t python_places(const PythonFunctions& python, PythonPlace* places, std::size_t most) noexcept;
// The same for another thread that does not run meanwhile (under the GIL).
std::size_t python_places_of(const PythonFunctions& python, const void* thread, PythonPlace* places,
                             std::size_t most) noexcept;

// The same for a thread that may run meanwhile. Unreadable memory ends the stack. The result is valid only if the
// thread did not run.
std::size_t python_places_guarded(const PythonFunctions& python, const void* thread, PythonPlace* places,
                                  std::size_t most) noexcept;
// Reads a value. Returns false if the address is not readable.
bool read_guarded(const void* object, std::size_t at, std::uint64_t& value) noexcept;

// Names of a position, in UTF-8. They point into the code object, which must stay alive, or into `room`. Longer names
// are cut.
struct PythonNames {
  static constexpr std::size_t kMostBytes = 1024;
  std::string_view function;  // qualified from 3.11 on
  std::string_view file;
  std::int32_t line;  // 0 if unknown
  char room[2][kMostBytes];
};
// Returns false if the code object's names are no texts.
bool names_of(const PythonFunctions& python, const PythonPlace& place, PythonNames& names) noexcept;
// Returns the maximum number of bytes of both names.
std::size_t names_bytes(const PythonFunctions& python, const void* code) noexcept;

// Returns whether this Python numbers code objects, as 3.12 and newer do.
bool has_code_numbers(const PythonFunctions& python) noexcept;
// Returns a value that distinguishes code objects at the same address at different times: Python's number, or a hash of function name, file name
// and line table. Code objects for which these are equal may share a value.
std::uint64_t identity_of(const PythonFunctions& python, const void* code) noexcept;

// Returns the name of an object's class, valid as long as the class lives.
const char* class_of(const void* object) noexcept;

// Returns true if the frames of all threads equal those of the C API. Called under the GIL. Sets `compared` to the
// number of compared frames; if it is 0, nothing is proved.
bool check_python_frames(const PythonFunctions& python, std::size_t& compared) noexcept;

}  // namespace agent
