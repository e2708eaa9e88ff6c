// A function of a loaded library, by its name.
#pragma once
#include <dlfcn.h>

namespace agent {

// Returns false where the library has none of that name; `function` is null then.
template <typename Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace agent
