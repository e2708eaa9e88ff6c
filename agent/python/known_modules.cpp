#include "agent/python/known_modules.h"

#include <atomic>

#include "agent/base/hash.h"

namespace agent {
namespace {

// Written under the GIL: the address last, and taken away first.
struct KnownModule {
  std::atomic<const void*> module;  // null: free
  std::atomic<std::uint64_t> number;
  std::atomic<bool> is_root;
};

constexpr std::size_t kModulePlaces = 1 << 17, kModuleTries = 16;
constinit KnownModule s_modules[kModulePlaces]{};
constinit std::atomic<std::uint64_t> s_last_number{0};

std::size_t place_of(const void* module, std::size_t attempt) { return (hash_bytes(&module, sizeof(module), 5) + attempt) % kModulePlaces; }

// Null: it is not there.
KnownModule* find_known(const void* module) {
  for (std::size_t i = 0; i < kModuleTries; ++i) {
    KnownModule& known = s_modules[place_of(module, i)];
    if (known.module.load(std::memory_order_acquire) == module) return &known;
  }
  return nullptr;
}

// Python calls it with the weak reference to a module that is about to be freed. `place`: a number, where it stands.
void* forget_module(void* place, void* reference);
PythonMethod s_forget_module{"tracetool_forget_module", forget_module, 0x8 /* METH_O */, nullptr};
constinit const PythonObjects* s_objects = nullptr;

void* forget_module(void* place, void* reference) {
  long at = 0;
  if (number_of(*s_objects, place, at)) s_modules[at].module.store(nullptr, std::memory_order_release);
  s_objects->release(reference);  // ours, which nothing else needed; the caller holds it meanwhile
  s_objects->keep(s_objects->none);
  return s_objects->none;
}

// The place's number goes with the callback. False: the module takes none.
bool watch_module(const PythonObjects& python, void* module, std::size_t at) {
  s_objects = &python;
  const PythonReference number(python, python.from_number(static_cast<long>(at)));
  if (!number) return false;
  const PythonReference forget(python, python.function(&s_forget_module, number.get(), nullptr));
  if (!forget) return false;
  void* reference = python.weak_reference(module, forget.get());  // stays until it calls
  if (reference == nullptr) python.clear_error();
  return reference != nullptr;
}

}  // namespace

std::uint64_t number_of_module(const void* module) noexcept {
  const KnownModule* known = find_known(module);
  return known != nullptr ? known->number.load(std::memory_order_relaxed) : 0;
}

bool is_known_root(const void* module) noexcept {
  const KnownModule* known = find_known(module);
  return known != nullptr && known->is_root.load(std::memory_order_relaxed);
}

std::uint64_t number_module(const PythonObjects& python, void* module, bool& is_new) noexcept {
  const std::uint64_t number = number_of_module(module);
  is_new = number == 0;
  if (!is_new) return number;
  for (std::size_t i = 0; i < kModuleTries; ++i) {
    const std::size_t at = place_of(module, i);
    KnownModule& known = s_modules[at];
    if (known.module.load(std::memory_order_relaxed) != nullptr) continue;
    if (!watch_module(python, module, at)) return 0;
    known.is_root.store(false, std::memory_order_relaxed);
    known.number.store(s_last_number.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    known.module.store(module, std::memory_order_release);
    return known.number.load(std::memory_order_relaxed);
  }
  return 0;
}

void know_root(const void* module) noexcept {
  if (KnownModule* known = find_known(module)) known->is_root.store(true, std::memory_order_relaxed);
}

}  // namespace agent
