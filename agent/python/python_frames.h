// The Python frames of a thread, read without the interpreter's help: on the thread itself they stand still while it is in our callback,
// so no lock is needed, not even the GIL, which operators release. Nothing is changed, no reference is counted.
//
// CPython 3.9 to 3.14, by the offsets of each minor version (Include/cpython, Include/internal of 3.9.18, 3.10.13, 3.11.7, 3.12.1,
// 3.13.0, 3.14.10). They hold for the builds that these headers are of: check_python_frames() compares them with what the C API says of all
// threads before they are used. Other versions, debug builds and those without a GIL have no frames.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agent {

// Functions of the C API, found in the process. All but the last are in the limited API, or in every version from 3.9 on.
struct PythonFunctions {
  int (*is_initialized)();
  void* (*own_thread_state)();             // PyGILState_GetThisThreadState: null on a thread that Python does not know
  void* (*interpreter)();                  // PyInterpreterState_Get, under the GIL
  void* (*first_thread)(void* interpreter);
  void* (*next_thread)(void* thread);
  void* (*frame_of)(void* thread);         // PyThreadState_GetFrame: a new reference
  void* (*frame_back)(void* frame);        // a new reference
  void* (*frame_code)(void* frame);        // a new reference
  void (*release)(void* object);           // Py_DecRef
  int (*line_of)(void* code, int offset);  // PyCode_Addr2Line
  int minor;                               // of 3.minor
};

// False: there is no Python in this process, or one that is not known.
bool find_python(PythonFunctions& python) noexcept;

// Where a frame is: its code object, and how far it has come (bytes of code). The same place is the same pair while the code
// object lives.
struct PythonPlace {
  const void* code;
  std::int32_t offset;
  const void* first_local;  // its first argument: an object, or null
};

// The innermost frame, and how far it has come. A frame that has called C code stands still until that returns, and its callers with it.
struct PythonPosition {
  const void* frame = nullptr;    // null: none
  std::uint64_t instruction = 0;  // as this version has it: an address, or a number
  friend bool operator==(const PythonPosition&, const PythonPosition&) = default;
};

// Of the calling thread.
PythonPosition python_position(const PythonFunctions& python) noexcept;
// Of the calling thread, the innermost first; how many, at most `most`. 0: it runs no Python.
std::size_t python_places(const PythonFunctions& python, PythonPlace* places, std::size_t most) noexcept;
// Of another thread, while it stands still (under the GIL).
std::size_t python_places_of(const PythonFunctions& python, const void* thread, PythonPlace* places, std::size_t most) noexcept;

// Of a thread that may go on meanwhile: what cannot be read ends it. What is found is true only where the thread stands still.
std::size_t python_places_guarded(const PythonFunctions& python, const void* thread, PythonPlace* places, std::size_t most) noexcept;
// False: there is nothing at that address.
bool read_guarded(const void* object, std::size_t at, std::uint64_t& value) noexcept;

// Names of a place, in UTF-8. They point into the code object, which must stay alive, or into `room`. Longer ones are cut.
struct PythonNames {
  static constexpr std::size_t kMostBytes = 1024;
  std::string_view function;  // qualified from 3.11 on
  std::string_view file;
  std::int32_t line;  // 0: unknown
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

// The name of an object's class, as long as that lives.
const char* class_of(const void* object) noexcept;

// Under the GIL: whether the frames of all threads are those that the C API tells. `compared`: how many frames that were; none prove
// nothing.
bool check_python_frames(const PythonFunctions& python, std::size_t& compared) noexcept;

}  // namespace agent
