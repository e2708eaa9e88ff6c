#include "agent/python/module_names.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/base/memory.h"
#include "agent/ring/recorder.h"
#include "common/hash.h"

namespace agent {
namespace {

constexpr std::size_t kMostModules = 1 << 16;  // below one outermost module
constexpr std::size_t kMostDepth = 64, kMostName = 1024;
constexpr std::size_t kMostPlaces = 1024;

// The next visit comes after 100 times the duration of the last one at the earliest. The interval doubles while visits find nothing new.
constexpr std::uint64_t kSoonest_ns = 20'000'000, kLatest_ns = 1'000'000'000, kTimesTaken = 100;
constinit std::atomic<std::uint64_t> s_next_names_ns{0};
constinit std::atomic<std::uint64_t> s_between_ns{kSoonest_ns};
constinit std::atomic<const void*> s_wanted{nullptr};  // the module of the last request

// The set of objects already seen.
class SeenModules {
 public:
  SeenModules() noexcept : seen_(map_zeroed<const void*>(kBytes)) {}
  ~SeenModules() {
    if (seen_ != nullptr) munmap(seen_, kBytes);
  }
  SeenModules(SeenModules&&) = delete;
  // Returns false if the object is already in the set, or the set is full.
  bool add(const void* module) noexcept {
    if (seen_ == nullptr || count_ == kMostModules) return false;
    std::size_t at = trace::hash_bytes(&module, sizeof(module), 5) % kPlaces;
    for (; seen_[at] != nullptr; at = (at + 1) % kPlaces) {
      if (seen_[at] == module) return false;
    }
    seen_[at] = module;
    ++count_;
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 2 * kMostModules, kBytes = kPlaces * sizeof(const void*);
  const void** seen_;
  std::size_t count_ = 0;
};

// All modules below an outermost one, in the order of its named_modules(): a module's own name, then its children's.
class NamedModules {
 public:
  NamedModules(const Guard&, const PythonObjects& python, void* root) noexcept
      : python_(python), root_(root), is_new_root_(!is_known_root(root)) {}
  // Returns true if at least one module was named.
  bool write() noexcept {
    bool is_new = false;
    root_number_ = number_object(python_, root_, is_new);
    if (root_number_ == 0) {
      miss();
      return false;
    }
    visit(root_, 0, 0);
    know_root(root_);
    return named_ > 0;
  }

 private:
  static void miss() noexcept { trace::SharedMemory::add(ring().header->module_names_missed, 1); }

  void visit(void* module, std::size_t name_size, std::size_t depth) noexcept {
    if (!seen_.add(module)) return;
    bool is_new = false;
    const std::uint64_t number = number_object(python_, module, is_new);
    const bool is_wanted = is_new || is_new_root_;
    const bool is_named = number != 0 && is_wanted && define_name(number, {name_, name_size});
    if (is_wanted && !is_named) miss();
    named_ += is_named;
    if (depth == kMostDepth) return;
    const PythonReference children(python_, python_.attribute(module, "_modules"));
    if (!children || !is_dict(python_, children.get())) return;
    std::intptr_t at = 0;
    void *key = nullptr, *child = nullptr;
    while (python_.next(children.get(), &at, &key, &child) != 0) {
      if (child == python_.none) continue;
      const std::string_view text = text_of(python_, key);
      const std::size_t dot = name_size == 0 ? 0 : 1;
      if (name_size + dot + text.size() > kMostName) continue;
      python_.keep(child);
      const PythonReference kept(python_, child);
      if (dot != 0) name_[name_size] = '.';
      std::memcpy(name_ + name_size + dot, text.data(), text.size());
      visit(child, name_size + dot + text.size(), depth + 1);
    }
  }
  bool define_name(std::uint64_t number, std::string_view name) const noexcept {
    const std::size_t keep_free = stacks_reserve(ring());
    auto record = trace::make_record<trace::ModuleNameRecord>();
    record.instance = number;
    record.root = root_number_;
    const Locked locked(interner().lock());
    record.name_ref = interner().permanent_string(ring(), name, keep_free);
    return record.name_ref != trace::kNoRef &&
           trace::append_definition(ring(), keep_free, &record, sizeof(record)) != trace::kNoRef;
  }

  const PythonObjects& python_;
  void* root_;
  bool is_new_root_;
  std::uint64_t root_number_ = 0;
  std::size_t named_ = 0;
  SeenModules seen_;
  char name_[kMostName];
};

// A thread's frames and the modules among them that are being called, innermost first.
struct OpenCalls {
  std::size_t frame_count, count = 0;
  PythonPlace frames[kMostPlaces];
  void* modules[kMostPlaces];

  OpenCalls(const PythonFunctions& python, const void* thread, const void* module_call) noexcept
      : frame_count(python_places_of(python, thread, frames, kMostPlaces)) {
    for (std::size_t i = 0; i < frame_count && module_call != nullptr; ++i) {
      if (frames[i].code == module_call && frames[i].first_local != nullptr)
        modules[count++] = const_cast<void*>(frames[i].first_local);
    }
  }
  bool has(const void* module) const noexcept { return std::find(modules, modules + count, module) != modules + count; }
};

// Numbers code objects on Python versions that do not. Returns true if at least one was new.
bool number_code(const PythonObjects& objects, const PythonFunctions& python, const OpenCalls& calls) {
  bool has_new = false, is_new = false;
  for (std::size_t i = 0; i < calls.frame_count && !has_code_numbers(python); ++i)
    has_new = (number_object(objects, const_cast<void*>(calls.frames[i].code), is_new) != 0 && is_new) || has_new;
  return has_new;
}

// Names the modules below the outermost open call, and numbers the other open ones. Returns true if at least one was named.
bool name_open(const Guard& guard, const PythonObjects& objects, const OpenCalls& calls) {
  if (calls.count == 0) return false;
  void* root = calls.modules[calls.count - 1];
  objects.keep(root);
  const PythonReference kept(objects, root);
  const bool has_named = NamedModules(guard, objects, root).write();
  bool is_new = false;
  for (std::size_t i = 0; i < calls.count; ++i) number_object(objects, calls.modules[i], is_new);
  return has_named;
}

}  // namespace

bool wants_module_names(const void* outermost, bool has_unknown) noexcept {
  if (!has_unknown && (outermost == nullptr || is_known_root(outermost))) return false;
  const std::uint64_t now_ns = mono_ns();
  std::uint64_t next_ns = s_next_names_ns.load(std::memory_order_relaxed);
  const std::uint64_t between_ns = s_between_ns.load(std::memory_order_relaxed);
  if (now_ns < next_ns ||
      !s_next_names_ns.compare_exchange_strong(next_ns, now_ns + between_ns, std::memory_order_relaxed))
    return false;
  s_wanted.store(outermost, std::memory_order_relaxed);
  return true;
}

void name_modules(const Guard& guard, const PythonObjects& objects, const PythonFunctions& frames,
                  const void* module_call) noexcept {
  const std::uint64_t began_ns = mono_ns();
  const void* const wanted = s_wanted.load(std::memory_order_relaxed);
  bool has_wanted = false, has_named = false;
  for (void* thread = frames.first_thread(frames.interpreter()); thread != nullptr;
       thread = frames.next_thread(thread)) {
    const OpenCalls calls(frames, thread, module_call);
    has_wanted = has_wanted || calls.has(wanted);
    has_named = number_code(objects, frames, calls) || has_named;
    has_named = name_open(guard, objects, calls) || has_named;
  }
  // On a stack that is deeper than the recorded part, the requested module may be an inner one.
  if (has_wanted) know_root(wanted);
  const std::uint64_t now_ns = mono_ns(), least_ns = std::max(kSoonest_ns, (now_ns - began_ns) * kTimesTaken);
  const std::uint64_t later_ns =
      has_named ? kSoonest_ns : std::min(kLatest_ns, 2 * s_between_ns.load(std::memory_order_relaxed));
  s_between_ns.store(std::max(least_ns, later_ns), std::memory_order_relaxed);
  s_next_names_ns.store(now_ns + std::max(least_ns, later_ns), std::memory_order_relaxed);
}

}  // namespace agent
