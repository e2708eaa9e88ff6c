#include "agent/python/python_frames.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/loaded_objects.h"
#include "agent/python/python_objects.h"
#include "common/hash.h"
#include "common/utf8.h"

namespace agent {
namespace {

constexpr int kFirstMinor = 9, kLastMinor = 14;
constexpr std::uint8_t kNone = 0;

struct Layout {
  // Path from the thread's state to the innermost frame: an offset, and a second one if there is another pointer.
  std::size_t frame_of_thread, frame_of_cframe;
  bool has_cframe;
  std::size_t code, previous, instruction;  // in a frame
  std::size_t owner;                        // kNone if frames have none
  std::uint8_t c_owner;                     // owners from this value on are frames for C code between two Python frames
  std::size_t file, name;                   // in a code object
  std::size_t bytecode;                     // kNone if the instruction is already a number
  int unit;                                 // bytes of one unit of this number
  std::size_t ascii, compact;               // size of a text's head, if it is pure ASCII and if it is not
  std::size_t locals;                       // in a frame
  std::size_t first_line, line_table;       // in a code object
  std::size_t version;                      // kNone if code objects have no number
};

constexpr Layout kLayouts[] = {
    {24, 0, false, 32, 24, 104, kNone, 0, 104, 112, kNone, 1, 48, 72, 360, 40, 120, kNone},  // 3.9
    {24, 0, false, 32, 24, 96, kNone, 0, 104, 112, kNone, 2, 48, 72, 352, 40, 120, kNone},   // 3.10
    {56, 8, true, 32, 48, 56, kNone, 0, 112, 128, 184, 1, 48, 72, 72, 72, 136, kNone},       // 3.11
    {56, 0, true, 0, 8, 56, 70, 3, 112, 128, 192, 1, 40, 56, 72, 68, 136, 92},               // 3.12
    {72, 0, false, 0, 8, 56, 70, 3, 112, 128, 200, 1, 40, 56, 72, 68, 136, 92},              // 3.13
    {72, 0, false, 0, 8, 56, 74, 3, 112, 128, 208, 1, 40, 56, 80, 68, 136, 92},              // 3.14
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

// Reads memory that does not change.
struct OwnMemory {
  template <typename T>
  static bool get(const void* object, std::size_t at, T& value) {
    value = read<T>(object, at);
    return true;
  }
};

// Reads memory that may be freed.
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

// Returns the innermost frame from the thread's state; null if there is none.
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
  return layout.owner != kNone && Memory::get(frame, layout.owner, owner) && owner >= layout.c_owner;
}

// Reads an object's address. The lowest bit of a reference in a frame means that 3.14 does not count it; objects are aligned.
template <typename Memory>
bool get_object(const void* frame, std::size_t at, const void*& object) {
  constexpr std::uintptr_t kUncounted = 1;
  std::uintptr_t reference = 0;
  if (!Memory::get(frame, at, reference)) return false;
  object = reinterpret_cast<const void*>(reference & ~kUncounted);
  return true;
}

template <typename Memory>
std::size_t walk_frames(const Layout& layout, const void* thread, PythonPlace* places, std::size_t most) {
  const void* frame = innermost_frame<Memory>(layout, thread);
  std::size_t count = 0;
  while (frame != nullptr && count < most) {
    if (!is_of_c<Memory>(layout, frame)) {
      PythonPlace& place = places[count];
      if (!get_object<Memory>(frame, layout.code, place.code) || place.code == nullptr ||
          !get_object<Memory>(frame, layout.locals, place.first_local) ||
          !offset_of<Memory>(layout, frame, place.code, place.offset)) {
        break;
      }
      ++count;
    }
    if (!Memory::get(frame, layout.previous, frame)) break;
  }
  return count;
}

// A compact PyUnicodeObject: characters of 1, 2 or 4 bytes each follow its head.
struct Text {
  const std::byte* at = nullptr;
  std::size_t length = 0;  // characters
  unsigned width = 0;      // bytes per character; 0 if it is no such object
  bool is_ascii = false;
};

Text text_of(const Layout& layout, const void* object) {
  constexpr std::size_t kLengthAt = 16, kStateAt = 32;
  constexpr unsigned kKindAt = 2, kKindBits = 7;  // behind interned: 2 bits
  constexpr std::uint32_t kCompact = 1u << 5, kAscii = 1u << 6;
  if (object == nullptr) return {};
  const auto state = read<std::uint32_t>(object, kStateAt);
  const unsigned width = state >> kKindAt & kKindBits;
  if ((state & kCompact) == 0 || (width != 1 && width != 2 && width != 4)) return {};
  const bool is_ascii = (state & kAscii) != 0;
  return {static_cast<const std::byte*>(object) + (is_ascii ? layout.ascii : layout.compact),
          static_cast<std::size_t>(read<std::int64_t>(object, kLengthAt)), width, is_ascii};
}

std::size_t most_utf8_bytes(const Text& text) {
  constexpr std::size_t kMostOfOne = 4;
  const std::size_t bytes = text.is_ascii ? text.length : text.length * kMostOfOne;
  return bytes < PythonNames::kMostBytes ? bytes : PythonNames::kMostBytes;
}

std::uint32_t character_at(const Text& text, std::size_t i) {
  if (text.width == 1) return read<std::uint8_t>(text.at, i);
  return text.width == 2 ? read<std::uint16_t>(text.at, i * 2) : read<std::uint32_t>(text.at, i * 4);
}

// Lone surrogates (file name bytes that are not UTF-8) become the replacement character.
std::string_view utf8_of(const Text& text, char (&room)[PythonNames::kMostBytes]) {
  constexpr std::size_t kMostOfOne = 4;
  if (text.is_ascii) return {reinterpret_cast<const char*>(text.at), most_utf8_bytes(text)};
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.length && size + kMostOfOne <= sizeof(room); ++i)
    size += trace::put_utf8(character_at(text, i), room + size);
  return {room, size};
}

std::uint64_t hash_text(const Text& text, std::uint64_t seed) {
  return trace::hash_bytes(text.at, text.length * text.width, seed);
}

// A PyBytesObject.
std::uint64_t hash_of_bytes(const void* object, std::uint64_t seed) {
  constexpr std::size_t kLengthAt = 16, kBytesAt = 32;
  return trace::hash_bytes(static_cast<const std::byte*>(object) + kBytesAt,
                           static_cast<std::size_t>(read<std::int64_t>(object, kLengthAt)), seed);
}

// Returns null if the calling thread has no Python state, or one that may be freed.
const void* own_thread(const PythonFunctions& python) {
  // An ending interpreter frees the states of running threads
  return python.is_initialized() == 0 ? nullptr : python.own_thread_state();
}

bool same_frames(const PythonFunctions& python, void* thread, std::size_t& compared) {
  constexpr std::size_t kMost = 64;
  PythonPlace places[kMost];
  std::uint64_t probe = 0;
  // If it is permitted; with an unknown layout any address may result
  const bool is_guarded = read_guarded(&probe, 0, probe);
  const std::size_t count = is_guarded ? python_places_guarded(python, thread, places, kMost)
                                       : python_places_of(python, thread, places, kMost);
  void* frame = python.frame_of(thread);  // a reference that is released
  std::size_t at = 0;
  bool is_same = true;
  for (; frame != nullptr && at < count; ++at, ++compared) {
    void* const code = python.frame_code(frame);
    python.release(code);  // the frame keeps a reference
    is_same = is_same && code == places[at].code;
    void* const back = python.frame_back(frame);
    python.release(frame);
    frame = back;
  }
  if (frame != nullptr) python.release(frame);
  return is_same && at == count && (frame == nullptr || count == kMost);
}

}  // namespace

bool find_python(PythonFunctions& python) noexcept {
  void* process = handle_of(nullptr);
  python.minor = python_minor();
  if (process == nullptr || python.minor < kFirstMinor || python.minor > kLastMinor) return false;
  return find_in(process, "Py_IsInitialized", python.is_initialized) &&
         find_in(process, "PyGILState_GetThisThreadState", python.own_thread_state) &&
         find_in(process, "PyInterpreterState_Get", python.interpreter) &&
         find_in(process, "PyInterpreterState_ThreadHead", python.first_thread) &&
         find_in(process, "PyThreadState_Next", python.next_thread) &&
         find_in(process, "PyThreadState_GetFrame", python.frame_of) &&
         find_in(process, "PyFrame_GetBack", python.frame_back) &&
         find_in(process, "PyFrame_GetCode", python.frame_code) && find_in(process, "Py_DecRef", python.release) &&
         find_in(process, "PyCode_Addr2Line", python.line_of);
}

PythonPosition python_position(const PythonFunctions& python) noexcept {
  const Layout& layout = layout_of(python);
  const void* thread = own_thread(python);
  const void* frame = thread == nullptr ? nullptr : innermost_frame<OwnMemory>(layout, thread);
  if (frame == nullptr) return {};
  const bool is_number = layout.bytecode == kNone;
  return {frame,
          is_number ? read<std::uint32_t>(frame, layout.instruction) : read<std::uint64_t>(frame, layout.instruction)};
}

std::size_t python_places(const PythonFunctions& python, PythonPlace* places, std::size_t most) noexcept {
  const void* thread = own_thread(python);
  return thread == nullptr ? 0 : python_places_of(python, thread, places, most);
}

std::size_t python_places_of(const PythonFunctions& python, const void* thread, PythonPlace* places,
                             std::size_t most) noexcept {
  return walk_frames<OwnMemory>(layout_of(python), thread, places, most);
}

std::size_t python_places_guarded(const PythonFunctions& python, const void* thread, PythonPlace* places,
                                  std::size_t most) noexcept {
  return walk_frames<GuardedMemory>(layout_of(python), thread, places, most);
}

bool read_guarded(const void* object, std::size_t at, std::uint64_t& value) noexcept {
  return GuardedMemory::get(object, at, value);
}

bool names_of(const PythonFunctions& python, const PythonPlace& place, PythonNames& names) noexcept {
  const Layout& layout = layout_of(python);
  const Text function = text_of(layout, pointer(place.code, layout.name)),
             file = text_of(layout, pointer(place.code, layout.file));
  if (function.width == 0 || file.width == 0) return false;
  names.function = utf8_of(function, names.room[0]);
  names.file = utf8_of(file, names.room[1]);
  const int line = python.line_of(const_cast<void*>(place.code), place.offset);
  names.line = line > 0 ? line : 0;
  return true;
}

std::size_t names_bytes(const PythonFunctions& python, const void* code) noexcept {
  const Layout& layout = layout_of(python);
  return most_utf8_bytes(text_of(layout, pointer(code, layout.name))) +
         most_utf8_bytes(text_of(layout, pointer(code, layout.file)));
}

bool has_code_numbers(const PythonFunctions& python) noexcept { return layout_of(python).version != kNone; }

std::uint64_t identity_of(const PythonFunctions& python, const void* code) noexcept {
  const Layout& layout = layout_of(python);
  const void *const name = pointer(code, layout.name), *const file = pointer(code, layout.file);
  // Numbers are unique per interpreter, whose code objects differ in their texts from another interpreter's. They are 0 after 2^32 code objects.
  const std::uint32_t version = layout.version == kNone ? 0 : read<std::uint32_t>(code, layout.version);
  if (version != 0)
    return std::uint64_t{version} << 32 ^ reinterpret_cast<std::uintptr_t>(name) ^
           reinterpret_cast<std::uintptr_t>(file) << 16;
  const auto first_line = static_cast<std::uint32_t>(read<std::int32_t>(code, layout.first_line));
  return hash_of_bytes(pointer(code, layout.line_table),
                       hash_text(text_of(layout, file), hash_text(text_of(layout, name), first_line)));
}

const char* class_of(const void* object) noexcept {
  constexpr std::size_t kTypeAt = 8, kNameAt = 24;  // PyObject::ob_type, PyTypeObject::tp_name: of all versions
  return read<const char*>(pointer(object, kTypeAt), kNameAt);
}

bool check_python_frames(const PythonFunctions& python, std::size_t& compared) noexcept {
  compared = 0;
  for (void* thread = python.first_thread(python.interpreter()); thread != nullptr;
       thread = python.next_thread(thread)) {
    if (!same_frames(python, thread, compared)) return false;
  }
  return true;
}

}  // namespace agent
