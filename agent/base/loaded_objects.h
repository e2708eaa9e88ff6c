// What the loader knows, without its lock held while we ask for more. None of it touches the application's dlerror().
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace agent {

// The object that holds an address, and the bounds of the segment around it. False: none.
struct LoadedObject {
  link_map* map;
  std::uintptr_t begin, end;
};
bool object_of(const void* address, LoadedObject& object) noexcept;

// A handle of a loaded object, which stays loaded from now on; null where the loader does not know it.
void* handle_of(const char* path) noexcept;
// dlsym() that leaves no error behind.
void* symbol_in(void* handle, const char* name) noexcept;

// Paths of loaded objects, valid as long as they are loaded.
struct ObjectPaths {
  static constexpr std::size_t kMost = 16;
  const char* paths[kMost];
  std::size_t count;
};
// Those whose file name begins so.
void objects_named(const char* prefix, ObjectPaths& found) noexcept;
// Those that need `map`'s object by name (DT_NEEDED).
void objects_needing(const link_map* map, ObjectPaths& found) noexcept;

}  // namespace agent
