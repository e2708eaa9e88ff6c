#include "agent/python/module_names.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::uint64_t kBetweenTries_ns = 1'000'000'000;
constexpr std::size_t kMostModules = 1 << 16;  // of an outermost one
constexpr std::size_t kMostDepth = 64, kMostName = 1024;
constexpr std::size_t kMostPlaces = 1024;

// An object by its address, and, because that is used again, its class.
std::uint64_t key_of(const void* module) {
  const std::uint64_t key[2] = {reinterpret_cast<std::uintptr_t>(module), reinterpret_cast<std::uintptr_t>(class_of(module))};
  return hash_bytes(key, sizeof(key), 4) | 1;  // 0: a free place
}

// Outermost modules that were named. Where there are too many, more of them are left alone: they count as known.
constexpr std::size_t kKnownRoots = 1024, kRootTries = 8;
constinit std::atomic<std::uint64_t> s_known_roots[kKnownRoots]{};

bool is_known_root(std::uint64_t key) {
  for (std::size_t i = 0; i < kRootTries; ++i) {
    const std::uint64_t known = s_known_roots[(key + i) % kKnownRoots].load(std::memory_order_relaxed);
    if (known == key) return true;
    if (known == 0) return false;
  }
  return true;
}

void know_root(std::uint64_t key) {
  for (std::size_t i = 0; i < kRootTries; ++i) {
    auto& known = s_known_roots[(key + i) % kKnownRoots];
    if (known.load(std::memory_order_relaxed) != 0) continue;
    return known.store(key, std::memory_order_relaxed);
  }
}

constinit std::atomic<std::uint64_t> s_next_names_ns{0};
constinit std::atomic<std::uint64_t> s_wanted{0};  // the one that was seen last

// Objects that were seen, each once.
class SeenModules {
 public:
  SeenModules() noexcept {
    void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) seen_ = static_cast<const void**>(pages);
  }
  ~SeenModules() {
    if (seen_ != nullptr) munmap(seen_, kBytes);
  }
  SeenModules(const SeenModules&) = delete;
  SeenModules& operator=(const SeenModules&) = delete;
  // False: it was there, or there are too many.
  bool add(const void* module) noexcept {
    if (seen_ == nullptr || count_ == kMostModules) return false;
    std::size_t at = hash_bytes(&module, sizeof(module), 5) % kPlaces;
    for (; seen_[at] != nullptr; at = (at + 1) % kPlaces) {
      if (seen_[at] == module) return false;
    }
    seen_[at] = module;
    ++count_;
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 2 * kMostModules, kBytes = kPlaces * sizeof(const void*);
  const void** seen_ = nullptr;
  std::size_t count_ = 0;
};

// All modules below an outermost one, in the order of its named_modules(): a module's own name, then its children's.
class NamedModules {
 public:
  NamedModules(const Guard&, const PythonObjects& python, void* root) noexcept : python_(python), root_(root) {}
  void write() noexcept { visit(root_, 0, 0); }

 private:
  void visit(void* module, std::size_t name_size, std::size_t depth) noexcept {
    if (!seen_.add(module)) return;
    is_full_ = !define_name(module, {name_, name_size});
    if (is_full_ || depth == kMostDepth) return;
    const PythonReference children(python_, python_.attribute(module, "_modules"));
    if (!children || !is_dict(python_, children.get())) return;
    std::intptr_t at = 0;
    void *key = nullptr, *child = nullptr;
    while (!is_full_ && python_.next(children.get(), &at, &key, &child) != 0) {
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
  // A quarter of the region is left to others. Not by the interner, whose places are for names that are used again.
  bool define_name(const void* module, std::string_view name) const noexcept {
    const std::size_t keep_free = ring().header->definitions_bytes / 4;
    auto record = trace::make_record<trace::ModuleNameRecord>();
    record.instance = reinterpret_cast<std::uintptr_t>(module);
    record.root = reinterpret_cast<std::uintptr_t>(root_);
    const Locked locked(interner().lock());
    record.name_ref = define_string(ring(), keep_free, name);
    return record.name_ref != trace::kNoRef && trace::append_definition(ring(), keep_free, &record, sizeof(record)) != trace::kNoRef;
  }

  const PythonObjects& python_;
  void* root_;
  SeenModules seen_;
  bool is_full_ = false;
  char name_[kMostName];
};

// The outermost call of a module on a thread; null: none. `has_wanted`: the one that was asked for is called there, too, however deep.
void* outermost_of(const PythonFunctions& frames, const void* thread, const void* module_call, bool& has_wanted) {
  PythonPlace places[kMostPlaces];
  const std::size_t count = python_places_of(frames, thread, places, kMostPlaces);
  const std::uint64_t wanted = s_wanted.load(std::memory_order_relaxed);
  const void* outermost = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i].code != module_call || places[i].first_local == nullptr) continue;
    outermost = places[i].first_local;
    has_wanted = has_wanted || key_of(outermost) == wanted;
  }
  return const_cast<void*>(outermost);
}

}  // namespace

bool wants_module_names(const void* outermost) noexcept {
  const std::uint64_t key = key_of(outermost);
  if (is_known_root(key)) return false;
  const std::uint64_t now_ns = mono_ns();
  std::uint64_t next_ns = s_next_names_ns.load(std::memory_order_relaxed);
  if (now_ns < next_ns || !s_next_names_ns.compare_exchange_strong(next_ns, now_ns + kBetweenTries_ns, std::memory_order_relaxed)) return false;
  s_wanted.store(key, std::memory_order_relaxed);
  return true;
}

void name_modules(const Guard& guard, const PythonObjects& objects, const PythonFunctions& frames, const void* module_call) noexcept {
  bool has_wanted = false;
  for (void* thread = frames.first_thread(frames.interpreter()); thread != nullptr; thread = frames.next_thread(thread)) {
    void* root = outermost_of(frames, thread, module_call, has_wanted);
    if (root == nullptr || is_known_root(key_of(root))) continue;
    objects.keep(root);
    const PythonReference kept(objects, root);
    know_root(key_of(root));
    NamedModules(guard, objects, root).write();
  }
  // Of a stack that is deeper than what is recorded of it, it may be an inner one.
  const std::uint64_t wanted = s_wanted.load(std::memory_order_relaxed);
  if (has_wanted && !is_known_root(wanted)) know_root(wanted);
}

}  // namespace agent
