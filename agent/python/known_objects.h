// Numbers for Python objects (torch.nn.Modules and code objects) that are unique in the process, unlike addresses. The callback of a weak
// reference removes an object from the table before its memory can be reused.
#pragma once
#include <cstdint>

#include "agent/python/python_objects.h"

namespace agent {

// Returns the object's number, or 0 if it has none. Lock-free, for any thread; a frame of the calling thread must hold the object.
std::uint64_t number_of_object(const void* object) noexcept;

// Returns whether the modules below this one were named with it as the outermost module.
bool is_known_root(const void* module) noexcept;

// Changes whenever a numbered object is about to be freed, and is never 0. While it stays the same, each number read before holds.
std::uint64_t known_objects_proof() noexcept;

// Both need the GIL. number_object() returns the object's number and sets `is_new` if it had none before. It returns 0 if the table is full or
// the object supports no weak references.
std::uint64_t number_object(const PythonObjects& python, void* object, bool& is_new) noexcept;
void know_root(const void* module) noexcept;

}  // namespace agent
