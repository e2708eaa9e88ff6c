// The entry of a loaded object's global offset table through which it calls a function of another object. Replacing it
// changes the function for the calls of this object alone.
// Source: System V ABI, AMD64 supplement: R_X86_64_JUMP_SLOT (lazily bound calls), R_X86_64_GLOB_DAT (-fno-plt).
#pragma once
#include <cstdint>

namespace agent {

class CallSlot {
 public:
  const void* target() const noexcept {
    return reinterpret_cast<const void*>(__atomic_load_n(slot_, __ATOMIC_ACQUIRE));
  }
  // Returns true if the target is code of the object itself: the loader resolves the function at the first call.
  bool points_into_caller() const noexcept;
  // Sets the target. Returns false if the page of the entry cannot be made writable. The page stays as protected as it
  // was.
  bool set(const void* target) const noexcept;

 private:
  friend bool find_call_slot(const char* path, const char* function, CallSlot& slot) noexcept;

  std::uintptr_t* slot_ = nullptr;
  std::uintptr_t begin_ = 0, end_ = 0;  // of the object
  bool is_read_only_ = false;           // the loader has protected the page (RELRO)
};

// Finds the entry of the loaded object with this path. Returns false if it does not have exactly one for the function,
// or if the entry points to no code. The object has to be relocated, and must stay loaded.
bool find_call_slot(const char* path, const char* function, CallSlot& slot) noexcept;

}  // namespace agent
