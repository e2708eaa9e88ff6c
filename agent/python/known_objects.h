// Which of Python's objects an address is: torch.nn.Modules and code objects. Each one that was seen has a number that no other object of this
// process gets; a weak reference to it takes its address out of this table before the memory can be used again, so a number holds as long
// as the object lives.
#pragma once
#include <cstdint>

#include "agent/python/python_objects.h"

namespace agent {

// 0: it was not numbered. For any thread, without a lock, while a frame of the thread has the object: it is alive.
std::uint64_t number_of_object(const void* object) noexcept;

// Whether the modules below this one were given their names as those of an outermost one.
bool is_known_root(const void* module) noexcept;

// Both under the GIL. 0: there is no room for it, or it takes no weak reference. `is_new`: it had none before.
std::uint64_t number_object(const PythonObjects& python, void* object, bool& is_new) noexcept;
void know_root(const void* module) noexcept;

}  // namespace agent
