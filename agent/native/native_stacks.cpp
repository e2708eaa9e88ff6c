#include "agent/native/native_stacks.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "agent/base/loaded_objects.h"
#include "agent/base/lock.h"
#include "agent/cupti/cupti_library.h"
#include "agent/native/backtrace.h"
#include "agent/ring/interner.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

std::size_t padded_note(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

void find_build_id(const std::byte* at, std::size_t bytes, LoadedCode& code) {
  ElfW(Nhdr) head;
  while (bytes >= sizeof(head)) {
    std::memcpy(&head, at, sizeof(head));
    const std::size_t name_at = sizeof(head), text_at = name_at + padded_note(head.n_namesz);
    const std::size_t size = text_at + padded_note(head.n_descsz);
    if (size > bytes) return;
    const bool is_id = head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(at + name_at, "GNU", 4) == 0;
    if (is_id && head.n_descsz <= sizeof(code.build_id)) {
      code.build_id_bytes = static_cast<std::uint8_t>(head.n_descsz);
      std::memcpy(code.build_id, at + text_at, head.n_descsz);
      return;
    }
    at += size;
    bytes -= size;
  }
}

void read_segments(const dl_phdr_info& info, LoadedCode& code) {
  code.begin = UINTPTR_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    code.begin = std::min(code.begin, begin);
    code.end = std::max(code.end, begin + segment.p_memsz);
  }
}

// Data outside of its segments is not in memory.
void read_notes(const dl_phdr_info& info, LoadedCode& code) {
  for (int i = 0; i < info.dlpi_phnum && code.build_id_bytes == 0; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || begin < code.begin || begin + segment.p_memsz > code.end) continue;
    find_build_id(reinterpret_cast<const std::byte*>(begin), segment.p_memsz, code);
  }
}

// The number of unloaded objects at the thread's last stack.
thread_local std::uint64_t t_unloaded __attribute__((tls_model("initial-exec"))) = 0;

constinit Spinlock s_lock{};  // protects the following variables
constinit LoadedCodes s_codes{};
constinit FrameTable s_native_frames{};
// The defined objects, by their numbers.
constexpr std::size_t kMostDefined = 1024;
constinit std::uint32_t s_defined[kMostDefined]{};
constinit std::size_t s_defined_count = 0;

bool define_object(const LoadedCode& code, std::string_view path) {
  auto record = trace::make_record<trace::ObjectRecord>();
  record.build_id_bytes = code.build_id_bytes;
  std::memcpy(record.build_id, code.build_id, sizeof(record.build_id));
  if (!interner().lock().try_lock_for_moments()) return false;
  record.path_ref = interner().permanent_string(ring(), path);
  const bool done = record.path_ref != trace::kNoRef &&
                    trace::append_definition(ring(), kNamesReserve, &record, sizeof(record)) != trace::kNoRef;
  interner().lock().unlock();
  if (done && s_defined_count < kMostDefined) s_defined[s_defined_count++] = code.number;
  return done;
}

// The program itself has no path in the loader's list.
std::string_view path_of(const LoadedCode& code, char (&room)[PATH_MAX]) {
  if (code.path[0] != '\0') return code.path;
  const ssize_t length = readlink("/proc/self/exe", room, sizeof(room));
  return {room, length > 0 ? static_cast<std::size_t>(length) : 0};
}

constinit char s_path_room[PATH_MAX];  // protected by the lock

// Code that is in no file (compiled at run time) has only its address.
FrameKey key_of(const void* address, const LoadedCode* code) {
  return {{reinterpret_cast<std::uintptr_t>(address) - (code != nullptr ? code->base : 0),
           code != nullptr ? code->number : 0, 0, 0}};
}

// Returns kNoRef if its object cannot be defined.
std::uint32_t ref_of_native(HostWriter& writer, const void* address, const LoadedCode* code) {
  const FrameKey key = key_of(address, code);
  const std::uint32_t known = s_native_frames.find(key);
  if (known != trace::kNoRef) return known;
  Frame frame{trace::make_record<trace::FrameRecord>(), {}, {}};
  frame.record.what = static_cast<std::uint8_t>(trace::FrameKind::native);
  frame.record.instance = key.words[0];
  if (code != nullptr) {
    frame.file = path_of(*code, s_path_room);
    auto* const end = s_defined + s_defined_count;
    if (std::find(s_defined, end, code->number) == end && !define_object(*code, frame.file)) return trace::kNoRef;
  }
  const std::uint32_t ref = writer.frame(frame);
  if (!trace::is_local(ref)) s_native_frames.remember(key, ref);
  return ref;
}

// A return address is after the call, which may be in the next function.
const LoadedCode* code_at(const void* address) { return s_codes.find(static_cast<const std::byte*>(address) - 1); }

// Skips the agent's own frames and CUPTI's: all frames up to the first of other code.
bool is_ours(const LoadedCode* code) {
  return code != nullptr && (code == s_codes.find(reinterpret_cast<const void*>(&loader_counts)) ||
                             code == s_codes.find(reinterpret_cast<const void*>(cupti().enable_callback)));
}

// The frames to record: from the first one outside the agent and CUPTI up to the first one of the interpreter.
struct Shown {
  std::size_t first = 0, end = 0;
};

Shown shown(const void* const* addresses, std::size_t count, bool has_python) {
  const LoadedCode* interpreter = has_python ? s_codes.find(interpreter_code()) : nullptr;
  Shown found;
  while (found.first < count && is_ours(code_at(addresses[found.first]))) ++found.first;
  for (found.end = found.first; found.end < count; ++found.end) {
    if (interpreter != nullptr && code_at(addresses[found.end]) == interpreter) break;
  }
  return found;
}

// Returns the block bytes that frames outside the definitions region may need.
std::size_t room_of(const void* const* addresses, const Shown& found) {
  std::size_t bytes = 0;
  for (std::size_t i = found.first; i < found.end; ++i) {
    const LoadedCode* code = code_at(addresses[i]);
    if (s_native_frames.find(key_of(addresses[i], code)) != trace::kNoRef) continue;
    bytes += frame_room(code == nullptr ? 0 : clipped(path_of(*code, s_path_room), Frame::kMost).size());
  }
  return bytes;
}

}  // namespace

LoaderCounts loader_counts() noexcept {
  LoaderCounts counts;
  any_object([&](const char*, const dl_phdr_info& info) {
    counts = {info.dlpi_adds, info.dlpi_subs};  // the same for every object
    return true;
  });
  return counts;
}

const LoadedCode* LoadedCodes::same_in(const List& list, const LoadedCode& code) const noexcept {
  for (std::size_t i = 0; i < list.count; ++i) {
    const LoadedCode& each = list.codes[i];
    const bool same =
        each.begin == code.begin && each.end == code.end && each.base == code.base && each.path == code.path;
    if (same && std::memcmp(each.build_id, code.build_id, sizeof(code.build_id)) == 0) return &each;
  }
  return nullptr;
}

void LoadedCodes::refresh(const LoaderCounts& now) noexcept {
  if (now == counts_) return;
  List& list = lists_[1 - current_];
  list.count = 0;
  any_object([&](const char* path, const dl_phdr_info& info) {
    if (list.count == kMost) return true;
    LoadedCode code{};
    code.base = info.dlpi_addr;
    code.path = path;
    read_segments(info, code);
    if (code.end == 0) return false;
    read_notes(info, code);
    const LoadedCode* before = same_in(this->now(), code);
    code.number = before != nullptr ? before->number : ++numbers_;
    list.codes[list.count++] = code;
    return false;
  });
  std::sort(list.codes, list.codes + list.count,
            [](const LoadedCode& a, const LoadedCode& b) { return a.begin < b.begin; });
  current_ = 1 - current_;
  counts_ = now;
}

const LoadedCode* LoadedCodes::find(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const LoadedCode* end = now().codes + now().count;
  const LoadedCode* next = std::upper_bound(
      now().codes, end, at, [](std::uintptr_t value, const LoadedCode& code) { return value < code.begin; });
  return next != now().codes && at < next[-1].end ? next - 1 : nullptr;
}

NativeStack::NativeStack(const Guard& guard) noexcept : python_(guard) {
  python_.read();
  const LoaderCounts counts = loader_counts();
  if (counts.unloaded != t_unloaded) forget_unloaded_code();
  t_unloaded = counts.unloaded;
  count_ = backtrace_here(addresses_, kMost);
  counts_ = counts;
}

std::uint32_t NativeStack::write(HostWriter& writer) const noexcept {
  if (count_ == 0 || !s_lock.try_lock_for_moments()) return trace::kNoRef;
  s_codes.refresh(counts_);
  const std::uint32_t ref = write_locked(writer);
  s_lock.unlock();
  return ref;
}

// Returns kNoRef if any frame cannot be defined: a stack without one of its frames would be wrong.
std::uint32_t NativeStack::write_locked(HostWriter& writer) const noexcept {
  const Shown found = shown(addresses_, count_, python_.size() > 0);
  if (!writer.make_room(room_of(addresses_, found) + python_.room())) return trace::kNoRef;
  std::uint32_t refs[kMost + PythonStack::kMost], of_python[PythonStack::kMost];
  std::size_t told = 0;
  for (std::size_t i = found.first; i < found.end; ++i) {
    refs[told] = ref_of_native(writer, addresses_[i], code_at(addresses_[i]));
    if (refs[told++] == trace::kNoRef) return trace::kNoRef;
  }
  const std::size_t more = python_.defined(writer, of_python);
  if (more < python_.size()) return trace::kNoRef;
  std::memcpy(refs + told, of_python, more * sizeof(refs[0]));
  return writer.stack(refs, told + more);
}

}  // namespace agent
