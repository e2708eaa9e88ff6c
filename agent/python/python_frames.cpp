#include "agent/python/python_frames.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/loaded_objects.h"
#include "agent/python/python_objects.h"

namespace agent {
namespace {

constexpr int kFirstMinor = 9, kLastMinor = 13;
constexpr std::uint8_t kNone = 0;

struct Layout {
  // From the thread's state to the innermost frame: a pointer, and where it does not lie there itself, one more behind it.
  std::size_t frame_of_thread, frame_of_cframe;
  bool has_cframe;
  std::size_t code, previous, instruction;  // of a frame
  std::size_t owner;                        // kNone: frames have none
  std::uint8_t c_owner;                     // of frames that stand for C code between two Python ones
  std::size_t file, name;                   // of a code object
  std::size_t bytecode;                     // kNone: the instruction is a number already
  int unit;                                 // bytes of one unit of such a number
  std::size_t ascii;                        // size of the head of a text
  std::size_t locals, first_line;           // of a frame; of a code object
};

constexpr Layout kLayouts[] = {
    {24, 0, false, 32, 24, 104, kNone, 0, 104, 112, kNone, 1, 48, 360, 40},   // 3.9
    {24, 0, false, 32, 24, 96, kNone, 0, 104, 112, kNone, 2, 48, 352, 40},    // 3.10
    {56, 8, true, 32, 48, 56, kNone, 0, 112, 128, 184, 1, 48, 72, 72},      // 3.11
    {56, 0, true, 0, 8, 56, 70, 3, 112, 128, 192, 1, 40, 72, 68},           // 3.12
    {72, 0, false, 0, 8, 56, 70, 3, 112, 128, 200, 1, 40, 72, 68},          // 3.13
};
static_assert(sizeof(kLayouts) / sizeof(kLayouts[0]) == kLastMinor - kFirstMinor + 1);

const Layout& layout_of(const PythonFunctions& python) { return kLayouts[python.minor - kFirstMinor]; }

template <typename T>
T read(const void* object, std::size_t at) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(object) + at, sizeof(value));
  return value;
}

const void* pointer(const void* object, std::size_t at) { return read<const void*>(object, at); }

// Memory that stands still.
struct OwnMemory {
  template <typename T>
  static bool get(const void* object, std::size_t at, T& value) {
    value = read<T>(object, at);
    return true;
  }
};

// Memory that may be gone.
struct GuardedMemory {
  template <typename T>
  static bool get(const void* object, std::size_t at, T& value) {
    iovec to{&value, sizeof(value)}, from{static_cast<std::byte*>(const_cast<void*>(object)) + at, sizeof(value)};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof(value));
  }
};

template <typename Memory>
bool offset_of(const Layout& layout, const void* frame, const void* code, std::int32_t& offset) {
  if (layout.bytecode == kNone) {
    if (!Memory::get(frame, layout.instruction, offset)) return false;
    offset *= layout.unit;
    return true;
  }
  const std::byte* instruction = nullptr;
  if (!Memory::get(frame, layout.instruction, instruction)) return false;
  offset = static_cast<std::int32_t>(instruction - (static_cast<const std::byte*>(code) + layout.bytecode));
  return true;
}

// From the thread's state to the innermost frame; null: there is none.
template <typename Memory>
const void* innermost_frame(const Layout& layout, const void* thread) {
  const void* frame = nullptr;
  if (!Memory::get(thread, layout.frame_of_thread, frame)) return nullptr;
  if (layout.has_cframe && (frame == nullptr || !Memory::get(frame, layout.frame_of_cframe, frame))) return nullptr;
  return frame;
}

template <typename Memory>
bool is_of_c(const Layout& layout, const void* frame) {
  std::uint8_t owner = 0;
  return layout.owner != kNone && Memory::get(frame, layout.owner, owner) && owner == layout.c_owner;
}

template <typename Memory>
std::size_t walk_frames(const Layout& layout, const void* thread, PythonPlace* places, std::size_t most) {
  const void* frame = innermost_frame<Memory>(layout, thread);
  std::size_t count = 0;
  while (frame != nullptr && count < most) {
    if (!is_of_c<Memory>(layout, frame)) {
      PythonPlace& place = places[count];
      if (!Memory::get(frame, layout.code, place.code) || place.code == nullptr || !Memory::get(frame, layout.locals, place.first_local) ||
          !offset_of<Memory>(layout, frame, place.code, place.offset)) {
        break;
      }
      ++count;
    }
    if (!Memory::get(frame, layout.previous, frame)) break;
  }
  return count;
}

// PyUnicodeObject, where it is compact: pure ASCII lies behind the short head, other text has its UTF-8 once somebody has asked for it.
bool text_of(const Layout& layout, const void* object, std::string_view& text) {
  constexpr std::size_t kLengthAt = 16, kStateAt = 32;
  constexpr std::uint32_t kCompact = 1u << 5, kAscii = 1u << 6;  // behind interned: 2 bits, kind: 3 bits
  if (object == nullptr) return false;
  const auto state = read<std::uint32_t>(object, kStateAt);
  if ((state & kCompact) == 0 || (state & kAscii) == 0) return false;
  text = {static_cast<const char*>(object) + layout.ascii, static_cast<std::size_t>(read<std::int64_t>(object, kLengthAt))};
  return true;
}

// Null: it has none that stays.
const void* own_thread(const PythonFunctions& python) {
  return python.is_initialized() == 0 ? nullptr : python.own_thread_state();  // an ending interpreter frees the states of threads that go on
}

template <typename Function>
bool find_in_python(void* process, const char* name, Function& function) {
  function = reinterpret_cast<Function>(symbol_in(process, name));
  return function != nullptr;
}

// A frame that is owned, as the C API hands it over.
class HeldFrame {
 public:
  HeldFrame(const PythonFunctions& python, void* frame) noexcept : python_(python), frame_(frame) {}
  ~HeldFrame() {
    if (frame_ != nullptr) python_.release(frame_);
  }
  HeldFrame(const HeldFrame&) = delete;
  HeldFrame& operator=(const HeldFrame&) = delete;
  explicit operator bool() const noexcept { return frame_ != nullptr; }
  void go_back() noexcept {
    void* back = python_.frame_back(frame_);
    python_.release(frame_);
    frame_ = back;
  }
  const void* code() const noexcept {
    void* code = python_.frame_code(frame_);
    python_.release(code);  // the frame keeps it
    return code;
  }

 private:
  const PythonFunctions& python_;
  void* frame_;
};

bool same_frames(const PythonFunctions& python, void* thread, std::size_t& compared) {
  constexpr std::size_t kMost = 64;
  PythonPlace places[kMost];
  std::uint64_t probe = 0;
  const bool is_guarded = read_guarded(&probe, 0, probe);  // where that is allowed: another layout than ours may lead anywhere
  const std::size_t count = is_guarded ? python_places_guarded(python, thread, places, kMost) : python_places_of(python, thread, places, kMost);
  HeldFrame frame(python, python.frame_of(thread));
  std::size_t at = 0;
  for (; frame && at < count; ++at, ++compared) {
    if (frame.code() != places[at].code) return false;
    frame.go_back();
  }
  return at == count && (!frame || count == kMost);
}

}  // namespace

bool find_python(PythonFunctions& python) noexcept {
  void* process = handle_of(nullptr);
  python.minor = python_minor();
  if (process == nullptr || python.minor < kFirstMinor || python.minor > kLastMinor) return false;
  return find_in_python(process, "Py_IsInitialized", python.is_initialized) &&
         find_in_python(process, "PyGILState_GetThisThreadState", python.own_thread_state) &&
         find_in_python(process, "PyInterpreterState_Get", python.interpreter) && find_in_python(process, "PyInterpreterState_ThreadHead", python.first_thread) &&
         find_in_python(process, "PyThreadState_Next", python.next_thread) && find_in_python(process, "PyThreadState_GetFrame", python.frame_of) &&
         find_in_python(process, "PyFrame_GetBack", python.frame_back) && find_in_python(process, "PyFrame_GetCode", python.frame_code) &&
         find_in_python(process, "Py_DecRef", python.release) && find_in_python(process, "PyCode_Addr2Line", python.line_of);
}

PythonPosition python_position(const PythonFunctions& python) noexcept {
  const Layout& layout = layout_of(python);
  const void* thread = own_thread(python);
  const void* frame = thread == nullptr ? nullptr : innermost_frame<OwnMemory>(layout, thread);
  if (frame == nullptr) return {};
  const bool is_number = layout.bytecode == kNone;
  return {frame, is_number ? read<std::uint32_t>(frame, layout.instruction) : read<std::uint64_t>(frame, layout.instruction)};
}

std::size_t python_places(const PythonFunctions& python, PythonPlace* places, std::size_t most) noexcept {
  const void* thread = own_thread(python);
  return thread == nullptr ? 0 : python_places_of(python, thread, places, most);
}

std::size_t python_places_of(const PythonFunctions& python, const void* thread, PythonPlace* places, std::size_t most) noexcept {
  return walk_frames<OwnMemory>(layout_of(python), thread, places, most);
}

std::size_t python_places_guarded(const PythonFunctions& python, const void* thread, PythonPlace* places, std::size_t most) noexcept {
  return walk_frames<GuardedMemory>(layout_of(python), thread, places, most);
}

bool read_guarded(const void* object, std::size_t at, std::uint64_t& value) noexcept { return GuardedMemory::get(object, at, value); }

bool names_of(const PythonFunctions& python, const PythonPlace& place, PythonNames& names) noexcept {
  const Layout& layout = layout_of(python);
  if (!text_of(layout, pointer(place.code, layout.name), names.function) || !text_of(layout, pointer(place.code, layout.file), names.file)) return false;
  const int line = python.line_of(const_cast<void*>(place.code), place.offset);
  names.line = line > 0 ? line : 0;
  return true;
}

std::uint64_t identity_of(const PythonFunctions& python, const void* code) noexcept {
  const Layout& layout = layout_of(python);
  return reinterpret_cast<std::uintptr_t>(pointer(code, layout.name)) * 31 + static_cast<std::uint32_t>(read<std::int32_t>(code, layout.first_line));
}

const char* class_of(const void* object) noexcept {
  constexpr std::size_t kTypeAt = 8, kNameAt = 24;  // PyObject::ob_type, PyTypeObject::tp_name: of all versions
  return read<const char*>(pointer(object, kTypeAt), kNameAt);
}

bool check_python_frames(const PythonFunctions& python, std::size_t& compared) noexcept {
  compared = 0;
  for (void* thread = python.first_thread(python.interpreter()); thread != nullptr; thread = python.next_thread(thread)) {
    if (!same_frames(python, thread, compared)) return false;
  }
  return true;
}

}  // namespace agent
