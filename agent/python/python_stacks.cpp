#include "agent/python/python_stacks.h"

#include <atomic>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/python/hang_stacks.h"
#include "agent/python/module_names.h"
#include "common/hash.h"

namespace agent {
namespace {

constinit PythonFunctions s_python{};
constinit std::atomic<bool> s_is_checked{false};

constinit FrameTable s_python_frames{};

// The code object of torch.nn.Module's function that calls modules; its first argument is the module. Null until it was seen. Its class keeps it
// alive until name_seen_modules() does.
constinit std::atomic<const void*> s_module_call{nullptr};
// A frame with its key: address, identity and offset of the code object; for a module call also the module's number and class.
struct FoundFrame {
  FrameKey key;
  const void* module;    // null if it is no module call
  std::uint64_t number;  // the module's
  bool is_unknown;       // the code or the module has no number so far
};

// A program may give a module another class (parametrizations and FSDP2 do), so the name is read each time.
std::uint64_t hash_of_class(const void* module) {
  const char* name = class_of(module);
  return trace::hash_bytes(name, std::strlen(name), 6);
}

FoundFrame look_at(const PythonPlace& place) {
  const std::uint64_t code = has_code_numbers(s_python) ? 0 : number_of_object(place.code);
  const std::uint64_t identity = code != 0 ? code : identity_of(s_python, place.code);
  FoundFrame found{
      {{reinterpret_cast<std::uintptr_t>(place.code), static_cast<std::uint32_t>(place.offset), 0, identity}},
      nullptr,
      0,
      false};
  found.is_unknown = code == 0 && !has_code_numbers(s_python);
  if (place.code != s_module_call.load(std::memory_order_relaxed) || place.first_local == nullptr) return found;
  found.module = place.first_local;
  found.number = number_of_object(found.module);
  found.is_unknown = found.is_unknown || found.number == 0;
  found.key.words[1] = found.number;  // a module call needs no offset
  found.key.words[2] = hash_of_class(found.module);
  return found;
}

// Returns what identifies the frame among the thread's recent ones.
RecentFrames::Place recent_place(const PythonPlace& place) {
  const bool is_module = place.code == s_module_call.load(std::memory_order_relaxed) && place.first_local != nullptr;
  if (!is_module) return {place.code, nullptr, static_cast<std::uint64_t>(place.offset)};
  return {place.code, place.first_local, hash_of_class(place.first_local)};
}

// Returns a value that stays the same while the objects of the frame are the same, or 0. Python 3.12 and newer number code objects themselves, so
// that only modules are numbered by the agent.
std::uint64_t proof_of(const FoundFrame& found) {
  return found.is_unknown || (found.module == nullptr && has_code_numbers(s_python)) ? 0 : known_objects_proof();
}

// Returns kNoRef if the frame was not defined so far, or in another block than `ticket`. `recent` may be null.
std::uint32_t known_ref(const FoundFrame& found, const RecentFrames::Place& place, RecentFrames::Known* recent,
                        std::uint64_t ticket) {
  if (recent != nullptr && recent->is_in(ticket) && recent->key == found.key) {
    recent->place = place;
    recent->proof = proof_of(found);
    return recent->ref;
  }
  const std::uint32_t ref = s_python_frames.find(found.key);
  if (ref != trace::kNoRef && recent != nullptr) *recent = {place, proof_of(found), found.key, 0, ref};
  return ref;
}

// Returns true if this is the module call function and was unknown so far.
bool is_first_module_call(const PythonPlace& place) {
  PythonNames names;
  if (s_module_call.load(std::memory_order_relaxed) == place.code || !names_of(s_python, place, names)) return false;
  if (!names.function.ends_with("_wrapped_call_impl") || !names.file.ends_with("torch/nn/modules/module.py"))
    return false;
  s_module_call.store(place.code, std::memory_order_relaxed);
  return true;
}

// Returns kNoRef if the names are no texts.
std::uint32_t define(HostWriter& writer, const PythonPlace& place, const FoundFrame& found) {
  PythonNames names;
  Frame frame{trace::make_record<trace::FrameRecord>(), {}, {}};
  frame.record.what = static_cast<std::uint8_t>(trace::FrameKind::python);
  if (found.module != nullptr) {
    frame.record.what = static_cast<std::uint8_t>(trace::FrameKind::module);
    frame.record.instance = found.number;
    frame.name = class_of(found.module);
  } else if (!names_of(s_python, place, names)) {
    return trace::kNoRef;
  } else {
    frame.record.line = names.line;
    frame.name = names.function;
    frame.file = names.file;
  }
  return writer.frame(frame);
}

std::uint32_t ref_of(HostWriter& writer, const PythonPlace& place, RecentFrames* frames) {
  const FoundFrame found = look_at(place);
  const RecentFrames::Place recent_at = recent_place(place);
  RecentFrames::Known* const recent = frames != nullptr ? &frames->at(recent_at) : nullptr;
  std::uint32_t ref = known_ref(found, recent_at, recent, writer.ticket());
  const bool is_known = ref != trace::kNoRef;
  if (!is_known) ref = define(writer, place, found);
  if (ref == trace::kNoRef) return ref;
  if (!is_known && !trace::is_local(ref)) s_python_frames.remember(found.key, ref);
  if (recent != nullptr) *recent = {recent_at, proof_of(found), found.key, writer.kept(ref).ticket, ref};
  return ref;
}

}  // namespace

bool find_python_stacks() noexcept { return find_python(s_python); }

void check_python_stacks() noexcept {
  std::size_t compared = 0;
  if (!check_python_frames(s_python, compared)) {
    constexpr char kWhat[] = "the frame layout of this Python is not supported: stacks are not recorded";
    return has_python_stacks(settings().torch) || has_allocations(settings().torch) ? say(kWhat) : say_verbose(kWhat);
  }
  if (compared > 0) prepare_hang_stacks(s_python);
  s_is_checked.store(compared > 0, std::memory_order_release);
}

void name_seen_modules(const Guard& guard, const PythonObjects& objects) noexcept {
  static constinit const void* s_kept = nullptr;
  if (!s_is_checked.load(std::memory_order_relaxed)) return;
  const void* const module_call = s_module_call.load(std::memory_order_relaxed);
  if (module_call != nullptr && s_kept == nullptr) objects.keep(const_cast<void*>(s_kept = module_call));
  name_modules(guard, objects, s_python, module_call);
}

const void* interpreter_code() noexcept {
  return s_is_checked.load(std::memory_order_acquire) ? reinterpret_cast<const void*>(s_python.is_initialized)
                                                      : nullptr;
}

PythonStack::PythonStack(const Guard&) noexcept : is_own_(s_is_checked.load(std::memory_order_acquire) && reading_) {}

PythonPosition PythonStack::position() const noexcept { return is_own_ ? python_position(s_python) : PythonPosition{}; }

void PythonStack::read() noexcept {
  if (is_own_) count_ = python_places(s_python, places_, kMost);
}

PythonStack::PythonStack(const Guard&, const PythonPlace* places, std::size_t count) noexcept
    : count_(reading_ && count <= kMost ? count : 0) {
  std::memcpy(places_, places, count_ * sizeof(places[0]));
}

std::uint32_t PythonStack::write(HostWriter& writer) const noexcept {
  std::uint32_t refs[kMost];
  RecentFrames* const frames = recent_frames();
  std::size_t known = 0;
  const void* outermost = nullptr;
  bool has_unknown = false;
  const std::uint64_t ticket = writer.ticket(), proof = known_objects_proof();
  for (std::size_t i = 0; i < count_; ++i) {
    const RecentFrames::Place place = recent_place(places_[i]);
    if (place.module != nullptr) outermost = place.module;
    RecentFrames::Known* const recent = frames != nullptr ? &frames->at(place) : nullptr;
    if (recent != nullptr && recent->proof == proof && recent->place == place && recent->is_in(ticket)) {
      refs[i] = recent->ref;
      ++known;
      continue;
    }
    const FoundFrame found = look_at(places_[i]);
    has_unknown = has_unknown || found.is_unknown;
    refs[i] = known_ref(found, place, recent, ticket);
    known += refs[i] != trace::kNoRef;
  }
  if (is_own_ && wants_module_names(outermost, has_unknown)) wake_python_door();
  if (known < count_ && (!writer.make_room(room()) || defined(writer, refs) == 0)) return trace::kNoRef;
  return count_ > 0 ? writer.stack(refs, count_) : trace::kNoRef;
}

RecentFrames* PythonStack::recent_frames() const noexcept {
  ThreadState* const state = is_own_ && count_ > 0 ? thread_state() : nullptr;
  return state != nullptr ? &state->frames : nullptr;
}

// Counts frames of the current block, too, because making room may change the block. Also recognizes the module call function, whose frames need
// room for the class name.
std::size_t PythonStack::room() const noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    FoundFrame found = look_at(places_[i]);
    if (s_python_frames.find(found.key) != trace::kNoRef) continue;
    if (is_first_module_call(places_[i])) found = look_at(places_[i]);
    bytes += frame_room(found.module != nullptr ? std::strlen(class_of(found.module))
                                                : names_bytes(s_python, places_[i].code));
  }
  return bytes;
}

std::size_t PythonStack::defined(HostWriter& writer, std::uint32_t (&refs)[kMost]) const noexcept {
  RecentFrames* const frames = recent_frames();
  for (std::size_t i = 0; i < count_; ++i) {
    refs[i] = ref_of(writer, places_[i], frames);
    if (refs[i] == trace::kNoRef) return 0;
  }
  return count_;
}

}  // namespace agent
