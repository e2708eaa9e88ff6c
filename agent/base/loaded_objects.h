// Checks whether memory is readable, and finds loaded objects.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace agent {

// Checks whether memory can be read. The agent follows pointers that can be wrong: the layout of an unknown PyTorch
// version may differ, and a program may pass wrong pointers to NVTX, which ignores them if there is no tool.

// Returns true if all `bytes` are readable now. Makes one system call per page; needs no permission and changes
// nothing. Keeps errno.
bool is_readable(const void* at, std::size_t bytes) noexcept;

// The same for pointers that come with every call: remembers readable pages, so that nearly all calls make no system
// call. A page that was unmapped since then counts as readable.
bool was_readable(const void* at, std::size_t bytes) noexcept;

// Copies the first `bytes` of a T. Returns false if they are not readable.
template <typename T>
bool read_guarded(const void* at, T& to, std::size_t bytes = sizeof(T)) noexcept {
  if (!was_readable(at, bytes)) return false;
  std::memcpy(&to, at, bytes);
  return true;
}

// Returns the text up to its NUL, the first page that was_readable() refuses or `most` bytes, whichever comes first.
std::string_view readable_text(const char* text, std::size_t most) noexcept;

// Queries of the loader. Its lock is not held between queries. The application's dlerror() is not affected.

// Calls visit(path, info) for each loaded object until one call returns true, under the loader's lock. Returns true
// if one did.
template <typename Visit>
bool any_object(const Visit& visit) noexcept {
  const auto call = [](dl_phdr_info* info, std::size_t, void* data) -> int {
    return (*static_cast<const Visit*>(data))(info->dlpi_name != nullptr ? info->dlpi_name : "", *info);
  };
  return dl_iterate_phdr(call, const_cast<Visit*>(&visit)) != 0;
}

// The object that contains an address, and the bounds of the segment around it. object_of() returns false if there is
// none.
struct LoadedObject {
  link_map* map;
  std::uintptr_t begin, end;
};
bool object_of(const void* address, LoadedObject& object) noexcept;

// Returns a handle of a loaded object, which then stays loaded; null if it is not loaded.
void* handle_of(const char* path) noexcept;
// Same as dlsym(), without leaving an error.
void* symbol_in(void* handle, const char* name) noexcept;
// Sets `function` to the symbol. Returns false if there is none.
template <typename Function>
bool find_in(void* handle, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(symbol_in(handle, name));
  return function != nullptr;
}

// Paths of loaded objects, valid as long as these are loaded.
struct ObjectPaths {
  static constexpr std::size_t kMost = 16;
  const char* paths[kMost];
  std::size_t count;
};
// Finds objects with a file name that begins with `prefix`.
void objects_named(const char* prefix, ObjectPaths& found) noexcept;
// Finds objects that need `map`'s object by name (DT_NEEDED).
void objects_needing(const link_map* map, ObjectPaths& found) noexcept;

}  // namespace agent
